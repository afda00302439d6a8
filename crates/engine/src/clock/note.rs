//! What an engine writes down of its clock, so that a restart does not begin to trust anew.

use std::time::Duration;

/// What the clock was when it was written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockNote {
    /// The time that the engine went by.
    pub time: Duration,
    /// How long the machine had run since its boot.
    pub boot: Duration,
    /// Which boot; empty where the machine cannot say.
    pub boot_id: String,
    /// How far the wall clock may still be followed ahead of what has passed.
    pub allowance: Duration,
    /// How much was believed from boot to boot since the clock was confirmed last.
    pub unproved: Duration,
}

const NAMES: [&str; 5] = ["time_us", "boot_us", "boot_id", "allowance_us", "unproved_us"];

impl ClockNote {
    /// As lines of text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let micros = |time: Duration| time.as_micros().to_string();
        let values = [
            micros(self.time),
            micros(self.boot),
            self.boot_id.clone(),
            micros(self.allowance),
            micros(self.unproved),
        ];
        NAMES.iter().zip(values).map(|(name, value)| format!("{name} = \"{value}\"\n")).collect()
    }

    /// Reads what [`ClockNote::to_text`] wrote; nothing if it is something else.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let mut value = |name: &str| {
            let value = lines.next()?.strip_prefix(name)?.strip_prefix(" = \"")?.strip_suffix('"')?;
            Some(value.to_owned())
        };
        let micros = |value: String| value.parse().ok().map(Duration::from_micros);
        let [time, boot, boot_id, allowance, unproved] = NAMES;
        Some(Self {
            time: micros(value(time)?)?,
            boot: micros(value(boot)?)?,
            boot_id: value(boot_id)?,
            allowance: micros(value(allowance)?)?,
            unproved: micros(value(unproved)?)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_back() {
        let note = ClockNote {
            time: Duration::from_micros(1_700_000_000_123_456),
            boot: Duration::from_micros(77),
            boot_id: "0b1c".to_owned(),
            allowance: Duration::from_millis(999),
            unproved: Duration::from_hours(2),
        };
        let text = note.to_text();
        assert_eq!(ClockNote::from_text(&text), Some(note));
        assert_eq!(ClockNote::from_text(&text.replace("boot_us", "boots")), None);
        assert_eq!(ClockNote::from_text(""), None);
    }
}
