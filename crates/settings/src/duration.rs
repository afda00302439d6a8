//! Durations as people write them: `7d`, `24h`, `15m`, `90s`, `500ms`, or plain milliseconds.

use std::ops::RangeInclusive;

/// The units, the longest first, with their milliseconds.
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// The milliseconds of a text: a whole number and a unit, or a whole number of milliseconds.
fn parse(text: &str) -> Option<u64> {
    let at = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(at);
    let unit = if unit.is_empty() { "ms" } else { unit };
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
    digits.parse::<u64>().ok()?.checked_mul(*factor)
}

/// Milliseconds with the longest unit that divides them.
#[must_use]
pub fn readable(ms: u64) -> String {
    let unit = UNITS.iter().find(|(_, factor)| ms >= *factor && ms.is_multiple_of(*factor));
    let (name, factor) = unit.unwrap_or(&("ms", 1));
    format!("{}{name}", ms / factor)
}

/// Reads milliseconds within bounds.
///
/// # Errors
/// The requirement that the text violates, to follow "must be".
pub fn read(text: &str, bounds: &RangeInclusive<u64>) -> Result<u64, String> {
    parse(text).filter(|ms| bounds.contains(ms)).ok_or_else(|| shape(bounds))
}

/// The requirement on a text, to follow "must be".
pub(super) fn shape(bounds: &RangeInclusive<u64>) -> String {
    let bounds = match (*bounds.start(), *bounds.end()) {
        (0, u64::MAX) => String::new(),
        (0, max) => format!(" of at most {}", readable(max)),
        (min, u64::MAX) => format!(" of at least {}", readable(min)),
        (min, max) => format!(" from {} to {}", readable(min), readable(max)),
    };
    format!("a duration{bounds}, written as 500ms, 90s, 15m, 24h or 7d, or a whole number of milliseconds")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_plain_milliseconds_are_read_and_nothing_else() {
        for (text, ms) in [
            ("7d", 604_800_000),
            ("24h", 86_400_000),
            ("15m", 900_000),
            ("90s", 90_000),
            ("500ms", 500),
            ("1500", 1_500),
            ("0", 0),
            ("0s", 0),
        ] {
            assert_eq!(parse(text), Some(ms), "{text}");
        }
        for text in ["", "d", "7 d", "-7d", "+7d", "1.5h", "7D", "7w", "1h30m", "213503982335d", "é", "7日"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_shown_can_be_read_and_is_the_same() {
        for (ms, shown) in
            [(0, "0ms"), (1, "1ms"), (1_500, "1500ms"), (90_000, "90s"), (86_400_000, "1d"), (u64::MAX, "")]
        {
            assert_eq!(parse(&readable(ms)), Some(ms));
            assert!(shown.is_empty() || readable(ms) == shown, "{ms} is shown as {}", readable(ms));
        }
    }
}
