//! The bytes of a machine read row by row: whether they are sound, and their digest, without the machine in memory.

use std::collections::BTreeSet;

use crate::accounts;
use crate::codec::Malformed;
use crate::deadlines::Ended;
use crate::digest::Sum;
use crate::event::{Histories, Position};
use crate::operations::{OperationNumbers, Operations};
use crate::pieces::PieceReader;
use crate::state::{State, StateSettings};
use crate::store::Slot;
use crate::types::{Id, TimeMs};

use super::Moment;
use super::step::Unfinished;

/// What a first reading found. It keeps items, campaigns, coupons and markets, but not what belongs to them.
#[derive(Debug)]
pub struct Outline {
    state: State,
    /// The accounts with holds.
    holding: BTreeSet<Slot>,
    in_log: Vec<u64>,
    partition: u32,
    epoch: u64,
    sequence: u64,
}

impl Outline {
    /// Reads all that [`super::Machine::put_pieces`] gave. `next` appends the next piece, and answers whether there was one.
    ///
    /// # Errors
    /// When the bytes do not encode a machine.
    pub fn read(
        settings: StateSettings,
        next: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<Self, Malformed> {
        let mut input = PieceReader::new(next);
        let (partition, epoch, sequence) = (input.value()?, input.value()?, input.value()?);
        let mut state = State::new(settings);
        state.at = input.value()?;
        let holding = accounts::skim(&mut input)?;
        state.stock.skim(&mut input)?;
        state.campaigns.skim(&mut input)?;
        state.coupons.skim(&mut input)?;
        state.markets.skim(&mut input)?;
        Ended::skim(&mut input)?;
        let in_log = Operations::skim(&mut input)?;
        state.unfinished = input.value::<Option<Unfinished>>()?;
        read_rest(&mut state, &mut input)?;
        Ok(Self { state, holding, in_log, partition, epoch, sequence })
    }

    /// The sum of the digests of a resource's entities, or of all, from a second reading of the same bytes.
    ///
    /// # Errors
    /// When the bytes do not encode a machine.
    pub fn digest(
        &self,
        only: Option<&Id>,
        next: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<u128, Malformed> {
        let (mut input, mut sum, state) = (PieceReader::new(next), Sum::new(only), &self.state);
        pass_head(&mut input)?;
        accounts::scan(state, &self.holding, &mut input, &mut sum)?;
        state.stock.scan(state, &mut input, &mut sum)?;
        state.campaigns.scan(&mut input, &mut sum)?;
        state.coupons.scan(state, &mut input, &mut sum)?;
        state.markets.scan(state, &mut input, &mut sum)?;
        Ok(sum.total())
    }

    pub(super) fn state(&self) -> &State {
        &self.state
    }

    pub(super) fn holding(&self) -> &BTreeSet<Slot> {
        &self.holding
    }

    /// The moment that it is of.
    #[must_use]
    pub fn moment(&self) -> Moment {
        let Self { partition, epoch, sequence, ref state, .. } = *self;
        let step_sequence = state.unfinished.as_ref().map(|unfinished| unfinished.sequence_first);
        Moment { partition, position: Position { epoch, sequence }, at: state.at, step_sequence }
    }

    /// The last event.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The stamp of the last entry.
    #[must_use]
    pub fn at(&self) -> TimeMs {
        self.state.at
    }

    /// The sequences of remembered receipts that are in the log, in ascending order.
    #[must_use]
    pub fn receipts_in_log(&self) -> &[u64] {
        &self.in_log
    }

    /// Which operations are remembered, and which of them are not in the snapshot itself.
    #[must_use]
    pub fn operation_numbers(&self) -> OperationNumbers {
        self.state.operations.numbers()
    }
}

/// Passes over the first values.
pub(super) fn pass_head(input: &mut PieceReader<'_>) -> Result<(), Malformed> {
    let _: (u32, u64) = input.value()?;
    let _: (u64, TimeMs) = input.value()?;
    Ok(())
}

/// The last values; earlier releases had fewer.
fn read_rest(state: &mut State, input: &mut PieceReader<'_>) -> Result<(), Malformed> {
    if !input.is_empty() {
        state.doubted_ms = input.value()?;
        state.operations.load_moves(input)?;
    }
    if !input.is_empty() {
        Histories::load(input)?;
    }
    if !input.is_empty() {
        state.stock.load_forgotten(input)?;
    }
    if !input.is_empty() {
        state.campaigns.load_forgotten(input)?;
    }
    if !input.is_empty() {
        state.operations.load_old(input)?;
    }
    if input.is_empty() { Ok(()) } else { Err(Malformed) }
}
