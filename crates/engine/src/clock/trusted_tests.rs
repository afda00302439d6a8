//! Clocks that leap, at once and in slices, within a run, across restarts and across boots.

use std::cell::Cell;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::time::Duration;

use super::trusted::{GAP_MAX, LEAP_STARTING_MAX, STEADY_SPAN, TRUST_BOUNDS, TrustBounds};
use super::{Clock, ClockChange, ClockNote, ClockStart, ManualTimeSource, TrustedClock};

const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);
const BEGUN: Duration = Duration::from_hours(24 * 20_000);

thread_local! {
    /// The bounds of the clocks of this thread's test: those of the product, or a planted fault.
    static PLANTED: Cell<TrustBounds> = const { Cell::new(TRUST_BOUNDS) };
}

/// A machine that was booted a day ago, whose kernel does not say that its clock is synchronised.
fn machine() -> ManualTimeSource {
    let source = ManualTimeSource::default();
    source.set(|reading| {
        (reading.wall, reading.boot, reading.boot_id) = (BEGUN, DAY, Some("first".to_owned()));
    });
    source
}

fn ms(time: Duration) -> u64 {
    super::milliseconds(time)
}

fn start(source: &ManualTimeSource, note: Option<ClockNote>, stamp: Duration) -> TrustedClock {
    begin(source, note, stamp, false, false)
}

fn begin(
    source: &ManualTimeSource,
    note: Option<ClockNote>,
    stamp: Duration,
    is_doubted: bool,
    accepts_wall: bool,
) -> TrustedClock {
    let stamp = ms(stamp);
    let start = ClockStart { note, stamp, is_doubted, accepts_wall, steady_span: STEADY_SPAN };
    TrustedClock::start_within(Arc::new(source.clone()), start, PLANTED.get())
}

#[track_caller]
fn assert_about(clock: &mut TrustedClock, expected: Duration) {
    let now = Duration::from_millis(clock.now());
    assert!(now.abs_diff(expected) <= Duration::from_secs(5), "{now:?} is not about {expected:?}");
}

#[test]
fn time_passes_with_the_wall_clock() {
    let source = machine();
    let mut clock = start(&source, None, Duration::ZERO);
    for _ in 0..100 {
        source.pass(HOUR);
        assert_eq!((clock.now(), clock.proposal()), (ms(source_wall(&source)), None));
    }
}

fn source_wall(source: &ManualTimeSource) -> Duration {
    use super::TimeSource as _;
    source.wall()
}

#[test]
fn thirty_leaps_of_55_minutes_are_none_of_them_believed() {
    let source = machine();
    let mut clock = start(&source, None, Duration::ZERO);
    for _ in 0..30 {
        source.set(|reading| reading.wall += 55 * MINUTE);
        source.pass(Duration::from_millis(30));
        assert_about(&mut clock, BEGUN);
        assert_eq!(clock.proposal(), None);
    }
    assert!(clock.apart().wall_ahead_ms > ms(27 * HOUR));
}

#[test]
fn leaps_of_less_than_a_second_do_not_add_up() {
    let source = machine();
    let mut clock = start(&source, None, Duration::ZERO);
    for _ in 0..10_000 {
        source.set(|reading| reading.wall += Duration::from_millis(900));
        clock.now();
    }
    assert_about(&mut clock, BEGUN);
}

#[test]
fn leaps_of_less_than_a_second_are_not_followed_faster_because_time_passes() {
    let source = machine();
    let mut clock = start(&source, None, Duration::ZERO);
    for _ in 0..1_000 {
        source.pass(Duration::from_secs(1));
        source.set(|reading| reading.wall += Duration::from_millis(900));
        clock.now();
    }
    assert_about(&mut clock, BEGUN + Duration::from_secs(1_000));
}

#[test]
fn what_a_time_service_slews_is_followed() {
    let source = machine();
    let mut clock = start(&source, None, Duration::ZERO);
    for _ in 0..100_000 {
        source.pass(Duration::from_secs(1));
        source.set(|reading| reading.wall += Duration::from_micros(500));
        clock.now();
    }
    assert_eq!(clock.now(), ms(source_wall(&source)));
}

#[test]
fn a_restart_within_the_boot_does_not_believe_a_leap() {
    let source = machine();
    let mut clock = start(&source, None, Duration::ZERO);
    for restart in 1..=30_u32 {
        source.pass(MINUTE);
        let (stamp, note) = (Duration::from_millis(clock.now()), clock.note());
        source.set(|reading| reading.wall += 90 * DAY);
        clock = start(&source, note, stamp);
        assert_about(&mut clock, BEGUN + MINUTE * restart);
        assert_eq!(clock.proposal(), None);
    }
}

#[test]
fn a_restart_regains_no_allowance_that_was_used_up() {
    let source = machine();
    let mut clock = start(&source, None, Duration::ZERO);
    let old = clock.note();
    source.set(|reading| reading.wall += 90 * DAY);
    for _ in 0..1_000 {
        // Each run is killed before it can write anything down.
        let stamp = Duration::from_millis(clock.now());
        clock = start(&source, old.clone(), stamp);
    }
    assert_about(&mut clock, BEGUN);
}

#[test]
fn a_week_off_goes_on_in_doubt_until_the_kernel_confirms() {
    let source = machine();
    let mut clock = start(&source, None, Duration::ZERO);
    let (stamp, note) = (Duration::from_millis(clock.now()), clock.note());
    reboot(&source, 7 * DAY);
    let mut clock = start(&source, note, stamp);
    assert_about(&mut clock, BEGUN);
    let change = clock.proposal().expect("a doubt");
    // The second that any wall clock may be ahead is not doubted.
    let (from_ms, to_ms) = (ms(BEGUN) + 1_000, ms(BEGUN + 7 * DAY));
    assert_eq!(change, ClockChange::Doubted { from_ms, to_ms });
    clock.adopt(change);
    assert_eq!((clock.now(), clock.proposal()), (to_ms, None));
    assert!(clock.is_unsettled());
    source.pass(MINUTE);
    source.set(|reading| reading.is_synchronised = true);
    clock.now();
    assert_eq!(clock.proposal(), Some(ClockChange::Confirmed));
    clock.adopt(ClockChange::Confirmed);
    assert!(!clock.is_unsettled());
}

fn reboot(source: &ManualTimeSource, off: Duration) {
    source.set(|reading| {
        reading.wall += off;
        reading.boot = MINUTE;
        reading.boot_id = Some(format!("{}-again", reading.boot_id.take().unwrap_or_default()));
    });
}

#[test]
fn a_steady_hour_confirms_too_and_a_leap_begins_it_anew() {
    let source = machine();
    let note = start(&source, None, Duration::ZERO).note();
    reboot(&source, 7 * DAY);
    let mut clock = start(&source, note, BEGUN);
    let change = clock.proposal().expect("a doubt");
    clock.adopt(change);
    let mut minutes = |count: u32| {
        for _ in 0..count {
            source.pass(MINUTE);
            clock.now();
        }
        clock.proposal()
    };
    assert_eq!(minutes(59), None);
    source.set(|reading| reading.wall += MINUTE);
    assert_eq!(minutes(60), None);
    assert_eq!(minutes(1), Some(ClockChange::Confirmed));
}

#[test]
fn a_machine_that_was_off_and_is_synchronised_goes_on_at_once() {
    let source = machine();
    let note = start(&source, None, Duration::ZERO).note();
    reboot(&source, 7 * DAY);
    source.set(|reading| reading.is_synchronised = true);
    let mut clock = start(&source, note, BEGUN);
    assert_eq!((clock.now(), clock.proposal()), (ms(BEGUN + 7 * DAY), None));
}

#[test]
fn short_gaps_are_believed_but_add_up_from_boot_to_boot() {
    let source = machine();
    let mut clock = start(&source, None, Duration::ZERO);
    let mut doubts = 0;
    for _ in 0..3 {
        let (stamp, note) = (Duration::from_millis(clock.now()), clock.note());
        reboot(&source, GAP_MAX / 2);
        clock = start(&source, note, stamp);
        doubts += usize::from(clock.proposal().is_some());
    }
    assert_eq!(doubts, 1, "the third half hour in a row");
}

#[test]
fn a_clock_that_is_years_off_is_not_followed_until_confirmed() {
    let source = machine();
    let note = start(&source, None, Duration::ZERO).note();
    reboot(&source, LEAP_STARTING_MAX + DAY);
    let mut clock = start(&source, note, BEGUN);
    assert_eq!(clock.proposal(), None);
    assert_about(&mut clock, BEGUN);
    source.pass(MINUTE);
    source.set(|reading| reading.is_synchronised = true);
    clock.now();
    assert!(matches!(clock.proposal(), Some(ClockChange::Moved { .. })));
}

#[test]
fn a_doubt_that_was_wrong_is_taken_back_once_the_kernel_says_so() {
    let source = machine();
    let note = start(&source, None, Duration::ZERO).note();
    reboot(&source, 60 * DAY);
    let mut clock = start(&source, note, BEGUN);
    let change = clock.proposal().expect("a doubt");
    clock.adopt(change);
    source.pass(2 * HOUR);
    source.set(|reading| reading.wall -= 60 * DAY);
    clock.now();
    assert_eq!(clock.proposal(), None, "steady or not, it is not confirmed");
    source.pass(MINUTE);
    source.set(|reading| reading.is_synchronised = true);
    clock.now();
    let change = clock.proposal().expect("the way back");
    clock.adopt(change);
    assert_about(&mut clock, BEGUN + 2 * HOUR + MINUTE);
}

#[test]
fn a_leap_within_the_boot_is_taken_over_when_the_kernel_confirms_it() {
    let source = machine();
    let mut clock = start(&source, None, Duration::ZERO);
    source.set(|reading| reading.is_synchronised = true);
    source.set(|reading| reading.wall += 25 * HOUR);
    source.pass(MINUTE);
    clock.now();
    let change = clock.proposal().expect("a move");
    assert!(matches!(change, ClockChange::Moved { to_ms, .. } if to_ms == ms(BEGUN + 25 * HOUR + MINUTE)));
    clock.adopt(change);
    assert_eq!((clock.now(), clock.proposal()), (ms(BEGUN + 25 * HOUR + MINUTE), None));
}

#[test]
fn the_operator_puts_a_clock_back_that_went_ahead() {
    let source = machine();
    let mut clock = begin(&source, None, BEGUN + 90 * DAY, false, true);
    let change = clock.proposal().expect("the way back");
    assert_eq!(change, ClockChange::Moved { from_ms: ms(BEGUN + 90 * DAY), to_ms: ms(BEGUN) });
    clock.adopt(change);
    assert_eq!((clock.now(), clock.proposal()), (ms(BEGUN), None));
}

#[test]
fn the_operator_confirms_a_doubt() {
    let source = machine();
    let mut clock = begin(&source, None, BEGUN, true, true);
    assert_eq!(clock.proposal(), Some(ClockChange::Confirmed));
}

#[test]
fn a_wall_clock_that_steps_back_does_not_turn_time_back() {
    let source = machine();
    let mut clock = start(&source, None, Duration::ZERO);
    source.set(|reading| reading.wall -= HOUR);
    let mut last = clock.now();
    for _ in 0..100 {
        source.pass(Duration::from_secs(10));
        let now = clock.now();
        assert_eq!(now, last + 9_000, "nine tenths of the speed");
        last = now;
    }
    assert_eq!(clock.proposal(), None, "the operator decides");
}

/// What is planted, the bounds with it, and the tests that must fail.
type Plant<'a> = (&'a str, TrustBounds, &'a [fn()]);

/// Each bound, planted too wide, is missed by the tests that guard it.
#[test]
fn a_bound_that_is_taken_away_is_noticed() {
    let far = DAY * 10_000;
    let plants: [Plant<'_>; 4] = [
        (
            "allowance",
            TrustBounds { allowance_max: far, ..TRUST_BOUNDS },
            &[
                thirty_leaps_of_55_minutes_are_none_of_them_believed,
                leaps_of_less_than_a_second_do_not_add_up,
                a_restart_within_the_boot_does_not_believe_a_leap,
                a_restart_regains_no_allowance_that_was_used_up,
            ],
        ),
        (
            "drift",
            TrustBounds { drift: 1, ..TRUST_BOUNDS },
            &[leaps_of_less_than_a_second_are_not_followed_faster_because_time_passes],
        ),
        (
            "gap",
            TrustBounds { gap_max: far, ..TRUST_BOUNDS },
            &[
                a_week_off_goes_on_in_doubt_until_the_kernel_confirms,
                short_gaps_are_believed_but_add_up_from_boot_to_boot,
            ],
        ),
        (
            "leap at a start",
            TrustBounds { leap_starting_max: far, ..TRUST_BOUNDS },
            &[a_clock_that_is_years_off_is_not_followed_until_confirmed],
        ),
    ];
    for (bound, planted, guards) in plants {
        for (at, guard) in guards.iter().enumerate() {
            PLANTED.set(planted);
            let is_noticed = catch_unwind(guard).is_err();
            PLANTED.set(TRUST_BOUNDS);
            assert!(is_noticed, "without its bound on the {bound}, guard {at} passes");
            guard();
        }
    }
}
