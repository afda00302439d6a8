//! How safe a change is when its answer is sent.

use crate::invalid::Invalid;

/// What must have happened to a change before its answer. An engine reaches a level or answers that the
/// outcome is unknown; it may exceed the requested level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The change is in the memory of one machine.
    #[default]
    Memory,
    /// Replicas have it too, as many as the deployment configures.
    Replicated,
    /// The change is on disk.
    Synced,
}

impl Durability {
    /// All levels.
    pub const ALL: [Self; 3] = [Self::Memory, Self::Replicated, Self::Synced];

    /// The level's word, the same in options, headers, settings and answers.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Replicated => "replicated",
            Self::Synced => "synced",
        }
    }

    /// Reads a word, ignoring case.
    ///
    /// # Errors
    /// When it is not a level; `argument` is the caller's name for it.
    pub fn parse(text: &[u8], argument: &'static str) -> Result<Self, Invalid> {
        let named = |level: &Self| text.eq_ignore_ascii_case(level.word().as_bytes());
        Self::ALL
            .into_iter()
            .find(named)
            .ok_or(Invalid::new(argument, "must be memory, replicated or synced"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_in_any_case() {
        for level in Durability::ALL {
            assert_eq!(Durability::parse(level.word().to_uppercase().as_bytes(), "level"), Ok(level));
        }
        assert!(Durability::parse(b"disk", "level").is_err());
    }
}
