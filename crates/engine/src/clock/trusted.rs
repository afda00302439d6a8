//! The clock that stamps go by. Time passes as the clock since the boot says, which nobody can set; the wall clock is
//! followed only as far as a time service could have slewed it. What it is ahead of that needs a proof.

use std::sync::Arc;
use std::time::Duration;

use scarce_core::types::TimeMs;

use super::{Clock, ClockApart, ClockChange, ClockNote, TimeSource, milliseconds};

/// The wall clock is followed ahead of the time that has passed by one part in so many: a time service slews at most
/// half as fast.
const DRIFT: u32 = 1_000;

/// So much of that may be saved up, and no more: leaps do not add up, however small they are.
const ALLOWANCE_MAX: Duration = Duration::from_secs(1);

/// Less than this is not worth a word.
const SLACK: Duration = Duration::from_secs(1);

/// How often the kernel is asked whether its clock is synchronised.
const ASKED_EVERY: Duration = Duration::from_secs(1);

/// How much may pass from boot to boot, in all, before something confirms the clock.
pub const GAP_MAX: Duration = Duration::from_hours(1);

/// A clock that is further than this beyond the last stamp at a start is a fault, and stamps do not follow it: from there
/// they could not come back.
pub const LEAP_STARTING_MAX: Duration = Duration::from_hours(24 * 90);

/// How long the wall clock must run as fast as the clock since the boot to be believed, where nothing is set.
pub const STEADY_SPAN: Duration = Duration::from_hours(1);

/// How far a wall clock is followed without a proof.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrustBounds {
    pub(super) drift: u32,
    pub(super) allowance_max: Duration,
    pub(super) gap_max: Duration,
    pub(super) leap_starting_max: Duration,
}

pub(super) const TRUST_BOUNDS: TrustBounds = TrustBounds {
    drift: DRIFT,
    allowance_max: ALLOWANCE_MAX,
    gap_max: GAP_MAX,
    leap_starting_max: LEAP_STARTING_MAX,
};

/// What a clock goes on from.
#[derive(Clone, Debug)]
pub struct ClockStart {
    /// What the engine wrote down last.
    pub note: Option<ClockNote>,
    /// The last stamp of the log, 0 for a new one.
    pub stamp: TimeMs,
    /// Whether the log says that its time is doubted.
    pub is_doubted: bool,
    /// Whether the operator says that the wall clock is right.
    pub accepts_wall: bool,
    /// How long the wall clock must run steadily to be believed.
    pub steady_span: Duration,
}

/// The clock that stamps go by. Where it is ahead of the wall clock it goes on at nine tenths of the speed until the wall
/// clock has caught up.
#[derive(Debug)]
pub struct TrustedClock {
    source: Arc<dyn TimeSource>,
    bounds: TrustBounds,
    boot_id: Option<String>,
    steady_span: Duration,
    time: Duration,
    boot: Duration,
    wall: Duration,
    allowance: Duration,
    unproved: Duration,
    accepts_wall: bool,
    /// The machine was off for so long that the log must say so before stamps go on.
    has_gap: bool,
    is_doubted: bool,
    /// The wall clock less the clock since the boot, and since when it has been so.
    offset: Duration,
    steady_since: Duration,
    asked_at: Option<Duration>,
}

impl TrustedClock {
    /// A clock that goes on from what is known.
    #[must_use]
    pub fn start(source: Arc<dyn TimeSource>, start: ClockStart) -> Self {
        Self::start_within(source, start, TRUST_BOUNDS)
    }

    /// The same within other bounds.
    pub(super) fn start_within(source: Arc<dyn TimeSource>, start: ClockStart, bounds: TrustBounds) -> Self {
        let (boot, wall) = (source.boot(), source.wall());
        let ClockStart { note, stamp, is_doubted, accepts_wall, steady_span } = start;
        let mut clock = Self {
            boot_id: source.boot_id(),
            steady_span,
            time: wall,
            boot,
            wall,
            allowance: bounds.allowance_max,
            bounds,
            unproved: Duration::ZERO,
            accepts_wall,
            has_gap: false,
            is_doubted,
            offset: wall.saturating_sub(boot),
            steady_since: boot,
            asked_at: None,
            source,
        };
        let stamp = Duration::from_millis(stamp);
        match note {
            Some(note) if clock.boot_id.as_ref() == Some(&note.boot_id) && note.boot <= boot => {
                clock.go_on(&note, stamp);
            }
            None if stamp.is_zero() => {}
            note => clock.begin(note.as_ref(), stamp),
        }
        clock
    }

    /// Within one boot: what has passed since is known.
    fn go_on(&mut self, note: &ClockNote, stamp: Duration) {
        (self.time, self.boot) = (note.time, note.boot);
        (self.allowance, self.unproved) = (note.allowance, note.unproved);
        self.read();
        // Stamps of a run that ended before it could write down what it had been allowed.
        self.allowance = self.allowance.saturating_sub(stamp.saturating_sub(self.time));
        self.time = self.time.max(stamp);
    }

    /// After another boot: only the wall clock can say how long the machine was off.
    fn begin(&mut self, note: Option<&ClockNote>, stamp: Duration) {
        let known = note.map_or(stamp, |note| stamp.max(note.time));
        let gap = self.wall.saturating_sub(known);
        self.unproved = note.map_or(gap, |note| note.unproved.saturating_add(gap));
        let is_believed = self.accepts_wall || self.unproved <= self.bounds.gap_max || self.is_synchronised();
        self.time = if is_believed { self.wall.max(known) } else { known };
        self.has_gap = !is_believed && gap <= self.bounds.leap_starting_max;
    }

    /// What to write down, where the machine can say which boot this is.
    #[must_use]
    pub fn note(&mut self) -> Option<ClockNote> {
        self.read();
        if self.is_proved() {
            self.unproved = Duration::ZERO;
        }
        Some(ClockNote {
            time: self.time,
            boot: self.boot,
            boot_id: self.boot_id.clone()?,
            allowance: self.allowance,
            unproved: self.unproved,
        })
    }

    /// Lets as much time pass as has passed.
    fn read(&mut self) {
        let (boot, wall) = (self.source.boot(), self.source.wall());
        let elapsed = boot.saturating_sub(self.boot);
        self.boot = self.boot.max(boot);
        self.wall = wall;
        self.allowance = (self.allowance + elapsed / self.bounds.drift).min(self.bounds.allowance_max);
        let passed = self.time + elapsed;
        if wall < passed {
            self.time = (passed - elapsed / 10).max(wall);
        } else {
            let step = (wall - passed).min(self.allowance);
            self.allowance -= step;
            self.time = passed + step;
        }
        let offset = wall.saturating_sub(self.boot);
        if offset.abs_diff(self.offset) > SLACK {
            (self.offset, self.steady_since) = (offset, self.boot);
        }
    }

    /// Whether something confirms the wall clock as it is.
    fn is_proved(&mut self) -> bool {
        let is_steady = self.boot.saturating_sub(self.steady_since) >= self.steady_span;
        is_steady || self.is_synchronised()
    }

    /// Whether the kernel confirms the wall clock. It is asked anew, as a leap a moment ago ends what it said before.
    fn is_synchronised(&mut self) -> bool {
        if self.asked_at.is_some_and(|at| self.boot < at + ASKED_EVERY) {
            return false;
        }
        self.asked_at = Some(self.boot);
        // The wall clock of this process may be another than the kernel's.
        let kernel = self.source.synchronised_wall();
        kernel.is_some_and(|kernel| kernel.abs_diff(self.wall) <= SLACK)
    }

    fn is_ahead(&self) -> bool {
        self.wall > self.time + SLACK
    }

    fn is_behind(&self) -> bool {
        self.time > self.wall + SLACK
    }

    fn moved(&self) -> ClockChange {
        ClockChange::Moved { from_ms: milliseconds(self.time), to_ms: milliseconds(self.wall) }
    }
}

impl Clock for TrustedClock {
    fn now(&mut self) -> TimeMs {
        self.read();
        milliseconds(self.time)
    }

    fn wait_until(&mut self, at: TimeMs) -> Option<Duration> {
        let now = self.now();
        Some(Duration::from_millis(at.saturating_sub(now)))
    }

    fn proposal(&mut self) -> Option<ClockChange> {
        if !self.is_unsettled() {
            return None;
        }
        if std::mem::take(&mut self.accepts_wall) {
            let is_apart = self.is_ahead() || self.is_behind();
            return is_apart.then(|| self.moved()).or(self.is_doubted.then_some(ClockChange::Confirmed));
        }
        if self.has_gap {
            let (from_ms, to_ms) = (milliseconds(self.time), milliseconds(self.wall.max(self.time)));
            return Some(ClockChange::Doubted { from_ms, to_ms });
        }
        if self.is_behind() {
            // What was doubted was wrong, and nothing has ended by it: it is taken back.
            return (self.is_doubted && self.is_synchronised()).then(|| self.moved());
        }
        if !self.is_proved() {
            return None;
        }
        Some(if self.is_doubted { ClockChange::Confirmed } else { self.moved() })
    }

    fn adopt(&mut self, change: ClockChange) {
        match change {
            ClockChange::Doubted { to_ms, .. } => {
                self.time = Duration::from_millis(to_ms);
                (self.has_gap, self.is_doubted) = (false, true);
            }
            ClockChange::Confirmed => self.is_doubted = false,
            ClockChange::Moved { to_ms, .. } => {
                self.time = Duration::from_millis(to_ms);
                (self.has_gap, self.is_doubted) = (false, false);
            }
        }
    }

    fn is_unsettled(&self) -> bool {
        self.accepts_wall || self.has_gap || self.is_doubted || self.is_ahead()
    }

    fn apart(&self) -> ClockApart {
        ClockApart {
            wall_ahead_ms: milliseconds(self.wall.saturating_sub(self.time)),
            wall_behind_ms: milliseconds(self.time.saturating_sub(self.wall)),
        }
    }
}
