//! Decisions on campaigns: creating and filling them, claims, and closing.

use super::cut::Plan;
use super::prepared::PIECE_PACKETS;
use super::{Ahead, Amounts, Campaign, Prepared, hex};
use crate::command::table::{PacketClaim, PacketCreate};
use crate::event::{Event, PacketsClaimed, PacketsClosed, PacketsCreated, PacketsExhausted, PacketsFilled};
use crate::facts;
use crate::machine::Context;
use crate::machine::step::{OperationProgress, Step};
use crate::outcome::{Code, Facts, Refusal, Verdict};
use crate::state::State;
use crate::store::Slot;
use crate::types::{Id, Natural, Positive, TimeMs};
use crate::windows::check_times;

/// Creates a campaign and prepares the first of its packets.
pub(crate) fn create(
    state: &State,
    command: &PacketCreate,
    context: &Context<'_>,
    events: &mut Vec<Event>,
) -> Result<Step, Refusal> {
    if state.campaigns.get(&command.campaign).is_some() {
        return Err(Refusal::new(Code::CampaignExists, facts![&command.campaign]));
    }
    let prepared = context.prepared.ok_or_else(|| Refusal::invalid("cut", "was not made"))?;
    let created = created(command, prepared);
    let figures = figures(created.count, created.total, created.commitment);
    events.push(created.into());
    if fill(state, &command.campaign, 0, (&prepared.amounts, &prepared.pieces), events) {
        return Ok(Step::Done(figures));
    }
    remember_cut(state, command, prepared);
    Ok(Step::More(OperationProgress::Packets { campaign: command.campaign.clone() }))
}

fn created(command: &PacketCreate, prepared: &Prepared) -> PacketsCreated {
    let PacketCreate { campaign, asset, cut, min, max, starts_at, ends_at } = command;
    PacketsCreated {
        campaign: campaign.clone(),
        asset: asset.clone(),
        count: prepared.amounts.len() as u64,
        total: prepared.total,
        starts_at: starts_at.map(Natural::get),
        ends_at: ends_at.map(Natural::get),
        commitment: prepared.commitment(),
        cut: cut.clone(),
        min: min.map_or(1, Positive::get),
        max: max.map(Positive::get),
        seed: prepared.seed,
    }
}

/// Keeps the whole cut for the steps that follow.
fn remember_cut(state: &State, command: &PacketCreate, prepared: &Prepared) {
    if let Some((plan, seed)) = Plan::of(command).zip(prepared.seed) {
        let Prepared { amounts, pieces, .. } = prepared.clone();
        *state.campaigns.ahead.borrow_mut() = Some(Ahead { plan, seed, amounts, pieces });
    }
}

/// Prepares the next packets. Returns whether all are prepared.
fn fill(
    state: &State,
    campaign: &Id,
    laid: usize,
    (amounts, pieces): (&[u64], &[Amounts]),
    events: &mut Vec<Event>,
) -> bool {
    let end = laid.saturating_add(state.settings.packets_per_step_max.max(1)).min(amounts.len());
    if let Some(piece) = amounts.get(laid..end).filter(|piece| !piece.is_empty()) {
        let event = PacketsFilled {
            campaign: campaign.clone(),
            first_packet: laid as u64 + 1,
            count: piece.len() as u64,
            amounts: made_ready(pieces, laid, piece.len()).unwrap_or_else(|| piece.to_vec().into()),
        };
        events.push(event.into());
    }
    end == amounts.len()
}

/// The piece of so many packets that begins behind others, if it was made ready.
fn made_ready(pieces: &[Amounts], laid: usize, count: usize) -> Option<Amounts> {
    let piece = pieces.get(laid / PIECE_PACKETS)?;
    (laid.is_multiple_of(PIECE_PACKETS) && piece.len() == count).then(|| piece.clone())
}

/// Prepares further packets of a campaign.
pub(crate) fn go_on(state: &State, campaign: &Id, events: &mut Vec<Event>) -> Step {
    let campaigns = &state.campaigns;
    let Ok((slot, found)) = campaigns.existing(campaign) else { return Step::Done(facts![]) };
    let laid = usize::try_from(found.laid_count).unwrap_or(usize::MAX);
    let filled = match (found.plan(), campaigns.listed.get(&slot)) {
        (Some((plan, seed)), _) => {
            let (amounts, pieces) = campaigns.cut_by(plan, seed);
            fill(state, campaign, laid, (&amounts, &pieces), events)
        }
        (None, Some(amounts)) => fill(state, campaign, laid, (&amounts.0, &[]), events),
        (None, None) => true,
    };
    if !filled {
        return Step::More(OperationProgress::Packets { campaign: campaign.clone() });
    }
    campaigns.ahead.take();
    Step::Done(figures(found.count, found.total, found.commitment))
}

/// What the creation of a campaign is answered.
pub(crate) fn answer_of(state: &State, campaign: &Id) -> Facts {
    let found = state.campaigns.get(campaign);
    found.map_or_else(|| facts![], |its| figures(its.count, its.total, its.commitment))
}

fn figures(count: u64, total: u64, commitment: Option<[u8; 32]>) -> Facts {
    facts![count, total, commitment.map(hex)]
}

/// Gives the next packet to a user.
pub(crate) fn claim(state: &State, command: &PacketClaim, now: TimeMs, events: &mut Vec<Event>) -> Verdict {
    let PacketClaim { campaign, user } = command;
    let (slot, found) = state.campaigns.existing(campaign)?;
    check_open(state, found, slot, now)?;
    if let Some((claim, amount)) = state.campaigns.claimed_at(slot, user) {
        return Err(Refusal::new(Code::AlreadyClaimed, facts![claim.packet, amount]));
    }
    let packet = found.claimed_count + 1;
    let amount = Some(packet)
        .filter(|packet| *packet <= found.count)
        .and_then(|packet| state.campaigns.amount(slot, packet))
        .ok_or_else(|| Refusal::new(Code::Exhausted, facts![found.count]))?;
    let left_count = found.count - packet;
    events.push(
        PacketsClaimed { campaign: campaign.clone(), user: user.clone(), packet, amount, left_count }.into(),
    );
    if left_count == 0 {
        events.push(PacketsExhausted { campaign: campaign.clone() }.into());
    }
    Ok(facts![packet, amount])
}

/// Whether packets can be claimed now. A closed campaign ended when it was closed, and one whose claims have left memory
/// is over, even if the clock was put back: who has a packet is not known any more.
fn check_open(state: &State, campaign: &Campaign, slot: Slot, now: TimeMs) -> Result<(), Refusal> {
    let ends_at = campaign.closed_at.or(campaign.ends_at);
    check_times(campaign.starts_at, ends_at, now)?;
    if state.campaigns.has_left(slot) {
        return Err(Refusal::new(Code::Ended, facts![ends_at, now]));
    }
    if campaign.laid_count < campaign.count {
        return Err(Refusal::new(Code::NotStarted, facts![campaign.starts_at, now]));
    }
    Ok(())
}

/// Closes a campaign and reveals its seed. Closing it again changes nothing.
pub(crate) fn close(state: &State, campaign: &Id, events: &mut Vec<Event>) -> Verdict {
    let (_, found) = state.campaigns.existing(campaign)?;
    let Campaign { claimed_count, claimed_amount, seed, method, min, max, .. } = *found;
    let (left_count, left_amount) = (found.count - claimed_count, found.total - claimed_amount);
    if found.closed_at.is_none() {
        let event = PacketsClosed {
            campaign: campaign.clone(),
            claimed_count,
            claimed_amount,
            left_count,
            left_amount,
            seed,
            method,
            min,
            max,
        };
        events.push(event.into());
    }
    Ok(facts![claimed_count, left_count, left_amount, seed.map(hex)])
}
