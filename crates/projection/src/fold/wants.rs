//! Finds the rows that a batch will use, so that missing ones are read together.

use scarce_core::event::{
    AccountEvent, CouponEvent, Event, MarketEvent, OperationEvent, PacketsEvent, StockEvent,
};
use scarce_core::types::{Id, signed};

use super::tables::Tables;
use super::{numbered, pair};
use crate::shelf::Shelf;
use crate::table::{Cell, Row};

/// Notes the rows of an event.
pub(super) fn note(tables: &mut Tables, event: &Event) {
    match event {
        Event::Account(event) => of_account(tables, event),
        Event::Stock(event) => of_stock(tables, event),
        Event::Packets(event) => of_campaign(tables, event),
        Event::Coupon(event) => of_coupon(tables, event),
        Event::Market(event) => of_market(tables, event),
        Event::Clock(_) => {}
        Event::Operation(
            OperationEvent::OperationRefused(_)
            | OperationEvent::OperationResolved(_)
            | OperationEvent::OperationStepped(_)
            | OperationEvent::OperationUnchanged(_),
        ) => {}
    }
}

fn of_account(tables: &mut Tables, event: &AccountEvent) {
    use AccountEvent as E;
    let is_careful = tables.uses.is_careful();
    match event {
        E::AccountOpened(opened) => new(&mut tables.accounts, is_careful, &opened.account),
        E::AccountCredited(credited) => one(&mut tables.accounts, &credited.account),
        E::AccountDebited(debited) => one(&mut tables.accounts, &debited.account),
        E::AccountTransferred(transferred) => {
            one(&mut tables.accounts, &transferred.from);
            one(&mut tables.accounts, &transferred.to);
        }
        E::AccountFrozen(frozen) => one(&mut tables.accounts, &frozen.account),
        E::AccountUnfrozen(unfrozen) => one(&mut tables.accounts, &unfrozen.account),
        E::AccountClosed(closed) => one(&mut tables.accounts, &closed.account),
        E::AccountOverdraftSet(set) => one(&mut tables.accounts, &set.account),
        E::HoldPlaced(placed) => {
            one(&mut tables.accounts, &placed.account);
            new_of(&mut tables.holds, is_careful, &placed.account, &placed.hold);
        }
        E::HoldCaptured(captured) => {
            if let Some(to) = &captured.to {
                one(&mut tables.accounts, to);
            }
            hold(tables, &captured.account, &captured.hold);
        }
        E::HoldVoided(voided) => hold(tables, &voided.account, &voided.hold),
        E::HoldExpired(expired) => hold(tables, &expired.account, &expired.hold),
        E::HoldExtended(extended) => hold(tables, &extended.account, &extended.hold),
    }
}

fn hold(tables: &mut Tables, account: &Id, hold: &Id) {
    one(&mut tables.accounts, account);
    two(&mut tables.holds, account, hold);
}

fn of_stock(tables: &mut Tables, event: &StockEvent) {
    use StockEvent as E;
    let is_careful = tables.uses.is_careful();
    match event {
        E::StockCreated(created) => new(&mut tables.stock, is_careful, &created.sku),
        E::StockRestocked(restocked) => one(&mut tables.stock, &restocked.sku),
        E::StockAdjusted(adjusted) => one(&mut tables.stock, &adjusted.sku),
        E::StockTaken(taken) => {
            one(&mut tables.stock, &taken.sku);
            tables.receipts.expect(&numbered(&taken.sku, taken.first_serial));
        }
        E::StockReturned(returned) => {
            one(&mut tables.stock, &returned.sku);
            number(&mut tables.receipts, &returned.sku, returned.receipt);
            tables.returned.want(&returned.sku, signed(returned.first.saturating_add(returned.count)));
        }
        E::StockClosed(closed) => one(&mut tables.stock, &closed.sku),
        E::StockSoldOut(sold_out) => one(&mut tables.stock, &sold_out.sku),
        E::StockAvailableAgain(again) => one(&mut tables.stock, &again.sku),
        E::StockAuditAdvanced(advanced) => one(&mut tables.stock, &advanced.sku),
        E::StockReceiptsForgotten(forgotten) => one(&mut tables.stock, &forgotten.sku),
        E::StockAudited(audited) => one(&mut tables.stock, &audited.sku),
        E::ReservationPlaced(placed) => {
            one(&mut tables.stock, &placed.sku);
            new_of(&mut tables.reservations, is_careful, &placed.sku, &placed.reservation);
        }
        E::ReservationConfirmed(confirmed) => {
            tables.receipts.expect(&numbered(&confirmed.sku, confirmed.first_serial));
            reservation(tables, &confirmed.sku, &confirmed.reservation);
        }
        E::ReservationReleased(released) => reservation(tables, &released.sku, &released.reservation),
        E::ReservationExpired(expired) => reservation(tables, &expired.sku, &expired.reservation),
        E::ReservationExtended(extended) => reservation(tables, &extended.sku, &extended.reservation),
    }
}

fn reservation(tables: &mut Tables, sku: &Id, reservation: &Id) {
    one(&mut tables.stock, sku);
    two(&mut tables.reservations, sku, reservation);
}

fn of_campaign(tables: &mut Tables, event: &PacketsEvent) {
    use PacketsEvent as E;
    let is_careful = tables.uses.is_careful();
    match event {
        E::PacketsCreated(created) => new(&mut tables.campaigns, is_careful, &created.campaign),
        E::PacketsFilled(filled) => one(&mut tables.campaigns, &filled.campaign),
        E::PacketsClaimed(claimed) => one(&mut tables.campaigns, &claimed.campaign),
        E::PacketsExhausted(exhausted) => one(&mut tables.campaigns, &exhausted.campaign),
        E::PacketsClosed(closed) => one(&mut tables.campaigns, &closed.campaign),
        E::PacketsForgotten(forgotten) => one(&mut tables.campaigns, &forgotten.campaign),
    }
}

fn of_coupon(tables: &mut Tables, event: &CouponEvent) {
    use CouponEvent as E;
    let is_careful = tables.uses.is_careful();
    match event {
        E::CouponCreated(created) => {
            new(&mut tables.coupons, is_careful, &created.coupon);
            for limit in &created.limits {
                new_of(&mut tables.limits, is_careful, &created.coupon, &limit.name);
            }
        }
        E::CouponUpdated(updated) => {
            one(&mut tables.coupons, &updated.coupon);
            for limit in &updated.limits {
                two(&mut tables.limits, &updated.coupon, &limit.name);
            }
        }
        E::CouponClaimed(claimed) => {
            one(&mut tables.coupons, &claimed.coupon);
            if is_careful {
                number(&mut tables.coupon_claims, &claimed.coupon, claimed.serial);
            } else {
                tables.coupon_claims.expect(&numbered(&claimed.coupon, claimed.serial));
            }
        }
        E::CouponRedeemed(redeemed) => {
            one(&mut tables.coupons, &redeemed.coupon);
            number(&mut tables.coupon_claims, &redeemed.coupon, redeemed.serial);
        }
        E::CouponRevoked(revoked) => {
            one(&mut tables.coupons, &revoked.coupon);
            number(&mut tables.coupon_claims, &revoked.coupon, revoked.serial);
        }
        E::CouponPaused(paused) => one(&mut tables.coupons, &paused.coupon),
        E::CouponResumed(resumed) => one(&mut tables.coupons, &resumed.coupon),
    }
}

fn of_market(tables: &mut Tables, event: &MarketEvent) {
    use MarketEvent as E;
    let is_careful = tables.uses.is_careful();
    match event {
        E::MarketCreated(created) => new(&mut tables.markets, is_careful, &created.market),
        E::MarketHalted(halted) => one(&mut tables.markets, &halted.market),
        E::MarketResumed(resumed) => one(&mut tables.markets, &resumed.market),
        E::OrderPlaced(placed) => {
            one(&mut tables.markets, &placed.market);
            new_of(&mut tables.orders, is_careful, &placed.market, &placed.order);
        }
        E::OrderTraded(traded) => {
            one(&mut tables.markets, &traded.market);
            two(&mut tables.orders, &traded.market, &traded.maker_order);
            two(&mut tables.orders, &traded.market, &traded.taker_order);
        }
        E::OrderCancelled(cancelled) => two(&mut tables.orders, &cancelled.market, &cancelled.order),
        E::OrderReduced(reduced) => two(&mut tables.orders, &reduced.market, &reduced.order),
        E::OrderRested(rested) => two(&mut tables.orders, &rested.market, &rested.order),
        E::OrderReplaced(replaced) => two(&mut tables.orders, &replaced.market, &replaced.order),
    }
}

/// A row that must exist.
fn one<R: Row + Clone>(shelf: &mut Shelf<R>, id: &Id) {
    shelf.want(id.as_str(), || vec![Cell::from(id.as_str())]);
}

fn two<R: Row + Clone>(shelf: &mut Shelf<R>, of: &Id, id: &Id) {
    shelf.want(&pair(of, id), || vec![Cell::from(of.as_str()), Cell::from(id.as_str())]);
}

fn number<R: Row + Clone>(shelf: &mut Shelf<R>, of: &Id, number: u64) {
    shelf.want(&numbered(of, number), || vec![Cell::from(of.as_str()), Cell::from(signed(number))]);
}

/// A row that is created; looked up only if `is_careful`.
fn new<R: Row + Clone>(shelf: &mut Shelf<R>, is_careful: bool, id: &Id) {
    if is_careful { one(shelf, id) } else { shelf.expect(id.as_str()) }
}

fn new_of<R: Row + Clone>(shelf: &mut Shelf<R>, is_careful: bool, of: &Id, id: &Id) {
    if is_careful { two(shelf, of, id) } else { shelf.expect(&pair(of, id)) }
}
