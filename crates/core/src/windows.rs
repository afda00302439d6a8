//! Time spans from a start up to, not including, an end; and the windows in which limits count.
//!
//! A window has an index, which increases by one from window to window. Calendar windows count from the
//! one that contains 1970-01-01 00:00 at their offset from UTC, so that the index of an hour is ⌊local ms
//! ÷ 3 600 000⌋, of a day ⌊local ms ÷ 86 400 000⌋, of a week ⌊(days + 3) ÷ 7⌋ (1970 began on a Thursday,
//! weeks begin on Monday), of a month 12 · (year − 1970) + month − 1. Fixed windows have the index ⌊t ÷
//! duration⌋. The calendar is proleptic Gregorian, without leap seconds.

use crate::command::shapes::{CalendarUnit, Window};
use crate::facts;
use crate::outcome::{Code, Refusal};
use crate::types::{INTEGER_MAX, TimeMs, signed};

/// A minute in milliseconds.
pub const MINUTE_MS: i64 = 60_000;
/// An hour in milliseconds.
pub const HOUR_MS: i64 = 60 * MINUTE_MS;
/// A day in milliseconds.
pub const DAY_MS: i64 = 24 * HOUR_MS;

/// Days from a Monday to 1970-01-01.
pub const DAYS_SINCE_MONDAY: i64 = 3;

/// Whether `now` lies within a sale or campaign: from its start up to, not including, its end.
pub(crate) fn check_times(
    starts_at: Option<TimeMs>,
    ends_at: Option<TimeMs>,
    now: TimeMs,
) -> Result<(), Refusal> {
    if let Some(starts_at) = starts_at.filter(|starts_at| now < *starts_at) {
        return Err(Refusal::new(Code::NotStarted, facts![starts_at, now]));
    }
    if let Some(ends_at) = ends_at.filter(|ends_at| now >= *ends_at) {
        return Err(Refusal::new(Code::Ended, facts![ends_at, now]));
    }
    Ok(())
}

/// The index of the window that contains `at`, and when the next one begins: absent if there is no
/// window, and kept within the range of integers.
#[must_use]
pub fn window_at(window: Window, at: TimeMs) -> (i64, Option<TimeMs>) {
    match window {
        Window::None => (0, None),
        Window::Fixed(duration_ms) => {
            let index = at / duration_ms.get();
            let ends_at = index.saturating_add(1).saturating_mul(duration_ms.get());
            (signed(index), Some(ends_at.min(INTEGER_MAX)))
        }
        Window::Calendar(unit, offset_minutes) => {
            let offset_ms = offset_minutes * MINUTE_MS;
            let index = calendar_index(unit, signed(at) + offset_ms);
            let ends_at = calendar_start(unit, index + 1) - offset_ms;
            (index, Some(u64::try_from(ends_at).unwrap_or(0).min(INTEGER_MAX)))
        }
    }
}

fn calendar_index(unit: CalendarUnit, local_ms: i64) -> i64 {
    let days = local_ms.div_euclid(DAY_MS);
    match unit {
        CalendarUnit::Hour => local_ms.div_euclid(HOUR_MS),
        CalendarUnit::Day => days,
        CalendarUnit::Week => (days + DAYS_SINCE_MONDAY).div_euclid(7),
        CalendarUnit::Month => month_of_day(days),
    }
}

/// The local time at which a window begins.
fn calendar_start(unit: CalendarUnit, index: i64) -> i64 {
    match unit {
        CalendarUnit::Hour => index * HOUR_MS,
        CalendarUnit::Day => index * DAY_MS,
        CalendarUnit::Week => (index * 7 - DAYS_SINCE_MONDAY) * DAY_MS,
        CalendarUnit::Month => first_day_of_month(index) * DAY_MS,
    }
}

// Years begin with March here, so that a leap day is the last day of a year: then the months before month
// m of such a year have (153 m + 2) ÷ 5 days. Eras are the 400 years after which the calendar repeats.
/// The days of an era.
pub const ERA_DAYS: i64 = 146_097;
/// The months of an era.
pub const ERA_MONTHS: i64 = 4_800;

/// Days from 0000-03-01 to 1970-01-01.
pub const DAYS_TO_1970: i64 = 719_468;

/// Months from March of the year 0 to January 1970.
pub const MONTHS_TO_1970: i64 = 1_970 * 12 - 2;

/// The month, counted from January 1970, of a day counted from 1970-01-01.
fn month_of_day(day: i64) -> i64 {
    let day = day + DAYS_TO_1970;
    let era = day.div_euclid(ERA_DAYS);
    let day = day.rem_euclid(ERA_DAYS);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    era * ERA_MONTHS + year * 12 + (5 * day + 2) / 153 - MONTHS_TO_1970
}

/// The first day, counted from 1970-01-01, of a month counted from January 1970.
fn first_day_of_month(month: i64) -> i64 {
    let month = month + MONTHS_TO_1970;
    let era = month.div_euclid(ERA_MONTHS);
    let (year, month) = (month.rem_euclid(ERA_MONTHS) / 12, month.rem_euclid(12));
    era * ERA_DAYS + 365 * year + year / 4 - year / 100 + (153 * month + 2) / 5 - DAYS_TO_1970
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Positive;

    const DAY: u64 = 86_400_000;

    /// Counts day by day from 1970: the month that each day is in, and whether it is a Monday.
    fn naive_days(count: usize) -> Vec<(i64, bool)> {
        let (mut year, mut month, mut day) = (1970, 0, 1);
        let mut days = Vec::new();
        for at in 0..count {
            days.push(((year - 1970) * 12 + month, at % 7 == 4));
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = match month {
                1 => 28 + i64::from(leap),
                3 | 5 | 8 | 10 => 30,
                _ => 31,
            };
            day += 1;
            if day > length {
                (day, month) = (1, month + 1);
            }
            if month == 12 {
                (month, year) = (0, year + 1);
            }
        }
        days
    }

    fn calendar(unit: CalendarUnit, offset: i64, at: u64) -> (i64, u64) {
        let (index, ends_at) = window_at(Window::Calendar(unit, offset), at);
        (index, ends_at.expect("an end"))
    }

    #[test]
    fn months_and_weeks_are_those_of_a_calendar_that_counts_day_by_day() {
        let days = naive_days(250_000);
        let (mut week, mut first) = (0, 0);
        for (day, (month, monday)) in days.iter().enumerate() {
            week += i64::from(*monday);
            let at = day as u64 * DAY;
            for (offset, instant) in [-1_080, 0, 345].iter().flat_map(|offset| {
                [at, at + DAY - 1].map(|local| (*offset, local.checked_add_signed(-offset * MINUTE_MS)))
            }) {
                let Some(instant) = instant else { continue };
                assert_eq!(calendar(CalendarUnit::Week, offset, instant).0, week, "day {day} {offset}");
                assert_eq!(calendar(CalendarUnit::Month, offset, instant).0, *month, "day {day} {offset}");
                assert_eq!(calendar(CalendarUnit::Day, offset, instant).0, signed(day as u64), "{offset}");
            }
            if day > 0 && days[day - 1].0 != *month {
                for before in [first, first + DAY, at - 1] {
                    assert_eq!(calendar(CalendarUnit::Month, 0, before).1, at, "day {day}");
                }
                first = at;
            }
        }
    }

    #[test]
    fn windows_follow_one_another_without_gap_at_every_offset() {
        let units = CalendarUnit::ALL;
        for (unit, offset) in
            units.iter().flat_map(|unit| [-1_080, -210, 0, 345, 1_080].map(|at| (*unit, at)))
        {
            let mut at = 0;
            let (mut index, mut ends_at) = calendar(unit, offset, at);
            for _ in 0..3_000 {
                assert!(ends_at > at, "{unit:?} {offset}");
                assert_eq!(calendar(unit, offset, ends_at - 1), (index, ends_at), "{unit:?} {offset}");
                at = ends_at;
                let next = calendar(unit, offset, at);
                assert_eq!(next.0, index + 1, "{unit:?} {offset}");
                (index, ends_at) = next;
            }
        }
    }

    #[test]
    fn offsets_move_midnight_and_month_end() {
        // 2024-02-29 16:00 UTC is midnight of 1 March at UTC+8.
        let leap_day_end = 1_709_222_400_000;
        assert_eq!(calendar(CalendarUnit::Month, 480, leap_day_end - 1), (649, leap_day_end));
        assert_eq!(calendar(CalendarUnit::Month, 480, leap_day_end).0, 650);
        assert_eq!(calendar(CalendarUnit::Day, 480, leap_day_end - 1).1, leap_day_end);
        // 2024-12-31 23:30 at UTC−5 is 04:30 UTC of the next year.
        assert_eq!(calendar(CalendarUnit::Month, -300, 1_735_705_800_000), (659, 1_735_707_600_000));
        // Monday 2024-01-01 00:00 UTC.
        assert_eq!(calendar(CalendarUnit::Week, 0, 1_704_067_200_000 - 1).1, 1_704_067_200_000);
        // An offset of half an hour moves the hour.
        assert_eq!(calendar(CalendarUnit::Hour, 330, 1_800_000), (6, 5_400_000));
    }

    #[test]
    fn the_whole_range_of_time_has_windows() {
        let fixed = |duration, at| window_at(Window::Fixed(Positive::new(duration).expect("a duration")), at);
        assert_eq!(window_at(Window::None, INTEGER_MAX), (0, None));
        assert_eq!(fixed(1_000, 999), (0, Some(1_000)));
        assert_eq!(fixed(1_000, 1_000), (1, Some(2_000)));
        assert_eq!(fixed(INTEGER_MAX, INTEGER_MAX - 1), (0, Some(INTEGER_MAX)));
        assert_eq!(fixed(INTEGER_MAX, INTEGER_MAX), (1, Some(INTEGER_MAX)));
        assert_eq!(fixed(1, INTEGER_MAX), (signed(INTEGER_MAX), Some(INTEGER_MAX)));
        for unit in CalendarUnit::ALL {
            for offset in [-1_080, 0, 1_080] {
                assert_eq!(calendar(*unit, offset, INTEGER_MAX).1, INTEGER_MAX);
                let early = calendar(*unit, offset, INTEGER_MAX - 40 * DAY);
                assert!(early.1 > INTEGER_MAX - 40 * DAY && early.1 < INTEGER_MAX);
            }
        }
    }
}
