//! Follows the log of a partition for its channels, on a thread of its own, as long as there are any.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use scarce_core::event::{Event, MarketEvent, Position};
use scarce_core::outcome::{Code, Receipt};
use scarce_engine::{Failure, Request};
use scarce_outflow::{Batch, Cursor, CursorError};
use serde_json::Value;

use super::held::Held;
use super::hub::{Full, Hub};
use super::partition::Partition;
use super::routes::Routes;

/// The most that is read of the log at a time.
const READ_BYTES_MAX: u64 = 256 << 10;

/// The most channels that are read in one batch.
const READS_MAX: usize = 256;

/// How many events behind the end are looked at for subscribers that come back after the server ended.
const LOOKED_AT_MAX: u64 = 20_000;

/// How long is waited after something was told, so that what comes meanwhile is told together: at least, for each row that is
/// read again, and for each subscriber; and how long at most.
const PAUSE: Duration = Duration::from_millis(1);
const PAUSE_PER_ROW: Duration = Duration::from_micros(20);
const PAUSE_PER_LISTENER: Duration = Duration::from_micros(50);
const PAUSE_MAX: Duration = Duration::from_millis(250);

/// How often channels that nobody listens to are looked for, and the log after a failure.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// What happened in order, each with the position of its event.
type Rows = Vec<(Position, Value)>;

/// Follows the log of one partition.
struct Follower {
    hub: Arc<Hub>,
    number: u32,
    cursor: Cursor,
    routes: Routes,
    /// Channels to be read.
    pending: Vec<Arc<Held>>,
    swept_at: Instant,
    /// Whether it was logged that the log cannot be read.
    is_troubled: bool,
}

/// Ensures that the log of a partition is followed.
pub(crate) fn ensure(hub: &Arc<Hub>, number: u32) -> Result<(), Full> {
    let Some(partition) = hub.partitions.get(number as usize) else { return Err(Full::Unavailable) };
    let mut registry = partition.registry();
    if let Some(follower) = &registry.follower {
        follower.unpark();
        return Ok(());
    }
    let its = hub.clone();
    let started = thread::Builder::new().name(format!("push-{number}")).spawn(move || follow(its, number));
    let handle = started.map_err(|_| Full::Unavailable)?;
    registry.follower = Some(handle.thread().clone());
    Ok(())
}

/// Follows the log until no channel is left.
fn follow(hub: Arc<Hub>, number: u32) {
    let me = thread::current();
    let watch = hub.engine.watch(number, Arc::new(move || me.unpark()));
    if watch.is_err() {
        tracing::warn!(
            partition = number,
            "the log cannot be watched for subscribers; it is looked at each second"
        );
    }
    let cursor = Cursor::new(hub.engine.clone(), number, Position::default());
    let mut follower = Follower {
        hub,
        number,
        cursor,
        routes: Routes::default(),
        pending: Vec::new(),
        swept_at: Instant::now(),
        is_troubled: false,
    };
    follower.begin_when_possible();
    while !follower.is_over() {
        match follower.turn() {
            Ok(()) => follower.is_troubled = false,
            Err(error) => follower.recover(&error),
        }
    }
}

impl Follower {
    fn partition(&self) -> &Partition {
        &self.hub.partitions[self.number as usize]
    }

    fn begin_when_possible(&mut self) {
        while let Err(error) = self.begin() {
            self.tell(&error);
            thread::park_timeout(LOOK_INTERVAL);
            if self.hub.is_ended() {
                return;
            }
        }
    }

    /// Begins at the end of the log.
    fn begin(&mut self) -> Result<(), Failure> {
        let through = self.hub.engine.durable_through(self.number)?;
        self.learn()?;
        let after = Position { epoch: 0, sequence: through };
        self.cursor = Cursor::new(self.hub.engine.clone(), self.number, after);
        Ok(())
    }

    fn learn(&self) -> Result<(), Failure> {
        let engine = &self.hub.engine;
        self.partition().learn(engine.histories(self.number)?, engine.epoch(self.number)?);
        Ok(())
    }

    /// Whether no channel is left. Those that nobody has listened to for a while are let go.
    fn is_over(&mut self) -> bool {
        if self.swept_at.elapsed() < LOOK_INTERVAL && !self.hub.is_ended() {
            return false;
        }
        self.swept_at = Instant::now();
        let (gone, is_over) = self.partition().sweep(&self.hub);
        gone.iter().for_each(|held| self.routes.remove(held));
        self.pending.retain(|held| !gone.iter().any(|gone| Arc::ptr_eq(gone, held)));
        is_over
    }

    fn turn(&mut self) -> Result<(), CursorError> {
        self.take_asked()?;
        let epoch = self.cursor.position().epoch;
        let batch = self.cursor.next_batch(READ_BYTES_MAX)?;
        if let Some(batch) = &batch {
            self.note(batch);
            if batch.end().epoch != epoch {
                self.learn()?;
            }
        }
        let has_read = self.read_due()?;
        let began_at = Instant::now();
        if batch.is_some() || has_read {
            // What comes meanwhile is told together.
            while let Some(left) = PAUSE.checked_sub(began_at.elapsed()).filter(|left| !left.is_zero()) {
                thread::park_timeout(left);
            }
        } else {
            thread::park_timeout(self.next_due().unwrap_or(LOOK_INTERVAL));
        }
        Ok(())
    }

    /// How long until a channel may be read.
    fn next_due(&self) -> Option<Duration> {
        let now = Instant::now();
        self.pending.iter().map(|held| held.inner().due.saturating_duration_since(now)).min()
    }

    /// Takes new channels, and those that newcomers wait for.
    fn take_asked(&mut self) -> Result<(), CursorError> {
        let (fresh, asked) = self.partition().take();
        let at = self.cursor.position().sequence;
        for held in &fresh {
            held.inner().tape.restart(at);
            self.routes.add(held.clone());
        }
        let back: Vec<_> = fresh.iter().filter(|held| held.happened().is_some()).cloned().collect();
        let wanted = back.iter().filter_map(|held| held.inner().wanted_after).min();
        if let Some(wanted) = wanted.filter(|wanted| *wanted < at) {
            self.look_back(&back, wanted.max(at.saturating_sub(LOOKED_AT_MAX)), at)?;
        }
        asked.iter().for_each(|held| self.await_read(held));
        Ok(())
    }

    /// Finds what happened before the end of the log for subscribers that come back.
    fn look_back(&self, channels: &[Arc<Held>], after: u64, through: u64) -> Result<(), CursorError> {
        let mut routes = Routes::default();
        channels.iter().for_each(|held| {
            held.inner().tape.restart(after);
            routes.add(held.clone());
        });
        let begin = Position { epoch: 0, sequence: after };
        let mut cursor = Cursor::new(self.hub.engine.clone(), self.number, begin);
        while cursor.position().sequence < through {
            match cursor.next_batch(READ_BYTES_MAX) {
                Ok(Some(batch)) => {
                    let untold = tell_rows(&mut routes, self.hub.channel_bytes_max(), &batch, through);
                    // What they are told next begins with a snapshot.
                    untold.iter().for_each(|held| held.inner().tape.restart(through));
                }
                Err(CursorError::Engine(failure)) => return Err(failure.into()),
                // It was trimmed: they begin with a snapshot.
                Ok(None) | Err(_) => {
                    channels.iter().for_each(|held| held.inner().tape.restart(through));
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn await_read(&mut self, held: &Arc<Held>) {
        if held.set_pending() {
            self.pending.push(held.clone());
        }
    }

    /// Notes what the events of a batch change, and tells what happened.
    fn note(&mut self, batch: &Batch) {
        let mut changed = Vec::new();
        for (sequence, head, event) in batch.events() {
            let position = Position { epoch: head.epoch, sequence };
            for held in self.routes.of(event) {
                let is_to_read = held.happened().is_none() || held.inner().is_missing();
                if is_to_read && !held.has_seen(position) {
                    changed.push(held.clone());
                }
            }
        }
        self.tell_openings(batch);
        let untold = tell_rows(&mut self.routes, self.hub.channel_bytes_max(), batch, u64::MAX);
        for held in untold {
            held.inner().restart(batch.end().sequence);
            self.await_read(&held);
        }
        for held in changed {
            let mut inner = held.inner();
            let is_heard = inner.listeners() > 0;
            inner.is_current &= is_heard;
            drop(inner);
            if is_heard {
                self.await_read(&held);
            }
        }
    }

    /// Tells which markets were opened, before what happens there.
    fn tell_openings(&self, batch: &Batch) {
        for (sequence, head, event) in batch.events() {
            if let Event::Market(MarketEvent::MarketCreated(created)) = event {
                let position = Position { epoch: head.epoch, sequence };
                let of_trades = self.routes.of(event).filter(|held| held.happened().is_some());
                let opened = of_trades.chain(self.routes.of_orders(&created.market));
                opened.for_each(|held| held.take_opening(position, self.hub.channel_bytes_max()));
            }
        }
    }

    /// Reads the channels whose time has come. Whether there were any.
    fn read_due(&mut self) -> Result<bool, Failure> {
        let now = Instant::now();
        let is_due = |held: &Arc<Held>| held.inner().due <= now;
        let (mut due, later): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.pending).into_iter().partition(is_due);
        self.pending = later;
        let rest = due.split_off(due.len().min(READS_MAX));
        self.pending.extend(rest);
        if due.is_empty() {
            return Ok(false);
        }
        let reads =
            due.iter().map(|held| Request::Read(String::new(), held.channel.command.clone())).collect();
        self.hub.figures.reads.add(due.len() as u64);
        let answers = self.hub.engine.call(self.number, reads);
        let mut failed = None;
        for (held, answer) in due.iter().zip(answers) {
            match answer {
                Ok(receipt) => self.take_answer(held, receipt),
                Err(failure) => {
                    held.inner().due = Instant::now() + LOOK_INTERVAL;
                    self.pending.push(held.clone());
                    failed = Some(failure);
                }
            }
        }
        failed.map_or(Ok(true), Err)
    }

    fn take_answer(&self, held: &Arc<Held>, receipt: Receipt) {
        let position = Position { epoch: receipt.epoch, sequence: receipt.sequence_last };
        let view = (receipt.outcome.code == Code::Applied).then(|| receipt.outcome.facts.into_vec());
        held.clear_pending();
        held.take_answer(position, view, self.hub.channel_bytes_max());
        let mut inner = held.inner();
        let rows = u32::try_from(inner.rows()).unwrap_or(u32::MAX);
        let listeners = u32::try_from(inner.listeners()).unwrap_or(u32::MAX);
        let pause = PAUSE_PER_ROW.saturating_mul(rows) + PAUSE_PER_LISTENER.saturating_mul(listeners);
        inner.due = Instant::now() + pause.clamp(PAUSE, PAUSE_MAX);
    }

    /// Logs a failure, once until it is over.
    fn tell(&mut self, error: &dyn std::fmt::Display) {
        if !std::mem::replace(&mut self.is_troubled, true) {
            tracing::warn!(partition = self.number, %error, "the log is not followed for subscribers; trying again");
        }
    }

    /// Goes on after a failure; at the end of the log if its next events are gone, or were never there.
    fn recover(&mut self, error: &CursorError) {
        self.tell(error);
        if !matches!(error, CursorError::Engine(_)) {
            self.begin_when_possible();
            let at = self.cursor.position().sequence;
            for held in self.routes.all().cloned().collect::<Vec<_>>() {
                held.inner().restart(at);
                self.await_read(&held);
            }
        }
        thread::park_timeout(LOOK_INTERVAL);
    }
}

/// Tells what happened in a batch, through a sequence. Gives the channels of which it is not known whether something did.
fn tell_rows(routes: &mut Routes, bytes_max: usize, batch: &Batch, through: u64) -> Vec<Arc<Held>> {
    let mut told: BTreeMap<*const Held, (Arc<Held>, Rows)> = BTreeMap::new();
    let mut untold = Vec::new();
    for (sequence, head, event) in batch.events().take_while(|(sequence, ..)| *sequence <= through) {
        let position = Position { epoch: head.epoch, sequence };
        match routes.happened(event, (sequence, head.at)) {
            Some(rows) => {
                for (held, row) in rows {
                    told.entry(Arc::as_ptr(&held))
                        .or_insert_with(|| (held, Rows::new()))
                        .1
                        .push((position, row));
                }
            }
            None => untold.extend(routes.of_orders_of(event)),
        }
    }
    told.values().for_each(|(held, rows)| held.take_rows(rows, bytes_max));
    untold
}
