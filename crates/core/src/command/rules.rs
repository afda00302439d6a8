//! What the machine and the engines must know about a command besides its arguments: the attributes in
//! its row of the command table.

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
/// use scarce_core::command::rules::{Batch, Memory, Refusals, Rules};
///
/// let rules = Rules { refusals: Refusals::Remembered, memory: Memory::Takes, batch: Batch::Joins };
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
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
    pub(in super::super) use super::{Batch::*, Memory::*, Refusals::*, Steps::*};
}

/// The attributes of a row. A command that changes state must set all of them; most do not apply to a
/// command that only reads.
macro_rules! rules {
    (Write $($attribute:ident: $value:ident),*) => {
        $crate::command::rules::Rules { $($attribute: $crate::command::rules::words::$value),* }
    };
    (Read batch: $batch:ident) => {
        rules!(Write refusals: Forgotten, memory: Takes, steps: One, batch: $batch)
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
