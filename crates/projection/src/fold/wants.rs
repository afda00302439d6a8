//! Which rows a batch will use, so that those that are not held are read at once.

use scarce_core::event::{Event, PacketsExhausted, StockAvailableAgain, StockSoldOut};
use scarce_core::types::{Id, signed};

use super::tables::Tables;
use super::{numbered, pair};
use crate::shelf::Shelf;
use crate::table::{Cell, Row};

/// Notes the rows of an event.
pub(super) fn note(tables: &mut Tables, event: &Event) {
    match event {
        Event::AccountOpened(opened) => new(&mut tables.accounts, tables.uses.is_careful(), &opened.account),
        Event::AccountCredited(credited) => one(&mut tables.accounts, &credited.account),
        Event::AccountDebited(debited) => one(&mut tables.accounts, &debited.account),
        Event::AccountTransferred(transferred) => {
            one(&mut tables.accounts, &transferred.from);
            one(&mut tables.accounts, &transferred.to);
        }
        Event::AccountFrozen(frozen) => one(&mut tables.accounts, &frozen.account),
        Event::AccountUnfrozen(unfrozen) => one(&mut tables.accounts, &unfrozen.account),
        Event::AccountClosed(closed) => one(&mut tables.accounts, &closed.account),
        Event::AccountOverdraftSet(set) => one(&mut tables.accounts, &set.account),
        Event::HoldPlaced(_)
        | Event::HoldCaptured(_)
        | Event::HoldVoided(_)
        | Event::HoldExpired(_)
        | Event::HoldExtended(_) => holds(tables, event),
        Event::ReservationPlaced(_)
        | Event::ReservationConfirmed(_)
        | Event::ReservationReleased(_)
        | Event::ReservationExpired(_)
        | Event::ReservationExtended(_) => reservations(tables, event),
        Event::PacketsCreated(created) => {
            new(&mut tables.campaigns, tables.uses.is_careful(), &created.campaign);
        }
        Event::PacketsFilled(filled) => one(&mut tables.campaigns, &filled.campaign),
        Event::PacketsClaimed(claimed) => one(&mut tables.campaigns, &claimed.campaign),
        Event::PacketsExhausted(PacketsExhausted { campaign }) => one(&mut tables.campaigns, campaign),
        Event::PacketsClosed(closed) => one(&mut tables.campaigns, &closed.campaign),
        Event::CouponCreated(_)
        | Event::CouponUpdated(_)
        | Event::CouponClaimed(_)
        | Event::CouponRedeemed(_)
        | Event::CouponRevoked(_)
        | Event::CouponPaused(_)
        | Event::CouponResumed(_) => coupons(tables, event),
        Event::OperationRefused(_)
        | Event::OperationResolved(_)
        | Event::OperationStepped(_)
        | Event::OperationUnchanged(_) => {}
        _ => stock_and_markets(tables, event),
    }
}

fn stock_and_markets(tables: &mut Tables, event: &Event) {
    let is_careful = tables.uses.is_careful();
    match event {
        Event::StockCreated(created) => new(&mut tables.stock, is_careful, &created.sku),
        Event::StockRestocked(restocked) => one(&mut tables.stock, &restocked.sku),
        Event::StockAdjusted(adjusted) => one(&mut tables.stock, &adjusted.sku),
        Event::StockTaken(taken) => {
            one(&mut tables.stock, &taken.sku);
            tables.receipts.expect(&numbered(&taken.sku, taken.first_serial));
        }
        Event::StockReturned(returned) => {
            one(&mut tables.stock, &returned.sku);
            number(&mut tables.receipts, &returned.sku, returned.receipt);
            tables.returned.want(&returned.sku, signed(returned.first.saturating_add(returned.count)));
        }
        Event::StockClosed(closed) => one(&mut tables.stock, &closed.sku),
        Event::StockSoldOut(StockSoldOut { sku }) => one(&mut tables.stock, sku),
        Event::StockAvailableAgain(StockAvailableAgain { sku, .. }) => one(&mut tables.stock, sku),
        Event::StockAuditAdvanced(advanced) => one(&mut tables.stock, &advanced.sku),
        Event::StockAudited(audited) => one(&mut tables.stock, &audited.sku),
        Event::MarketCreated(created) => new(&mut tables.markets, is_careful, &created.market),
        Event::MarketHalted(halted) => one(&mut tables.markets, &halted.market),
        Event::MarketResumed(resumed) => one(&mut tables.markets, &resumed.market),
        Event::OrderPlaced(placed) => {
            one(&mut tables.markets, &placed.market);
            new_of(&mut tables.orders, is_careful, &placed.market, &placed.order);
        }
        Event::OrderTraded(traded) => {
            one(&mut tables.markets, &traded.market);
            two(&mut tables.orders, &traded.market, &traded.maker_order);
            two(&mut tables.orders, &traded.market, &traded.taker_order);
        }
        Event::OrderCancelled(cancelled) => two(&mut tables.orders, &cancelled.market, &cancelled.order),
        Event::OrderReduced(reduced) => two(&mut tables.orders, &reduced.market, &reduced.order),
        Event::OrderRested(rested) => two(&mut tables.orders, &rested.market, &rested.order),
        Event::OrderReplaced(replaced) => two(&mut tables.orders, &replaced.market, &replaced.order),
        _ => {}
    }
}

fn holds(tables: &mut Tables, event: &Event) {
    let is_careful = tables.uses.is_careful();
    let (account, hold) = match event {
        Event::HoldPlaced(placed) => {
            one(&mut tables.accounts, &placed.account);
            new_of(&mut tables.holds, is_careful, &placed.account, &placed.hold);
            return;
        }
        Event::HoldCaptured(captured) => {
            if let Some(to) = &captured.to {
                one(&mut tables.accounts, to);
            }
            (&captured.account, &captured.hold)
        }
        Event::HoldVoided(voided) => (&voided.account, &voided.hold),
        Event::HoldExpired(expired) => (&expired.account, &expired.hold),
        Event::HoldExtended(extended) => (&extended.account, &extended.hold),
        _ => return,
    };
    one(&mut tables.accounts, account);
    two(&mut tables.holds, account, hold);
}

fn reservations(tables: &mut Tables, event: &Event) {
    let is_careful = tables.uses.is_careful();
    let (sku, reservation) = match event {
        Event::ReservationPlaced(placed) => {
            one(&mut tables.stock, &placed.sku);
            new_of(&mut tables.reservations, is_careful, &placed.sku, &placed.reservation);
            return;
        }
        Event::ReservationConfirmed(confirmed) => {
            tables.receipts.expect(&numbered(&confirmed.sku, confirmed.first_serial));
            (&confirmed.sku, &confirmed.reservation)
        }
        Event::ReservationReleased(released) => (&released.sku, &released.reservation),
        Event::ReservationExpired(expired) => (&expired.sku, &expired.reservation),
        Event::ReservationExtended(extended) => (&extended.sku, &extended.reservation),
        _ => return,
    };
    one(&mut tables.stock, sku);
    two(&mut tables.reservations, sku, reservation);
}

fn coupons(tables: &mut Tables, event: &Event) {
    let is_careful = tables.uses.is_careful();
    match event {
        Event::CouponCreated(created) => {
            new(&mut tables.coupons, is_careful, &created.coupon);
            for limit in &created.limits {
                new_of(&mut tables.limits, is_careful, &created.coupon, &limit.name);
            }
        }
        Event::CouponUpdated(updated) => {
            one(&mut tables.coupons, &updated.coupon);
            for limit in &updated.limits {
                two(&mut tables.limits, &updated.coupon, &limit.name);
            }
        }
        Event::CouponClaimed(claimed) => {
            one(&mut tables.coupons, &claimed.coupon);
            if is_careful {
                number(&mut tables.coupon_claims, &claimed.coupon, claimed.serial);
            } else {
                tables.coupon_claims.expect(&numbered(&claimed.coupon, claimed.serial));
            }
        }
        Event::CouponRedeemed(redeemed) => {
            one(&mut tables.coupons, &redeemed.coupon);
            number(&mut tables.coupon_claims, &redeemed.coupon, redeemed.serial);
        }
        Event::CouponRevoked(revoked) => {
            one(&mut tables.coupons, &revoked.coupon);
            number(&mut tables.coupon_claims, &revoked.coupon, revoked.serial);
        }
        Event::CouponPaused(paused) => one(&mut tables.coupons, &paused.coupon),
        Event::CouponResumed(resumed) => one(&mut tables.coupons, &resumed.coupon),
        _ => {}
    }
}

/// A row that must be there.
fn one<R: Row + Clone>(shelf: &mut Shelf<R>, id: &Id) {
    shelf.want(id.as_str(), || vec![Cell::from(id.as_str())]);
}

fn two<R: Row + Clone>(shelf: &mut Shelf<R>, of: &Id, id: &Id) {
    shelf.want(&pair(of, id), || vec![Cell::from(of.as_str()), Cell::from(id.as_str())]);
}

fn number<R: Row + Clone>(shelf: &mut Shelf<R>, of: &Id, number: u64) {
    shelf.want(&numbered(of, number), || vec![Cell::from(of.as_str()), Cell::from(signed(number))]);
}

/// A row that is made; looked for only when that is asked for.
fn new<R: Row + Clone>(shelf: &mut Shelf<R>, is_careful: bool, id: &Id) {
    if is_careful { one(shelf, id) } else { shelf.expect(id.as_str()) }
}

fn new_of<R: Row + Clone>(shelf: &mut Shelf<R>, is_careful: bool, of: &Id, id: &Id) {
    if is_careful { two(shelf, of, id) } else { shelf.expect(&pair(of, id)) }
}
