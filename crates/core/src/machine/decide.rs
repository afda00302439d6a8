//! Dispatches commands to the decisions of their resources.

use super::step::{OperationProgress, Step};
use crate::accounts;
use crate::command::{Command, Command as C};
use crate::coupons;
use crate::deadlines::RecordKind;
use crate::event::Event;
use crate::markets;
use crate::outcome::Refusal;
use crate::packets::{self, Prepared};
use crate::resource::ResourceKind;
use crate::state::State;
use crate::stock;
use crate::store::Slot;
use crate::types::{OperationId, TimeMs};

/// What a decision may use besides state and command.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The stamp.
    pub now: TimeMs,
    /// The caller's id, for receipts.
    pub operation: Option<&'a OperationId>,
    /// The packets that were cut for the command.
    pub prepared: Option<&'a Prepared>,
}

/// Decides a command: its answer, and the events that make it true. Only reads the state.
pub(super) fn decide(
    state: &State,
    command: &Command,
    context: &Context<'_>,
    events: &mut Vec<Event>,
) -> Result<Step, Refusal> {
    let now = context.now;
    let facts = match command {
        C::AccountOpen(command) => accounts::open(state, command, events),
        C::AccountCredit(command) => accounts::credit(state, command, events),
        C::AccountDebit(command) => accounts::debit(state, command, events),
        C::AccountTransfer(command) => accounts::transfer(state, command, events),
        C::AccountFreeze(command) => accounts::freeze(state, &command.account, events),
        C::AccountUnfreeze(command) => accounts::unfreeze(state, &command.account, events),
        C::AccountClose(command) => accounts::close(state, &command.account, events),
        C::AccountOverdraft(command) => accounts::set_overdraft(state, command, events),
        C::AccountHold(command) => accounts::holds::place(state, command, now, events),
        C::AccountCapture(command) => accounts::holds::capture(state, command, now, events),
        C::AccountVoid(command) => accounts::holds::void(state, command, now, events),
        C::AccountExtend(command) => accounts::holds::extend(state, command, now, events),
        C::StockCreate(command) => stock::create(state, command, events),
        C::StockRestock(command) => stock::restock(state, command, events),
        C::StockAdjust(command) => stock::adjust(state, command, events),
        C::StockTake(command) => stock::sales::take(state, command, now, events),
        C::StockReturn(command) => stock::sales::give_back(state, command, now, events),
        C::StockClose(command) => stock::close(state, &command.sku, events),
        C::StockAudit(command) => stock::audit::advance(state, &command.sku, events),
        C::StockReserve(command) => stock::reservations::place(state, command, now, events),
        C::StockConfirm(command) => stock::reservations::confirm(state, command, now, events),
        C::StockRelease(command) => stock::reservations::release(state, command, now, events),
        C::StockExtend(command) => stock::reservations::extend(state, command, now, events),
        C::PacketCreate(command) => return packets::create(state, command, context, events),
        C::PacketClaim(command) => packets::claim(state, command, now, events),
        C::PacketClose(command) => packets::close(state, &command.campaign, events),
        C::CouponCreate(command) => coupons::create(state, command, events),
        C::CouponUpdate(command) => coupons::update(state, command, events),
        C::CouponClaim(command) => coupons::claim(state, command, now, events),
        C::CouponRedeem(command) => coupons::redeem(state, command, now, events),
        C::CouponRevoke(command) => coupons::revoke(state, command, now, events),
        C::CouponPause(command) => coupons::pause(state, &command.coupon, events),
        C::CouponResume(command) => coupons::resume(state, &command.coupon, events),
        C::MarketCreate(command) => markets::create(state, command, events),
        C::MarketHalt(command) => markets::halt(state, &command.market, events),
        C::MarketResume(command) => markets::resume(state, &command.market, events),
        C::OrderPlace(command) => return markets::place(state, command, now, events),
        C::OrderCancel(command) => markets::cancel(state, command, now, events),
        C::OrderReduce(command) => markets::reduce(state, command, now, events),
        C::OrderReplace(command) => return markets::replace(state, command, now, events),
        C::OrderCancelAll(command) => return markets::cancel_all(state, command, events),
        C::AccountGet(_)
        | C::AccountHolds(_)
        | C::AccountWorld(_)
        | C::AccountList(_)
        | C::StockGet(_)
        | C::StockReservation(_)
        | C::StockList(_)
        | C::PacketGet(_)
        | C::PacketClaimed(_)
        | C::PacketClaims(_)
        | C::PacketList(_)
        | C::CouponCheck(_)
        | C::CouponClaimed(_)
        | C::CouponGet(_)
        | C::CouponList(_)
        | C::MarketGet(_)
        | C::MarketDepth(_)
        | C::MarketTicker(_)
        | C::MarketList(_)
        | C::MarketTrades(_)
        | C::OrderGet(_)
        | C::OrderList(_)
        | C::OperationGet(_)
        | C::OperationResolve(_)
        | C::Digest(_) => Err(not_sequenced()),
    };
    facts.map(Step::Done)
}

fn not_sequenced() -> Refusal {
    Refusal::invalid("command", "is answered on its own, not sequenced in a batch")
}

/// Decides the next step of a command that has begun; such a command is never refused.
pub(super) fn go_on(
    state: &State,
    progress: &OperationProgress,
    now: TimeMs,
    events: &mut Vec<Event>,
) -> Step {
    match progress {
        OperationProgress::Sweep(sweep) => markets::sweep::go_on(state, sweep, now, events),
        OperationProgress::CancelAll { market, owner, cancelled } => {
            markets::go_on_cancelling(state, market, owner, *cancelled, events)
        }
        OperationProgress::Packets { campaign } => packets::go_on(state, campaign, events),
    }
}

/// Visits the resources whose passed deadlines end before the command is decided.
pub(super) fn touched(state: &State, command: &Command, visit: &mut dyn FnMut(RecordKind, Slot)) {
    let kinds = command.spec().resource.map_or(&[][..], ResourceKind::ends_by_deadline);
    if kinds.is_empty() {
        return;
    }
    command.route(&mut |id| {
        for kind in kinds {
            let slot = match kind {
                RecordKind::Hold => state.accounts.find_with_holds(id),
                RecordKind::Reservation => state.stock.find_with_reservations(id),
                RecordKind::Sale => state.stock.items.find(id),
                RecordKind::Share => state.campaigns.find(id),
                RecordKind::CouponClaim | RecordKind::Order => None,
            };
            if let Some(slot) = slot {
                visit(*kind, slot);
            }
        }
    });
}
