//! The rows of campaigns.

use super::{Campaign, Campaigns, Claim, Piece};
use crate::codec::Malformed;
use crate::machine::{StateRow, TakeRow};
use crate::pieces::PieceReader;
use crate::store::Slot;
use crate::types::Id;

impl Campaigns {
    /// Gives every row to `take`, but none of what is still to be drawn.
    pub(crate) fn rows(&self, take: TakeRow<'_>) {
        self.iter().for_each(|(id, campaign)| self.give_campaign(id, campaign, take));
        for ((slot, user), claim) in self.claims.iter() {
            self.give_claim(self, *slot, (user, claim), take);
        }
    }

    /// Gives the rows of what [`Campaigns::put`] wrote; what [`Campaigns::skim`] keeps is here. The amounts of claimed packets are
    /// kept meanwhile, because claims come after them in no order.
    pub(crate) fn read_rows(&self, input: &mut PieceReader<'_>, take: TakeRow<'_>) -> Result<(), Malformed> {
        let mut paid = Self::new(0);
        input.rows(|id: Id, campaign: Campaign| self.give_campaign(&id, &campaign, take))?;
        input.rows(|(slot, first): (Slot, u64), piece: Piece| {
            let through = self.campaigns.at(slot).map_or(0, |campaign| campaign.claimed_count);
            let claimed = usize::try_from((through + 1).saturating_sub(first)).unwrap_or(usize::MAX);
            let amounts = &piece.0[..claimed.min(piece.0.len())];
            if !amounts.is_empty() {
                paid.pieces.insert((slot, first), Piece(amounts.into()));
            }
        })?;
        input.rows(|(slot, user): (Slot, Id), claim: Claim| {
            self.give_claim(&paid, slot, (&user, &claim), take);
        })?;
        input.rows(|_: Slot, _: Piece| {})
    }

    fn give_campaign(&self, id: &Id, campaign: &Campaign, take: TakeRow<'_>) {
        take(StateRow::Campaign { id, campaign, left: &self.forgotten(id) });
    }

    fn give_claim(&self, paid: &Self, slot: Slot, (user, claim): (&Id, &Claim), take: TakeRow<'_>) {
        let named = self.campaigns.key_at(slot).zip(self.campaigns.at(slot));
        if let Some(((id, campaign), amount)) = named.zip(paid.amount(slot, claim.packet)) {
            take(StateRow::PacketClaim { id, campaign, user, claim, amount });
        }
    }
}
