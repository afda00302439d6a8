//! An order on its way through the book.

use crate::event::Event;
use crate::machine::step::Step;
use crate::record_wire;
use crate::state::State;
use crate::types::{Id, TimeMs};

/// How far an order has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// The market.
    pub market: Id,
}

record_wire!(Sweep { market });

impl Sweep {
    pub(crate) fn after(self, _before: Self) -> Self {
        self
    }
}

pub(crate) fn go_on(_: &State, _: &Sweep, _: TimeMs, _: &mut Vec<Event>) -> Step {
    Step::Done(crate::facts![])
}
