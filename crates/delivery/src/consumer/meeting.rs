//! Claims whose packet is in the table already: written before from the same claim, or of another history of the log.

use std::collections::BTreeMap;

use scarce_core::types::signed;
use scarce_sql::{Cell, ColumnKind, Lent, Text};

use super::BatchFailure;
use super::settlement::Claim;
use crate::page::Taken;
use crate::queue::NO_CREDIT;
use crate::settlement::replaced;
use crate::store::now_ms;

/// How many packets are looked up at a time.
const CLAIMS_MAX: usize = 256;

/// The row of a packet.
struct Known {
    id: i64,
    campaign: String,
    packet: u64,
    user: String,
    amount: u64,
    asset: Option<String>,
    claimed_at_ms: u64,
    state: String,
    route: Option<String>,
    was_tried: bool,
    is_lost: bool,
    was_resolved: bool,
}

const COLUMNS: &str = "settlement_id, campaign, packet, user_id, amount, asset, claimed_at_ms, state, route, \
                       first_tried_at_ms, lost_at_ms, resolved_at_ms";

const KINDS: [ColumnKind; 12] = {
    use ColumnKind::{Integer, Text};
    [Integer, Text, Integer, Text, Integer, Text, Integer, Text, Text, Integer, Integer, Integer]
};

impl Known {
    fn read(mut row: Taken) -> Self {
        Self {
            id: row.integer(),
            campaign: row.text(),
            packet: row.natural(),
            user: row.text(),
            amount: row.natural(),
            asset: row.optional_text(),
            claimed_at_ms: row.natural(),
            state: row.text(),
            route: row.optional_text(),
            was_tried: row.time().is_some(),
            is_lost: row.time().is_some(),
            was_resolved: row.time().is_some(),
        }
    }

    /// Whether the row was written from this claim, and nothing that belongs to it can be lost.
    fn is_of(&self, claim: &Claim<'_>) -> bool {
        !self.is_lost && self.claimed_at_ms == claim.at
    }

    /// Whether the row is for what is claimed now, be it by the same claim.
    fn agrees(&self, claim: &Claim<'_>, asset: Option<&Text>) -> bool {
        let is_same_asset = self.asset.as_deref().zip(asset).is_none_or(|(its, asset)| **asset == *its);
        claim.event.user.as_str() == self.user && claim.event.amount == self.amount && is_same_asset
    }

    /// Whether nobody can have paid it.
    fn is_unpaid(&self) -> bool {
        self.state == "pending" && !self.was_tried
    }

    /// What changes when the log has a claim of another history again: a credit may be lost with that history, so it is
    /// settled under the same id, which pays what is missing. What was paid elsewhere is not known here.
    fn change(&self) -> (&'static str, Option<&'static str>) {
        const RETRY: &str = "state = 'pending', attempts = 0, next_at_ms = ?, done_at_ms = NULL, lease_owner = NULL, \
                             first_tried_at_ms = COALESCE(first_tried_at_ms, claimed_at_ms), ";
        const DIE: &str = "state = 'dead', next_at_ms = ?, last_error = ?, ";
        let is_outside = self.route.as_deref() == Some("outside");
        match self.state.as_str() {
            "settled" if is_outside => ("", None),
            "settled" if self.was_resolved => (DIE, Some(replaced::RESOLVED_BEFORE)),
            "dead" if is_outside && !self.was_resolved => (DIE, Some(replaced::CLAIMED_AGAIN)),
            "settled" | "dead" if !self.was_resolved => (RETRY, None),
            _ => ("", None),
        }
    }
}

/// Has the rows that are there agree with the claims, before the claims without a row are added. One that a lost history
/// settled for the same user is settled again under its id; one for another user, with another amount, or in another
/// asset makes room for the claim, which is credited only if nothing was paid in its place.
pub(super) async fn meet(
    lent: &mut Lent,
    claims: &mut [Claim<'_>],
    assets: &BTreeMap<String, Text>,
) -> Result<bool, BatchFailure> {
    let mut has_changed = false;
    for claims in claims.chunks_mut(CLAIMS_MAX) {
        let pairs = vec!["(campaign = ? AND packet = ?)"; claims.len()].join(" OR ");
        let sql = format!("SELECT {COLUMNS} FROM delivery_settlements WHERE {pairs}");
        let values: Vec<Cell> = claims
            .iter()
            .flat_map(|claim| [claim.event.campaign.as_str().into(), signed(claim.event.packet).into()])
            .collect();
        for row in lent.fetch(&sql, &values, &KINDS).await? {
            let known = Known::read(Taken::new(row));
            let is_claimed = |claim: &&mut Claim<'_>| {
                claim.event.campaign.as_str() == known.campaign && claim.event.packet == known.packet
            };
            let Some(claim) = claims.iter_mut().find(is_claimed) else { continue };
            if !known.agrees(claim, assets.get(&known.campaign)) {
                claim.may_be_credited |= !known.is_unpaid();
                replaced::replace(lent, known.id, known.is_unpaid()).await?;
            } else if !known.is_of(claim) {
                place(lent, &known, claim).await?;
                has_changed = true;
            }
        }
    }
    Ok(has_changed)
}

/// Gives a row the place of its claim in the log that is there.
async fn place(lent: &mut Lent, known: &Known, claim: &Claim<'_>) -> Result<(), BatchFailure> {
    let (change, error) = known.change();
    // MySQL changes columns in this order, and the change reads the time of the former claim.
    let sql = format!(
        "UPDATE delivery_settlements SET {change}{NO_CREDIT}, lost_at_ms = NULL, epoch = ?, sequence = ?, claimed_at_ms = ? \
         WHERE settlement_id = ?"
    );
    let mut values: Vec<Cell> = Vec::with_capacity(6);
    if !change.is_empty() {
        values.push(now_ms().into());
    }
    values.extend(error.map(Cell::Word));
    values.extend([claim.epoch, claim.sequence, claim.at].map(|it| signed(it).into()));
    values.push(known.id.into());
    lent.execute(&sql, &values).await?;
    Ok(())
}
