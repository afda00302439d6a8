//! Why outside books cannot be compared at all. What is wrong with single lines is in the report.

use std::io;

/// Why outside books cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BookError {
    /// The file cannot be read.
    #[error("the file cannot be read")]
    Read(#[from] io::Error),
    /// The map is wrong.
    #[error("the map is wrong: {what}")]
    Map {
        /// What is wrong with it.
        what: String,
    },
    /// The file is not what the map says.
    #[error("line {line}: {what}")]
    Format {
        /// The line.
        line: u32,
        /// What is wrong.
        what: String,
    },
    /// Nothing is in the file.
    #[error("the file is empty; a statement without bookings still has a heading, and needs --from and --to")]
    Empty,
    /// The file has no line, and nobody says of which days it is.
    #[error("the file has no line and names no days; say with --from and --to of which days it is")]
    NoDays,
    /// The days that the file is about are wrong.
    #[error("{what}")]
    Days {
        /// What is wrong.
        what: String,
    },
    /// No line could be read.
    #[error("none of the {count} lines could be read; the first: line {line}: {reason}")]
    Unreadable {
        /// How many lines.
        count: u64,
        /// The first of them.
        line: u32,
        /// What is wrong with it.
        reason: String,
    },
    /// The file is of another account.
    #[error("line {line}: this is of account {found}, and the map says {expected}")]
    Foreign {
        /// The line.
        line: u32,
        /// The account or currency in the file.
        found: String,
        /// The one of the map.
        expected: String,
    },
    /// There are more lines than are compared at once.
    #[error("there are more than {most} lines or movements; compare fewer days at once")]
    TooMany {
        /// How many may be compared.
        most: u32,
    },
    /// What was open last time does not go with this file.
    #[error("{what}")]
    State {
        /// What is wrong.
        what: String,
    },
}

impl BookError {
    pub(crate) fn map(what: impl Into<String>) -> Self {
        Self::Map { what: what.into() }
    }

    pub(crate) fn format(line: u32, what: impl Into<String>) -> Self {
        Self::Format { line, what: what.into() }
    }

    pub(crate) fn state(what: impl Into<String>) -> Self {
        Self::State { what: what.into() }
    }
}
