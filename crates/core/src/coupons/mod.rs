//! Coupons.

pub(crate) mod query;

use crate::codec::{Input, Malformed};
use crate::command::table::{CouponClaim, CouponCreate, CouponRedeem, CouponRevoke, CouponUpdate};
use crate::digest::Sum;
use crate::event::Event;
use crate::outcome::{Refusal, Verdict};
use crate::state::State;
use crate::store::{Slot, Table};
use crate::types::{Id, TimeMs};

/// The coupons of a partition.
#[derive(Debug)]
pub struct Coupons {
    coupons: Table<Id, u64>,
}

crate::reversible_fields!(Coupons { coupons });

impl Coupons {
    pub(crate) fn new(hash_seed: u64) -> Self {
        Self { coupons: Table::new(hash_seed) }
    }

    pub(crate) fn digest(&self, _state: &State, _sum: &mut Sum<'_>) {}

    pub(crate) fn put(&self, _out: &mut Vec<u8>) {}

    pub(crate) fn load(&mut self, _input: &mut Input<'_>) -> Result<(), Malformed> {
        Ok(())
    }

    pub(crate) fn forget(&mut self, _slot: Slot, _serial: &Id) {}

    pub(crate) fn forget_windows(&mut self, _now: TimeMs, _count_max: usize) {}
}

fn not_available() -> Verdict {
    Err(Refusal::invalid("command", "is not available"))
}

pub(crate) fn create(_: &State, _: &CouponCreate, _: &mut Vec<Event>) -> Verdict {
    not_available()
}

pub(crate) fn update(_: &State, _: &CouponUpdate, _: &mut Vec<Event>) -> Verdict {
    not_available()
}

pub(crate) fn claim(_: &State, _: &CouponClaim, _: TimeMs, _: &mut Vec<Event>) -> Verdict {
    not_available()
}

pub(crate) fn redeem(_: &State, _: &CouponRedeem, _: TimeMs, _: &mut Vec<Event>) -> Verdict {
    not_available()
}

pub(crate) fn revoke(_: &State, _: &CouponRevoke, _: TimeMs, _: &mut Vec<Event>) -> Verdict {
    not_available()
}

pub(crate) fn pause(_: &State, _: &Id, _: &mut Vec<Event>) -> Verdict {
    not_available()
}

pub(crate) fn resume(_: &State, _: &Id, _: &mut Vec<Event>) -> Verdict {
    not_available()
}

pub(crate) fn evolve(_: &mut State, _: &Event, _: TimeMs) {}
