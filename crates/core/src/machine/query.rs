//! Answers to commands that only read.

use super::{Asked, Machine, Replay};
use crate::command::Command;
use crate::facts;
use crate::operations::Answered;
use crate::outcome::{Code, Outcome, Refusal, Value, Verdict};
use crate::types::{Id, OperationId, TimeMs};
use crate::{accounts, coupons, markets, packets, stock};

pub(super) fn answer(
    machine: &Machine,
    namespace: &str,
    command: &Command,
    now: TimeMs,
) -> Result<Outcome, Replay> {
    if let Command::OperationGet(get) = command {
        return operation(machine, namespace, &get.operation, now);
    }
    let verdict = read(machine, command, now);
    Ok(verdict.map_or_else(|refusal| *refusal.0, Outcome::applied))
}

fn read(machine: &Machine, command: &Command, now: TimeMs) -> Verdict {
    use Command as C;
    let state = &machine.state;
    match command {
        C::AccountGet(get) => accounts::query::account(state, &get.account),
        C::AccountHolds(get) => accounts::query::holds(state, get, now),
        C::AccountWorld(get) => accounts::query::world(state, &get.asset),
        C::AccountList(list) => accounts::query::list(state, list),
        C::StockGet(get) => stock::query::item(state, &get.sku, now),
        C::StockReservation(get) => stock::query::reservation(state, &get.sku, &get.reservation, now),
        C::StockList(list) => stock::query::list(state, list, now),
        C::PacketGet(get) => packets::query::campaign(state, &get.campaign, now),
        C::PacketClaimed(get) => packets::query::claim(state, &get.campaign, &get.user, now),
        C::PacketClaims(get) => packets::query::claims(state, get, now),
        C::PacketList(list) => packets::query::list(state, list, now),
        C::CouponCheck(check) => coupons::query::check(state, check, now),
        C::CouponClaimed(get) => coupons::query::claim(state, &get.coupon, get.serial, now),
        C::CouponGet(get) => coupons::query::coupon(state, &get.coupon, now),
        C::CouponList(list) => coupons::query::list(state, list, now),
        C::MarketGet(get) => markets::query::market(state, &get.market),
        C::MarketDepth(get) => markets::query::depth(state, &get.market, get.levels, machine.sequence),
        C::MarketTrades(get) => markets::query::trades(state, &get.market, get.count),
        C::MarketTicker(get) => markets::query::ticker(state, &get.market, machine.sequence),
        C::MarketList(list) => markets::query::list(state, list),
        C::OrderGet(get) => markets::query::order(state, &get.market, &get.order, now),
        C::OrderList(list) => markets::list_orders(state, list),
        C::Digest(digest) => Ok(digest_of(machine, digest.resource.0.as_ref())),
        C::AccountOpen(_)
        | C::AccountCredit(_)
        | C::AccountDebit(_)
        | C::AccountTransfer(_)
        | C::AccountHold(_)
        | C::AccountCapture(_)
        | C::AccountVoid(_)
        | C::AccountExtend(_)
        | C::AccountFreeze(_)
        | C::AccountUnfreeze(_)
        | C::AccountClose(_)
        | C::AccountOverdraft(_)
        | C::StockCreate(_)
        | C::StockRestock(_)
        | C::StockAdjust(_)
        | C::StockTake(_)
        | C::StockReserve(_)
        | C::StockConfirm(_)
        | C::StockRelease(_)
        | C::StockExtend(_)
        | C::StockReturn(_)
        | C::StockClose(_)
        | C::StockAudit(_)
        | C::PacketCreate(_)
        | C::PacketClaim(_)
        | C::PacketClose(_)
        | C::CouponCreate(_)
        | C::CouponUpdate(_)
        | C::CouponClaim(_)
        | C::CouponRedeem(_)
        | C::CouponRevoke(_)
        | C::CouponPause(_)
        | C::CouponResume(_)
        | C::MarketCreate(_)
        | C::MarketHalt(_)
        | C::MarketResume(_)
        | C::OrderPlace(_)
        | C::OrderCancel(_)
        | C::OrderReduce(_)
        | C::OrderReplace(_)
        | C::OrderCancelAll(_)
        // Answered from the stored receipts, not from the resources.
        | C::OperationGet(_)
        | C::OperationResolve(_) => Err(Refusal::invalid("command", "changes state; it must be submitted")),
    }
}

/// The partition, its sequence and the digest as 32 hexadecimal digits.
fn digest_of(machine: &Machine, only: Option<&Id>) -> crate::outcome::Facts {
    digest_facts(machine.partition, machine.sequence, machine.state.digest(only))
}

fn digest_facts(partition: u32, sequence: u64, digest: u128) -> crate::outcome::Facts {
    let digest = format!("{digest:032x}");
    let fields = facts![u64::from(partition), sequence, digest.as_str()];
    facts![vec![Value::List(fields.into_vec())]]
}

/// The answer to `DIGEST` for a digest that was made elsewhere.
#[must_use]
pub fn digest_outcome(partition: u32, sequence: u64, digest: u128) -> Outcome {
    Outcome::applied(digest_facts(partition, sequence, digest))
}

fn operation(machine: &Machine, namespace: &str, id: &OperationId, now: TimeMs) -> Result<Outcome, Replay> {
    let Some(known) =
        machine.state.operations.find(namespace, id, &machine.state.settings, machine.state.settled(now))
    else {
        let not_found = Outcome { code: Code::OperationNotFound, facts: facts![id.as_str()] };
        return Ok(machine.check_age(id, None, now).map_or_else(|refusal| *refusal.0, |()| not_found));
    };
    let outcome = match &known.answered {
        Answered::InLog => return Err(Replay::of(&known, Asked::ByLookup)),
        Answered::Outcome(outcome) => outcome.clone(),
        Answered::Absent => Outcome { code: Code::ResolvedAbsent, facts: facts![id.as_str()] },
    };
    Ok(operation_found(id.as_str(), known.sequence_last, known.at, &outcome))
}

pub(super) fn operation_found(id: &str, sequence: u64, at: TimeMs, outcome: &Outcome) -> Outcome {
    Outcome::applied(facts![id, sequence, at, outcome.to_values()])
}
