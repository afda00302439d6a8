//! What goes through topics beside events: what a command was answered, and commands that nobody could read.

mod dead_letter;
mod outcome;
pub mod schemas;

pub use dead_letter::{Content, DeadLetter, Header, Reason, Stage};
pub use outcome::{Answered, outcome};

use serde::{Deserialize, Serialize};

/// Where a command stood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// In which topic.
    pub topic: String,
    /// In which of its partitions.
    pub partition: i32,
    /// At which offset.
    pub offset: i64,
}
