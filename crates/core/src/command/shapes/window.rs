//! Time windows in which limits count.

use crate::codec::{Input, Malformed, Wire};
use crate::command::argument::{Argument, Invalid, Words};
use crate::event::FromShown;
use crate::outcome::Value;
use crate::types::Positive;
use crate::words;

/// A time window in which a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// Unlimited.
    None,
    /// Calendar units at an offset from UTC in minutes.
    Calendar(CalendarUnit, i64),
    /// Windows of equal length in milliseconds, starting at the Unix epoch.
    Fixed(Positive),
}

words! {
    /// A unit of the calendar; weeks begin on Monday.
    CalendarUnit {
        /// From full hour to full hour.
        1 Hour = "HOUR",
        /// From midnight to midnight.
        2 Day = "DAY",
        /// From Monday to Monday.
        3 Week = "WEEK",
        /// From the first to the first.
        4 Month = "MONTH",
    }
}

/// The largest offset from UTC, in minutes.
pub const OFFSET_MINUTES_MAX: i64 = 18 * 60;

impl Window {
    pub(super) fn take(words: &mut Words<'_>) -> Result<Self, Invalid> {
        let word = words.take("window")?;
        let window = if word.eq_ignore_ascii_case(b"NONE") {
            Self::None
        } else if let Some(unit) = CalendarUnit::from_word(word) {
            Self::Calendar(unit, 0)
        } else {
            let duration_ms = Positive::parse(word, "window").map_err(|_| {
                Invalid::new("window", "must be none, hour, day, week, month or milliseconds")
            })?;
            Self::Fixed(duration_ms)
        };
        if !words.skip("OFFSET") {
            return Ok(window);
        }
        let minutes = crate::types::Delta::take(words, "offset")?.get();
        match window {
            Self::Calendar(unit, _) if minutes.abs() <= OFFSET_MINUTES_MAX => {
                Ok(Self::Calendar(unit, minutes))
            }
            Self::Calendar(..) => Err(Invalid::new("offset", "must be -1080 to 1080 minutes")),
            _ => Err(Invalid::new("offset", "goes with hour, day, week and month only")),
        }
    }
}

impl Window {
    /// As NONE, the calendar's unit or milliseconds; and the offset in minutes.
    pub(super) fn shown(self) -> [Value; 2] {
        match self {
            Self::None => [Value::from("NONE"), Value::Absent],
            Self::Calendar(unit, offset_minutes) => [Value::from(unit.word()), Value::from(offset_minutes)],
            Self::Fixed(duration_ms) => [Value::from(duration_ms.get()), Value::Absent],
        }
    }

    pub(super) fn from_shown(window: &Value, offset_minutes: &Value) -> Result<Self, Malformed> {
        match (window, offset_minutes) {
            (Value::Text(word), Value::Absent) if word == "NONE" => Ok(Self::None),
            (Value::Text(word), Value::Integer(minutes)) => {
                let unit = CalendarUnit::from_word(word.as_bytes()).ok_or(Malformed)?;
                Ok(Self::Calendar(unit, *minutes))
            }
            (duration_ms, Value::Absent) => {
                Positive::new(u64::from_shown(duration_ms)?).map(Self::Fixed).ok_or(Malformed)
            }
            _ => Err(Malformed),
        }
    }
}

impl Wire for Window {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::None => out.push(0),
            Self::Calendar(unit, offset_minutes) => {
                out.push(1);
                unit.put(out);
                offset_minutes.put(out);
            }
            Self::Fixed(duration_ms) => {
                out.push(2);
                duration_ms.put(out);
            }
        }
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        match input.byte()? {
            0 => Ok(Self::None),
            1 => Ok(Self::Calendar(Wire::get(input)?, Wire::get(input)?)),
            2 => Ok(Self::Fixed(Wire::get(input)?)),
            _ => Err(Malformed),
        }
    }
}
