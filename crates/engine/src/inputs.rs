//! How far inputs of commands, such as the partitions of a topic, were consumed. An engine keeps these positions
//! beside the effects of the commands, so that none is executed again when the input itself forgets them.

use std::fmt::Write;

use scarce_core::event::Position;

/// The maximum length of an input's name.
const NAME_BYTES_MAX: usize = 300;

/// How far an input was consumed, as one partition of the engine keeps it. A position is kept only after the effects
/// of everything before it are durable there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputPosition {
    /// The input's name: printable ASCII without blanks.
    pub input: String,
    /// The next offset to read.
    pub next: u64,
    /// A hash of the last message before it, by which another input of the same name is told apart.
    pub last: u64,
    /// The last durable position of the engine's partition when this was kept: a log that does not have it lost effects,
    /// and this does not hold. The epoch is 0 if it is not known, as where an earlier release kept it.
    pub reached: Position,
}

impl InputPosition {
    /// Whether the name can be stored.
    #[must_use]
    pub fn has_valid_name(&self) -> bool {
        let length = self.input.len();
        (1..=NAME_BYTES_MAX).contains(&length) && self.input.bytes().all(|byte| byte.is_ascii_graphic())
    }

    /// Everything but the name, as text.
    #[must_use]
    pub fn values(&self) -> String {
        let mut text = String::new();
        // Writing to a text does not fail.
        let _ = write!(text, "{} {:016x} {}", self.next, self.last, self.reached.sequence);
        if self.reached.epoch > 0 {
            let _ = write!(text, " {}", self.reached.epoch);
        }
        text
    }

    /// The position with this name and these [values](Self::values).
    #[must_use]
    pub fn read(input: &str, values: &str) -> Option<Self> {
        let mut words = values.split(' ');
        let position = Self {
            input: input.to_owned(),
            next: words.next()?.parse().ok()?,
            last: u64::from_str_radix(words.next()?, 16).ok()?,
            reached: Position {
                sequence: words.next()?.parse().ok()?,
                epoch: words.next().map_or(Some(0), |word| word.parse().ok().filter(|epoch| *epoch > 0))?,
            },
        };
        (words.next().is_none() && position.has_valid_name()).then_some(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_as_it_was_written_and_nothing_else_is() {
        for epoch in [0, 3] {
            let reached = Position { epoch, sequence: 9 };
            let position = InputPosition { input: "kafka/t/0".to_owned(), next: 17, last: 0xab, reached };
            assert_eq!(InputPosition::read("kafka/t/0", &position.values()), Some(position.clone()));
        }
        for bad in ["", "17", "17 ab", "17 ab 9 0", "17 ab 9 3 3", "17 xy 9", "-1 ab 9"] {
            assert_eq!(InputPosition::read("kafka/t/0", bad), None, "{bad}");
        }
        for name in ["", "a b", "a\n", "\u{e4}"] {
            assert_eq!(InputPosition::read(name, "17 ab 9"), None, "{name}");
        }
    }
}
