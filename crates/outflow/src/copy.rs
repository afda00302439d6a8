//! A copy of the log as messages, such as a topic, as it is read back to be compared with the log.

use scarce_core::event::{Entry, Position};

use crate::Trouble;

/// A message of a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedMessage {
    /// Where in the copy it is.
    pub offset: i64,
    /// What it says that it is.
    pub meaning: Meaning,
    /// What changed, as the message names it.
    pub subject: Option<String>,
    /// Its key.
    pub key: Option<Vec<u8>>,
    /// Its value.
    pub value: Option<Vec<u8>>,
    /// Its headers, in their order.
    pub headers: Vec<(String, String)>,
}

/// What a message of a copy says that it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The event at this position of the log.
    Event(Position),
    /// The messages behind it follow this position; what is before them and behind it is no longer true.
    Resumed {
        /// The last event that copy and log both have.
        after: Position,
        /// Whether the copy begins here.
        is_beginning: bool,
    },
    /// None of this log's.
    Foreign {
        /// Who says that it is its own, where anyone does.
        source: Option<String>,
    },
}

/// A copy of the log that can be read.
pub trait LogCopy {
    /// Its name, for people.
    fn name(&self) -> String;

    /// How many partitions it has; 0 if it does not exist.
    ///
    /// # Errors
    /// When it cannot be read.
    fn partitions(&mut self) -> Result<u32, Trouble>;

    /// The first offset of a partition, and the one behind its last message.
    ///
    /// # Errors
    /// When it cannot be read.
    fn bounds(&mut self, partition: u32) -> Result<(i64, i64), Trouble>;

    /// Begins to read a partition, from an offset to before another.
    ///
    /// # Errors
    /// When it cannot be read.
    fn seek(&mut self, partition: u32, from: i64, to: i64) -> Result<(), Trouble>;

    /// The next message; `None` at the end.
    ///
    /// # Errors
    /// When it cannot be read.
    fn next(&mut self) -> Result<Option<CopiedMessage>, Trouble>;

    /// The messages of the events of an entry, as they must be.
    fn expected(&mut self, partition: u32, entry: &Entry) -> Vec<CopiedMessage>;
}
