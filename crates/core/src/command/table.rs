//! The command table.

pub use super::parse::find;

use super::argument::{Argument, Invalid, Words};
use super::parse::common_option;
use super::rows::{ACCOUNT, CAMPAIGN, CLAIM, COUPON, DIGEST, FILL, HOLD, LEVEL, MARKET, ORDER, STOCK, TRADE};
use super::rules::{is_money, rules};
use super::shapes::{
    BookPlace, Cut, LimitChanges, Limits, OptionalResource, OrderPricing, Reason, Resource, Side, StpMode,
    Subject, Tif,
};
use super::spec::{AnswerLayout, ArgumentSpec, CommandSpec, Effect, commands, group_of};
use super::{Common, Routed};
use crate::codec::{Input, Malformed, Wire};
use crate::event::{self, Shown};
use crate::outcome::shape::{INTEGER, LIMITS, OUTCOME, SIDE, STP, TEXT, TIF, rows, values};
use crate::outcome::{Code, Value};
use crate::resource::resource_kind;
use crate::types::{Delta, Id, Natural, OperationId, Positive, RowCount, Text};

commands! {
    Write 10 "ACCOUNT.OPEN" AccountOpen on Account [account] "Opens an account that keeps one asset."
        (account: Id, asset: Id) {"OVERDRAFT" overdraft: Natural as Money = Natural::ZERO}
        Array [available: INTEGER] refuses [AccountExists] events [AccountOpened]
        rules { verb: Create, refusals: Remembered, memory: Takes, steps: One, batch: Joins };
    Read 11 "ACCOUNT.GET" AccountGet on Account [account] "Shows an account's balance, held amount and status."
        (account: Id) {}
        Map [account: TEXT, asset: TEXT, balance: INTEGER, held: INTEGER, available: INTEGER, overdraft: INTEGER, status: TEXT]
        refuses [AccountNotFound] events []
        rules { verb: Read, batch: Joins };
    Write 12 "ACCOUNT.CREDIT" AccountCredit on Account [account] "Adds money to an account from outside."
        (account: Id, amount: Positive as Money) {}
        Array [available: INTEGER, balance: INTEGER] refuses [AccountNotFound, AccountClosed, Overflow] events [AccountCredited]
        rules { verb: Create, refusals: Remembered, memory: Takes, steps: One, batch: Joins };
    Write 13 "ACCOUNT.DEBIT" AccountDebit on Account [account] "Takes money out of an account if enough is available."
        (account: Id, amount: Positive as Money) {}
        Array [available: INTEGER, balance: INTEGER]
        refuses [AccountNotFound, AccountClosed, AccountFrozen, InsufficientFunds, Overflow] events [AccountDebited]
        rules { verb: Take, refusals: Remembered, memory: Takes, steps: One, batch: Joins };
    Write 14 "ACCOUNT.TRANSFER" AccountTransfer on Account [from, to] "Moves money from one account to another of the same asset."
        (from: Id, to: Id, amount: Positive as Money) {}
        Array [from_available: INTEGER, to_available: INTEGER]
        refuses [SameAccount, AccountNotFound, AccountClosed, AccountFrozen, AssetMismatch, InsufficientFunds, Overflow]
        events [AccountTransferred]
        rules { verb: Take, refusals: Remembered, memory: Takes, steps: One, batch: Joins };
    Write 15 "ACCOUNT.HOLD" AccountHold on Account [account] "Sets money aside until it is captured, voided or past its deadline."
        (account: Id, hold: Id, amount: Positive as Money) {"TTL" ttl_ms: Option<Positive> = None}
        Array [available: INTEGER, deadline: INTEGER.or_none()]
        refuses [AccountNotFound, AccountClosed, AccountFrozen, HoldExists, InsufficientFunds, Overflow]
        events [HoldPlaced]
        rules { verb: Take, refusals: Remembered, memory: Takes, steps: One, batch: Joins };
    Write 16 "ACCOUNT.CAPTURE" AccountCapture on Account [account, to] "Pays money out of a hold, to another account or outside, and releases or keeps the rest."
        (account: Id, hold: Id)
        {"AMOUNT" amount: Option<Positive> as Money = None, "TO" to: Option<Id> = None, "KEEPREST" keep_rest: bool = false}
        Array [captured: INTEGER, hold_remaining: INTEGER, available: INTEGER]
        refuses [AccountNotFound, HoldNotFound, HoldCaptured, HoldVoided, HoldExpired, AmountExceedsHold, AccountClosed, AssetMismatch, Overflow]
        events [HoldCaptured]
        rules { verb: Settle, refusals: Remembered, memory: Frees, steps: One, batch: Joins };
    Write 17 "ACCOUNT.VOID" AccountVoid on Account [account] "Ends a hold and makes its money available again."
        (account: Id, hold: Id) {}
        Array [released: INTEGER, available: INTEGER]
        refuses [AccountNotFound, HoldNotFound, HoldCaptured, HoldVoided, HoldExpired] events [HoldVoided]
        rules { verb: Settle, refusals: Remembered, memory: Frees, steps: One, batch: Joins };
    Write 18 "ACCOUNT.EXTEND" AccountExtend on Account [account] "Sets a new deadline for a hold, counted from now."
        (account: Id, hold: Id, ttl_ms: Positive) {}
        Array [deadline: INTEGER]
        refuses [AccountNotFound, HoldNotFound, HoldCaptured, HoldVoided, HoldExpired] events [HoldExtended]
        rules { verb: Settle, refusals: Remembered, memory: Keeps, steps: One, batch: Joins };
    Read 19 "ACCOUNT.HOLDS" AccountHolds on Account [account] "Lists an account's holds by name, a page at a time: name, amount left, status, deadline."
        (account: Id) {"AFTER" after: Option<Id> = None, "COUNT" count: RowCount = RowCount::THOUSAND}
        Bare [holds: rows(&HOLD)] refuses [AccountNotFound] events []
        rules { verb: Read, batch: Joins };
    Write 20 "ACCOUNT.FREEZE" AccountFreeze on Account [account] "Stops debits and new holds."
        (account: Id) {}
        Array [status: TEXT] refuses [AccountNotFound, AccountClosed] events [AccountFrozen]
        rules { verb: Administrate, refusals: Remembered, memory: Keeps, steps: One, batch: Joins };
    Write 21 "ACCOUNT.UNFREEZE" AccountUnfreeze on Account [account] "Allows debits and new holds again."
        (account: Id) {}
        Array [status: TEXT] refuses [AccountNotFound, AccountClosed] events [AccountUnfrozen]
        rules { verb: Administrate, refusals: Remembered, memory: Keeps, steps: One, batch: Joins };
    Write 22 "ACCOUNT.CLOSE" AccountClose on Account [account] "Closes an empty account for good."
        (account: Id) {}
        Array [status: TEXT] refuses [AccountNotFound, BalanceNotZero] events [AccountClosed]
        rules { verb: Administrate, refusals: Remembered, memory: Takes, steps: One, batch: Joins };
    Write 23 "ACCOUNT.OVERDRAFT" AccountOverdraft on Account [account] "Sets how far below zero the account may go."
        (account: Id, overdraft: Natural as Money) {}
        Array [overdraft: INTEGER, available: INTEGER] refuses [AccountNotFound, AccountClosed, OverdraftInUse]
        events [AccountOverdraftSet]
        rules { verb: Administrate, refusals: Remembered, memory: Takes, steps: One, batch: Joins };
    Read 24 "ACCOUNT.WORLD" AccountWorld on Any [resource] "Shows the account through which money of an asset enters the partition of a resource."
        (asset: Id, resource: Resource) {}
        Map [account: TEXT, asset: TEXT, balance: INTEGER] refuses [AccountNotFound] events []
        rules { verb: Read, batch: Joins };
    Read 25 "ACCOUNT.LIST" AccountList on Account [] "Lists accounts by name, a page at a time: account, asset, balance, held, available, status."
        () {"PREFIX" prefix: Option<Text> = None, "AFTER" after: Option<Id> = None, "COUNT" count: RowCount = RowCount::HUNDRED}
        Bare [accounts: rows(&ACCOUNT)] refuses [] events []
        rules { verb: Read, batch: Alone };

    Write 40 "STOCK.CREATE" StockCreate on Stock [sku] "Puts a stock item on sale."
        (sku: Id, quantity: Natural)
        {"PEROWNER" per_owner_max: Option<Positive> = None, "START" starts_at: Option<Natural> = None, "END" ends_at: Option<Natural> = None}
        Array [available: INTEGER] refuses [StockExists] events [StockCreated]
        rules { verb: Create, refusals: Forgotten, memory: Takes, steps: One, batch: Joins };
    Read 41 "STOCK.GET" StockGet on Stock [sku] "Shows a stock item's counters, bounds and status."
        (sku: Id) {}
        Map [sku: TEXT, total: INTEGER, available: INTEGER, reserved: INTEGER, sold: INTEGER, returned: INTEGER, per_owner_max: INTEGER.or_none(), starts_at: INTEGER.or_none(), ends_at: INTEGER.or_none(), status: TEXT]
        refuses [StockNotFound] events []
        rules { verb: Read, batch: Joins };
    Write 42 "STOCK.RESTOCK" StockRestock on Stock [sku] "Adds units."
        (sku: Id, quantity: Positive) {}
        Array [available: INTEGER, total: INTEGER] refuses [StockNotFound, StockClosed, Overflow]
        events [StockRestocked, StockAvailableAgain]
        rules { verb: Create, refusals: Forgotten, memory: Takes, steps: One, batch: Joins };
    Write 43 "STOCK.ADJUST" StockAdjust on Stock [sku] "Corrects the number of units, up or down, with a reason."
        (sku: Id, delta: Delta, reason: Reason) {}
        Array [available: INTEGER, total: INTEGER] refuses [StockNotFound, StockClosed, InsufficientStock, Overflow]
        events [StockAdjusted, StockSoldOut, StockAvailableAgain]
        rules { verb: Administrate, refusals: Forgotten, memory: Takes, steps: One, batch: Joins };
    Write 44 "STOCK.TAKE" StockTake on Stock [sku] "Sells units at once and returns their serials."
        (sku: Id, quantity: Positive, owner: Id) {}
        Array [first_serial: INTEGER, remaining: INTEGER]
        refuses [StockNotFound, StockClosed, NotStarted, Ended, OwnerLimitReached, SoldOut, InsufficientStock, Overflow]
        events [StockTaken, StockSoldOut]
        rules { verb: Take, refusals: Forgotten, memory: Takes, steps: One, batch: Joins };
    Write 45 "STOCK.RESERVE" StockReserve on Stock [sku] "Sets units aside for an owner until a deadline."
        (sku: Id, reservation: Id, quantity: Positive, owner: Id, ttl_ms: Positive) {}
        Array [deadline: INTEGER, remaining: INTEGER]
        refuses [StockNotFound, StockClosed, NotStarted, Ended, ReservationExists, OwnerLimitReached, SoldOut, InsufficientStock, Overflow]
        events [ReservationPlaced, StockSoldOut]
        rules { verb: Take, refusals: Forgotten, memory: Takes, steps: One, batch: Joins };
    Write 46 "STOCK.CONFIRM" StockConfirm on Stock [sku] "Sells what a reservation holds and returns the serials."
        (sku: Id, reservation: Id) {}
        Array [first_serial: INTEGER, quantity: INTEGER]
        refuses [ReservationNotFound, ReservationConfirmed, ReservationReleased, ReservationExpired]
        events [ReservationConfirmed]
        rules { verb: Settle, refusals: Forgotten, memory: Frees, steps: One, batch: Joins };
    Write 47 "STOCK.RELEASE" StockRelease on Stock [sku] "Puts what a reservation holds back on sale."
        (sku: Id, reservation: Id) {}
        Array [released: INTEGER, remaining: INTEGER]
        refuses [ReservationNotFound, ReservationConfirmed, ReservationReleased, ReservationExpired]
        events [ReservationReleased, StockAvailableAgain]
        rules { verb: Settle, refusals: Forgotten, memory: Frees, steps: One, batch: Joins };
    Write 48 "STOCK.EXTEND" StockExtend on Stock [sku] "Sets a new deadline for a reservation, counted from now."
        (sku: Id, reservation: Id, ttl_ms: Positive) {}
        Array [deadline: INTEGER]
        refuses [ReservationNotFound, ReservationConfirmed, ReservationReleased, ReservationExpired]
        events [ReservationExtended]
        rules { verb: Settle, refusals: Forgotten, memory: Keeps, steps: One, batch: Joins };
    Write 49 "STOCK.RETURN" StockReturn on Stock [sku] "Takes sold units back by their serials and puts as many on sale."
        (sku: Id, first: Positive, count: Positive) {}
        Array [returned: INTEGER, remaining: INTEGER] refuses [StockNotFound, ReceiptExpired, UnitsNotSold]
        events [StockReturned, StockAvailableAgain]
        rules { verb: Settle, refusals: Forgotten, memory: Takes, steps: One, batch: Joins };
    Write 50 "STOCK.CLOSE" StockClose on Stock [sku] "Ends sales; open reservations expire or are confirmed."
        (sku: Id) {}
        Array [available: INTEGER, reserved: INTEGER, sold: INTEGER] refuses [StockNotFound] events [StockClosed]
        rules { verb: Administrate, refusals: Forgotten, memory: Keeps, steps: One, batch: Joins };
    Write 51 "STOCK.AUDIT" StockAudit on Stock [sku] "Recounts receipts against counters, a bounded piece at each call, while sales go on."
        (sku: Id) {}
        Array [state: TEXT, counted: INTEGER, through_serial: INTEGER] refuses [StockNotFound, StockInconsistent]
        events [StockAuditAdvanced, StockAudited]
        rules { verb: Administrate, refusals: Forgotten, memory: Keeps, steps: Piece, batch: Joins };
    Read 52 "STOCK.RESERVATION" StockReservation on Stock [sku] "Shows a reservation."
        (sku: Id, reservation: Id) {}
        Map [reservation: TEXT, owner: TEXT, quantity: INTEGER, status: TEXT, deadline: INTEGER.or_none(), first_serial: INTEGER.or_none()]
        refuses [ReservationNotFound] events []
        rules { verb: Read, batch: Joins };
    Read 53 "STOCK.LIST" StockList on Stock [] "Lists stock items by name, a page at a time: sku, total, available, reserved, sold, status."
        () {"PREFIX" prefix: Option<Text> = None, "AFTER" after: Option<Id> = None, "COUNT" count: RowCount = RowCount::HUNDRED}
        Bare [items: rows(&STOCK)] refuses [] events []
        rules { verb: Read, batch: Alone };

    Write 60 "PACKET.CREATE" PacketCreate on Campaign [campaign] "Cuts red packets by a plan or from a list of amounts, and opens them for claims."
        (campaign: Id, asset: Id, cut: Cut as Money)
        {"MIN" min: Option<Positive> as Money = None, "MAX" max: Option<Positive> as Money = None, "START" starts_at: Option<Natural> = None, "END" ends_at: Option<Natural> = None}
        Array [count: INTEGER, total: INTEGER, commitment: TEXT.or_none()] refuses [CampaignExists, StepLimit]
        events [PacketsCreated, PacketsFilled]
        rules { verb: Create, refusals: Forgotten, memory: Takes, steps: Several, batch: Joins };
    Write 61 "PACKET.CLAIM" PacketClaim on Campaign [campaign] "Gives a user the next packet."
        (campaign: Id, user: Id) {}
        Array [packet: INTEGER, amount: INTEGER.hidden()] refuses [CampaignNotFound, NotStarted, Ended, AlreadyClaimed, Exhausted]
        events [PacketsClaimed, PacketsExhausted]
        rules { verb: Take, refusals: Forgotten, memory: Takes, steps: One, batch: Joins };
    Read 62 "PACKET.GET" PacketGet on Campaign [campaign] "Shows a campaign: what was claimed and what is left, but never the next amounts."
        (campaign: Id) {}
        Map [campaign: TEXT, asset: TEXT, count: INTEGER, total: INTEGER, claimed_count: INTEGER, claimed_amount: INTEGER, starts_at: INTEGER.or_none(), ends_at: INTEGER.or_none(), status: TEXT, commitment: TEXT.or_none(), seed: TEXT.or_none()]
        refuses [CampaignNotFound] events []
        rules { verb: Read, batch: Joins };
    Write 63 "PACKET.CLOSE" PacketClose on Campaign [campaign] "Ends a campaign, reports what was left and reveals the seed."
        (campaign: Id) {}
        Array [claimed_count: INTEGER, left_count: INTEGER, left_amount: INTEGER.hidden(), seed: TEXT.hidden()] refuses [CampaignNotFound]
        events [PacketsClosed]
        rules { verb: Administrate, refusals: Forgotten, memory: Frees, steps: One, batch: Joins };
    Read 64 "PACKET.CLAIMED" PacketClaimed on Campaign [campaign] "Shows the packet that a user claimed."
        (campaign: Id, user: Id) {}
        Map [user: TEXT, packet: INTEGER, amount: INTEGER, at: INTEGER] refuses [CampaignNotFound, ClaimsExpired, ClaimNotFound] events []
        rules { verb: Read, batch: Joins };
    Read 65 "PACKET.CLAIMS" PacketClaims on Campaign [campaign] "Lists claimed packets in the order of the claims, a page at a time: user, packet, amount, at."
        (campaign: Id) {"AFTER" after: Option<Natural> = None, "COUNT" count: RowCount = RowCount::THOUSAND}
        Bare [claims: rows(&CLAIM)] refuses [CampaignNotFound, ClaimsExpired] events []
        rules { verb: Read, batch: Joins };
    Read 66 "PACKET.LIST" PacketList on Campaign [] "Lists campaigns by name, a page at a time: campaign, asset, count, total, claimed_count, claimed_amount, status."
        () {"PREFIX" prefix: Option<Text> = None, "AFTER" after: Option<Id> = None, "COUNT" count: RowCount = RowCount::HUNDRED}
        Bare [campaigns: rows(&CAMPAIGN)] refuses [] events []
        rules { verb: Read, batch: Alone };

    Write 70 "COUPON.CREATE" CouponCreate on Coupon [coupon] "Creates a coupon with any number of quantity limits."
        (coupon: Id)
        {"LIMIT" limits: Limits = Limits::default(), "START" starts_at: Option<Natural> = None, "END" ends_at: Option<Natural> = None, "CLAIMTTL" claim_ttl_ms: Option<Positive> = None}
        Array [limits: INTEGER] refuses [CouponExists] events [CouponCreated]
        rules { verb: Create, refusals: Forgotten, memory: Takes, steps: One, batch: Joins };
    Write 71 "COUPON.UPDATE" CouponUpdate on Coupon [coupon] "Changes limits' maxima or adds limits while the coupon runs."
        (coupon: Id) {"LIMIT" limits: LimitChanges = LimitChanges::default()}
        Array [limits: INTEGER] refuses [CouponNotFound, Invalid] events [CouponUpdated]
        rules { verb: Administrate, refusals: Forgotten, memory: Takes, steps: One, batch: Joins };
    Write 72 "COUPON.CLAIM" CouponClaim on Coupon [coupon] "Claims a coupon: counts the claim in every limit and returns its serial."
        (coupon: Id, subject: Subject) {}
        Array [serial: INTEGER, deadline: INTEGER.or_none()]
        refuses [CouponNotFound, CouponPaused, NotStarted, Ended, SubjectIncomplete, LimitReached, Overflow]
        events [CouponClaimed]
        rules { verb: Take, refusals: Forgotten, memory: Takes, steps: One, batch: Joins };
    Read 73 "COUPON.CHECK" CouponCheck on Coupon [coupon] "Tells how a claim would be answered, without making it."
        (coupon: Id, subject: Subject) {}
        Array [] refuses [CouponNotFound, CouponPaused, NotStarted, Ended, SubjectIncomplete, LimitReached, Overflow] events []
        rules { verb: Read, batch: Joins };
    Write 74 "COUPON.REDEEM" CouponRedeem on Coupon [coupon] "Redeems a claim, which can be used once."
        (coupon: Id, serial: Positive, user: Id) {}
        Array [serial: INTEGER] refuses [ClaimNotFound, NotOwner, ClaimRedeemed, ClaimRevoked, ClaimExpired]
        events [CouponRedeemed]
        rules { verb: Settle, refusals: Forgotten, memory: Takes, steps: One, batch: Joins };
    Write 75 "COUPON.REVOKE" CouponRevoke on Coupon [coupon] "Voids an unused claim; with GIVEBACK it no longer counts in windows that still run."
        (coupon: Id, serial: Positive) {"GIVEBACK" give_back: bool = false}
        Array [given_back: INTEGER] refuses [ClaimNotFound, ClaimRedeemed, ClaimRevoked, ClaimExpired]
        events [CouponRevoked]
        rules { verb: Settle, refusals: Forgotten, memory: Takes, steps: One, batch: Joins };
    Read 76 "COUPON.CLAIMED" CouponClaimed on Coupon [coupon] "Shows a claim."
        (coupon: Id, serial: Positive) {}
        Map [serial: INTEGER, user: TEXT, status: TEXT, at: INTEGER, deadline: INTEGER.or_none()] refuses [ClaimNotFound] events []
        rules { verb: Read, batch: Joins };
    Read 77 "COUPON.GET" CouponGet on Coupon [coupon] "Shows a coupon and its limits."
        (coupon: Id) {}
        Map [coupon: TEXT, status: TEXT, claimed: INTEGER, starts_at: INTEGER.or_none(), ends_at: INTEGER.or_none(), claim_ttl_ms: INTEGER.or_none(), limits: LIMITS]
        refuses [CouponNotFound] events []
        rules { verb: Read, batch: Joins };
    Write 78 "COUPON.PAUSE" CouponPause on Coupon [coupon] "Stops claims until the coupon is resumed."
        (coupon: Id) {}
        Array [status: TEXT] refuses [CouponNotFound] events [CouponPaused]
        rules { verb: Administrate, refusals: Forgotten, memory: Keeps, steps: One, batch: Joins };
    Write 79 "COUPON.RESUME" CouponResume on Coupon [coupon] "Allows claims again."
        (coupon: Id) {}
        Array [status: TEXT] refuses [CouponNotFound] events [CouponResumed]
        rules { verb: Administrate, refusals: Forgotten, memory: Keeps, steps: One, batch: Joins };
    Read 80 "COUPON.LIST" CouponList on Coupon [] "Lists coupons by name, a page at a time: coupon, status, claimed."
        () {"PREFIX" prefix: Option<Text> = None, "AFTER" after: Option<Id> = None, "COUNT" count: RowCount = RowCount::HUNDRED}
        Bare [coupons: rows(&COUPON)] refuses [] events []
        rules { verb: Read, batch: Alone };

    Write 90 "MARKET.CREATE" MarketCreate on Market [market] "Opens a market with an empty book."
        (market: Id)
        {"TICK" tick: Positive = Positive::ONE, "LOT" lot: Positive = Positive::ONE, "MINQTY" min_quantity: Positive = Positive::ONE, "MAXQTY" max_quantity: Positive = Positive::MAX}
        Array [status: TEXT] refuses [MarketExists] events [MarketCreated]
        rules { verb: Create, refusals: Forgotten, memory: Takes, steps: One, batch: Joins };
    Read 91 "MARKET.GET" MarketGet on Market [market] "Shows a market: rules, status, best prices, last trade."
        (market: Id) {}
        Map [market: TEXT, status: TEXT, tick: INTEGER, lot: INTEGER, min_quantity: INTEGER, max_quantity: INTEGER, best_bid: INTEGER.or_none(), best_ask: INTEGER.or_none(), orders: INTEGER, trades: INTEGER]
        refuses [MarketNotFound] events []
        rules { verb: Read, batch: Joins };
    Write 92 "MARKET.HALT" MarketHalt on Market [market] "Stops trading; cancels and reductions go on."
        (market: Id) {}
        Array [status: TEXT] refuses [MarketNotFound] events [MarketHalted]
        rules { verb: Administrate, refusals: Forgotten, memory: Keeps, steps: One, batch: Joins };
    Write 93 "MARKET.RESUME" MarketResume on Market [market] "Allows trading again."
        (market: Id) {}
        Array [status: TEXT] refuses [MarketNotFound] events [MarketResumed]
        rules { verb: Administrate, refusals: Forgotten, memory: Keeps, steps: One, batch: Joins };
    Read 94 "MARKET.DEPTH" MarketDepth on Market [market] "Shows the book's levels, best first: price, quantity, orders."
        (market: Id) {"LEVELS" levels: RowCount = RowCount::TEN}
        Bare [bids: rows(&LEVEL), asks: rows(&LEVEL), sequence: INTEGER] refuses [MarketNotFound] events []
        rules { verb: Read, batch: Joins };
    Read 101 "MARKET.TRADES" MarketTrades on Market [market] "Lists the last trades, latest first, of the hundred that are kept: trade, price, quantity, taker_side, at."
        (market: Id) {"COUNT" count: RowCount = RowCount::TEN}
        Bare [trades: rows(&TRADE)] refuses [MarketNotFound] events []
        rules { verb: Read, batch: Joins };
    Read 103 "MARKET.TICKER" MarketTicker on Market [market] "Shows a market's last trade and its best prices with their quantities."
        (market: Id) {}
        Map [market: TEXT, last_price: INTEGER.or_none(), last_quantity: INTEGER.or_none(), last_side: SIDE.or_none(), last_at: INTEGER.or_none(), best_bid: INTEGER.or_none(), bid_quantity: INTEGER.or_none(), best_ask: INTEGER.or_none(), ask_quantity: INTEGER.or_none(), trades: INTEGER, sequence: INTEGER]
        refuses [MarketNotFound] events []
        rules { verb: Read, batch: Joins };
    Read 102 "MARKET.LIST" MarketList on Market [] "Lists markets by name, a page at a time: market, status, best_bid, best_ask, orders, trades."
        () {"PREFIX" prefix: Option<Text> = None, "AFTER" after: Option<Id> = None, "COUNT" count: RowCount = RowCount::HUNDRED}
        Bare [markets: rows(&MARKET)] refuses [] events []
        rules { verb: Read, batch: Alone };
    Read 104 "ORDER.LIST" OrderList on Market [market] "Lists resting orders, a page at a time: an owner's, oldest first, or all, bids before asks, in the order in which they trade."
        (market: Id) {"OWNER" owner: Option<Id> = None, "AFTER" after: Option<BookPlace> = None, "COUNT" count: RowCount = RowCount::HUNDRED}
        Bare [orders: rows(&ORDER)] refuses [MarketNotFound, StepLimit] events []
        rules { verb: Read, batch: Joins };
    Write 95 "ORDER.PLACE" OrderPlace on Market [market] "Places an order, which trades at once as far as it can."
        (market: Id, order: Id, owner: Id, side: Side, pricing: OrderPricing, quantity: Positive)
        {"TIF" tif: Option<Tif> = None, "STP" stp: StpMode = StpMode::None}
        Array [status: TEXT, filled: INTEGER, remaining: INTEGER, fills: rows(&FILL)]
        refuses [MarketNotFound, MarketHalted, OrderExists, PriceInvalid, QuantityInvalid, Overflow, WouldTake, WouldNotFill, StepLimit]
        events [OrderPlaced, OrderTraded, OrderCancelled, OrderReduced, OrderRested, OperationStepped]
        rules { verb: Take, refusals: Remembered, memory: Takes, steps: Several, batch: Joins };
    Write 96 "ORDER.CANCEL" OrderCancel on Market [market] "Takes an order off the book."
        (market: Id, order: Id, owner: Id) {}
        Array [remaining: INTEGER] refuses [MarketNotFound, OrderNotFound, NotOwner, OrderClosed] events [OrderCancelled]
        rules { verb: Settle, refusals: Remembered, memory: Frees, steps: One, batch: Joins };
    Write 97 "ORDER.REDUCE" OrderReduce on Market [market] "Makes an order smaller; it keeps its priority."
        (market: Id, order: Id, owner: Id, by: Positive) {}
        Array [status: TEXT, remaining: INTEGER] refuses [MarketNotFound, OrderNotFound, NotOwner, OrderClosed, QuantityInvalid]
        events [OrderReduced, OrderCancelled]
        rules { verb: Settle, refusals: Remembered, memory: Takes, steps: One, batch: Joins };
    Write 98 "ORDER.REPLACE" OrderReplace on Market [market] "Changes an order's price and remaining quantity."
        (market: Id, order: Id, owner: Id, price: Positive, quantity: Positive) {}
        Array [status: TEXT, filled: INTEGER, remaining: INTEGER, fills: rows(&FILL)]
        refuses [MarketNotFound, OrderNotFound, NotOwner, OrderClosed, MarketHalted, PriceInvalid, QuantityInvalid, Overflow, WouldTake, StepLimit]
        events [OrderReplaced, OrderTraded, OrderCancelled, OrderReduced, OrderRested, OperationStepped]
        rules { verb: Take, refusals: Remembered, memory: Takes, steps: Several, batch: Joins };
    Write 99 "ORDER.CANCELALL" OrderCancelAll on Market [market] "Takes all of an owner's orders off the book."
        (market: Id, owner: Id) {}
        Array [cancelled: INTEGER] refuses [MarketNotFound, StepLimit] events [OrderCancelled, OperationStepped]
        rules { verb: Settle, refusals: Remembered, memory: Frees, steps: Several, batch: Joins };
    Read 100 "ORDER.GET" OrderGet on Market [market] "Shows an order."
        (market: Id, order: Id) {}
        Map [order: TEXT, owner: TEXT, side: SIDE, price: INTEGER.or_none(), remaining: INTEGER, filled: INTEGER, tif: TIF.or_none(), stp: STP.or_none(), status: TEXT, reason: TEXT.or_none()]
        refuses [MarketNotFound, OrderNotFound] events []
        rules { verb: Read, batch: Joins };

    Read 120 "OPERATION.GET" OperationGet on Any [resource] "Shows the receipt that is remembered under an operation id."
        (operation: OperationId, resource: Resource) {}
        Map [operation: TEXT, sequence: INTEGER, at: INTEGER, outcome: OUTCOME] refuses [IdExpired, OperationNotFound] events []
        rules { verb: Any, batch: Joins };
    Write 121 "OPERATION.RESOLVE" OperationResolve on Any [resource] "Returns the receipt, or marks the id so that no copy that arrives later is applied."
        (operation: OperationId, resource: Resource) {}
        Array [state: TEXT, outcome: OUTCOME.or_none()] refuses [IdExpired] events [OperationResolved]
        rules { verb: Any, refusals: Forgotten, memory: Takes, steps: One, batch: Alone };
    Read 122 "DIGEST" Digest on Any [resource] "Shows the digest of a resource, or of every partition."
        (resource: OptionalResource) {}
        Bare [digests: rows(&DIGEST)] refuses [] events []
        rules { verb: Read, batch: Alone };
}

impl Positive {
    const MAX: Self = match Self::new(crate::types::INTEGER_MAX) {
        Some(max) => max,
        None => Self::ONE,
    };
}
