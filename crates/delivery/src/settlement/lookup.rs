//! Looking up whether a credit happened that the engine no longer remembers.

use std::pin::Pin;

/// A credit whose outcome was never learned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// Its operation id, in the namespace of callers that are not told apart (the empty one).
    pub operation_id: String,
    /// The account.
    pub account: String,
    /// The partition in which the account lives, and which decided.
    pub partition: u32,
    /// When it was sent first, in Unix milliseconds, or the packet was claimed: it did not happen before.
    pub from_ms: u64,
    /// When it could have happened last, in Unix milliseconds: it carried this deadline, or this is now.
    pub until_ms: u64,
}

/// Whether a credit happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It did.
    Applied,
    /// It did not, and that is certain: all that the account's partition decided up to [`Tried::until_ms`] is known,
    /// and the operation is not among it, or was refused. A table that is filled from the log knows that when it has
    /// reached what is durable in that partition at the time of the question.
    Absent,
    /// Nobody can tell.
    Unknown {
        /// Why, for who decides.
        reason: String,
    },
}

/// What a lookup gives: an error where it cannot be asked just now, with what is wrong.
pub type LookedUp<'a> = Pin<Box<dyn Future<Output = Result<Settled, String>> + Send + 'a>>;

/// Knows which operations happened for longer than an engine does, such as a table of all operations.
pub trait SettledLookup: Send + Sync {
    /// Whether a credit happened.
    fn look_up<'a>(&'a self, tried: &'a Tried) -> LookedUp<'a>;
}
