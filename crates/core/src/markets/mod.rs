//! Markets.

pub(crate) mod query;
pub mod sweep;

use crate::codec::{Input, Malformed};
use crate::command::table::{
    MarketCreate, OrderCancel, OrderCancelAll, OrderPlace, OrderReduce, OrderReplace,
};
use crate::digest::Sum;
use crate::event::Event;
use crate::machine::step::Step;
use crate::outcome::{Refusal, Verdict};
use crate::state::State;
use crate::store::{Slot, Table};
use crate::types::{Id, TimeMs};
use crate::{shown_word, words};

words! {
    /// Why an order ended with a rest unfilled.
    CancelReason {
        /// Its owner asked for it.
        1 Requested = "requested",
        /// It may not rest, and nothing more could be had at its price.
        2 Unfilled = "unfilled",
        /// It would have traded with its owner's own order.
        3 SelfTrade = "self_trade",
    }
}
shown_word!(CancelReason);

/// The markets of a partition.
#[derive(Debug)]
pub struct Markets {
    markets: Table<Id, u64>,
}

crate::reversible_fields!(Markets { markets });

impl Markets {
    pub(crate) fn new(hash_seed: u64) -> Self {
        Self { markets: Table::new(hash_seed) }
    }

    pub(crate) fn digest(&self, _state: &State, _sum: &mut Sum<'_>) {}

    pub(crate) fn put(&self, _out: &mut Vec<u8>) {}

    pub(crate) fn load(&mut self, _input: &mut Input<'_>) -> Result<(), Malformed> {
        Ok(())
    }

    pub(crate) fn forget(&mut self, _slot: Slot, _order: &Id) {}
}

fn not_available() -> Verdict {
    Err(Refusal::invalid("command", "is not available"))
}

pub(crate) fn create(_: &State, _: &MarketCreate, _: &mut Vec<Event>) -> Verdict {
    not_available()
}

pub(crate) fn halt(_: &State, _: &Id, _: &mut Vec<Event>) -> Verdict {
    not_available()
}

pub(crate) fn resume(_: &State, _: &Id, _: &mut Vec<Event>) -> Verdict {
    not_available()
}

pub(crate) fn place(_: &State, _: &OrderPlace, _: TimeMs, _: &mut Vec<Event>) -> Result<Step, Refusal> {
    not_available().map(Step::Done)
}

pub(crate) fn cancel(_: &State, _: &OrderCancel, _: TimeMs, _: &mut Vec<Event>) -> Verdict {
    not_available()
}

pub(crate) fn reduce(_: &State, _: &OrderReduce, _: TimeMs, _: &mut Vec<Event>) -> Verdict {
    not_available()
}

pub(crate) fn replace(_: &State, _: &OrderReplace, _: TimeMs, _: &mut Vec<Event>) -> Result<Step, Refusal> {
    not_available().map(Step::Done)
}

pub(crate) fn cancel_all(_: &State, _: &OrderCancelAll, _: &mut Vec<Event>) -> Result<Step, Refusal> {
    not_available().map(Step::Done)
}

pub(crate) fn go_on_cancelling(_: &State, _: &Id, _: &Id, _: (u64, u64), _: &mut Vec<Event>) -> Step {
    Step::Done(crate::facts![])
}

pub(crate) fn evolve(_: &mut State, _: &Event, _: TimeMs) {}
