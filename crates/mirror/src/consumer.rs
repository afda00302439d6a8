//! Writes the log of a partition into its mirror.

use std::sync::Arc;

use scarce_core::event::Position;
use scarce_engine::clock::wall_ms;
use scarce_engine::{Failure, Log};
use scarce_outflow::{Batch, Consumer, Image, Trouble};

use crate::error::MirrorError;
use crate::mirror::{Mark, Mirror};
use crate::session::Session;
use crate::tracker::{Changes, Tracker};
use crate::whole;

/// How many rows and members one transaction writes where all of the keys is written.
const ITEMS_PER_WRITE: usize = 5_000;

/// How much of the log is read at a time where the state is brought up to it.
const CATCH_UP_BYTES: u64 = 1 << 20;

/// Consumes the log of one partition. A batch is one transaction: its rows and the position, or nothing.
pub struct MirrorConsumer {
    mirror: Mirror,
    log: Arc<dyn Log>,
    partition: u32,
    writer: String,
    session: Option<Session>,
    /// The state at the position that the keys show, or show with what is pending.
    tracker: Option<Tracker>,
    /// What was not written for certain, and the position before it.
    pending: Option<(Position, Changes)>,
}

impl Consumer for MirrorConsumer {
    async fn position(&mut self) -> Result<Option<Position>, Trouble> {
        let found = self.find_position().await;
        found.map(Some).map_err(|error| self.trouble(&error))
    }

    async fn consume(&mut self, batch: &Batch) -> Result<(), Trouble> {
        let written = self.take(batch).await;
        written.map_err(|error| self.trouble(&error))
    }

    fn is_rewritten(&self) -> bool {
        true
    }

    fn takes_image(&self) -> bool {
        true
    }

    async fn begin_with(&mut self, image: Box<dyn Image>) -> Result<(), Trouble> {
        let begun = self.begin_with_all(image).await;
        begun.map_err(|error| self.trouble(&error))
    }
}

impl MirrorConsumer {
    pub(crate) fn new(mirror: Mirror, log: Arc<dyn Log>, partition: u32, writer: &str) -> Self {
        let writer = writer.to_owned();
        Self { mirror, log, partition, writer, session: None, tracker: None, pending: None }
    }

    /// What went wrong. Nothing is certain of a connection after that.
    fn trouble(&mut self, error: &MirrorError) -> Trouble {
        self.session = None;
        Trouble::new(format!("the mirror: {error}"))
    }

    /// The position in Redis. Where it is behind the beginning of the log, the mirror begins anew: all that it shows is in the
    /// state.
    async fn find_position(&mut self) -> Result<Position, MirrorError> {
        if self.mirror.claim().await?.is_some() {
            // The deployment was moved among another number of partitions: what is there shows another state.
            (self.session, self.tracker, self.pending) = (None, None, None);
            return Ok(Position::default());
        }
        let mut session = match self.session.take() {
            Some(session) => session,
            None => Session::open(&self.mirror, self.partition).await?,
        };
        session.watch(&self.mirror).await?;
        let position = session.mark.position;
        self.session = Some(session);
        let reached = self.tracker.as_ref().map(Tracker::position);
        match &self.pending {
            // It was not written.
            Some((before, _)) if *before == position => {}
            // It was.
            _ if reached == Some(position) => self.pending = None,
            _ => (self.tracker, self.pending) = (None, None),
        }
        if position.sequence == 0 {
            return Ok(Position::default());
        }
        let (log, partition) = (Arc::clone(&self.log), self.partition);
        let first = aside(move || log.first_sequence(partition)).await?;
        Ok(if position.sequence + 1 < first { Position::default() } else { position })
    }

    async fn take(&mut self, batch: &Batch) -> Result<(), MirrorError> {
        if self.tracker.is_none() {
            let tracker = self.newest().await?;
            self.begin(tracker).await?;
        }
        if let Some((before, changes)) = self.pending.take() {
            self.write(before, changes).await?;
        }
        let Some(tracker) = &mut self.tracker else { return Ok(()) };
        let before = tracker.position();
        if batch.end().sequence <= before.sequence {
            return Ok(());
        }
        batch.entries.iter().for_each(|entry| tracker.follow(entry));
        let changes = tracker.changes();
        self.write(before, changes).await
    }

    /// Writes what changed behind a position, and where the state is now.
    async fn write(&mut self, before: Position, changes: Changes) -> Result<(), MirrorError> {
        let Some(tracker) = &self.tracker else { return Ok(()) };
        let mark = self.mark(tracker.position(), tracker.state().at);
        let Some(session) = &mut self.session else {
            self.pending = Some((before, changes));
            return Err(MirrorError::Moved { partition: self.partition });
        };
        let written = session.write(&self.mirror, &changes, &mark).await;
        if written.is_err() {
            self.pending = Some((before, changes));
        }
        written
    }

    fn mark(&self, position: Position, at: u64) -> Mark {
        let mirror_of = self.mirror.deployment_id.clone();
        Mark { mirror_of, writer: self.writer.clone(), position, at, written_at: wall_ms() }
    }

    /// The state at the end of the log.
    async fn newest(&mut self) -> Result<Tracker, MirrorError> {
        let (log, partition) = (Arc::clone(&self.log), self.partition);
        aside(move || {
            let mut tracker = Tracker::new(log.image(partition)?.into_machine()?);
            let end = log.durable_through(partition)?;
            while tracker.position().sequence < end {
                let before = tracker.position().sequence;
                for entry in log.entries(partition, before + 1, CATCH_UP_BYTES)? {
                    tracker.follow(&entry);
                }
                if tracker.position().sequence == before {
                    let reason = format!("the log of partition {partition} ends at {before}, before {end}");
                    return Err(Failure::Unavailable { reason });
                }
            }
            tracker.settle();
            Ok(tracker)
        })
        .await
    }

    /// Begins with a state, of which the follower needs all.
    async fn begin_with_all(&mut self, image: Box<dyn Image>) -> Result<(), MirrorError> {
        let tracker = aside(move || image.into_machine().map(Tracker::new)).await?;
        self.begin(tracker).await
    }

    /// Compares all of the keys with a state, and writes what differs.
    async fn begin(&mut self, mut tracker: Tracker) -> Result<(), MirrorError> {
        if self.mirror.claim().await?.is_some() {
            self.mirror.leave_layout(tracker.position().epoch).await?;
            self.session = None;
        }
        (self.tracker, self.pending) = (None, None);
        let mut session = match self.session.take() {
            Some(session) => session,
            None => Session::open(&self.mirror, self.partition).await?,
        };
        let keys = self.mirror.keys(self.partition);
        let link = self.mirror.link(&keys);
        let differences = whole::compare(&link, &keys, &mut tracker, |_| true).await?;
        let changes = differences.changes(&tracker);
        let (count, position) = (changes.len(), tracker.position());
        let mark = self.mark(position, tracker.state().at);
        let mut pieces = pieces(changes);
        let last = pieces.pop().unwrap_or_default();
        for piece in pieces {
            // It shows no one position until all is written.
            session.write(&self.mirror, &piece, &self.mark(Position::default(), 0)).await?;
        }
        session.write(&self.mirror, &last, &mark).await?;
        let (partition, compared) = (self.partition, differences.compared);
        tracing::info!(partition, %position, compared, written = count, "the mirror shows the state at this position");
        (self.session, self.tracker) = (Some(session), Some(tracker));
        Ok(())
    }
}

/// Cuts changes into those of several transactions.
fn pieces(changes: Changes) -> Vec<Changes> {
    if changes.len() <= ITEMS_PER_WRITE {
        return vec![changes];
    }
    let Changes { present, absent } = changes;
    let absent =
        absent.chunks(ITEMS_PER_WRITE).map(|items| Changes { absent: items.to_vec(), present: Vec::new() });
    let present =
        present.chunks(ITEMS_PER_WRITE).map(|items| Changes { present: items.to_vec(), absent: Vec::new() });
    absent.chain(present).collect()
}

/// Calls the engine, which may block, on a thread that may.
async fn aside<T: Send + 'static>(
    question: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, MirrorError> {
    let unfinished = |_| Failure::Unavailable { reason: "the engine did not come to an end".to_owned() };
    Ok(tokio::task::spawn_blocking(question).await.map_err(unfinished)??)
}
