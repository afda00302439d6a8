//! `scarce settlements`: the settlement of claimed packets.

use clap::{Args, Subcommand, ValueEnum};
use scarce_delivery::{Replaced, Settlement, SettlementFilter, SettlementState};
use serde_json::{Value, json};

use super::{DeliverySource, Paging, done};
use crate::files::print_rows;
use crate::{Ended, Exit};

/// `scarce settlements`.
#[derive(Debug, Subcommand)]
pub enum Settlements {
    /// List claimed packets, with what became of each.
    List(List),
    /// Count them by what became of them.
    Counts(Counts),
    /// Have dead letters tried again: of one packet, or of a whole campaign.
    Replay(Replay),
    /// List settlements of a lost history whose packets the log gives to another user, and what was decided.
    Replaced(ReplacedList),
    /// Say of a dead letter what you found out: that it was paid, or that it was not and is to be tried anew.
    Resolve(Resolve),
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum State {
    /// It is to be credited.
    Pending,
    /// It was credited.
    Settled,
    /// It is not tried any more.
    Dead,
}

/// `scarce settlements list`.
#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    /// Where.
    pub place: DeliverySource,
    /// Only those of this campaign.
    #[arg(long, value_name = "ID")]
    pub campaign: Option<String>,
    /// Only those of this user.
    #[arg(long, value_name = "ID")]
    pub user: Option<String>,
    /// Only those in this state.
    #[arg(long, value_enum)]
    pub state: Option<State>,
    /// Only those whose claim the log does not have, after events of the engine were lost.
    #[arg(long)]
    pub lost: bool,
    #[command(flatten)]
    /// Which page.
    pub paging: Paging,
}

/// `scarce settlements replaced`.
#[derive(Debug, Args)]
pub struct ReplacedList {
    #[command(flatten)]
    /// Where.
    pub place: DeliverySource,
    #[command(flatten)]
    /// Which page.
    pub paging: Paging,
}

/// `scarce settlements counts`.
#[derive(Debug, Args)]
pub struct Counts {
    #[command(flatten)]
    /// Where.
    pub place: DeliverySource,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `scarce settlements replay`.
#[derive(Debug, Args)]
pub struct Replay {
    #[command(flatten)]
    /// Where.
    pub place: DeliverySource,
    /// Of which campaign.
    pub campaign: String,
    /// Only this packet.
    pub packet: Option<u64>,
}

/// What somebody found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Found {
    /// It was paid.
    Settled,
    /// It was not.
    NotSettled,
}

/// `scarce settlements resolve`.
#[derive(Debug, Args)]
pub struct Resolve {
    #[command(flatten)]
    /// Where.
    pub place: DeliverySource,
    /// Of which campaign.
    pub campaign: String,
    /// Which packet.
    pub packet: u64,
    /// What was found out.
    #[arg(value_enum)]
    pub found: Found,
}

const COLUMNS: [&str; 9] =
    ["campaign", "packet", "user", "amount", "asset", "state", "account", "attempts", "last_error"];

pub(in super::super) fn run(command: &Settlements) -> Ended {
    match command {
        Settlements::List(options) => list(options),
        Settlements::Counts(options) => counts(options),
        Settlements::Replay(options) => replay(options),
        Settlements::Replaced(options) => replaced(options),
        Settlements::Resolve(options) => resolve(options),
    }
}

fn list(options: &List) -> Ended {
    let state = options.state.map(|state| match state {
        State::Pending => SettlementState::Pending,
        State::Settled => SettlementState::Settled,
        State::Dead => SettlementState::Dead,
    });
    let (campaign, user) = (options.campaign.as_deref(), options.user.as_deref());
    let filter = SettlementFilter { campaign, user, state, is_lost: options.lost };
    let paging = &options.paging;
    let page = options.place.with(async |delivery| {
        delivery.settlements(filter, paging.after.as_deref(), paging.limit.into()).await
    })?;
    let rows: Vec<Value> = page.items.iter().map(Settlement::to_json).collect();
    paging.print(&rows, &COLUMNS, page.next.as_deref())
}

const REPLACED_COLUMNS: [&str; 8] =
    ["campaign", "packet", "user", "amount", "asset", "state", "account", "decision"];

fn replaced(options: &ReplacedList) -> Ended {
    let paging = &options.paging;
    let page = options
        .place
        .with(async |delivery| delivery.replaced(paging.after.as_deref(), paging.limit.into()).await)?;
    let row = |its: &Replaced| {
        json!({
            "campaign": its.campaign, "packet": its.packet, "user": its.user, "amount": its.amount,
            "asset": its.asset, "state": its.state.word(), "account": its.account,
            "operation_id": its.operation_id, "claimed_at_ms": its.claimed_at_ms, "done_at_ms": its.done_at_ms,
            "replaced_at_ms": its.replaced_at_ms, "decision": its.decision, "decided_at_ms": its.decided_at_ms,
        })
    };
    let rows: Vec<Value> = page.items.iter().map(row).collect();
    paging.print(&rows, &REPLACED_COLUMNS, page.next.as_deref())
}

fn counts(options: &Counts) -> Ended {
    let counts = options.place.with(async |delivery| delivery.settlement_counts().await)?;
    let row = json!({ "pending": counts.pending, "settled": counts.done, "dead": counts.dead });
    print_rows(&[row], &["pending", "settled", "dead"], options.json)?;
    Ok(Exit::Done)
}

fn replay(options: &Replay) -> Ended {
    let campaign = options.campaign.as_str();
    let count = options.place.with(async |delivery| match options.packet {
        Some(packet) => Ok(u64::from(delivery.replay_settlement(campaign, packet).await?)),
        None => delivery.replay_campaign(campaign).await,
    })?;
    let missing = "there are no such dead letters, or only some that were resolved before and need 'resolve' again; \
                   'scarce settlements list --state dead' lists all";
    done(count > 0, &format!("{count} to be tried again"), missing)
}

fn resolve(options: &Resolve) -> Ended {
    let was_settled = options.found == Found::Settled;
    let campaign = options.campaign.as_str();
    let resolved = options
        .place
        .with(async |delivery| delivery.resolve_settlement(campaign, options.packet, was_settled).await)?;
    let said = if was_settled { "noted as settled" } else { "to be tried anew, under another id" };
    done(resolved, said, "there is no such dead letter; 'scarce settlements list --state dead' lists all")
}
