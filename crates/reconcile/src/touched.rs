//! Which resources an event changes.

use scarce_core::event::{AccountEvent, CouponEvent, Event, PacketsEvent, StockEvent};
use scarce_core::types::Id;

/// The resources that an event changes, the one that it is about first.
pub(crate) fn touched(event: &Event) -> [Option<&Id>; 2] {
    match event {
        Event::Account(event) => accounts(event),
        Event::Stock(event) => [Some(item(event)), None],
        Event::Packets(event) => [Some(campaign(event)), None],
        Event::Coupon(event) => [Some(coupon(event)), None],
        Event::Market(event) => [Some(event.market()), None],
        Event::Clock(_) | Event::Operation(_) => [None, None],
    }
}

fn accounts(event: &AccountEvent) -> [Option<&Id>; 2] {
    use AccountEvent as E;
    let one = match event {
        E::AccountTransferred(its) => return [Some(&its.from), Some(&its.to)],
        E::HoldCaptured(its) => return [Some(&its.account), its.to.as_ref()],
        E::AccountOpened(its) => &its.account,
        E::AccountCredited(its) => &its.account,
        E::AccountDebited(its) => &its.account,
        E::AccountFrozen(its) => &its.account,
        E::AccountUnfrozen(its) => &its.account,
        E::AccountClosed(its) => &its.account,
        E::AccountOverdraftSet(its) => &its.account,
        E::HoldPlaced(its) => &its.account,
        E::HoldVoided(its) => &its.account,
        E::HoldExpired(its) => &its.account,
        E::HoldExtended(its) => &its.account,
    };
    [Some(one), None]
}

fn item(event: &StockEvent) -> &Id {
    use StockEvent as E;
    match event {
        E::StockCreated(its) => &its.sku,
        E::StockRestocked(its) => &its.sku,
        E::StockAdjusted(its) => &its.sku,
        E::StockTaken(its) => &its.sku,
        E::StockReturned(its) => &its.sku,
        E::StockClosed(its) => &its.sku,
        E::StockSoldOut(its) => &its.sku,
        E::StockAvailableAgain(its) => &its.sku,
        E::StockAuditAdvanced(its) => &its.sku,
        E::StockReceiptsForgotten(its) => &its.sku,
        E::StockAudited(its) => &its.sku,
        E::ReservationPlaced(its) => &its.sku,
        E::ReservationConfirmed(its) => &its.sku,
        E::ReservationReleased(its) => &its.sku,
        E::ReservationExpired(its) => &its.sku,
        E::ReservationExtended(its) => &its.sku,
    }
}

fn campaign(event: &PacketsEvent) -> &Id {
    use PacketsEvent as E;
    match event {
        E::PacketsCreated(its) => &its.campaign,
        E::PacketsFilled(its) => &its.campaign,
        E::PacketsClaimed(its) => &its.campaign,
        E::PacketsExhausted(its) => &its.campaign,
        E::PacketsClosed(its) => &its.campaign,
        E::PacketsForgotten(its) => &its.campaign,
    }
}

fn coupon(event: &CouponEvent) -> &Id {
    use CouponEvent as E;
    match event {
        E::CouponCreated(its) => &its.coupon,
        E::CouponUpdated(its) => &its.coupon,
        E::CouponClaimed(its) => &its.coupon,
        E::CouponRedeemed(its) => &its.coupon,
        E::CouponRevoked(its) => &its.coupon,
        E::CouponPaused(its) => &its.coupon,
        E::CouponResumed(its) => &its.coupon,
    }
}
