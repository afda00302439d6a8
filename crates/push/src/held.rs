//! What is held of a channel: what it shows, its last updates, and who listens.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use scarce_core::event::Position;
use scarce_core::outcome::Value as Figure;
use serde_json::{Value, json};

use super::channel::Channel;
use super::mailbox::Listener;
use super::message;
use super::shares::Share;
use super::tape::{Tape, Update};
use super::view::{self, View};

/// All of a channel at a position, and the number of the update that follows.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) position: Position,
    pub(crate) text: Bytes,
    pub(crate) next: u64,
}

/// A channel that has listeners, or had some until recently.
pub(crate) struct Held {
    pub(crate) channel: Channel,
    pub(crate) name: Arc<str>,
    pub(crate) partition: u32,
    /// Which key it counts for.
    share: Option<Arc<Share>>,
    /// Whether its read command is about to be sent.
    is_pending: AtomicBool,
    inner: Mutex<Inner>,
}

/// What changes of a channel.
pub(crate) struct Inner {
    pub(crate) tape: Tape,
    /// Whether it was read since there are listeners: newcomers see what they may know already.
    pub(crate) is_current: bool,
    /// The oldest sequence behind which the first newcomers want to go on.
    pub(crate) wanted_after: Option<u64>,
    /// When it may be read again.
    pub(crate) due: Instant,
    /// Since when nobody listens.
    pub(crate) idle_since: Option<Instant>,
    /// What was answered last, and where.
    view: Option<View>,
    /// How many figures it had.
    rows: usize,
    seen: Position,
    /// How often it began anew.
    generation: u64,
    snapshot: Option<Snapshot>,
    listeners: Vec<Arc<Listener>>,
}

impl Held {
    pub(crate) fn new(channel: Channel, partition: u32, share: Option<Arc<Share>>) -> Arc<Self> {
        let inner = Inner {
            tape: Tape::default(),
            is_current: false,
            wanted_after: None,
            due: Instant::now(),
            idle_since: None,
            view: None,
            rows: 0,
            seen: Position::default(),
            generation: 0,
            snapshot: None,
            listeners: Vec::new(),
        };
        let name = channel.name.as_str().into();
        Arc::new(Self {
            channel,
            name,
            partition,
            share,
            is_pending: AtomicBool::new(false),
            inner: Mutex::new(inner),
        })
    }

    pub(crate) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn share(&self) -> Option<&Share> {
        self.share.as_deref()
    }

    /// The list of what happened that its deltas have; otherwise they have what differs between two answers.
    pub(crate) const fn happened(&self) -> Option<&'static str> {
        self.channel.spec.contents.happened()
    }

    /// Notes that it is to be read. Whether that is new.
    pub(crate) fn set_pending(&self) -> bool {
        !self.is_pending.swap(true, Ordering::AcqRel)
    }

    pub(crate) fn clear_pending(&self) {
        self.is_pending.store(false, Ordering::Release);
    }

    /// Takes what its read command answered, and tells what is new.
    pub(crate) fn take_answer(&self, position: Position, view: View, bytes_max: usize) {
        let mut inner = self.inner();
        let before = inner.view.replace(view);
        let seen = std::mem::replace(&mut inner.seen, position);
        inner.is_current = true;
        inner.rows = inner.count_rows();
        if self.happened().is_some() {
            self.take_last(&mut inner, &before, bytes_max);
        } else {
            self.take_figures(&mut inner, before, seen, bytes_max);
        }
        inner.announce();
    }

    fn take_figures(&self, inner: &mut Inner, before: Option<View>, seen: Position, bytes_max: usize) {
        let (read, last) = (self.channel.read, inner.seen);
        inner.snapshot = None;
        let now = inner.view.as_ref().and_then(Option::as_ref);
        let update = match (before, now) {
            (None, _) => return inner.tape.restart(last.sequence),
            (Some(None), None) => return,
            (Some(Some(before)), Some(now)) if seen.epoch == last.epoch => {
                let contents = self.channel.spec.contents;
                let Some(changes) = view::changes(read, contents, &before, now) else { return };
                let text = message::delta(&self.name, inner.tape.first(), last, &Value::Object(changes));
                Update { last, text, is_snapshot: false }
            }
            // It came into being, or another leadership decided it: what was told before may not lead here.
            (Some(_), now) => {
                let text = message::snapshot(&self.name, last, &view::all(read, now));
                Update { last, text, is_snapshot: true }
            }
        };
        inner.tape.push(update, bytes_max);
    }

    /// The market of a channel of what happens comes into being at a position: who was told that there is none gets an empty
    /// list, which what happens goes on from.
    pub(crate) fn take_opening(&self, position: Position, bytes_max: usize) {
        let mut inner = self.inner();
        let is_seen = inner.seen.epoch == position.epoch && position.sequence <= inner.seen.sequence;
        if !inner.is_missing() || is_seen {
            return;
        }
        let view = vec![Figure::List(Vec::new())];
        let text = message::snapshot(&self.name, position, &view::all(self.channel.read, Some(&view)));
        (inner.view, inner.seen) = (Some(Some(view)), position);
        inner.tape.push(Update { last: position, text: text.clone(), is_snapshot: true }, bytes_max);
        inner.snapshot = Some(Snapshot { position, text, next: inner.tape.end() });
    }

    /// Newcomers begin with what was answered. Who was there before goes on with what happened since what it has.
    fn take_last(&self, inner: &mut Inner, before: &Option<View>, bytes_max: usize) {
        let (position, now) = (inner.seen, inner.view.as_ref().and_then(Option::as_ref));
        let text = message::snapshot(&self.name, position, &view::all(self.channel.read, now));
        if matches!((before, now), (Some(None), Some(_))) {
            let update = Update { last: position, text: text.clone(), is_snapshot: true };
            inner.tape.push(update, bytes_max);
        }
        inner.snapshot = Some(Snapshot { position, text, next: inner.tape.end() });
        // It is told as what happens from here on; the answer itself is not compared with another one.
        inner.view = inner.view.take().map(|view| view.map(|_| Vec::new()));
    }

    /// Takes what happened in order, each with the position of its event.
    pub(crate) fn take_rows(&self, rows: &[(Position, Value)], bytes_max: usize) {
        let Some(list) = self.happened() else { return };
        let mut inner = self.inner();
        // A newcomer has those up to its snapshot, so no update reaches across it.
        let split = inner.snapshot.as_ref().map_or(0, |snapshot| snapshot.position.sequence);
        let are_together = |one: &Position, next: &Position| {
            one.epoch == next.epoch && (one.sequence <= split) == (next.sequence <= split)
        };
        for part in rows.chunk_by(|(one, _), (next, _)| are_together(one, next)) {
            let Some((last, _)) = part.last() else { continue };
            let rows: Vec<&Value> = part.iter().map(|(_, row)| row).collect();
            let text = message::delta(&self.name, inner.tape.first(), *last, &json!({ list: rows }));
            inner.tape.push(Update { last: *last, text, is_snapshot: false }, bytes_max);
        }
        inner.announce();
    }

    /// All of it; none if it must be read first.
    pub(crate) fn snapshot(&self, inner: &mut Inner) -> Option<Snapshot> {
        if let Some(snapshot) = inner.snapshot.as_ref().filter(|its| its.next >= inner.tape.begin()) {
            return Some(snapshot.clone());
        }
        let view = inner.view.as_ref().filter(|_| self.happened().is_none())?;
        let text = message::snapshot(&self.name, inner.seen, &view::all(self.channel.read, view.as_ref()));
        let snapshot = Snapshot { position: inner.seen, text, next: inner.tape.end() };
        inner.snapshot = Some(snapshot.clone());
        Some(snapshot)
    }

    /// Whether what it shows already has an event.
    pub(crate) fn has_seen(&self, position: Position) -> bool {
        let inner = self.inner();
        inner.view.is_some() && inner.seen.epoch == position.epoch && position.sequence <= inner.seen.sequence
    }
}

impl Inner {
    /// Begins anew behind a position: nothing that was told before is known, or of this history.
    pub(crate) fn restart(&mut self, at: u64) {
        self.tape.restart(at);
        (self.view, self.snapshot, self.is_current) = (None, None, false);
        self.seen = Position::default();
        self.generation += 1;
    }

    /// Whether there was no such resource when it was read.
    pub(crate) const fn is_missing(&self) -> bool {
        matches!(self.view, Some(None))
    }

    /// How often it began anew.
    pub(crate) const fn generation(&self) -> u64 {
        self.generation
    }

    /// The number of the first update behind a sequence, if it can be told from there on: it is held, and the log has come
    /// that far.
    pub(crate) fn resume(&self, sequence: u64) -> Option<u64> {
        self.view.as_ref().filter(|_| self.reaches(sequence)).and_then(|_| self.tape.number_after(sequence))
    }

    /// Whether what it shows, or what was told, is at least as new as a sequence.
    pub(crate) fn reaches(&self, sequence: u64) -> bool {
        sequence <= self.seen.sequence.max(self.tape.told())
    }

    pub(crate) fn listen(&mut self, listener: Arc<Listener>) {
        self.idle_since = None;
        self.listeners.push(listener);
    }

    pub(crate) fn leave(&mut self, listener: &Arc<Listener>) {
        self.listeners.retain(|its| !Arc::ptr_eq(its, listener));
        if self.listeners.is_empty() {
            self.idle_since = Some(Instant::now());
        }
    }

    /// How many listen.
    pub(crate) fn listeners(&self) -> usize {
        self.listeners.len()
    }

    /// Has all who listen look.
    pub(crate) fn announce(&self) {
        self.listeners.iter().for_each(|listener| listener.announce());
    }

    /// How many figures it shows: what reading it costs.
    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    fn count_rows(&self) -> usize {
        let rows = |value: &Figure| if let Figure::List(rows) = value { rows.len() } else { 1 };
        self.view.as_ref().and_then(Option::as_ref).map_or(0, |values| values.iter().map(rows).sum())
    }
}
