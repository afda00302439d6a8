//! Campaigns among another number of partitions.

use super::Campaigns;
use crate::store::{Goes, Placed};

impl Campaigns {
    /// Takes over the campaigns that go, with packets, claims and what has left.
    pub(crate) fn take_over(&mut self, from: &Self, goes: &Goes<'_>) {
        let placed = Placed::take(&mut self.campaigns, &from.campaigns, goes);
        placed.take_ordered(&mut self.pieces, &from.pieces);
        placed.take_rows(&mut self.claims, &from.claims);
        placed.take_ordered(&mut self.claimants, &from.claimants);
        placed.take_single(&mut self.listed, &from.listed);
        placed.take_single(&mut self.forgotten, &from.forgotten);
        placed.take_single(&mut self.unprepared, &from.unprepared);
    }
}
