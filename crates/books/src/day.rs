//! Days of the calendar, as numbers.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

const EPOCH: Date = Date::constant(1970, 1, 1);

/// A day: how many there are since 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Day(pub i32);

impl Day {
    /// The day of a time in Unix milliseconds, at an offset from UTC.
    #[must_use]
    pub fn of_ms(unix_ms: i64, offset_ms: i64) -> Self {
        let days = unix_ms.saturating_add(offset_ms).div_euclid(DAY_MS);
        Self(i32::try_from(days).unwrap_or(if days < 0 { i32::MIN } else { i32::MAX }))
    }

    /// When it begins, in Unix milliseconds, at an offset from UTC.
    #[must_use]
    pub fn start_ms(self, offset_ms: i64) -> i64 {
        i64::from(self.0) * DAY_MS - offset_ms
    }

    /// Another day.
    #[must_use]
    pub fn plus(self, days: i32) -> Self {
        Self(self.0.saturating_add(days))
    }

    /// How many days are between.
    #[must_use]
    pub fn distance(self, other: Self) -> u32 {
        self.0.abs_diff(other.0)
    }

    /// Whether a date can be written and read in a format of strftime.
    pub(crate) fn is_format(format: &str) -> bool {
        let date = Date::constant(2026, 11, 30);
        let text = jiff::fmt::strtime::format(format, date);
        text.is_ok_and(|text| Self::read(&text, format) == Some(Self::from(date)))
    }

    /// Reads a date in a format of strftime.
    pub(crate) fn read(text: &str, format: &str) -> Option<Self> {
        Date::strptime(format, text).ok().map(Self::from)
    }
}

impl From<Date> for Day {
    fn from(date: Date) -> Self {
        let days = date.duration_since(EPOCH).as_secs() / 86_400;
        Self(i32::try_from(days).unwrap_or_default())
    }
}

impl FromStr for Day {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::read(text, "%Y-%m-%d").ok_or_else(|| format!("'{text}' is not a date such as 2026-11-30"))
    }
}

impl TryFrom<String> for Day {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Day> for String {
    fn from(day: Day) -> Self {
        day.to_string()
    }
}

impl fmt::Display for Day {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match EPOCH.checked_add(jiff::SignedDuration::from_hours(24 * i64::from(self.0))) {
            Ok(date) => write!(out, "{date}"),
            Err(_) => write!(out, "day {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_shown_and_taken_from_times() {
        let day: Day = "2026-11-30".parse().unwrap_or(Day(0));
        assert_eq!((day.0, day.to_string()), (20_787, "2026-11-30".to_owned()));
        assert_eq!(Day::of_ms(day.start_ms(0) - 1, 0), day.plus(-1));
        let offset = 3_600_000;
        assert_eq!(Day::of_ms(day.start_ms(0) - 1, offset), day, "an hour ahead it is the next day");
        assert_eq!(Day::of_ms(day.start_ms(offset), offset), day);
        assert_eq!(Day::of_ms(i64::MAX, 0), Day(i32::MAX));
        for text in ["30.11.2026", "2026-02-30", "", "2026-11-30 "] {
            assert!(text.parse::<Day>().is_err(), "{text}");
        }
        assert_eq!(Day::read("30.11.2026", "%d.%m.%Y"), Some(day));
    }
}
