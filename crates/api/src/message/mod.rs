//! The messages in topics besides events: the outcomes of commands, and commands that could not be read.

mod dead_letter;
mod outcome;
pub mod schemas;

pub use dead_letter::{Content, DeadLetter, Header, Reason, Stage};
pub use outcome::{Answered, outcome};

use serde::{Deserialize, Serialize};

/// The position of a command in a topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TopicPosition {
    /// The topic.
    pub topic: String,
    /// The partition of the topic.
    pub partition: i32,
    /// The offset.
    pub offset: i64,
}
