//! Which records a change concerns.

use scarce_core::deadlines::RecordKind;
use scarce_core::event::{
    AccountEvent, CouponClaimed, CouponEvent, Event, MarketEvent, PacketsEvent, StockEvent,
};
use scarce_core::follower::Change;
use scarce_core::state::State;
use scarce_core::types::Id;

use crate::rows::{RowName, place_of};

/// Names every record whose rows a change may change, by the state before it.
pub fn touched(state: &State, change: Change<'_>, take: &mut impl FnMut(RowName)) {
    match change {
        Change::Event(Event::Account(event)) => accounts(state, event, take),
        Change::Event(Event::Stock(event)) => stock(state, event, take),
        Change::Event(Event::Packets(event)) => packets(state, event, take),
        Change::Event(Event::Coupon(event)) => coupons(state, event, take),
        Change::Event(Event::Market(event)) => markets(event, take),
        Change::Event(Event::Clock(_) | Event::Operation(_)) => {}
        Change::Counter(coupon, key) => {
            take(RowName::Counter(coupon.clone(), key.limit, key.window, key.subject.clone()));
        }
        Change::Record(kind, resource, record) => ended(kind, resource, record, take),
    }
}

fn ended(kind: RecordKind, resource: &Id, record: &Id, take: &mut impl FnMut(RowName)) {
    match kind {
        RecordKind::Hold => take(RowName::Hold(resource.clone(), record.clone())),
        RecordKind::Reservation => take(RowName::Reservation(resource.clone(), record.clone())),
        RecordKind::Order => take(RowName::Order(resource.clone(), record.clone())),
        RecordKind::CouponClaim => {
            if let Ok(serial) = record.as_str().parse() {
                take(RowName::CouponClaim(resource.clone(), serial));
            }
        }
        // They leave by events.
        RecordKind::Sale | RecordKind::Share => {}
    }
}

fn accounts(state: &State, event: &AccountEvent, take: &mut impl FnMut(RowName)) {
    use AccountEvent as E;
    let mut one = |account: &Id| take(RowName::Account(account.clone()));
    match event {
        E::AccountOpened(its) => {
            one(&its.account);
            one(&Id::world(&its.asset));
        }
        E::AccountTransferred(its) => {
            one(&its.from);
            one(&its.to);
        }
        E::AccountCredited(its) => with_world(state, &its.account, &mut one),
        E::AccountDebited(its) => with_world(state, &its.account, &mut one),
        E::AccountFrozen(its) => one(&its.account),
        E::AccountUnfrozen(its) => one(&its.account),
        E::AccountClosed(its) => one(&its.account),
        E::AccountOverdraftSet(its) => one(&its.account),
        E::HoldPlaced(its) => hold(&its.account, &its.hold, take),
        E::HoldVoided(its) => hold(&its.account, &its.hold, take),
        E::HoldExpired(its) => hold(&its.account, &its.hold, take),
        E::HoldExtended(its) => hold(&its.account, &its.hold, take),
        E::HoldCaptured(its) => {
            match &its.to {
                Some(to) => one(to),
                None => with_world(state, &its.account, &mut one),
            }
            hold(&its.account, &its.hold, take);
        }
    }
}

fn hold(account: &Id, hold: &Id, take: &mut impl FnMut(RowName)) {
    take(RowName::Account(account.clone()));
    take(RowName::Hold(account.clone(), hold.clone()));
}

/// An account, and the other side of money that comes in from outside or goes out.
fn with_world(state: &State, account: &Id, one: &mut impl FnMut(&Id)) {
    one(account);
    if let Some(found) = state.accounts.get(account) {
        one(&Id::world(&found.asset));
    }
}

fn stock(state: &State, event: &StockEvent, take: &mut impl FnMut(RowName)) {
    use StockEvent as E;
    let reservation = |sku: &Id, name: &Id, owner: &Id, take: &mut dyn FnMut(RowName)| {
        take(RowName::Reservation(sku.clone(), name.clone()));
        take(RowName::Owner(sku.clone(), owner.clone()));
    };
    let sku = match event {
        E::StockTaken(its) => {
            take(RowName::Owner(its.sku.clone(), its.owner.clone()));
            take(RowName::Receipt(its.sku.clone(), its.first_serial));
            &its.sku
        }
        E::StockReturned(its) => {
            take(RowName::Owner(its.sku.clone(), its.owner.clone()));
            take(RowName::Receipt(its.sku.clone(), its.receipt));
            &its.sku
        }
        E::StockReceiptsForgotten(its) => {
            let leave = state.stock.receipts(&its.sku).take_while(|(first, _)| *first <= its.through_serial);
            leave.for_each(|(first, _)| take(RowName::Receipt(its.sku.clone(), first)));
            &its.sku
        }
        E::ReservationPlaced(its) => {
            reservation(&its.sku, &its.reservation, &its.owner, take);
            &its.sku
        }
        E::ReservationConfirmed(its) => {
            reservation(&its.sku, &its.reservation, &its.owner, take);
            take(RowName::Receipt(its.sku.clone(), its.first_serial));
            &its.sku
        }
        E::ReservationReleased(its) => {
            reservation(&its.sku, &its.reservation, &its.owner, take);
            &its.sku
        }
        E::ReservationExpired(its) => {
            reservation(&its.sku, &its.reservation, &its.owner, take);
            &its.sku
        }
        E::ReservationExtended(its) => {
            take(RowName::Reservation(its.sku.clone(), its.reservation.clone()));
            &its.sku
        }
        E::StockCreated(its) => &its.sku,
        E::StockRestocked(its) => &its.sku,
        E::StockAdjusted(its) => &its.sku,
        E::StockClosed(its) => &its.sku,
        E::StockSoldOut(its) => &its.sku,
        E::StockAvailableAgain(its) => &its.sku,
        E::StockAuditAdvanced(its) => &its.sku,
        E::StockAudited(its) => &its.sku,
    };
    take(RowName::Stock(sku.clone()));
}

fn packets(state: &State, event: &PacketsEvent, take: &mut impl FnMut(RowName)) {
    use PacketsEvent as E;
    let campaign = match event {
        E::PacketsClaimed(its) => {
            take(RowName::Claim(its.campaign.clone(), its.user.clone()));
            &its.campaign
        }
        E::PacketsForgotten(its) => {
            let leave = state.campaigns.claimants_up_to(&its.campaign, its.through_packet);
            leave.for_each(|(_, user)| take(RowName::Claim(its.campaign.clone(), user.clone())));
            &its.campaign
        }
        E::PacketsCreated(its) => &its.campaign,
        E::PacketsFilled(its) => &its.campaign,
        E::PacketsExhausted(its) => &its.campaign,
        E::PacketsClosed(its) => &its.campaign,
    };
    take(RowName::Campaign(campaign.clone()));
}

fn coupons(state: &State, event: &CouponEvent, take: &mut impl FnMut(RowName)) {
    use CouponEvent as E;
    let coupon = match event {
        E::CouponClaimed(its) => {
            let CouponClaimed { coupon, serial, subject, windows, .. } = its;
            take(RowName::CouponClaim(coupon.clone(), *serial));
            for key in state.coupons.counters_of(coupon, subject, windows) {
                take(RowName::Counter(coupon.clone(), key.limit, key.window, key.subject));
            }
            coupon
        }
        E::CouponRevoked(its) => {
            take(RowName::CouponClaim(its.coupon.clone(), its.serial));
            if let Some(claim) = state.coupons.claim_of(&its.coupon, its.serial) {
                for key in state.coupons.counters_of(&its.coupon, &claim.subject, &claim.windows) {
                    take(RowName::Counter(its.coupon.clone(), key.limit, key.window, key.subject));
                }
            }
            &its.coupon
        }
        E::CouponRedeemed(its) => {
            take(RowName::CouponClaim(its.coupon.clone(), its.serial));
            &its.coupon
        }
        E::CouponCreated(its) => &its.coupon,
        E::CouponUpdated(its) => &its.coupon,
        E::CouponPaused(its) => &its.coupon,
        E::CouponResumed(its) => &its.coupon,
    };
    take(RowName::Coupon(coupon.clone()));
}

/// Levels follow from the orders.
fn markets(event: &MarketEvent, take: &mut impl FnMut(RowName)) {
    use MarketEvent as E;
    let mut order = |market: &Id, order: &Id| take(RowName::Order(market.clone(), order.clone()));
    let market = match event {
        E::OrderPlaced(its) => {
            order(&its.market, &its.order);
            &its.market
        }
        E::OrderTraded(its) => {
            order(&its.market, &its.maker_order);
            order(&its.market, &its.taker_order);
            take(RowName::Trade(its.market.clone(), place_of(its.trade)));
            &its.market
        }
        E::OrderCancelled(its) => {
            order(&its.market, &its.order);
            &its.market
        }
        E::OrderReduced(its) => {
            order(&its.market, &its.order);
            &its.market
        }
        E::OrderRested(its) => {
            order(&its.market, &its.order);
            &its.market
        }
        E::OrderReplaced(its) => {
            order(&its.market, &its.order);
            &its.market
        }
        E::MarketCreated(its) => &its.market,
        E::MarketHalted(its) => &its.market,
        E::MarketResumed(its) => &its.market,
    };
    take(RowName::Market(market.clone()));
}
