//! How long commands take: from the turn in which they were read until their replies may leave. What a turn decides is
//! counted by command, so that a command costs an addition and no look at the clock.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use scarce_gateway::latencies::CommandDurations;

/// Command numbers are below this.
const NUMBERS: usize = 128;

/// How many counts may wait for the disk. Callers that only read could add to them without end while it stands still.
const WAITING_MAX: usize = 4_096;

/// The commands of a port's thread whose replies have not left.
pub(super) struct Tally {
    /// When the commands were read that are being decided.
    begun: Instant,
    /// How many of each number were decided in this turn, and which numbers those are.
    counts: [u32; NUMBERS],
    touched: Vec<u16>,
    /// The batch that the last of them waits for.
    after: u64,
    waiting: VecDeque<Waiting>,
    durations: Arc<CommandDurations>,
}

/// Commands of one number in one turn.
struct Waiting {
    begun: Instant,
    after: u64,
    number: u16,
    count: u32,
}

impl Tally {
    pub(super) fn new(durations: Arc<CommandDurations>) -> Self {
        Self {
            begun: Instant::now(),
            counts: [0; NUMBERS],
            touched: Vec::new(),
            after: 0,
            waiting: VecDeque::new(),
            durations,
        }
    }

    /// When the commands were read that are being decided.
    pub(super) const fn begun(&self) -> Instant {
        self.begun
    }

    /// The commands from now on were read at this time.
    pub(super) fn begin(&mut self, now: Instant) {
        self.begun = now;
    }

    /// Counts a command whose reply may leave once the batch `after` is durable.
    #[inline]
    pub(super) fn note(&mut self, number: u16, after: u64) {
        let Some(count) = self.counts.get_mut(usize::from(number)) else { return };
        if *count == 0 {
            self.touched.push(number);
        }
        *count += 1;
        self.after = after;
    }

    /// All commands of the turn are counted.
    pub(super) fn close(&mut self) {
        while let Some(number) = self.touched.pop() {
            let count = std::mem::take(&mut self.counts[usize::from(number)]);
            if self.waiting.len() < WAITING_MAX {
                self.waiting.push_back(Waiting { begun: self.begun, after: self.after, number, count });
            }
        }
    }

    /// What waited for batches that are durable takes no longer.
    #[inline]
    pub(super) fn settle(&mut self, durable: u64, now: Instant) {
        while let Some(Waiting { begun, number, count, .. }) =
            self.waiting.pop_front_if(|first| first.after <= durable)
        {
            self.durations.note(number, now.saturating_duration_since(begun), u64::from(count));
        }
    }

    /// Notes a command that another thread has answered.
    pub(super) fn note_answer(&self, number: u16, begun: Instant, now: Instant) {
        self.durations.note(number, now.saturating_duration_since(begun), 1);
    }
}
