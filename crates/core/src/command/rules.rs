//! What the machine and the engines must know about a command besides its arguments: the attributes in
//! its row of the command table.

/// The verb that a key must have to send a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// It shows something.
    Read,
    /// It takes from what there is not enough of: a debit, a reservation, a claim, an order.
    Take,
    /// It ends or corrects what was taken: a capture, a release, a cancellation.
    Settle,
    /// It brings in what there is to take: an account, money from outside, a stock item, a campaign.
    Create,
    /// It decides how that is handed out: freezes, corrects, closes, halts.
    Administrate,
    /// It is about the server and its log.
    Operate,
    /// It asks about an operation of the caller's own, or settles its doubt: callers that may send operations may do so.
    Any,
}

impl Verb {
    /// Those that a key can have.
    pub const ALL: [Self; 6] =
        [Self::Read, Self::Take, Self::Settle, Self::Create, Self::Administrate, Self::Operate];

    /// The word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Take => "take",
            Self::Settle => "settle",
            Self::Create => "create",
            Self::Administrate => "administrate",
            Self::Operate => "operate",
            Self::Any => "any",
        }
    }
}

/// Whether a refusal is stored under the operation id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusals {
    /// It is stored: a late duplicate of a refused debit or order must never be applied.
    Remembered,
    /// It is not stored: the refusals of a flash crowd must cost no memory.
    Forgotten,
}

/// How a command affects memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// It needs memory, and is refused if none is left.
    Takes,
    /// It ends a record, whose memory becomes free, so it is served even if memory is full; with an operation id
    /// only if it has an effect and there is room for the id.
    Frees,
    /// It needs none but for its operation id, so it is served without one even if memory is full.
    Keeps,
}

/// How many log entries a command takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps {
    /// One.
    One,
    /// One, which reads up to a stated number of records.
    Piece,
    /// As many as it needs; each step touches a bounded number of records.
    Several,
}

/// Whether a command can be part of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch {
    /// It can; also part of an atomic batch if it changes state.
    Joins,
    /// It must be sent alone, and takes none of the common options.
    Alone,
}

/// The attributes of a command. A row that leaves one out does not compile:
///
/// ```compile_fail,E0063
/// use scarce_core::command::rules::{Batch, Memory, Refusals, Rules, Steps};
///
/// let (refusals, memory, steps) = (Refusals::Remembered, Memory::Takes, Steps::One);
/// let rules = Rules { refusals, memory, steps, batch: Batch::Joins };
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The verb that a key must have.
    pub verb: Verb,
    /// Whether its refusals are stored under the operation id.
    pub refusals: Refusals,
    /// How it affects memory.
    pub memory: Memory,
    /// How many log entries it takes.
    pub steps: Steps,
    /// Whether it can be part of a batch.
    pub batch: Batch,
}

/// The words of the table's attributes.
pub(super) mod words {
    pub(in super::super) use super::{Batch::*, Memory::*, Refusals::*, Steps::*, Verb::*};
}

/// The attributes of a row. A command that changes state must set all of them; most do not apply to a
/// command that only reads.
macro_rules! rules {
    (Write $($attribute:ident: $value:ident),*) => {
        $crate::command::rules::Rules { $($attribute: $crate::command::rules::words::$value),* }
    };
    (Read verb: $verb:ident, batch: $batch:ident) => {
        rules!(Write verb: $verb, refusals: Forgotten, memory: Takes, steps: One, batch: $batch)
    };
}

/// Whether the numbers of a row's argument are amounts of an asset.
macro_rules! is_money {
    () => {
        false
    };
    (Money) => {
        true
    };
}

pub(super) use {is_money, rules};
