//! Red packets.

pub(crate) mod query;

use crate::codec::{Input, Malformed};
use crate::command::Invalid;
use crate::command::table::{PacketClaim, PacketCreate};
use crate::digest::Sum;
use crate::event::Event;
use crate::machine::Context;
use crate::machine::step::Step;
use crate::outcome::{Refusal, Verdict};
use crate::state::State;
use crate::store::Table;
use crate::types::{Id, OperationId, TimeMs};

/// Packets cut outside the writer's turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    pub(crate) seed: Option<[u8; 32]>,
    pub(crate) amounts: Vec<u64>,
}

impl Prepared {
    /// Cuts the packets of a campaign.
    ///
    /// # Errors
    /// When the plan cannot be cut.
    pub fn new(
        create: &PacketCreate,
        operation: Option<&OperationId>,
        secret: &[u8; 32],
    ) -> Result<Self, Invalid> {
        let _ = (create, operation, secret);
        Err(Invalid::new("cut", "is not available"))
    }
}

/// The campaigns of a partition.
#[derive(Debug)]
pub struct Campaigns {
    campaigns: Table<Id, u64>,
}

crate::reversible_fields!(Campaigns { campaigns });

impl Campaigns {
    pub(crate) fn new(hash_seed: u64) -> Self {
        Self { campaigns: Table::new(hash_seed) }
    }

    pub(crate) fn digest(&self, _sum: &mut Sum<'_>) {}

    pub(crate) fn put(&self, _out: &mut Vec<u8>) {}

    pub(crate) fn load(&mut self, _input: &mut Input<'_>) -> Result<(), Malformed> {
        Ok(())
    }
}

pub(crate) fn create(
    _: &State,
    _: &PacketCreate,
    _: &Context<'_>,
    _: &mut Vec<Event>,
) -> Result<Step, Refusal> {
    Err(Refusal::invalid("command", "is not available"))
}

pub(crate) fn claim(_: &State, _: &PacketClaim, _: TimeMs, _: &mut Vec<Event>) -> Verdict {
    Err(Refusal::invalid("command", "is not available"))
}

pub(crate) fn close(_: &State, _: &Id, _: &mut Vec<Event>) -> Verdict {
    Err(Refusal::invalid("command", "is not available"))
}

pub(crate) fn go_on(_: &State, _: &Id, _: &mut Vec<Event>) -> Step {
    Step::Done(crate::facts![])
}

pub(crate) fn evolve(_: &mut State, _: &Event, _: TimeMs) {}
