//! What was measured, and what follows from it.

use std::time::{Duration, Instant};

use scarce_engine::memory::MemoryLevels;

use super::Admission;

/// From this share of the budget on, new records are refused, in percent.
const REFUSE_PERCENT: u64 = 90;

/// Below this share they are taken again.
const ACCEPT_PERCENT: u64 = 85;

/// At this share of the budget truly taken new records are refused whatever else is counted.
const FULL_PERCENT: u64 = 97;

/// From this share on the log warns, and below the second it is glad.
const WARN_PERCENT: u64 = 80;
const CALM_PERCENT: u64 = 75;

/// What a snapshot takes for its time, in percent of the state: rows that change before they are written, and what is
/// being read and written. Measured at 4 to 8 percent, with two million accounts.
const SNAPSHOT_PERCENT: u64 = 30;

/// The part of it that is for rows which change before they are written; what a snapshot of little state may always take.
const REMEMBERED_PERCENT: u64 = 20;
const REMEMBERED_BYTES_MIN: u64 = 256 << 10;

/// What the state takes a second time, in percent, with what is read meanwhile.
const SECOND_STATE_PERCENT: u64 = 120;

/// How long after a snapshot its memory may take to return to the system.
const SETTLING_SPAN: Duration = Duration::from_secs(5);

/// The most that a snapshot is believed to leave with the allocator. Measured at nine mebibytes; the rest is new records.
const LEFT_OVER_BYTES_MAX: u64 = 12 << 20;

/// The bounds of what a record can need on average.
const RECORD_BYTES: (u64, u64) = (64, 1_024);

/// What was measured.
#[derive(Debug)]
pub(super) struct Figures {
    /// What the process took before it had any state.
    begun_with: u64,
    /// What it took when no snapshot was being made, and the records that there were.
    resting: (u64, u64),
    /// Whether a snapshot is being made, and when the last one ended.
    is_in_snapshot: bool,
    snapshot_ended: Option<Instant>,
    /// What the last snapshot left with the allocator, which the next one takes again, and the records at that time.
    left_over: (u64, u64),
    /// What all states take, and the records in them.
    state: (u64, u64),
    levels: MemoryLevels,
    admission: Admission,
    has_warned: bool,
}

impl Figures {
    pub(super) fn new(begun_with: u64) -> Self {
        Self {
            begun_with,
            resting: (begun_with, 0),
            is_in_snapshot: false,
            snapshot_ended: None,
            left_over: (0, 0),
            state: (0, 0),
            levels: MemoryLevels::default(),
            admission: Admission::All,
            has_warned: false,
        }
    }

    pub(super) fn levels(&self) -> MemoryLevels {
        self.levels
    }

    /// What so many of the records take.
    pub(super) fn state_bytes_of(&self, rows: u64) -> u64 {
        part(self.state.0, rows, self.state.1)
    }

    /// Notes that a snapshot begins or has ended.
    pub(super) fn note_snapshot(&mut self, is_in_snapshot: bool) {
        self.is_in_snapshot = is_in_snapshot;
        self.snapshot_ended = (!is_in_snapshot).then(Instant::now);
    }

    /// Takes what the process takes now, and the records and reusable bytes of each partition.
    pub(super) fn measure(&mut self, used: u64, shares: &[(u64, u64)], max: u64) -> Admission {
        let rows: u64 = shares.iter().map(|(rows, _)| rows).sum();
        let largest = shares.iter().map(|(rows, _)| *rows).max().unwrap_or(0);
        let resting = self.rest(used, rows);
        self.state = (self.state_bytes(resting.saturating_sub(self.left_over_now(rows)), rows), rows);
        let largest = self.state_bytes_of(largest);
        let snapshot = largest.saturating_mul(SNAPSHOT_PERCENT) / 100;
        let wanted = resting.saturating_add(snapshot.saturating_sub(self.left_over_now(rows)));
        self.levels = MemoryLevels {
            used_bytes: used,
            max_bytes: max,
            reserved_bytes: wanted.saturating_sub(used),
            second_state_bytes: largest.saturating_mul(SECOND_STATE_PERCENT) / 100,
            reusable_bytes: shares.iter().map(|(_, bytes)| bytes).sum(),
            is_refusing: false,
        };
        self.admission = self.decide(used, max);
        self.admission
    }

    /// The part of what the process takes at rest that a snapshot copies. Not connections, and what else there is.
    const fn state_bytes(&self, resting: u64, rows: u64) -> u64 {
        let (most, measured) = (rows.saturating_mul(RECORD_BYTES.1), resting.saturating_sub(self.begun_with));
        if measured < most { measured } else { most }
    }

    /// What the process would take without the snapshot that is being made, or was just now.
    fn rest(&mut self, used: u64, rows: u64) -> u64 {
        let (bytes, before) = self.resting;
        let expected = bytes.saturating_add(self.bytes_of_new(rows.saturating_sub(before)));
        let settles = self.snapshot_ended.is_some_and(|ended| ended.elapsed() < SETTLING_SPAN);
        if (self.is_in_snapshot || settles) && used > expected {
            return expected;
        }
        if !self.is_in_snapshot {
            self.note_left_over(used, rows, expected, settles);
            self.resting = (used, rows);
        }
        used
    }

    /// What so many new records take, by the mean of those that there were at rest.
    fn bytes_of_new(&self, rows: u64) -> u64 {
        let (bytes, before) = self.resting;
        let state = self.state_bytes(bytes.saturating_sub(self.left_over_now(before)), before);
        let mean = state.checked_div(before).unwrap_or(0);
        rows.saturating_mul(mean.clamp(RECORD_BYTES.0, RECORD_BYTES.1))
    }

    /// Notes what is still taken once a snapshot's memory had the time to return, and what of it returned later.
    fn note_left_over(&mut self, used: u64, rows: u64, expected: u64, settles: bool) {
        if settles {
            return;
        }
        if self.snapshot_ended.take().is_some() {
            let left_over = self.left_over_now(rows).saturating_add(used.saturating_sub(expected));
            self.left_over = (left_over.min(LEFT_OVER_BYTES_MAX), rows);
        } else {
            self.left_over.0 = self.left_over.0.saturating_sub(self.resting.0.saturating_sub(used));
        }
    }

    /// What is left of it: new records take it first.
    fn left_over_now(&self, rows: u64) -> u64 {
        let grown = rows.saturating_sub(self.left_over.1).saturating_mul(RECORD_BYTES.0);
        self.left_over.0.saturating_sub(grown)
    }

    fn decide(&mut self, used: u64, max: u64) -> Admission {
        let (percent, taken) = (self.levels.percent(), hundredths(used, max));
        self.warn(percent);
        let is_refusing = self.admission != Admission::All;
        if taken >= 100 {
            return Admission::FreeingWithoutId;
        }
        let limit = if is_refusing { ACCEPT_PERCENT } else { REFUSE_PERCENT };
        if percent >= limit || taken >= FULL_PERCENT { Admission::Freeing } else { Admission::All }
    }

    fn warn(&mut self, percent: u64) {
        let MemoryLevels { used_bytes, max_bytes, reserved_bytes, .. } = self.levels;
        if !self.has_warned && percent >= WARN_PERCENT {
            self.has_warned = true;
            tracing::warn!(
                used_bytes,
                reserved_bytes,
                max_bytes,
                percent,
                "memory is nearly used up; at 90 % of --memory-max new operation ids and new records are refused"
            );
        } else if self.has_warned && percent < CALM_PERCENT {
            self.has_warned = false;
            tracing::info!(used_bytes, max_bytes, percent, "there is memory again");
        }
    }
}

/// What is kept of the budget for rows of a state of so many bytes that change before a snapshot has them.
pub(super) fn remembered_bytes_max(state_bytes: u64) -> u64 {
    (state_bytes.saturating_mul(REMEMBERED_PERCENT) / 100).max(REMEMBERED_BYTES_MIN)
}

/// As much of a whole as some of its parts are of all.
fn part(whole: u64, some: u64, all: u64) -> u64 {
    let bytes = u128::from(whole) * u128::from(some) / u128::from(all.max(1));
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

fn hundredths(part: u64, whole: u64) -> u64 {
    part.saturating_mul(100).checked_div(whole).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: u64 = 1_000 << 20;
    const MIB: u64 = 1 << 20;
    const ROWS: u64 = 1_000_000;

    fn measured(figures: &mut Figures, used_mib: u64, rows: u64, reusable_mib: u64) -> Admission {
        figures.measure(used_mib * MIB, &[(rows, reusable_mib * MIB)], MAX)
    }

    #[test]
    fn room_for_a_snapshot_is_kept_and_the_door_does_not_flap() {
        let mut figures = Figures::new(10 * MIB);
        let closes_at = (10..1_000).find(|used| measured(&mut figures, *used, ROWS, 0) != Admission::All);
        let closes_at = closes_at.expect("it closes");
        let with_snapshot = closes_at + (closes_at - 10) * SNAPSHOT_PERCENT / 100;
        assert!((895..=905).contains(&with_snapshot), "{closes_at} MiB and {with_snapshot} MiB");
        assert_eq!(measured(&mut figures, closes_at - 5, ROWS, 0), Admission::Freeing);
        let opens_at =
            (10..closes_at).rev().find(|used| measured(&mut figures, *used, ROWS, 0) == Admission::All);
        assert!(opens_at.is_some_and(|opens_at| opens_at + 10 < closes_at), "{opens_at:?}");
    }

    #[test]
    fn a_snapshot_that_takes_what_was_kept_for_it_closes_nothing() {
        let mut figures = Figures::new(10 * MIB);
        assert_eq!(measured(&mut figures, 210, ROWS, 0), Admission::All);
        figures.note_snapshot(true);
        assert_eq!(measured(&mut figures, 420, ROWS, 0), Admission::All);
        // The owner goes on meanwhile, and what it adds counts.
        assert_eq!(measured(&mut figures, 820, 37 * ROWS / 10, 0), Admission::Freeing);
        assert_eq!(measured(&mut figures, 420, ROWS, 0), Admission::All);
        figures.note_snapshot(false);
        // Freed memory returns a little later.
        assert_eq!(measured(&mut figures, 250, ROWS, 0), Admission::All);
        assert_eq!(figures.levels().reserved_bytes, 20 * MIB);
        assert_eq!(measured(&mut figures, 210, ROWS, 0), Admission::All);
        assert_eq!(figures.levels().reserved_bytes, 60 * MIB);
        assert_eq!(figures.levels().second_state_bytes, 240 * MIB);
    }

    #[test]
    fn what_a_snapshot_leaves_with_the_allocator_is_not_counted_twice() {
        let mut figures = Figures::new(10 * MIB);
        measured(&mut figures, 210, ROWS, 0);
        let mut snapshot = |used: u64, rows: u64| {
            figures.note_snapshot(true);
            measured(&mut figures, 2 * used, rows, 0);
            figures.note_snapshot(false);
            figures.snapshot_ended = Instant::now().checked_sub(2 * SETTLING_SPAN);
            measured(&mut figures, used, rows, 0);
            (figures.levels().reserved_bytes / MIB, figures.levels().needed_bytes() / MIB)
        };
        assert_eq!(snapshot(210, ROWS), (60, 270));
        assert_eq!(snapshot(219, ROWS), (51, 270), "nine MiB stay, and are taken again");
        assert_eq!(snapshot(221, ROWS), (49, 270), "two more");
        // Half of it returns, and the rest is taken by new records.
        measured(&mut figures, 215, ROWS, 0);
        assert_eq!(figures.levels().needed_bytes() / MIB, 270);
        measured(&mut figures, 235, ROWS + ROWS / 10, 0);
        assert_eq!(figures.levels().reserved_bytes / MIB, 225 * SNAPSHOT_PERCENT / 100);
    }

    #[test]
    fn room_of_removed_records_counts_until_the_process_itself_is_full() {
        let mut figures = Figures::new(0);
        assert_eq!(measured(&mut figures, 750, ROWS, 0), Admission::Freeing);
        assert_eq!(measured(&mut figures, 750, ROWS, 300), Admission::All);
        assert_eq!(measured(&mut figures, 980, ROWS, 980), Admission::Freeing);
        assert_eq!(measured(&mut figures, 1_000, ROWS, 980), Admission::FreeingWithoutId);
    }

    #[test]
    fn partitions_make_their_snapshots_one_after_another() {
        let mut figures = Figures::new(0);
        let shares = [(ROWS, 0); 4];
        assert_eq!(figures.measure(400 * MIB, &shares, MAX), Admission::All);
        assert_eq!(figures.levels().reserved_bytes, 30 * MIB);
    }
}
