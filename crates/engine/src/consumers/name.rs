//! Names of consumers.

use std::fmt;

/// How long a name may be.
const BYTES_MAX: usize = 64;

/// The name of a consumer: up to 64 of a–z, 0–9, `.`, `_` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConsumerName(String);

/// A text that is no name of a consumer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is no name of a consumer: up to {BYTES_MAX} of a-z, 0-9, '.', '_' and '-'")]
pub struct NotAName {
    text: String,
}

impl ConsumerName {
    /// The name that a text is.
    ///
    /// # Errors
    /// When it is not a valid name.
    pub fn parse(text: &str) -> Result<Self, NotAName> {
        let is_allowed = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'_' | b'-')
        };
        if (1..=BYTES_MAX).contains(&text.len()) && text.bytes().all(is_allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAName { text: text.chars().take(BYTES_MAX).collect() })
        }
    }

    /// The name's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ConsumerName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_breaks_no_file_and_no_key() {
        for good in ["sql", "kafka.out", "hook-1_a", &"n".repeat(64)] {
            assert_eq!(ConsumerName::parse(good).map(|name| name.to_string()).as_deref(), Ok(good));
        }
        for bad in ["", "Sql", "a b", "a\n", "ä", "a/b", &"n".repeat(65)] {
            assert!(ConsumerName::parse(bad).is_err(), "{bad}");
        }
    }
}
