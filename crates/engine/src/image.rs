//! The state of a partition at one durable position, read row by row by the consumer that begins with it.

use scarce_core::machine::{Machine, Moment, TakeRow};

use crate::engine::Failure;

/// A state whose rows can be read again and again. It need not be in memory, and is of one moment whatever changes meanwhile.
pub trait Image: Send {
    /// The moment that it is of.
    fn moment(&self) -> Moment;

    /// Gives every row to `take`.
    ///
    /// # Errors
    /// When it cannot be read, or is damaged: what was given does not count then.
    fn rows(&mut self, take: TakeRow<'_>) -> Result<(), Failure>;

    /// The whole state, which takes as much memory as it has rows.
    ///
    /// # Errors
    /// When it cannot be read, or is damaged.
    fn into_machine(self: Box<Self>) -> Result<Machine, Failure>;
}

impl Image for Machine {
    fn moment(&self) -> Moment {
        Self::moment(self)
    }

    fn rows(&mut self, take: TakeRow<'_>) -> Result<(), Failure> {
        Self::rows(self, take);
        Ok(())
    }

    fn into_machine(self: Box<Self>) -> Result<Machine, Failure> {
        Ok(*self)
    }
}
