//! The command table.

use std::sync::LazyLock;

use super::argument::{Argument, Invalid, Words};
use super::shapes::{
    Cut, LimitChanges, Limits, OptionalResource, OrderPricing, Reason, Resource, Side, StpMode, Subject, Tif,
    check_shape,
};
use super::spec::{Answer, ArgumentSpec, CommandSpec, Effect, commands, group_of};
use super::{Common, Routed};
use crate::codec::{Input, Malformed, Wire};
use crate::event::Shown;
use crate::outcome::{Code, Durability, Value};
use crate::types::{Delta, Id, Natural, OperationId, Positive, TimeMs};

commands! {
    Write 10 "ACCOUNT.OPEN" AccountOpen on [account] "Opens an account that keeps one asset."
        (account: Id, asset: Id) {"OVERDRAFT" overdraft: Natural = Natural::ZERO}
        Array ["available"] refuses [AccountExists] events ["account.opened"];
    Read 11 "ACCOUNT.GET" AccountGet on [account] "Shows an account's balance, holds in sum and status."
        (account: Id) {}
        Map ["account", "asset", "balance", "held", "available", "overdraft", "status"]
        refuses [AccountNotFound] events [];
    Write 12 "ACCOUNT.CREDIT" AccountCredit on [account] "Brings money in from outside."
        (account: Id, amount: Positive) {}
        Array ["available", "balance"] refuses [AccountNotFound, AccountClosed, Overflow] events ["account.credited"];
    Write 13 "ACCOUNT.DEBIT" AccountDebit on [account] "Takes money out, if it is there."
        (account: Id, amount: Positive) {}
        Array ["available", "balance"]
        refuses [AccountNotFound, AccountClosed, AccountFrozen, InsufficientFunds, Overflow] events ["account.debited"];
    Write 14 "ACCOUNT.TRANSFER" AccountTransfer on [from, to] "Moves money from one account to another of the same asset."
        (from: Id, to: Id, amount: Positive) {}
        Array ["from_available", "to_available"]
        refuses [SameAccount, AccountNotFound, AccountClosed, AccountFrozen, AssetMismatch, InsufficientFunds, Overflow]
        events ["account.transferred"];
    Write 15 "ACCOUNT.HOLD" AccountHold on [account] "Sets money aside, until captured, voided or past its deadline."
        (account: Id, hold: Id, amount: Positive) {"TTL" ttl_ms: Option<Positive> = None}
        Array ["available", "deadline"]
        refuses [AccountNotFound, AccountClosed, AccountFrozen, HoldExists, InsufficientFunds, Overflow]
        events ["hold.placed"];
    Write 16 "ACCOUNT.CAPTURE" AccountCapture on [account, to] "Pays out of a hold, to an account or to outside, and frees the rest or keeps it."
        (account: Id, hold: Id)
        {"AMOUNT" amount: Option<Positive> = None, "TO" to: Option<Id> = None, "KEEPREST" keep_rest: bool = false}
        Array ["captured", "hold_remaining", "available"]
        refuses [AccountNotFound, HoldNotFound, HoldCaptured, HoldVoided, HoldExpired, AmountExceedsHold, AccountClosed, AssetMismatch, Overflow]
        events ["hold.captured"];
    Write 17 "ACCOUNT.VOID" AccountVoid on [account] "Ends a hold and makes its money available again."
        (account: Id, hold: Id) {}
        Array ["released", "available"]
        refuses [AccountNotFound, HoldNotFound, HoldCaptured, HoldVoided, HoldExpired] events ["hold.voided"];
    Write 18 "ACCOUNT.EXTEND" AccountExtend on [account] "Gives a hold a new deadline, counted from now."
        (account: Id, hold: Id, ttl_ms: Positive) {}
        Array ["deadline"]
        refuses [AccountNotFound, HoldNotFound, HoldCaptured, HoldVoided, HoldExpired] events ["hold.extended"];
    Read 19 "ACCOUNT.HOLDS" AccountHolds on [account] "Lists the account's holds in the order of their names, a page at a time: name, amount left, status, deadline."
        (account: Id) {"AFTER" after: Option<Id> = None, "COUNT" count: Positive = Positive::THOUSAND}
        Bare ["holds"] refuses [AccountNotFound] events [];
    Write 20 "ACCOUNT.FREEZE" AccountFreeze on [account] "Stops debits and new holds."
        (account: Id) {}
        Array ["status"] refuses [AccountNotFound, AccountClosed] events ["account.frozen"];
    Write 21 "ACCOUNT.UNFREEZE" AccountUnfreeze on [account] "Lets debits and new holds go on."
        (account: Id) {}
        Array ["status"] refuses [AccountNotFound, AccountClosed] events ["account.unfrozen"];
    Write 22 "ACCOUNT.CLOSE" AccountClose on [account] "Closes an empty account for good."
        (account: Id) {}
        Array ["status"] refuses [AccountNotFound, BalanceNotZero] events ["account.closed"];
    Write 23 "ACCOUNT.OVERDRAFT" AccountOverdraft on [account] "Sets how far below zero the account may go."
        (account: Id, overdraft: Natural) {}
        Array ["overdraft", "available"] refuses [AccountNotFound, AccountClosed, OverdraftInUse]
        events ["account.overdraft_set"];
    Read 24 "ACCOUNT.WORLD" AccountWorld on [resource] "Shows the account from which money of an asset enters the partition of a resource."
        (asset: Id, resource: Resource) {}
        Map ["account", "asset", "balance"] refuses [AccountNotFound] events [];

    Write 40 "STOCK.CREATE" StockCreate on [sku] "Puts a countable thing on sale."
        (sku: Id, quantity: Natural)
        {"PEROWNER" per_owner_max: Option<Positive> = None, "START" starts_at: Option<Natural> = None, "END" ends_at: Option<Natural> = None}
        Array ["available"] refuses [StockExists] events ["stock.created"];
    Read 41 "STOCK.GET" StockGet on [sku] "Shows a stock item's counters, bounds and status."
        (sku: Id) {}
        Map ["sku", "total", "available", "reserved", "sold", "returned", "per_owner_max", "starts_at", "ends_at", "status"]
        refuses [StockNotFound] events [];
    Write 42 "STOCK.RESTOCK" StockRestock on [sku] "Adds units."
        (sku: Id, quantity: Positive) {}
        Array ["available", "total"] refuses [StockNotFound, StockClosed, Overflow]
        events ["stock.restocked", "stock.available_again"];
    Write 43 "STOCK.ADJUST" StockAdjust on [sku] "Corrects the number of units, up or down, with a reason."
        (sku: Id, delta: Delta, reason: Reason) {}
        Array ["available", "total"] refuses [StockNotFound, StockClosed, InsufficientStock, Overflow]
        events ["stock.adjusted", "stock.sold_out", "stock.available_again"];
    Write 44 "STOCK.TAKE" StockTake on [sku] "Sells units at once and gives their serials."
        (sku: Id, quantity: Positive, owner: Id) {}
        Array ["first_serial", "remaining"]
        refuses [StockNotFound, StockClosed, NotStarted, Ended, OwnerLimitReached, SoldOut, InsufficientStock, Overflow]
        events ["stock.taken", "stock.sold_out"];
    Write 45 "STOCK.RESERVE" StockReserve on [sku] "Sets units aside for an owner until a deadline."
        (sku: Id, reservation: Id, quantity: Positive, owner: Id, ttl_ms: Positive) {}
        Array ["deadline", "remaining"]
        refuses [StockNotFound, StockClosed, NotStarted, Ended, ReservationExists, OwnerLimitReached, SoldOut, InsufficientStock, Overflow]
        events ["reservation.placed", "stock.sold_out"];
    Write 46 "STOCK.CONFIRM" StockConfirm on [sku] "Sells what a reservation holds and gives its serials."
        (sku: Id, reservation: Id) {}
        Array ["first_serial", "quantity"]
        refuses [ReservationNotFound, ReservationConfirmed, ReservationReleased, ReservationExpired]
        events ["reservation.confirmed"];
    Write 47 "STOCK.RELEASE" StockRelease on [sku] "Puts what a reservation holds back on sale."
        (sku: Id, reservation: Id) {}
        Array ["released", "remaining"]
        refuses [ReservationNotFound, ReservationConfirmed, ReservationReleased, ReservationExpired]
        events ["reservation.released", "stock.available_again"];
    Write 48 "STOCK.EXTEND" StockExtend on [sku] "Gives a reservation a new deadline, counted from now."
        (sku: Id, reservation: Id, ttl_ms: Positive) {}
        Array ["deadline"]
        refuses [ReservationNotFound, ReservationConfirmed, ReservationReleased, ReservationExpired]
        events ["reservation.extended"];
    Write 49 "STOCK.RETURN" StockReturn on [sku] "Takes sold units back by their serials and puts as many on sale."
        (sku: Id, first: Positive, count: Positive) {}
        Array ["returned", "remaining"] refuses [StockNotFound, UnitsNotSold]
        events ["stock.returned", "stock.available_again"];
    Write 50 "STOCK.CLOSE" StockClose on [sku] "Ends sales; reservations run out or are confirmed."
        (sku: Id) {}
        Array ["available", "reserved", "sold"] refuses [StockNotFound] events ["stock.closed"];
    Write 51 "STOCK.AUDIT" StockAudit on [sku] "Recounts receipts against counters, a bounded piece at each call, while sales go on."
        (sku: Id) {}
        Array ["state", "counted", "through_serial"] refuses [StockNotFound, StockInconsistent]
        events ["stock.audit_advanced", "stock.audited"];
    Read 52 "STOCK.RESERVATION" StockReservation on [sku] "Shows a reservation."
        (sku: Id, reservation: Id) {}
        Map ["reservation", "owner", "quantity", "status", "deadline", "first_serial"]
        refuses [ReservationNotFound] events [];

    Write 60 "PACKET.CREATE" PacketCreate on [campaign] "Cuts red packets by a plan or from a list of amounts, and opens them for claims."
        (campaign: Id, asset: Id, cut: Cut)
        {"MIN" min: Option<Positive> = None, "MAX" max: Option<Positive> = None, "START" starts_at: Option<Natural> = None, "END" ends_at: Option<Natural> = None}
        Array ["count", "total", "commitment"] refuses [CampaignExists, StepLimit]
        events ["packets.created", "packets.filled"];
    Write 61 "PACKET.CLAIM" PacketClaim on [campaign] "Gives the next packet to a user, for good."
        (campaign: Id, user: Id) {}
        Array ["packet", "amount"] refuses [CampaignNotFound, NotStarted, Ended, AlreadyClaimed, Exhausted]
        events ["packets.claimed", "packets.exhausted"];
    Read 62 "PACKET.GET" PacketGet on [campaign] "Shows a campaign: what was given and what is left, never what comes next."
        (campaign: Id) {}
        Map ["campaign", "asset", "count", "total", "claimed_count", "claimed_amount", "starts_at", "ends_at", "status", "commitment", "seed"]
        refuses [CampaignNotFound] events [];
    Write 63 "PACKET.CLOSE" PacketClose on [campaign] "Ends a campaign, reports what was left and reveals the seed."
        (campaign: Id) {}
        Array ["claimed_count", "left_count", "left_amount", "seed"] refuses [CampaignNotFound]
        events ["packets.closed"];
    Read 64 "PACKET.CLAIMED" PacketClaimed on [campaign] "Shows the packet that a user has."
        (campaign: Id, user: Id) {}
        Map ["user", "packet", "amount", "at"] refuses [CampaignNotFound, ClaimNotFound] events [];
    Read 65 "PACKET.CLAIMS" PacketClaims on [campaign] "Lists the packets that were claimed, in the order of the claims, a page at a time: user, packet, amount, at."
        (campaign: Id) {"AFTER" after: Option<Natural> = None, "COUNT" count: Positive = Positive::THOUSAND}
        Bare ["claims"] refuses [CampaignNotFound] events [];

    Write 70 "COUPON.CREATE" CouponCreate on [coupon] "Creates a coupon with any number of quantity limits."
        (coupon: Id)
        {"LIMIT" limits: Limits = Limits::default(), "START" starts_at: Option<Natural> = None, "END" ends_at: Option<Natural> = None, "CLAIMTTL" claim_ttl_ms: Option<Positive> = None}
        Array ["limits"] refuses [CouponExists] events ["coupon.created"];
    Write 71 "COUPON.UPDATE" CouponUpdate on [coupon] "Changes limits' maxima or adds limits while the coupon runs."
        (coupon: Id) {"LIMIT" limits: LimitChanges = LimitChanges::default()}
        Array ["limits"] refuses [CouponNotFound, Invalid] events ["coupon.updated"];
    Write 72 "COUPON.CLAIM" CouponClaim on [coupon] "Counts one more in every limit and gives a claim serial."
        (coupon: Id, subject: Subject) {}
        Array ["serial", "deadline"]
        refuses [CouponNotFound, CouponPaused, NotStarted, Ended, SubjectIncomplete, LimitReached, Overflow]
        events ["coupon.claimed"];
    Read 73 "COUPON.CHECK" CouponCheck on [coupon] "Says what a claim would be answered; changes nothing."
        (coupon: Id, subject: Subject) {}
        Array [] refuses [CouponNotFound, CouponPaused, NotStarted, Ended, SubjectIncomplete, LimitReached, Overflow] events [];
    Write 74 "COUPON.REDEEM" CouponRedeem on [coupon] "Uses a claim up."
        (coupon: Id, serial: Positive, user: Id) {}
        Array ["serial"] refuses [ClaimNotFound, NotOwner, ClaimRedeemed, ClaimRevoked, ClaimExpired]
        events ["coupon.redeemed"];
    Write 75 "COUPON.REVOKE" CouponRevoke on [coupon] "Voids an unused claim, and gives its counts back where asked and the window still runs."
        (coupon: Id, serial: Positive) {"GIVEBACK" give_back: bool = false}
        Array ["given_back"] refuses [ClaimNotFound, ClaimRedeemed, ClaimRevoked, ClaimExpired]
        events ["coupon.revoked"];
    Read 76 "COUPON.CLAIMED" CouponClaimed on [coupon] "Shows a claim."
        (coupon: Id, serial: Positive) {}
        Map ["serial", "user", "status", "at", "deadline"] refuses [ClaimNotFound] events [];
    Read 77 "COUPON.GET" CouponGet on [coupon] "Shows a coupon and its limits."
        (coupon: Id) {}
        Map ["coupon", "status", "claimed", "starts_at", "ends_at", "claim_ttl_ms", "limits"]
        refuses [CouponNotFound] events [];
    Write 78 "COUPON.PAUSE" CouponPause on [coupon] "Stops claims for a while."
        (coupon: Id) {}
        Array ["status"] refuses [CouponNotFound] events ["coupon.paused"];
    Write 79 "COUPON.RESUME" CouponResume on [coupon] "Lets claims go on."
        (coupon: Id) {}
        Array ["status"] refuses [CouponNotFound] events ["coupon.resumed"];

    Write 90 "MARKET.CREATE" MarketCreate on [market] "Opens a market with an empty book."
        (market: Id)
        {"TICK" tick: Positive = Positive::ONE, "LOT" lot: Positive = Positive::ONE, "MINQTY" min_quantity: Positive = Positive::ONE, "MAXQTY" max_quantity: Positive = Positive::MAX}
        Array ["status"] refuses [MarketExists] events ["market.created"];
    Read 91 "MARKET.GET" MarketGet on [market] "Shows a market: rules, status, best prices, last trade."
        (market: Id) {}
        Map ["market", "status", "tick", "lot", "min_quantity", "max_quantity", "best_bid", "best_ask", "orders", "trades"]
        refuses [MarketNotFound] events [];
    Write 92 "MARKET.HALT" MarketHalt on [market] "Stops trading; cancels and reductions go on."
        (market: Id) {}
        Array ["status"] refuses [MarketNotFound] events ["market.halted"];
    Write 93 "MARKET.RESUME" MarketResume on [market] "Lets trading go on."
        (market: Id) {}
        Array ["status"] refuses [MarketNotFound] events ["market.resumed"];
    Read 94 "MARKET.DEPTH" MarketDepth on [market] "Shows the book's levels, best first: price, quantity, orders."
        (market: Id) {"LEVELS" levels: Positive = Positive::TEN}
        Bare ["bids", "asks"] refuses [MarketNotFound] events [];
    Read 101 "MARKET.TRADES" MarketTrades on [market] "Lists the last trades, the latest first; a hundred are kept: trade, price, quantity, taker_side, at."
        (market: Id) {"COUNT" count: Positive = Positive::TEN}
        Bare ["trades"] refuses [MarketNotFound] events [];
    Write 95 "ORDER.PLACE" OrderPlace on [market] "Places an order, which trades at once as far as it can."
        (market: Id, order: Id, owner: Id, side: Side, pricing: OrderPricing, quantity: Positive)
        {"TIF" tif: Option<Tif> = None, "STP" stp: StpMode = StpMode::None}
        Array ["status", "filled", "remaining", "fills"]
        refuses [MarketNotFound, MarketHalted, OrderExists, PriceInvalid, QuantityInvalid, Overflow, WouldTake, WouldNotFill, StepLimit]
        events ["order.placed", "order.traded", "order.cancelled", "order.reduced", "order.rested", "operation.stepped"];
    Write 96 "ORDER.CANCEL" OrderCancel on [market] "Takes an order off the book."
        (market: Id, order: Id, owner: Id) {}
        Array ["remaining"] refuses [MarketNotFound, OrderNotFound, NotOwner, OrderClosed] events ["order.cancelled"];
    Write 97 "ORDER.REDUCE" OrderReduce on [market] "Makes an order smaller; it keeps its priority."
        (market: Id, order: Id, owner: Id, by: Positive) {}
        Array ["status", "remaining"] refuses [MarketNotFound, OrderNotFound, NotOwner, OrderClosed, QuantityInvalid]
        events ["order.reduced", "order.cancelled"];
    Write 98 "ORDER.REPLACE" OrderReplace on [market] "Gives an order another price and remaining quantity."
        (market: Id, order: Id, owner: Id, price: Positive, quantity: Positive) {}
        Array ["status", "filled", "remaining", "fills"]
        refuses [MarketNotFound, OrderNotFound, NotOwner, OrderClosed, MarketHalted, PriceInvalid, QuantityInvalid, Overflow, WouldTake, StepLimit]
        events ["order.replaced", "order.traded", "order.cancelled", "order.reduced", "order.rested", "operation.stepped"];
    Write 99 "ORDER.CANCELALL" OrderCancelAll on [market] "Takes all of an owner's orders off the book."
        (market: Id, owner: Id) {}
        Array ["cancelled"] refuses [MarketNotFound, StepLimit] events ["order.cancelled", "operation.stepped"];
    Read 100 "ORDER.GET" OrderGet on [market] "Shows an order."
        (market: Id, order: Id) {}
        Map ["order", "owner", "side", "price", "remaining", "filled", "tif", "stp", "status", "reason"]
        refuses [MarketNotFound, OrderNotFound] events [];

    Read 120 "OPERATION.GET" OperationGet on [resource] "Shows the receipt that is remembered under an operation id."
        (operation: OperationId, resource: Resource) {}
        Map ["operation", "sequence", "at", "outcome"] refuses [IdExpired, OperationNotFound] events [];
    Write 121 "OPERATION.RESOLVE" OperationResolve on [resource] "Gives the receipt, or marks the id so that no copy arriving later is applied."
        (operation: OperationId, resource: Resource) {}
        Array ["state", "outcome"] refuses [IdExpired] events ["operation.resolved"];
    Read 122 "DIGEST" Digest on [resource] "Shows the digest of a resource, or of every partition."
        (resource: OptionalResource) {}
        Bare ["digests"] refuses [] events [];
}

impl Positive {
    const MAX: Self = match Self::new(crate::types::INTEGER_MAX) {
        Some(max) => max,
        None => Self::ONE,
    };
    const THOUSAND: Self = match Self::new(1_000) {
        Some(thousand) => thousand,
        None => Self::ONE,
    };
    const TEN: Self = match Self::new(10) {
        Some(ten) => ten,
        None => Self::ONE,
    };
}

fn common_option(
    word: &[u8],
    words: &mut Words<'_>,
    common: &mut Common,
    effect: Effect,
) -> Result<(), Invalid> {
    if effect == Effect::Write && word.eq_ignore_ascii_case(b"ID") {
        let id = OperationId::take(words, "ID")?;
        return match common.operation.replace(id) {
            None => Ok(()),
            Some(_) => Err(Invalid::new("ID", "is given twice")),
        };
    }
    if effect == Effect::Write && word.eq_ignore_ascii_case(b"DEADLINE") {
        let deadline: TimeMs = Natural::take(words, "DEADLINE")?.get();
        return match common.deadline.replace(deadline) {
            None => Ok(()),
            Some(_) => Err(Invalid::new("DEADLINE", "is given twice")),
        };
    }
    if effect == Effect::Write && word.eq_ignore_ascii_case(b"DURABILITY") {
        let level = Durability::parse(words.take("DURABILITY")?, "DURABILITY")?;
        return match common.durability.replace(level) {
            None => Ok(()),
            Some(_) => Err(Invalid::new("DURABILITY", "is given twice")),
        };
    }
    let shown: String = String::from_utf8_lossy(word).chars().filter(|c| !c.is_control()).take(32).collect();
    Err(Invalid::new("option", format!("'{shown}' is not one that the command takes")))
}

/// The longest name of a command.
const NAME_BYTES_MAX: usize = 24;

/// The rows by name, for looking up.
static BY_NAME: LazyLock<Vec<(&'static [u8], &'static CommandSpec)>> = LazyLock::new(|| {
    let mut rows: Vec<_> = COMMANDS.iter().map(|spec| (spec.name.as_bytes(), *spec)).collect();
    rows.sort_unstable_by_key(|(name, _)| *name);
    rows
});

/// The table's row of a command name, in any case.
#[must_use]
pub fn find(name: &[u8]) -> Option<&'static CommandSpec> {
    let mut upper = [0; NAME_BYTES_MAX];
    let upper = upper.get_mut(..name.len())?;
    upper.copy_from_slice(name);
    upper.make_ascii_uppercase();
    let rows = &*BY_NAME;
    rows.binary_search_by(|(known, _)| (*known).cmp(upper)).ok().map(|at| rows[at].1)
}

impl Command {
    /// Reads the words after a command's name.
    ///
    /// # Errors
    /// When an argument is missing, superfluous or not of its shape; it is named.
    pub fn parse(spec: &CommandSpec, words: &[&[u8]]) -> Result<(Self, Common), Invalid> {
        let mut common = Common::default();
        let mut command = Self::parse_as(spec.number, &mut Words::new(words), &mut common)?;
        check_shape(&mut command)?;
        if spec.name == "OPERATION.RESOLVE" && common != Common::default() {
            return Err(Invalid::new(
                "option",
                "ID, DEADLINE and DURABILITY do not go with OPERATION.RESOLVE",
            ));
        }
        Ok((command, common))
    }
}
