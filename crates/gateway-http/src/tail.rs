//! The end of each partition's log, read and written as JSON once for all streams that follow it. A stream keeps its
//! position only: what it has not sent yet it finds here, or, if it is further behind, in the log.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use scarce_api::cursor;
use scarce_api::event::{self, Marks};
use scarce_core::event::Position;
use scarce_engine::Engine;
use scarce_outflow::{Batch, Cursor, CursorError};
use tokio::sync::{Notify, Semaphore, SemaphorePermit, watch};

use super::events::publics;

/// The most that is kept as JSON, all partitions together.
const HELD_BYTES_MAX: usize = 16 << 20;

/// The most that is read of the log at a time.
const READ_BYTES_MAX: u64 = 256 << 10;

/// How many streams that are further behind may read the log at a time.
const BEHIND_MAX: usize = 2;

/// How long is waited after each look at the log, for each stream: what came meanwhile is sent at once, so that many
/// streams cost a writer little. A thousand streams see an event a tenth of a second later.
const PAUSE_PER_STREAM: Duration = Duration::from_micros(100);

/// The longest such wait.
const PAUSE_MAX: Duration = Duration::from_millis(250);

/// After a failure, and when there is nothing new, the log is looked at again so often.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// What is known of an event beside its text.
pub(super) struct Told {
    pub(super) position: Position,
    pub(super) marks: Marks,
}

/// Consecutive events as streams send them.
pub(super) struct Chunk {
    /// The sequence before the first.
    after: u64,
    /// The sequence of the last.
    through: u64,
    /// Each event, and where its text ends.
    events: Vec<(Told, usize)>,
    text: String,
}

impl Chunk {
    /// Writes a batch as JSON. With a single partition the ids of the events are the same for all streams.
    pub(super) fn of(batch: &Batch, has_ids: bool) -> Self {
        let (mut events, mut text) = (Vec::new(), String::new());
        for (position, public) in publics(batch) {
            if has_ids {
                push_id(&mut text, &[position]);
            }
            push_event(&mut text, &public);
            events.push((Told { position, marks: Marks::of(public.event) }, text.len()));
        }
        Self { after: batch.after.sequence, through: batch.end().sequence, events, text }
    }

    /// The events after a sequence with their texts.
    pub(super) fn events_after(&self, sequence: u64) -> impl Iterator<Item = (&Told, &str)> {
        let skipped = self.events.partition_point(|(told, _)| told.position.sequence <= sequence);
        let start = if skipped == 0 { 0 } else { self.events[skipped - 1].1 };
        self.events[skipped..].iter().scan(start, |start, (told, end)| {
            let text = &self.text[*start..*end];
            *start = *end;
            Some((told, text))
        })
    }
}

/// Writes the id of an event: the cursor behind it.
pub(super) fn push_id(text: &mut String, positions: &[Position]) {
    text.push_str("id: ");
    text.push_str(&cursor::of_positions(positions));
    text.push('\n');
}

/// Writes the name and the JSON of an event. Neither contains a line break.
pub(super) fn push_event(text: &mut String, public: &event::Public<'_>) {
    for part in ["event: ", public.event.spec().name, "\ndata: ", &public.json(), "\n\n"] {
        text.push_str(part);
    }
}

/// The most that is kept of each of so many partitions.
fn held_bytes_max(partitions: usize) -> usize {
    HELD_BYTES_MAX / partitions.max(1)
}

/// What is held of a partition.
#[derive(Default)]
struct Held {
    /// How many streams follow it.
    streams: usize,
    is_running: bool,
    /// The sequences after `after` and up to `through` are held. Nothing is while this is unknown.
    span: Option<(u64, u64)>,
    chunks: VecDeque<Arc<Chunk>>,
    bytes: usize,
}

impl Held {
    fn clear(&mut self, at: Option<u64>) {
        self.span = at.map(|at| (at, at));
        self.chunks.clear();
        self.bytes = 0;
    }

    fn push(&mut self, chunk: Chunk, bytes_max: usize) {
        self.bytes += chunk.text.len();
        let (mut after, through) = (self.span.map_or(chunk.after, |(after, _)| after), chunk.through);
        self.chunks.push_back(Arc::new(chunk));
        while self.bytes > bytes_max && self.chunks.len() > 1 {
            if let Some(first) = self.chunks.pop_front() {
                self.bytes -= first.text.len();
                after = first.through;
            }
        }
        self.span = Some((after, through));
    }
}

/// What follows a position.
pub(super) enum Next {
    /// These events, and maybe more.
    Events(Arc<Chunk>),
    /// Nothing yet.
    Nothing,
    /// It is not held: the log must be read.
    NotHeld,
}

/// The ends of all partitions' logs.
pub(crate) struct Tails {
    engine: Arc<dyn Engine>,
    held: Vec<Mutex<Held>>,
    /// Changes when there may be more to send.
    grown: watch::Sender<u64>,
    behind: Semaphore,
}

impl Tails {
    pub(crate) fn new(engine: Arc<dyn Engine>) -> Arc<Self> {
        let held = (0..engine.partitions()).map(|_| Mutex::default()).collect();
        let (grown, behind) = (watch::Sender::new(0), Semaphore::new(BEHIND_MAX));
        Arc::new(Self { engine, held, grown, behind })
    }

    /// Follows partitions until it is dropped.
    pub(super) fn follow(self: &Arc<Self>, partitions: &[u32]) -> Following {
        let following =
            Following { tails: self.clone(), partitions: partitions.to_vec(), grown: self.grown.subscribe() };
        for partition in partitions {
            let mut held = self.held(*partition);
            held.streams += 1;
            if !std::mem::replace(&mut held.is_running, true) {
                tokio::spawn(self.clone().run(*partition));
            }
        }
        following
    }

    fn held(&self, partition: u32) -> MutexGuard<'_, Held> {
        self.held[partition as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the end of a log as long as streams follow it.
    async fn run(self: Arc<Self>, partition: u32) {
        let grown = Arc::new(Notify::new());
        let wake = grown.clone();
        let watched = self.engine.watch(partition, Arc::new(move || wake.notify_one()));
        while self.read_on(partition, &grown).await.is_err() {
            if self.has_ended(partition) {
                break;
            }
            // Streams now read by themselves, and learn why.
            self.held(partition).clear(None);
            self.grown.send_modify(|count| *count += 1);
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
        drop(watched);
    }

    /// Reads from the end of the log on, until no stream follows it.
    async fn read_on(&self, partition: u32, grown: &Notify) -> Result<(), CursorError> {
        let through = self.engine.durable_through(partition)?;
        self.held(partition).clear(Some(through));
        self.grown.send_modify(|count| *count += 1);
        let begin = Position { epoch: 0, sequence: through };
        let mut cursor = Cursor::new(self.engine.clone(), partition, begin);
        let has_ids = self.held.len() == 1;
        while !self.has_ended(partition) {
            let read = cursor.aside(move |cursor| {
                let batch = cursor.next_batch(READ_BYTES_MAX)?;
                Ok::<_, CursorError>(batch.map(|batch| Chunk::of(&batch, has_ids)))
            });
            let (back, chunk) = read.await.map_err(super::events::unfinished)?;
            cursor = back;
            let Some(chunk) = chunk? else {
                // Streams that have ended are noticed after a while.
                let _ = tokio::time::timeout(LOOK_INTERVAL, grown.notified()).await;
                continue;
            };
            let streams = {
                let mut held = self.held(partition);
                held.push(chunk, held_bytes_max(self.held.len()));
                held.streams
            };
            self.grown.send_modify(|count| *count += 1);
            let pause = PAUSE_PER_STREAM * u32::try_from(streams).unwrap_or(u32::MAX);
            tokio::time::sleep(pause.min(PAUSE_MAX)).await;
        }
        Ok(())
    }

    /// Whether no stream follows the partition. Then nothing is held of it any more, and the next stream starts anew.
    fn has_ended(&self, partition: u32) -> bool {
        let mut held = self.held(partition);
        if held.streams == 0 {
            held.clear(None);
            held.is_running = false;
        }
        !held.is_running
    }
}

/// A stream's share in the tails.
pub(super) struct Following {
    tails: Arc<Tails>,
    partitions: Vec<u32>,
    grown: watch::Receiver<u64>,
}

impl Following {
    /// Looks at the tails; [`Following::grown`] then waits for what comes later.
    pub(super) fn look(&mut self) {
        self.grown.borrow_and_update();
    }

    /// Waits until there may be more.
    pub(super) async fn grown(&mut self) {
        // The tails live as long as this.
        let _ = self.grown.changed().await;
    }

    /// What follows a sequence of a partition.
    pub(super) fn next(&self, partition: u32, after: u64) -> Next {
        let held = self.tails.held(partition);
        match held.span {
            Some((_, through)) if after >= through => Next::Nothing,
            Some((begin, _)) if after >= begin => {
                let at = held.chunks.partition_point(|chunk| chunk.through <= after);
                held.chunks.get(at).map_or(Next::NotHeld, |chunk| Next::Events(chunk.clone()))
            }
            _ => Next::NotHeld,
        }
    }

    /// Waits for a turn to read the log.
    pub(super) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        // It is never closed.
        self.tails.behind.acquire().await.ok()
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        for partition in &self.partitions {
            let mut held = self.tails.held(*partition);
            held.streams = held.streams.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use scarce_core::event::StockSoldOut;
    use scarce_core::types::Id;

    use super::*;

    /// An event of so many bytes.
    fn chunk(after: u64, bytes: usize) -> Chunk {
        let position = Position { epoch: 1, sequence: after + 1 };
        let sku = Id::parse(b"sku", "sku").expect("an id");
        let told = Told { position, marks: Marks::of(&StockSoldOut { sku }.into()) };
        Chunk { after, through: after + 1, events: vec![(told, bytes)], text: "x".repeat(bytes) }
    }

    #[test]
    fn what_is_held_is_the_end_and_takes_no_more_than_its_share() {
        for partitions in [1, 16] {
            let mut held = Held::default();
            held.clear(Some(0));
            (0..200).for_each(|after| held.push(chunk(after, 256 << 10), held_bytes_max(partitions)));
            let bytes: usize = held.chunks.iter().map(|chunk| chunk.text.len()).sum();
            assert!(bytes * partitions <= 16 << 20, "{partitions} partitions hold {bytes} bytes each");
            assert!(bytes * partitions > 15 << 20 && bytes == held.bytes);
            let first = held.chunks.front().map_or(0, |chunk| chunk.after);
            assert_eq!(held.span, Some((first, 200)), "what is no longer held is read from the log");
        }
    }

    #[test]
    fn an_event_that_is_larger_than_the_share_is_held_until_the_next_one() {
        let mut held = Held::default();
        (0..3).for_each(|after| held.push(chunk(after, 2 << 20), 1 << 20));
        assert_eq!((held.chunks.len(), held.span), (1, Some((2, 3))));
    }
}
