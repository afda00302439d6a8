//! What the machine and the engines must know of a command beside its arguments: the attributes in its row of the
//! command table.

/// What becomes of a refusal under the operation id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusals {
    /// It is kept: a late copy of a refused debit or order must never go through.
    Remembered,
    /// It is not kept: the refusals of a flash crowd must cost no memory.
    Forgotten,
}

/// What a command does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// It needs memory, and is refused when there is none left.
    Takes,
    /// It frees more than it needs, so it is served even when memory is full.
    Frees,
}

/// How many entries of the log a command is carried out in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps {
    /// One.
    One,
    /// As many as it takes; what one step touches is bounded.
    Several,
}

/// Whether a command can be part of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch {
    /// It can; of an atomic batch, where it changes state.
    Joins,
    /// It is sent on its own, and takes none of the common options.
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
    /// What becomes of its refusals under the operation id.
    pub refusals: Refusals,
    /// What it does to memory.
    pub memory: Memory,
    /// How many entries of the log it is carried out in.
    pub steps: Steps,
    /// Whether it can be part of a batch.
    pub batch: Batch,
}

/// The words of the table's attributes.
pub(super) mod words {
    pub(in super::super) use super::{Batch::*, Memory::*, Refusals::*, Steps::*};
}

/// The attributes of a row. A command that changes state must say everything; of one that reads, most does not
/// apply.
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
