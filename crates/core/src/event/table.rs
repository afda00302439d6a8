//! The event table.

use std::sync::LazyLock;

use super::spec::{EventSpec, events};
use super::{FromShown, Redacted, Shown};
use crate::codec::{Input, Malformed, Wire};
use crate::command::shapes::{Cut, Limit, Method, Side, StpMode, Subject, Tif};
use crate::machine::step::OperationProgress;
use crate::markets::CancelReason;
use crate::outcome::Value;
use crate::outcome::shape::{Typed, values};
use crate::packets::Amounts;
use crate::resource::{ResourceKind, resource_kind};
use crate::types::{Id, OperationId, TimeMs};

events! {
    /// An event of an account or a hold.
    Account(AccountEvent) of Account {
        10 "account.opened" AccountOpened "An account was opened."
            { account: Id, asset: Id, overdraft: u64 } secret {};
        11 "account.credited" AccountCredited "Money came in from outside."
            { account: Id, amount: u64, balance: i64, available: i64 } secret {};
        12 "account.debited" AccountDebited "Money went out."
            { account: Id, amount: u64, balance: i64, available: i64 } secret {};
        13 "account.transferred" AccountTransferred "Money moved from one account to another."
            { from: Id, to: Id, amount: u64, from_balance: i64, from_available: i64, to_balance: i64, to_available: i64 } secret {};
        14 "account.frozen" AccountFrozen "Debits and new holds were stopped." { account: Id } secret {};
        15 "account.unfrozen" AccountUnfrozen "Debits and new holds are allowed again." { account: Id } secret {};
        16 "account.closed" AccountClosed "An account was closed for good." { account: Id } secret {};
        17 "account.overdraft_set" AccountOverdraftSet "An account's overdraft was set."
            { account: Id, overdraft: u64, available: i64 } secret {};
        20 "hold.placed" HoldPlaced "Money was set aside."
            { account: Id, hold: Id, amount: u64, deadline: Option<TimeMs>, held: u64, available: i64 } secret {};
        21 "hold.captured" HoldCaptured "Money was paid out of a hold; `open` if the rest was kept."
            { account: Id, hold: Id, amount: u64, to: Option<Id>, hold_remaining: u64, open: bool, balance: i64, held: u64, available: i64, to_balance: Option<i64> } secret {};
        22 "hold.voided" HoldVoided "A hold was ended and its money made available."
            { account: Id, hold: Id, amount: u64, held: u64, available: i64 } secret {};
        23 "hold.expired" HoldExpired "A hold's deadline passed and its money became available."
            { account: Id, hold: Id, amount: u64, held: u64, available: i64 } secret {};
        24 "hold.extended" HoldExtended "A hold was given a new deadline."
            { account: Id, hold: Id, deadline: TimeMs } secret {};
    }

    /// An event of a stock item or a reservation.
    Stock(StockEvent) of Stock {
        40 "stock.created" StockCreated "A stock item was put on sale."
            { sku: Id, quantity: u64, per_owner_max: Option<u64>, starts_at: Option<TimeMs>, ends_at: Option<TimeMs> } secret {};
        41 "stock.restocked" StockRestocked "Units were added."
            { sku: Id, quantity: u64, available: u64, total: u64 } secret {};
        42 "stock.adjusted" StockAdjusted "The number of units was corrected."
            { sku: Id, delta: i64, reason: compact_str::CompactString, available: u64, total: u64 } secret {};
        43 "stock.taken" StockTaken "Units were sold."
            { sku: Id, owner: Id, quantity: u64, first_serial: u64, available: u64, sold: u64 } secret {};
        44 "stock.returned" StockReturned "Sold units came back."
            { sku: Id, owner: Id, receipt: u64, first: u64, count: u64, available: u64, sold: u64 } secret {};
        45 "stock.closed" StockClosed "Sales were ended." { sku: Id } secret {};
        46 "stock.sold_out" StockSoldOut "No unit is left." { sku: Id } secret {};
        47 "stock.available_again" StockAvailableAgain "Units are available again." { sku: Id, available: u64 } secret {};
        48 "stock.audit_advanced" StockAuditAdvanced "Some of the receipts were recounted."
            { sku: Id, through_serial: u64, horizon_serial: u64, counted: u64, expected: u64 } secret {};
        49 "stock.audited" StockAudited "The receipts were recounted to the end."
            { sku: Id, horizon_serial: u64, counted: u64, expected: u64, consistent: bool } secret {};
        50 "reservation.placed" ReservationPlaced "Units were set aside."
            { sku: Id, reservation: Id, owner: Id, quantity: u64, deadline: TimeMs, available: u64, reserved: u64 } secret {};
        51 "reservation.confirmed" ReservationConfirmed "Reserved units were sold."
            { sku: Id, reservation: Id, owner: Id, quantity: u64, first_serial: u64, reserved: u64, sold: u64 } secret {};
        52 "reservation.released" ReservationReleased "Reserved units went back on sale."
            { sku: Id, reservation: Id, owner: Id, quantity: u64, available: u64, reserved: u64 } secret {};
        53 "reservation.expired" ReservationExpired "A reservation's deadline passed and its units went back on sale."
            { sku: Id, reservation: Id, owner: Id, quantity: u64, available: u64, reserved: u64 } secret {};
        54 "reservation.extended" ReservationExtended "A reservation was given a new deadline."
            { sku: Id, reservation: Id, deadline: TimeMs } secret {};
        55 "stock.receipts_forgotten" StockReceiptsForgotten "An item's oldest receipts left memory because their retention was over; up to the serial no unit can be returned any more."
            { sku: Id, through_serial: u64, sold: u64 } secret {};
    }

    /// An event of a campaign of red packets.
    Packets(PacketsEvent) of Campaign {
        60 "packets.created" PacketsCreated "A campaign was created; it is claimable after its last `packets.filled`."
            { campaign: Id, asset: Id, count: u64, total: u64, starts_at: Option<TimeMs>, ends_at: Option<TimeMs>, commitment: Option<[u8; 32]> }
            secret { cut: Cut, min: u64, max: Option<u64>, seed: Option<[u8; 32]> };
        61 "packets.filled" PacketsFilled "Some of a campaign's packets were prepared for claims."
            { campaign: Id, first_packet: u64, count: u64 } secret { amounts: Amounts };
        62 "packets.claimed" PacketsClaimed "A user claimed a packet."
            { campaign: Id, user: Id, packet: u64, amount: u64, left_count: u64 } secret {};
        63 "packets.exhausted" PacketsExhausted "The last packet was claimed." { campaign: Id } secret {};
        64 "packets.closed" PacketsClosed "A campaign was ended and its seed revealed, with everything needed to recompute the cut."
            { campaign: Id, claimed_count: u64, claimed_amount: u64, left_count: u64, left_amount: u64, seed: Option<[u8; 32]>, method: Option<Method>, min: u64, max: Option<u64> } secret {};
        65 "packets.forgotten" PacketsForgotten "Packets of a campaign that is over left memory with their claims because their retention was over; `amount` is what all that have left were claimed for."
            { campaign: Id, through_packet: u64, amount: u64 } secret {};
    }

    /// An event of a coupon or a claim.
    Coupon(CouponEvent) of Coupon {
        70 "coupon.created" CouponCreated "A coupon was created."
            { coupon: Id, limits: Vec<Limit>, starts_at: Option<TimeMs>, ends_at: Option<TimeMs>, claim_ttl_ms: Option<u64> } secret {};
        71 "coupon.updated" CouponUpdated "A coupon's limits are now these."
            { coupon: Id, limits: Vec<Limit> } secret {};
        72 "coupon.claimed" CouponClaimed "A claim was made; it counts in the window of each limit, in their order."
            { coupon: Id, serial: u64, subject: Subject, windows: Vec<i64>, deadline: Option<TimeMs> } secret {};
        73 "coupon.redeemed" CouponRedeemed "A claim was redeemed." { coupon: Id, serial: u64, user: Id } secret {};
        74 "coupon.revoked" CouponRevoked "An unused claim was voided; `given_back` names the limits in whose windows it no longer counts."
            { coupon: Id, serial: u64, given_back: Vec<Id> } secret {};
        75 "coupon.paused" CouponPaused "Claims were stopped." { coupon: Id } secret {};
        76 "coupon.resumed" CouponResumed "Claims are allowed again." { coupon: Id } secret {};
    }

    /// An event of a market or an order.
    Market(MarketEvent) of Market {
        90 "market.created" MarketCreated "A market was opened."
            { market: Id, tick: u64, lot: u64, min_quantity: u64, max_quantity: u64 } secret {};
        91 "market.halted" MarketHalted "Trading was stopped." { market: Id } secret {};
        92 "market.resumed" MarketResumed "Trading is allowed again." { market: Id } secret {};
        93 "order.placed" OrderPlaced "An order was accepted; what becomes of it follows."
            { market: Id, order: Id, owner: Id, side: Side, price: Option<u64>, quantity: u64, tif: Tif, stp: StpMode } secret {};
        94 "order.traded" OrderTraded "Two orders traded at the maker's price."
            { market: Id, trade: u64, price: u64, quantity: u64, taker_side: Side, maker_order: Id, maker_owner: Id, maker_remaining: u64, taker_order: Id, taker_owner: Id, taker_remaining: u64 } secret {};
        95 "order.cancelled" OrderCancelled "An order ended with some of it unfilled."
            { market: Id, order: Id, owner: Id, remaining: u64, reason: CancelReason } secret {};
        96 "order.reduced" OrderReduced "An order became smaller; it keeps its priority."
            { market: Id, order: Id, owner: Id, by: u64, remaining: u64, by_self_trade: bool } secret {};
        97 "order.rested" OrderRested "What was left of an order went on the book, behind all others at its price."
            { market: Id, order: Id, price: u64, remaining: u64 } secret {};
        98 "order.replaced" OrderReplaced "An order was given another price and quantity; without `keeps_priority` it left the book, and what becomes of it follows."
            { market: Id, order: Id, owner: Id, price: u64, quantity: u64, keeps_priority: bool } secret {};
    }

    /// An event of the partition's clock, which the engine makes, and no command.
    Clock(ClockEvent) of Nothing {
        110 "clock.doubted" ClockDoubted "The clock went ahead while the server was off; until that is confirmed, nothing ends by the doubted time."
            { by_ms: u64, doubted_ms: u64 } secret {};
        111 "clock.confirmed" ClockConfirmed "The doubted time is confirmed: what is due by it ends now."
            { confirmed_ms: u64 } secret {};
        112 "clock.moved" ClockMoved "The clock was put forward or back; operation ids of before are remembered as long as if they were made now, or longer."
            { from_ms: TimeMs, to_ms: TimeMs } secret {};
    }

    /// An event that tells of an operation only.
    Operation(OperationEvent) of Nothing {
        120 "operation.refused" OperationRefused "A command was refused, and the refusal is remembered under its id." {} secret {};
        121 "operation.resolved" OperationResolved "An operation id was marked absent: no copy of the operation will be applied."
            { operation: OperationId } secret {};
        122 "operation.stepped" OperationStepped "A command is not finished; its next step follows before anything else."
            {} secret { progress: OperationProgress };
        123 "operation.unchanged" OperationUnchanged "A command was applied and found nothing to change; its receipt is remembered under its id."
            {} secret {};
    }
}

/// The rows by name, for looking up.
static BY_NAME: LazyLock<Vec<&'static EventSpec>> = LazyLock::new(|| {
    let mut rows = EVENTS.to_vec();
    rows.sort_unstable_by_key(|spec| spec.name);
    rows
});

/// The table's row of an event's name.
#[must_use]
pub fn find(name: &str) -> Option<&'static EventSpec> {
    let rows = &*BY_NAME;
    rows.binary_search_by(|spec| spec.name.cmp(name)).ok().map(|at| rows[at])
}
