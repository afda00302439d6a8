//! Looking up credits that the engine no longer remembers.

use std::pin::Pin;

/// A credit whose outcome was never learned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The namespace of its operation id: that of settlements, or the empty one of callers if an earlier release
    /// sent the credit.
    pub namespace: String,
    /// Its operation id.
    pub operation_id: String,
    /// The account.
    pub account: String,
    /// The amount.
    pub amount: u64,
    /// The partition in which the account lives, and which decided.
    pub partition: u32,
    /// The earliest time at which it may have happened, in Unix milliseconds: when it was first sent, or the
    /// packet was claimed.
    pub from_ms: u64,
    /// The latest time at which it may have happened, in Unix milliseconds: its deadline, or now.
    pub until_ms: u64,
}

/// Whether a credit happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It did.
    Applied,
    /// Its operation id was used for something else.
    Other {
        /// For what, with account and amount.
        found: String,
    },
    /// Its id was refused for good, so a later try has another one.
    Refused,
    /// It did not, for certain: everything that the account's partition decided up to [`Tried::until_ms`] is
    /// known, and the operation is not part of it, or was refused. A table that is filled from the log is
    /// sure once it has reached the log's durable end at the time of the question.
    Absent,
    /// This cannot be known.
    Unknown {
        /// The reason, for the person who decides.
        reason: String,
    },
}

/// The result of a lookup: an error if it cannot be made at the moment, with the reason.
pub type LookedUp<'a> = Pin<Box<dyn Future<Output = Result<Settled, String>> + Send + 'a>>;

/// Knows past operations for longer than an engine does, such as a table of all operations.
pub trait SettledLookup: Send + Sync {
    /// Whether a credit happened.
    fn look_up<'a>(&'a self, tried: &'a Tried) -> LookedUp<'a>;
}
