//! Whether the figures that an event tells are those that the events before it come to.
//!
//! An event says what changed and what it came to. A fold applies the change; where the result is another one than the
//! event tells, an event before it is missing, was added, or was altered.

mod money;
mod orders;
mod units;

use std::collections::BTreeMap;

use scarce_core::event::{CouponEvent, Event, PacketsEvent};
use scarce_core::state::State;
use scarce_core::types::Id;

/// What an event contradicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Contradiction {
    /// The resource.
    pub(crate) resource: String,
    /// Which value.
    pub(crate) field: &'static str,
    /// What the events before come to; `None` where there is no such resource.
    pub(crate) before: Option<String>,
    /// What the event tells.
    pub(crate) told: Option<String>,
}

/// The figures within an entry, whose events are applied together.
#[derive(Debug)]
pub(crate) struct Ledger<'s> {
    state: &'s State,
    accounts: BTreeMap<Id, money::Money>,
    items: BTreeMap<Id, units::Units>,
    orders: BTreeMap<(Id, Id), u64>,
    counts: BTreeMap<(&'static str, Id), u64>,
}

impl<'s> Ledger<'s> {
    /// The figures before an entry.
    pub(crate) fn new(state: &'s State) -> Self {
        Self {
            state,
            accounts: BTreeMap::new(),
            items: BTreeMap::new(),
            orders: BTreeMap::new(),
            counts: BTreeMap::new(),
        }
    }

    /// Compares an event with the figures before it, and notes those after it.
    pub(crate) fn follow(&mut self, event: &Event) -> Result<(), Contradiction> {
        match event {
            Event::Account(event) => money::follow(self, event),
            Event::Stock(event) => units::follow(self, event),
            Event::Packets(event) => self.follow_packets(event),
            Event::Coupon(event) => self.follow_coupons(event),
            Event::Market(event) => orders::follow(self, event),
            Event::Clock(_) | Event::Operation(_) => Ok(()),
        }
    }

    fn follow_packets(&mut self, event: &PacketsEvent) -> Result<(), Contradiction> {
        match event {
            PacketsEvent::PacketsClaimed(its) => {
                let before = self.state.campaigns.get(&its.campaign).map(|campaign| campaign.claimed_count);
                self.count("packet", &its.campaign, before, its.packet)
            }
            PacketsEvent::PacketsCreated(its) => {
                let is_new = self.state.campaigns.get(&its.campaign).is_none();
                self.create("packet", &its.campaign, is_new)
            }
            PacketsEvent::PacketsFilled(_)
            | PacketsEvent::PacketsExhausted(_)
            | PacketsEvent::PacketsClosed(_)
            | PacketsEvent::PacketsForgotten(_) => Ok(()),
        }
    }

    fn follow_coupons(&mut self, event: &CouponEvent) -> Result<(), Contradiction> {
        match event {
            CouponEvent::CouponClaimed(its) => {
                let before = self.state.coupons.get(&its.coupon).map(|coupon| coupon.serial);
                self.count("serial", &its.coupon, before, its.serial)
            }
            CouponEvent::CouponCreated(its) => {
                let is_new = self.state.coupons.get(&its.coupon).is_none();
                self.create("serial", &its.coupon, is_new)
            }
            CouponEvent::CouponUpdated(_)
            | CouponEvent::CouponRedeemed(_)
            | CouponEvent::CouponRevoked(_)
            | CouponEvent::CouponPaused(_)
            | CouponEvent::CouponResumed(_) => Ok(()),
        }
    }

    /// A number that rises by one.
    fn count(
        &mut self,
        field: &'static str,
        resource: &Id,
        before: Option<u64>,
        told: u64,
    ) -> Result<(), Contradiction> {
        let before = self.counts.get(&(field, resource.clone())).copied().or(before);
        same(resource, field, before.map(|before| before + 1), told)?;
        self.counts.insert((field, resource.clone()), told);
        Ok(())
    }

    fn create(&mut self, field: &'static str, resource: &Id, is_new: bool) -> Result<(), Contradiction> {
        created(resource, is_new && !self.counts.contains_key(&(field, resource.clone())))?;
        self.counts.insert((field, resource.clone()), 0);
        Ok(())
    }
}

/// Compares what the events before come to with what an event tells.
fn same<T: PartialEq + ToString + Copy>(
    resource: &Id,
    field: &'static str,
    before: Option<T>,
    told: T,
) -> Result<(), Contradiction> {
    if before.as_ref() == Some(&told) {
        return Ok(());
    }
    Err(Contradiction {
        resource: resource.to_string(),
        field,
        before: before.map(|before| before.to_string()),
        told: Some(told.to_string()),
    })
}

/// Checks that something which an event makes was not there.
fn created(resource: &Id, is_new: bool) -> Result<(), Contradiction> {
    if is_new {
        return Ok(());
    }
    let (before, told) = (Some("there".to_owned()), Some("created".to_owned()));
    Err(Contradiction { resource: resource.to_string(), field: "creation", before, told })
}

/// What an event speaks of is not there.
fn missing(resource: &Id) -> Contradiction {
    Contradiction {
        resource: resource.to_string(),
        field: "creation",
        before: None,
        told: Some("changed".to_owned()),
    }
}
