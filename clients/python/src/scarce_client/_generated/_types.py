# Made by `cargo xtask reference` from the tables of commands and codes; change those, not this file.
"""What commands take and answer, and the facts of codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from .._outcome import Arguments

VERSION = "0.1.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Where a change is in the log, and how safe it was when it was answered."""

    operation: str
    """operation ID (idempotency key): the command is applied once under it"""
    partition: int
    """the partition that decided the command"""
    epoch: int
    """epoch of the partition; it rises at every start"""
    sequence_first: int
    """sequence of the command's first event; for a refusal without events, of the last event before it"""
    sequence_last: int
    """sequence of the command's last event"""
    at: int
    """when the command was decided (ms since the Unix epoch)"""
    durability: Literal["memory", "replicated", "synced"]
    """durability level reached before the answer: in memory, replicated or synced to disk"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedOutcome:
    """What is remembered of an operation."""

    applied: bool
    code: str | None = None
    facts: Mapping[str, Any] | None = None
    figures: Sequence[Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a campaign is cut into packets."""

    total: int
    """total amount of all packets (minor units)"""
    count: int
    """number of packets (packets)"""
    method: Literal["EVEN", "DOUBLE_MEAN", "LINE_CUT"]
    """EVEN, DOUBLE_MEAN or LINE_CUT"""
    max: int | None = None
    """maximum amount of a packet; no limit by default (minor units)"""
    min: int | None = None
    """minimum amount of a packet; 1 by default (minor units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A limit of a coupon."""

    name: str
    """limit name, by which you change the limit"""
    max: int
    """claims allowed in a window (claims)"""
    offset_minutes: int | None = None
    """offset of the calendar window from UTC (minutes)"""
    per: Sequence[str] | None = None
    """the dimensions by which the limit counts; without dimensions, all claims count together"""
    window: Literal["NONE", "HOUR", "DAY", "WEEK", "MONTH"] | None = None
    """the window in which the limit counts: none, hour, day, week or month; or a duration in milliseconds"""
    window_ms: int | None = None
    """length of a fixed window; not for calendar windows (ms)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldRow:
    """A row of a list: hold, amount, status, deadline."""

    hold: str
    """hold ID, unique within the account"""
    amount: int
    """the amount left in the hold (minor units)"""
    status: str
    """open, captured, voided or expired"""
    deadline: int | None = None
    """expiry time; absent if it does not expire (ms since the Unix epoch)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountGetRow:
    """A row of a list: account, asset, balance, held, available, status."""

    account: str
    """account ID"""
    asset: str
    """asset ID, such as USD-cents"""
    balance: int
    """the balance, including money on hold (minor units)"""
    held: int
    """the amount on hold (minor units)"""
    available: int
    """balance minus holds, not counting the overdraft; may be negative (minor units)"""
    status: str
    """open, frozen or closed"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockGetRow:
    """A row of a list: sku, total, available, reserved, sold, status."""

    sku: str
    """item ID (SKU)"""
    total: int
    """available + reserved + sold (units)"""
    available: int
    """units available (units)"""
    reserved: int
    """units that are reserved (units)"""
    sold: int
    """units sold, excluding returns (units)"""
    status: str
    """open, not_started, ended or closed"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketClaimedRow:
    """A row of a list: user, packet, amount, at."""

    user: str
    """user ID"""
    packet: int
    """packet number, starting at 1"""
    amount: int
    """the amount in the packet (minor units)"""
    at: int
    """when it was claimed (ms since the Unix epoch)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketGetRow:
    """A row of a list: campaign, asset, count, total, claimed_count, claimed_amount, status."""

    campaign: str
    """campaign ID"""
    asset: str
    """asset ID, such as USD-cents"""
    count: int
    """number of packets in the campaign (packets)"""
    total: int
    """total amount of all packets (minor units)"""
    claimed_count: int
    """number of claimed packets (packets)"""
    claimed_amount: int
    """total amount of the claimed packets (minor units)"""
    status: str
    """open, not_started, ended, exhausted or closed"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponGetRow:
    """A row of a list: coupon, status, claimed."""

    coupon: str
    """coupon ID"""
    status: str
    """open, paused, not_started or ended"""
    claimed: int
    """number of claims so far, including revoked ones (claims)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelRow:
    """A row of a list: price, quantity, orders."""

    price: int
    """the price (minor units of the quote per unit of the base)"""
    quantity: int
    """total quantity left at this price (units of the base)"""
    orders: int
    """number of orders at this price (orders)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderTradedRow:
    """A row of a list: trade, price, quantity, taker_side, at."""

    trade: int
    """trade number within the market, starting at 1"""
    price: int
    """the maker's price, that is, of the resting order (minor units of the quote per unit of the base)"""
    quantity: int
    """quantity traded (units of the base)"""
    taker_side: Literal["BUY", "SELL"]
    """the side of the incoming order"""
    at: int
    """when the command was decided (ms since the Unix epoch)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketGetRow:
    """A row of a list: market, status, best_bid, best_ask, orders, trades."""

    market: str
    """market ID"""
    status: str
    """open or halted"""
    best_bid: int | None = None
    """the highest buy price; absent if there are no buy orders (minor units of the quote per unit of the
    base)"""
    best_ask: int | None = None
    """the lowest sell price; absent if there are no sell orders (minor units of the quote per unit of the
    base)"""
    orders: int
    """number of orders on the book (orders)"""
    trades: int
    """number of trades so far"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderGetRow:
    """A row of a list: order, owner, side, price, remaining, filled, tif, stp, status, place."""

    order: str
    """order ID, unique within the market"""
    owner: str
    """ID of the order's owner"""
    side: Literal["BUY", "SELL"]
    """side of the book: BUY or SELL"""
    price: int
    """the limit price; absent for a market order (minor units of the quote per unit of the base)"""
    remaining: int
    """unfilled quantity (units of the base)"""
    filled: int
    """the quantity filled so far (units of the base)"""
    tif: Literal["GTC", "IOC", "FOK", "POST"]
    """time in force: GTC, IOC, FOK or POST"""
    stp: Literal["NONE", "CANCEL_TAKER", "CANCEL_MAKER", "CANCEL_BOTH", "DECREMENT"]
    """the self-trade prevention of the order when it is the incoming one"""
    status: str
    """open, partially_filled, filled or cancelled"""
    place: str
    """where the order is in the list: side, price, time priority and order"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FillRow:
    """A row of a list: trade, maker_order, price, quantity, maker_remaining."""

    trade: int
    """trade number within the market, starting at 1"""
    maker_order: str
    """the resting order"""
    price: int
    """the maker's price, that is, of the resting order (minor units of the quote per unit of the base)"""
    quantity: int
    """quantity traded (units of the base)"""
    maker_remaining: int
    """quantity left in the resting order (units of the base)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestRow:
    """A row of a list: partition, sequence, digest."""

    partition: int
    """the partition that decided the command"""
    sequence: int
    """sequence number of the event in its partition's log"""
    digest: str
    """digest of the state, 32 hexadecimal digits"""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidFacts:
    """What INVALID rests on."""

    argument: str
    """the argument that is at fault"""
    reason: str
    """the reason"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossPartitionFacts:
    """What CROSS_PARTITION rests on."""

    first: str
    """an ID that the command names"""
    second: str
    """an ID that belongs to another partition"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverloadedFacts:
    """What OVERLOADED rests on."""

    queue: str
    """what is full: a bounded queue, `operations`, the store of remembered operation IDs, or `memory`, the
    memory budget"""
    retry_after_ms: int | None = None
    """how long to wait before the command can succeed; absent where that is not known (ms)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnavailableFacts:
    """What UNAVAILABLE rests on."""

    reason: str
    """the reason"""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownFacts:
    """What UNKNOWN rests on."""

    reason: str
    """the reason"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MigratedFacts:
    """What MIGRATED rests on."""

    address: str
    """where the deployment is served now"""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdReusedFacts:
    """What ID_REUSED rests on."""

    operation: str
    """operation ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdExpiredFacts:
    """What ID_EXPIRED rests on."""

    operation: str
    """operation ID"""
    window_ms: int
    """how long operation IDs are remembered (ms)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlinePassedFacts:
    """What DEADLINE_PASSED rests on."""

    deadline: int
    """deadline of the command (ms since the Unix epoch)"""
    now: int
    """the timestamp by which the command was decided (ms since the Unix epoch)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedAbsentFacts:
    """What RESOLVED_ABSENT rests on."""

    operation: str
    """operation ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRefusedFacts:
    """What BATCH_REFUSED rests on."""

    index: int
    """the line in the batch, counting from 0"""
    code: str
    """the code of the refused line"""
    facts: Mapping[str, Any]
    """the facts of the refused line"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLimitFacts:
    """What STEP_LIMIT rests on."""

    limit: int
    """maximum records, packets or bytes for one step"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverflowFacts:
    """What OVERFLOW rests on."""

    argument: str
    """the value that would leave the range"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationNotFoundFacts:
    """What OPERATION_NOT_FOUND rests on."""

    operation: str
    """operation ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotStartedFacts:
    """What NOT_STARTED rests on."""

    starts_at: int | None = None
    """start time: before then nothing is handed out; absent if there is none (ms since the Unix epoch)"""
    now: int
    """the timestamp by which the command was decided (ms since the Unix epoch)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedFacts:
    """What ENDED rests on."""

    ends_at: int | None = None
    """end time: from then on nothing is handed out; absent if there is no end (ms since the Unix epoch)"""
    now: int
    """the timestamp by which the command was decided (ms since the Unix epoch)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimsExpiredFacts:
    """What CLAIMS_EXPIRED rests on."""

    campaign: str
    """campaign ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotOwnerFacts:
    """What NOT_OWNER rests on."""



@dataclass(frozen=True, slots=True, kw_only=True)
class AccountExistsFacts:
    """What ACCOUNT_EXISTS rests on."""

    account: str
    """account ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SameAccountFacts:
    """What SAME_ACCOUNT rests on."""

    account: str
    """account ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountNotFoundFacts:
    """What ACCOUNT_NOT_FOUND rests on."""

    account: str
    """account ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountClosedFacts:
    """What ACCOUNT_CLOSED rests on."""

    account: str
    """account ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountFrozenFacts:
    """What ACCOUNT_FROZEN rests on."""

    account: str
    """account ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldExistsFacts:
    """What HOLD_EXISTS rests on."""

    hold: str
    """hold ID, unique within the account"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldNotFoundFacts:
    """What HOLD_NOT_FOUND rests on."""

    hold: str
    """hold ID, unique within the account"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldCapturedFacts:
    """What HOLD_CAPTURED rests on."""

    hold: str
    """hold ID, unique within the account"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldVoidedFacts:
    """What HOLD_VOIDED rests on."""

    hold: str
    """hold ID, unique within the account"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldExpiredFacts:
    """What HOLD_EXPIRED rests on."""

    hold: str
    """hold ID, unique within the account"""
    deadline: int
    """expiry time; absent if it does not expire (ms since the Unix epoch)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AmountExceedsHoldFacts:
    """What AMOUNT_EXCEEDS_HOLD rests on."""

    held: int
    """the amount left in the hold (minor units)"""
    requested: int
    """the amount requested (minor units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssetMismatchFacts:
    """What ASSET_MISMATCH rests on."""

    from_: str
    """the asset of the paying account"""
    to: str
    """the asset of the receiving account"""


@dataclass(frozen=True, slots=True, kw_only=True)
class InsufficientFundsFacts:
    """What INSUFFICIENT_FUNDS rests on."""

    account: str
    """account ID"""
    available: int
    """balance minus holds, not counting the overdraft; may be negative (minor units)"""
    requested: int
    """the amount requested (minor units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BalanceNotZeroFacts:
    """What BALANCE_NOT_ZERO rests on."""

    balance: int
    """the balance, including money on hold (minor units)"""
    held: int
    """the amount on hold (minor units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverdraftInUseFacts:
    """What OVERDRAFT_IN_USE rests on."""

    available: int
    """balance minus holds, not counting the overdraft; may be negative (minor units)"""
    overdraft: int
    """the overdraft requested (minor units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockExistsFacts:
    """What STOCK_EXISTS rests on."""

    sku: str
    """item ID (SKU)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockNotFoundFacts:
    """What STOCK_NOT_FOUND rests on."""

    sku: str
    """item ID (SKU)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockClosedFacts:
    """What STOCK_CLOSED rests on."""

    sku: str
    """item ID (SKU)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationExistsFacts:
    """What RESERVATION_EXISTS rests on."""

    reservation: str
    """reservation ID, unique within the item"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationNotFoundFacts:
    """What RESERVATION_NOT_FOUND rests on."""

    reservation: str
    """reservation ID, unique within the item"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationConfirmedFacts:
    """What RESERVATION_CONFIRMED rests on."""

    reservation: str
    """reservation ID, unique within the item"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationReleasedFacts:
    """What RESERVATION_RELEASED rests on."""

    reservation: str
    """reservation ID, unique within the item"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationExpiredFacts:
    """What RESERVATION_EXPIRED rests on."""

    reservation: str
    """reservation ID, unique within the item"""
    deadline: int
    """expiry time; absent if it does not expire (ms since the Unix epoch)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerLimitReachedFacts:
    """What OWNER_LIMIT_REACHED rests on."""

    used: int
    """units that the owner has reserved or bought (units)"""
    max: int
    """maximum units for one owner (units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoldOutFacts:
    """What SOLD_OUT rests on."""

    available: int
    """units available (units)"""
    requested: int
    """units requested (units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class InsufficientStockFacts:
    """What INSUFFICIENT_STOCK rests on."""

    available: int
    """units available (units)"""
    requested: int
    """units requested (units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitsNotSoldFacts:
    """What UNITS_NOT_SOLD rests on."""

    first: int
    """the first serial"""
    count: int
    """number of units, with consecutive serials from the first (units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockInconsistentFacts:
    """What STOCK_INCONSISTENT rests on."""

    figure: str
    """the value that differs: total, sold, serial or returned"""
    counted: int
    """the value counted"""
    recorded: int
    """the value recorded for the item"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptExpiredFacts:
    """What RECEIPT_EXPIRED rests on."""

    first: int
    """the first serial"""
    count: int
    """number of units, with consecutive serials from the first (units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignExistsFacts:
    """What CAMPAIGN_EXISTS rests on."""

    campaign: str
    """campaign ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignNotFoundFacts:
    """What CAMPAIGN_NOT_FOUND rests on."""

    campaign: str
    """campaign ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlreadyClaimedFacts:
    """What ALREADY_CLAIMED rests on."""

    packet: int | None = None
    """packet number, starting at 1"""
    amount: int | None = None
    """the amount in the packet (minor units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExhaustedFacts:
    """What EXHAUSTED rests on."""

    count: int
    """number of packets in the campaign (packets)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponExistsFacts:
    """What COUPON_EXISTS rests on."""

    coupon: str
    """coupon ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponNotFoundFacts:
    """What COUPON_NOT_FOUND rests on."""

    coupon: str
    """coupon ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponPausedFacts:
    """What COUPON_PAUSED rests on."""

    coupon: str
    """coupon ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectIncompleteFacts:
    """What SUBJECT_INCOMPLETE rests on."""

    limit: str
    """limit name"""
    dimension: str
    """the dimension that is missing from the subject"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReachedFacts:
    """What LIMIT_REACHED rests on."""

    limit: str
    """limit name"""
    used: int
    """claims counted in the current window (claims)"""
    max: int
    """claims that the limit allows (claims)"""
    resets_at: int | None = None
    """when the limit's window ends and counting restarts; absent if it never restarts (ms since the Unix
    epoch)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimNotFoundFacts:
    """What CLAIM_NOT_FOUND rests on."""

    claim: int | str
    """serial number of the claim; for red packets, the user ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRedeemedFacts:
    """What CLAIM_REDEEMED rests on."""

    serial: int
    """serial number of the claim"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRevokedFacts:
    """What CLAIM_REVOKED rests on."""

    serial: int
    """serial number of the claim"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimExpiredFacts:
    """What CLAIM_EXPIRED rests on."""

    serial: int
    """serial number of the claim"""
    deadline: int
    """expiry time; absent if it does not expire (ms since the Unix epoch)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketExistsFacts:
    """What MARKET_EXISTS rests on."""

    market: str
    """market ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketNotFoundFacts:
    """What MARKET_NOT_FOUND rests on."""

    market: str
    """market ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketHaltedFacts:
    """What MARKET_HALTED rests on."""

    market: str
    """market ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderExistsFacts:
    """What ORDER_EXISTS rests on."""

    order: str
    """order ID, unique within the market"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderNotFoundFacts:
    """What ORDER_NOT_FOUND rests on."""

    order: str
    """order ID, unique within the market"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderClosedFacts:
    """What ORDER_CLOSED rests on."""

    order: str
    """order ID, unique within the market"""
    status: str
    """open, partially_filled, filled or cancelled"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceInvalidFacts:
    """What PRICE_INVALID rests on."""

    price: int
    """the price (minor units of the quote per unit of the base)"""
    tick: int
    """prices must be a multiple of it (minor units of the quote per unit of the base)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantityInvalidFacts:
    """What QUANTITY_INVALID rests on."""

    quantity: int
    """the quantity to trade (units of the base)"""
    lot: int
    """order quantities must be a multiple of it (units of the base)"""
    min: int
    """the smallest order quantity (units of the base)"""
    max: int
    """the largest order quantity (units of the base)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WouldTakeFacts:
    """What WOULD_TAKE rests on."""

    best_price: int
    """the best price on the opposite side (minor units of the quote per unit of the base)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WouldNotFillFacts:
    """What WOULD_NOT_FILL rests on."""

    fillable: int
    """the quantity that can be filled immediately (units of the base)"""
    quantity: int
    """the quantity to trade (units of the base)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountOpenResult:
    """What ACCOUNT.OPEN answers."""

    available: int
    """balance minus holds, not counting the overdraft; may be negative (minor units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountGetResult:
    """What ACCOUNT.GET answers."""

    account: str
    """account ID"""
    asset: str
    """asset ID, such as USD-cents"""
    balance: int
    """the balance, including money on hold (minor units)"""
    held: int
    """the amount on hold (minor units)"""
    available: int
    """balance minus holds, not counting the overdraft; may be negative (minor units)"""
    overdraft: int
    """overdraft limit: how far below zero the account may go (minor units)"""
    status: str
    """open, frozen or closed"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountCreditResult:
    """What ACCOUNT.CREDIT answers."""

    available: int
    """balance minus holds, not counting the overdraft; may be negative (minor units)"""
    balance: int
    """the balance, including money on hold (minor units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountDebitResult:
    """What ACCOUNT.DEBIT answers."""

    available: int
    """balance minus holds, not counting the overdraft; may be negative (minor units)"""
    balance: int
    """the balance, including money on hold (minor units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountTransferResult:
    """What ACCOUNT.TRANSFER answers."""

    from_available: int
    """the paying account's available balance afterwards (minor units)"""
    to_available: int
    """the receiving account's available balance afterwards (minor units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountHoldResult:
    """What ACCOUNT.HOLD answers."""

    available: int
    """balance minus holds, not counting the overdraft; may be negative (minor units)"""
    deadline: int | None = None
    """expiry time; absent if it does not expire (ms since the Unix epoch)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountCaptureResult:
    """What ACCOUNT.CAPTURE answers."""

    captured: int
    """the amount captured from the hold (minor units)"""
    hold_remaining: int
    """the amount left in the hold afterwards (minor units)"""
    available: int
    """balance minus holds, not counting the overdraft; may be negative (minor units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountVoidResult:
    """What ACCOUNT.VOID answers."""

    released: int
    """the amount that the hold had and that is available again (minor units)"""
    available: int
    """balance minus holds, not counting the overdraft; may be negative (minor units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountExtendResult:
    """What ACCOUNT.EXTEND answers."""

    deadline: int
    """expiry time; absent if it does not expire (ms since the Unix epoch)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountHoldsResult:
    """What ACCOUNT.HOLDS answers."""

    holds: Sequence[HoldRow]
    """a page of holds: name, amount left, status, deadline"""
    has_more: bool
    """whether another page follows"""
    cursor: str | None = None
    """where the next page begins"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountFreezeResult:
    """What ACCOUNT.FREEZE answers."""

    status: str
    """open, frozen or closed"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountUnfreezeResult:
    """What ACCOUNT.UNFREEZE answers."""

    status: str
    """open, frozen or closed"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountCloseResult:
    """What ACCOUNT.CLOSE answers."""

    status: str
    """open, frozen or closed"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountOverdraftResult:
    """What ACCOUNT.OVERDRAFT answers."""

    overdraft: int
    """overdraft limit: how far below zero the account may go (minor units)"""
    available: int
    """balance minus holds, not counting the overdraft; may be negative (minor units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountWorldResult:
    """What ACCOUNT.WORLD answers."""

    account: str
    """ID of the asset's world account, which begins with $world:"""
    asset: str
    """asset ID, such as USD-cents"""
    balance: int
    """the negated sum of all other balances of the asset in the partition (minor units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountListResult:
    """What ACCOUNT.LIST answers."""

    accounts: Sequence[AccountGetRow]
    """accounts in the order of their names"""
    has_more: bool
    """whether another page follows"""
    cursor: str | None = None
    """where the next page begins"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockCreateResult:
    """What STOCK.CREATE answers."""

    available: int
    """units available (units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockGetResult:
    """What STOCK.GET answers."""

    sku: str
    """item ID (SKU)"""
    total: int
    """available + reserved + sold (units)"""
    available: int
    """units available (units)"""
    reserved: int
    """units that are reserved (units)"""
    sold: int
    """units sold, excluding returns (units)"""
    returned: int
    """total units returned so far (units)"""
    per_owner_max: int | None = None
    """maximum units for each owner; no limit if absent (units)"""
    starts_at: int | None = None
    """start time: before then nothing is handed out; absent if there is none (ms since the Unix epoch)"""
    ends_at: int | None = None
    """end time: from then on nothing is handed out; absent if there is no end (ms since the Unix epoch)"""
    status: str
    """open, not_started, ended or closed"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockRestockResult:
    """What STOCK.RESTOCK answers."""

    available: int
    """units available (units)"""
    total: int
    """available + reserved + sold (units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockAdjustResult:
    """What STOCK.ADJUST answers."""

    available: int
    """units available (units)"""
    total: int
    """available + reserved + sold (units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockTakeResult:
    """What STOCK.TAKE answers."""

    first_serial: int
    """the first serial; the others follow in sequence"""
    remaining: int
    """units still available (units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockReserveResult:
    """What STOCK.RESERVE answers."""

    deadline: int
    """expiry time; absent if it does not expire (ms since the Unix epoch)"""
    remaining: int
    """units still available (units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockConfirmResult:
    """What STOCK.CONFIRM answers."""

    first_serial: int
    """the first serial; the others follow in sequence"""
    quantity: int
    """number of units (units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockReleaseResult:
    """What STOCK.RELEASE answers."""

    released: int
    """units that are available again (units)"""
    remaining: int
    """units still available (units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockExtendResult:
    """What STOCK.EXTEND answers."""

    deadline: int
    """expiry time; absent if it does not expire (ms since the Unix epoch)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockReturnResult:
    """What STOCK.RETURN answers."""

    returned: int
    """units returned (units)"""
    remaining: int
    """units still available (units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockCloseResult:
    """What STOCK.CLOSE answers."""

    available: int
    """units available (units)"""
    reserved: int
    """units that are reserved (units)"""
    sold: int
    """units sold, excluding returns (units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockAuditResult:
    """What STOCK.AUDIT answers."""

    state: str
    """RUNNING until the last chunk, then CONSISTENT"""
    counted: int
    """units counted so far (units)"""
    through_serial: int
    """the serial up to which receipts have been recounted"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockReservationResult:
    """What STOCK.RESERVATION answers."""

    reservation: str
    """reservation ID, unique within the item"""
    owner: str
    """ID of the buyer"""
    quantity: int
    """number of units (units)"""
    status: str
    """open, confirmed, released or expired"""
    deadline: int | None = None
    """expiry time; absent if it does not expire (ms since the Unix epoch)"""
    first_serial: int | None = None
    """the first serial sold; absent unless the reservation was confirmed"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockListResult:
    """What STOCK.LIST answers."""

    items: Sequence[StockGetRow]
    """stock items in the order of their names"""
    has_more: bool
    """whether another page follows"""
    cursor: str | None = None
    """where the next page begins"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketCreateResult:
    """What PACKET.CREATE answers."""

    count: int
    """number of packets in the campaign (packets)"""
    total: int
    """total amount of all packets (minor units)"""
    commitment: str | None = None
    """SHA-256 of the seed and the plan, in hexadecimal; absent if the amounts were given individually"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketClaimResult:
    """What PACKET.CLAIM answers."""

    packet: int
    """packet number, starting at 1"""
    amount: int | None = None
    """the amount in the packet (minor units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketGetResult:
    """What PACKET.GET answers."""

    campaign: str
    """campaign ID"""
    asset: str
    """asset ID, such as USD-cents"""
    count: int
    """number of packets in the campaign (packets)"""
    total: int
    """total amount of all packets (minor units)"""
    claimed_count: int
    """number of claimed packets (packets)"""
    claimed_amount: int
    """total amount of the claimed packets (minor units)"""
    starts_at: int | None = None
    """start time: before then nothing is handed out; absent if there is none (ms since the Unix epoch)"""
    ends_at: int | None = None
    """end time: from then on nothing is handed out; absent if there is no end (ms since the Unix epoch)"""
    status: str
    """open, not_started, ended, exhausted or closed"""
    commitment: str | None = None
    """SHA-256 of the seed and the plan, in hexadecimal; absent if the amounts were given individually"""
    seed: str | None = None
    """the 32 bytes that determine the cut, in hexadecimal; revealed only once the campaign is closed,
    absent if the amounts were given individually"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketCloseResult:
    """What PACKET.CLOSE answers."""

    claimed_count: int
    """number of claimed packets (packets)"""
    left_count: int
    """number of remaining packets (packets)"""
    left_amount: int | None = None
    """total amount of the remaining packets (minor units)"""
    seed: str | None = None
    """the 32 bytes that determine the cut, in hexadecimal; revealed only once the campaign is closed,
    absent if the amounts were given individually"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketClaimedResult:
    """What PACKET.CLAIMED answers."""

    user: str
    """user ID"""
    packet: int
    """packet number, starting at 1"""
    amount: int
    """the amount in the packet (minor units)"""
    at: int
    """when it was claimed (ms since the Unix epoch)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketClaimsResult:
    """What PACKET.CLAIMS answers."""

    claims: Sequence[PacketClaimedRow]
    """a page of claims"""
    has_more: bool
    """whether another page follows"""
    cursor: str | None = None
    """where the next page begins"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketListResult:
    """What PACKET.LIST answers."""

    campaigns: Sequence[PacketGetRow]
    """campaigns in the order of their names"""
    has_more: bool
    """whether another page follows"""
    cursor: str | None = None
    """where the next page begins"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponCreateResult:
    """What COUPON.CREATE answers."""

    limits: int
    """1 to 16 limits, each with a name, a maximum, dimensions and a window; the answer is their number"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponUpdateResult:
    """What COUPON.UPDATE answers."""

    limits: int
    """limits with a new maximum, or limits to add; the answer is the number of limits afterwards"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponClaimResult:
    """What COUPON.CLAIM answers."""

    serial: int
    """serial number of the claim"""
    deadline: int | None = None
    """expiry time of the claim: from then on it cannot be redeemed; absent if it does not expire (ms since
    the Unix epoch)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponCheckResult:
    """What COUPON.CHECK answers."""



@dataclass(frozen=True, slots=True, kw_only=True)
class CouponRedeemResult:
    """What COUPON.REDEEM answers."""

    serial: int
    """serial number of the claim"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponRevokeResult:
    """What COUPON.REVOKE answers."""

    given_back: int
    """number of limits to which the count was returned"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponClaimedResult:
    """What COUPON.CLAIMED answers."""

    serial: int
    """serial number of the claim"""
    user: str
    """ID of the user who claimed"""
    status: str
    """open, redeemed, revoked or expired"""
    at: int
    """when it was claimed (ms since the Unix epoch)"""
    deadline: int | None = None
    """expiry time of the claim: from then on it cannot be redeemed; absent if it does not expire (ms since
    the Unix epoch)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponGetResult:
    """What COUPON.GET answers."""

    coupon: str
    """coupon ID"""
    status: str
    """open, paused, not_started or ended"""
    claimed: int
    """number of claims so far, including revoked ones (claims)"""
    starts_at: int | None = None
    """start time: before then nothing is handed out; absent if there is none (ms since the Unix epoch)"""
    ends_at: int | None = None
    """end time: from then on nothing is handed out; absent if there is no end (ms since the Unix epoch)"""
    claim_ttl_ms: int | None = None
    """how long a claim can be redeemed; without limit if absent (ms)"""
    limits: Sequence[Limit]
    """the limits, in the order in which they are checked"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponPauseResult:
    """What COUPON.PAUSE answers."""

    status: str
    """open, paused, not_started or ended"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponResumeResult:
    """What COUPON.RESUME answers."""

    status: str
    """open, paused, not_started or ended"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponListResult:
    """What COUPON.LIST answers."""

    coupons: Sequence[CouponGetRow]
    """coupons in the order of their names"""
    has_more: bool
    """whether another page follows"""
    cursor: str | None = None
    """where the next page begins"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketCreateResult:
    """What MARKET.CREATE answers."""

    status: str
    """open or halted"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketGetResult:
    """What MARKET.GET answers."""

    market: str
    """market ID"""
    status: str
    """open or halted"""
    tick: int
    """prices must be a multiple of it (minor units of the quote per unit of the base)"""
    lot: int
    """order quantities must be a multiple of it (units of the base)"""
    min_quantity: int
    """the smallest order quantity (units of the base)"""
    max_quantity: int
    """the largest order quantity (units of the base)"""
    best_bid: int | None = None
    """the highest buy price; absent if there are no buy orders (minor units of the quote per unit of the
    base)"""
    best_ask: int | None = None
    """the lowest sell price; absent if there are no sell orders (minor units of the quote per unit of the
    base)"""
    orders: int
    """number of orders on the book (orders)"""
    trades: int
    """number of trades so far"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketHaltResult:
    """What MARKET.HALT answers."""

    status: str
    """open or halted"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketResumeResult:
    """What MARKET.RESUME answers."""

    status: str
    """open or halted"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketDepthResult:
    """What MARKET.DEPTH answers."""

    bids: Sequence[LevelRow]
    """buy levels, highest price first"""
    asks: Sequence[LevelRow]
    """sell levels, lowest price first"""
    sequence: int
    """sequence of the partition's last event that the book shows"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketTradesResult:
    """What MARKET.TRADES answers."""

    trades: Sequence[OrderTradedRow]
    """the latest trades, newest first"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketTickerResult:
    """What MARKET.TICKER answers."""

    market: str
    """market ID"""
    last_price: int | None = None
    """the price of the last trade; absent before the first (minor units of the quote per unit of the base)"""
    last_quantity: int | None = None
    """the quantity of the last trade (units of the base)"""
    last_side: Literal["BUY", "SELL"] | None = None
    """the side of the order that took in the last trade"""
    last_at: int | None = None
    """when the last trade happened (ms since the Unix epoch)"""
    best_bid: int | None = None
    """the highest buy price; absent if there are no buy orders (minor units of the quote per unit of the
    base)"""
    bid_quantity: int | None = None
    """the quantity at the best bid (units of the base)"""
    best_ask: int | None = None
    """the lowest sell price; absent if there are no sell orders (minor units of the quote per unit of the
    base)"""
    ask_quantity: int | None = None
    """the quantity at the best ask (units of the base)"""
    trades: int
    """number of trades so far"""
    sequence: int
    """sequence of the partition's last event that it shows"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketListResult:
    """What MARKET.LIST answers."""

    markets: Sequence[MarketGetRow]
    """markets in the order of their names"""
    has_more: bool
    """whether another page follows"""
    cursor: str | None = None
    """where the next page begins"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderListResult:
    """What ORDER.LIST answers."""

    orders: Sequence[OrderGetRow]
    """the resting orders"""
    has_more: bool
    """whether another page follows"""
    cursor: str | None = None
    """where the next page begins"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderPlaceResult:
    """What ORDER.PLACE answers."""

    status: str
    """open, partially_filled, filled or cancelled"""
    filled: int
    """the quantity filled so far (units of the base)"""
    remaining: int
    """unfilled quantity (units of the base)"""
    fills: Sequence[FillRow]
    """the trades made by this command, in order: trade, maker_order, price, quantity, maker_remaining"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCancelResult:
    """What ORDER.CANCEL answers."""

    remaining: int
    """quantity that was unfilled (units of the base)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderReduceResult:
    """What ORDER.REDUCE answers."""

    status: str
    """open, partially_filled, filled or cancelled"""
    remaining: int
    """unfilled quantity (units of the base)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderReplaceResult:
    """What ORDER.REPLACE answers."""

    status: str
    """open, partially_filled, filled or cancelled"""
    filled: int
    """the quantity filled so far (units of the base)"""
    remaining: int
    """unfilled quantity (units of the base)"""
    fills: Sequence[FillRow]
    """the trades made by this command, in order: trade, maker_order, price, quantity, maker_remaining"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCancelallResult:
    """What ORDER.CANCELALL answers."""

    cancelled: int
    """number of cancelled orders (orders)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderGetResult:
    """What ORDER.GET answers."""

    order: str
    """order ID, unique within the market"""
    owner: str
    """ID of the order's owner"""
    side: Literal["BUY", "SELL"]
    """side of the book: BUY or SELL"""
    price: int | None = None
    """the limit price; absent for a market order (minor units of the quote per unit of the base)"""
    remaining: int
    """unfilled quantity (units of the base)"""
    filled: int
    """the quantity filled so far (units of the base)"""
    tif: Literal["GTC", "IOC", "FOK", "POST"] | None = None
    """time in force: GTC, IOC, FOK or POST"""
    stp: Literal["NONE", "CANCEL_TAKER", "CANCEL_MAKER", "CANCEL_BOTH", "DECREMENT"] | None = None
    """the self-trade prevention of the order when it is the incoming one"""
    status: str
    """open, partially_filled, filled or cancelled"""
    reason: str | None = None
    """why the order ended unfilled: requested, unfilled or self_trade; absent if it did not"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationGetResult:
    """What OPERATION.GET answers."""

    operation: str
    """operation ID"""
    sequence: int
    """sequence of the operation's last event"""
    at: int
    """when the operation was decided (ms since the Unix epoch)"""
    outcome: RememberedOutcome
    """the answer: 1 and the values, or 0, the code and its facts"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationResolveResult:
    """What OPERATION.RESOLVE answers."""

    state: str
    """APPLIED or REFUSED if the operation is remembered; otherwise ABSENT from now on"""
    outcome: RememberedOutcome | None = None
    """the remembered answer; absent if the state is ABSENT"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestResult:
    """What DIGEST answers."""

    digests: Sequence[DigestRow]
    """one row for each partition: partition, sequence, digest"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountOpenArguments(Arguments[AccountOpenResult]):
    """What ACCOUNT.OPEN takes."""

    COMMAND: ClassVar[str] = "ACCOUNT.OPEN"
    RESULT: ClassVar[type] = AccountOpenResult
    account: str
    """account ID"""
    asset: str
    """asset ID, such as USD-cents"""
    overdraft: int | None = None
    """overdraft limit: how far below zero the account may go; 0 by default (minor units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountGetArguments(Arguments[AccountGetResult]):
    """What ACCOUNT.GET takes."""

    COMMAND: ClassVar[str] = "ACCOUNT.GET"
    RESULT: ClassVar[type] = AccountGetResult
    account: str
    """account ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountCreditArguments(Arguments[AccountCreditResult]):
    """What ACCOUNT.CREDIT takes."""

    COMMAND: ClassVar[str] = "ACCOUNT.CREDIT"
    RESULT: ClassVar[type] = AccountCreditResult
    account: str
    """account ID"""
    amount: int
    """the amount (minor units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountDebitArguments(Arguments[AccountDebitResult]):
    """What ACCOUNT.DEBIT takes."""

    COMMAND: ClassVar[str] = "ACCOUNT.DEBIT"
    RESULT: ClassVar[type] = AccountDebitResult
    account: str
    """account ID"""
    amount: int
    """the amount (minor units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountTransferArguments(Arguments[AccountTransferResult]):
    """What ACCOUNT.TRANSFER takes."""

    COMMAND: ClassVar[str] = "ACCOUNT.TRANSFER"
    RESULT: ClassVar[type] = AccountTransferResult
    from_: str
    """the paying account"""
    to: str
    """the receiving account"""
    amount: int
    """the amount (minor units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountHoldArguments(Arguments[AccountHoldResult]):
    """What ACCOUNT.HOLD takes."""

    COMMAND: ClassVar[str] = "ACCOUNT.HOLD"
    RESULT: ClassVar[type] = AccountHoldResult
    account: str
    """account ID"""
    hold: str
    """hold ID, unique within the account"""
    amount: int
    """the amount (minor units)"""
    ttl_ms: int | None = None
    """duration, counted from now (ms)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountCaptureArguments(Arguments[AccountCaptureResult]):
    """What ACCOUNT.CAPTURE takes."""

    COMMAND: ClassVar[str] = "ACCOUNT.CAPTURE"
    RESULT: ClassVar[type] = AccountCaptureResult
    account: str
    """account ID"""
    hold: str
    """hold ID, unique within the account"""
    amount: int | None = None
    """the amount to capture; by default all that is left in the hold (minor units)"""
    keep_rest: bool | None = None
    """keep the uncaptured amount on hold"""
    to: str | None = None
    """the receiving account; by default the money leaves the system"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountVoidArguments(Arguments[AccountVoidResult]):
    """What ACCOUNT.VOID takes."""

    COMMAND: ClassVar[str] = "ACCOUNT.VOID"
    RESULT: ClassVar[type] = AccountVoidResult
    account: str
    """account ID"""
    hold: str
    """hold ID, unique within the account"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountExtendArguments(Arguments[AccountExtendResult]):
    """What ACCOUNT.EXTEND takes."""

    COMMAND: ClassVar[str] = "ACCOUNT.EXTEND"
    RESULT: ClassVar[type] = AccountExtendResult
    account: str
    """account ID"""
    hold: str
    """hold ID, unique within the account"""
    ttl_ms: int
    """duration, counted from now (ms)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountHoldsArguments(Arguments[AccountHoldsResult]):
    """What ACCOUNT.HOLDS takes."""

    COMMAND: ClassVar[str] = "ACCOUNT.HOLDS"
    RESULT: ClassVar[type] = AccountHoldsResult
    account: str
    """account ID"""
    cursor: str | None = None
    """where the list goes on, as the page before said"""
    limit: int | None = None
    """how many rows the page has at most; 100 by default"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountFreezeArguments(Arguments[AccountFreezeResult]):
    """What ACCOUNT.FREEZE takes."""

    COMMAND: ClassVar[str] = "ACCOUNT.FREEZE"
    RESULT: ClassVar[type] = AccountFreezeResult
    account: str
    """account ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountUnfreezeArguments(Arguments[AccountUnfreezeResult]):
    """What ACCOUNT.UNFREEZE takes."""

    COMMAND: ClassVar[str] = "ACCOUNT.UNFREEZE"
    RESULT: ClassVar[type] = AccountUnfreezeResult
    account: str
    """account ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountCloseArguments(Arguments[AccountCloseResult]):
    """What ACCOUNT.CLOSE takes."""

    COMMAND: ClassVar[str] = "ACCOUNT.CLOSE"
    RESULT: ClassVar[type] = AccountCloseResult
    account: str
    """account ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountOverdraftArguments(Arguments[AccountOverdraftResult]):
    """What ACCOUNT.OVERDRAFT takes."""

    COMMAND: ClassVar[str] = "ACCOUNT.OVERDRAFT"
    RESULT: ClassVar[type] = AccountOverdraftResult
    account: str
    """account ID"""
    overdraft: int
    """overdraft limit: how far below zero the account may go (minor units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountWorldArguments(Arguments[AccountWorldResult]):
    """What ACCOUNT.WORLD takes."""

    COMMAND: ClassVar[str] = "ACCOUNT.WORLD"
    RESULT: ClassVar[type] = AccountWorldResult
    asset: str
    """asset ID, such as USD-cents"""
    on: str
    """ID of any resource in the target partition"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountListArguments(Arguments[AccountListResult]):
    """What ACCOUNT.LIST takes."""

    COMMAND: ClassVar[str] = "ACCOUNT.LIST"
    RESULT: ClassVar[type] = AccountListResult
    prefix: str | None = None
    """what the names begin with; all names by default"""
    cursor: str | None = None
    """where the list goes on, as the page before said"""
    limit: int | None = None
    """how many rows the page has at most; 100 by default"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockCreateArguments(Arguments[StockCreateResult]):
    """What STOCK.CREATE takes."""

    COMMAND: ClassVar[str] = "STOCK.CREATE"
    RESULT: ClassVar[type] = StockCreateResult
    sku: str
    """item ID (SKU)"""
    quantity: int
    """number of units (units)"""
    ends_at: int | None = None
    """end time: from then on nothing is handed out; absent if there is no end (ms since the Unix epoch)"""
    per_owner_max: int | None = None
    """maximum units for each owner; no limit if absent (units)"""
    starts_at: int | None = None
    """start time: before then nothing is handed out; absent if there is none (ms since the Unix epoch)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockGetArguments(Arguments[StockGetResult]):
    """What STOCK.GET takes."""

    COMMAND: ClassVar[str] = "STOCK.GET"
    RESULT: ClassVar[type] = StockGetResult
    sku: str
    """item ID (SKU)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockRestockArguments(Arguments[StockRestockResult]):
    """What STOCK.RESTOCK takes."""

    COMMAND: ClassVar[str] = "STOCK.RESTOCK"
    RESULT: ClassVar[type] = StockRestockResult
    sku: str
    """item ID (SKU)"""
    quantity: int
    """number of units (units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockAdjustArguments(Arguments[StockAdjustResult]):
    """What STOCK.ADJUST takes."""

    COMMAND: ClassVar[str] = "STOCK.ADJUST"
    RESULT: ClassVar[type] = StockAdjustResult
    sku: str
    """item ID (SKU)"""
    delta: int
    """change in units; negative to remove units (units)"""
    reason: str
    """the reason, which is written to the log"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockTakeArguments(Arguments[StockTakeResult]):
    """What STOCK.TAKE takes."""

    COMMAND: ClassVar[str] = "STOCK.TAKE"
    RESULT: ClassVar[type] = StockTakeResult
    sku: str
    """item ID (SKU)"""
    quantity: int
    """number of units (units)"""
    owner: str
    """ID of the buyer"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockReserveArguments(Arguments[StockReserveResult]):
    """What STOCK.RESERVE takes."""

    COMMAND: ClassVar[str] = "STOCK.RESERVE"
    RESULT: ClassVar[type] = StockReserveResult
    sku: str
    """item ID (SKU)"""
    reservation: str
    """reservation ID, unique within the item"""
    quantity: int
    """number of units (units)"""
    owner: str
    """ID of the buyer"""
    ttl_ms: int
    """duration, counted from now (ms)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockConfirmArguments(Arguments[StockConfirmResult]):
    """What STOCK.CONFIRM takes."""

    COMMAND: ClassVar[str] = "STOCK.CONFIRM"
    RESULT: ClassVar[type] = StockConfirmResult
    sku: str
    """item ID (SKU)"""
    reservation: str
    """reservation ID, unique within the item"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockReleaseArguments(Arguments[StockReleaseResult]):
    """What STOCK.RELEASE takes."""

    COMMAND: ClassVar[str] = "STOCK.RELEASE"
    RESULT: ClassVar[type] = StockReleaseResult
    sku: str
    """item ID (SKU)"""
    reservation: str
    """reservation ID, unique within the item"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockExtendArguments(Arguments[StockExtendResult]):
    """What STOCK.EXTEND takes."""

    COMMAND: ClassVar[str] = "STOCK.EXTEND"
    RESULT: ClassVar[type] = StockExtendResult
    sku: str
    """item ID (SKU)"""
    reservation: str
    """reservation ID, unique within the item"""
    ttl_ms: int
    """duration, counted from now (ms)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockReturnArguments(Arguments[StockReturnResult]):
    """What STOCK.RETURN takes."""

    COMMAND: ClassVar[str] = "STOCK.RETURN"
    RESULT: ClassVar[type] = StockReturnResult
    sku: str
    """item ID (SKU)"""
    first: int
    """the first serial"""
    count: int
    """number of units, with consecutive serials from the first (units)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockCloseArguments(Arguments[StockCloseResult]):
    """What STOCK.CLOSE takes."""

    COMMAND: ClassVar[str] = "STOCK.CLOSE"
    RESULT: ClassVar[type] = StockCloseResult
    sku: str
    """item ID (SKU)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockAuditArguments(Arguments[StockAuditResult]):
    """What STOCK.AUDIT takes."""

    COMMAND: ClassVar[str] = "STOCK.AUDIT"
    RESULT: ClassVar[type] = StockAuditResult
    sku: str
    """item ID (SKU)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockReservationArguments(Arguments[StockReservationResult]):
    """What STOCK.RESERVATION takes."""

    COMMAND: ClassVar[str] = "STOCK.RESERVATION"
    RESULT: ClassVar[type] = StockReservationResult
    sku: str
    """item ID (SKU)"""
    reservation: str
    """reservation ID, unique within the item"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockListArguments(Arguments[StockListResult]):
    """What STOCK.LIST takes."""

    COMMAND: ClassVar[str] = "STOCK.LIST"
    RESULT: ClassVar[type] = StockListResult
    prefix: str | None = None
    """what the names begin with; all names by default"""
    cursor: str | None = None
    """where the list goes on, as the page before said"""
    limit: int | None = None
    """how many rows the page has at most; 100 by default"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketCreateArguments(Arguments[PacketCreateResult]):
    """What PACKET.CREATE takes."""

    COMMAND: ClassVar[str] = "PACKET.CREATE"
    RESULT: ClassVar[type] = PacketCreateResult
    campaign: str
    """campaign ID"""
    asset: str
    """asset ID, such as USD-cents"""
    amounts: Sequence[int] | None = None
    """the amount of each packet, in the order in which they are claimed"""
    ends_at: int | None = None
    """end time: from then on nothing is handed out; absent if there is no end (ms since the Unix epoch)"""
    plan: Plan | None = None
    """how to cut the total into packets: total, count and method"""
    starts_at: int | None = None
    """start time: before then nothing is handed out; absent if there is none (ms since the Unix epoch)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketClaimArguments(Arguments[PacketClaimResult]):
    """What PACKET.CLAIM takes."""

    COMMAND: ClassVar[str] = "PACKET.CLAIM"
    RESULT: ClassVar[type] = PacketClaimResult
    campaign: str
    """campaign ID"""
    user: str
    """user ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketGetArguments(Arguments[PacketGetResult]):
    """What PACKET.GET takes."""

    COMMAND: ClassVar[str] = "PACKET.GET"
    RESULT: ClassVar[type] = PacketGetResult
    campaign: str
    """campaign ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketCloseArguments(Arguments[PacketCloseResult]):
    """What PACKET.CLOSE takes."""

    COMMAND: ClassVar[str] = "PACKET.CLOSE"
    RESULT: ClassVar[type] = PacketCloseResult
    campaign: str
    """campaign ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketClaimedArguments(Arguments[PacketClaimedResult]):
    """What PACKET.CLAIMED takes."""

    COMMAND: ClassVar[str] = "PACKET.CLAIMED"
    RESULT: ClassVar[type] = PacketClaimedResult
    campaign: str
    """campaign ID"""
    user: str
    """user ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketClaimsArguments(Arguments[PacketClaimsResult]):
    """What PACKET.CLAIMS takes."""

    COMMAND: ClassVar[str] = "PACKET.CLAIMS"
    RESULT: ClassVar[type] = PacketClaimsResult
    campaign: str
    """campaign ID"""
    cursor: str | None = None
    """where the list goes on, as the page before said"""
    limit: int | None = None
    """how many rows the page has at most; 100 by default"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketListArguments(Arguments[PacketListResult]):
    """What PACKET.LIST takes."""

    COMMAND: ClassVar[str] = "PACKET.LIST"
    RESULT: ClassVar[type] = PacketListResult
    prefix: str | None = None
    """what the names begin with; all names by default"""
    cursor: str | None = None
    """where the list goes on, as the page before said"""
    limit: int | None = None
    """how many rows the page has at most; 100 by default"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponCreateArguments(Arguments[CouponCreateResult]):
    """What COUPON.CREATE takes."""

    COMMAND: ClassVar[str] = "COUPON.CREATE"
    RESULT: ClassVar[type] = CouponCreateResult
    coupon: str
    """coupon ID"""
    limits: Sequence[Limit]
    """1 to 16 limits, each with a name, a maximum, dimensions and a window; the answer is their number"""
    claim_ttl_ms: int | None = None
    """how long a claim can be redeemed; without limit if absent (ms)"""
    ends_at: int | None = None
    """end time: from then on nothing is handed out; absent if there is no end (ms since the Unix epoch)"""
    starts_at: int | None = None
    """start time: before then nothing is handed out; absent if there is none (ms since the Unix epoch)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponUpdateArguments(Arguments[CouponUpdateResult]):
    """What COUPON.UPDATE takes."""

    COMMAND: ClassVar[str] = "COUPON.UPDATE"
    RESULT: ClassVar[type] = CouponUpdateResult
    coupon: str
    """coupon ID"""
    limits: Sequence[Limit]
    """limits with a new maximum, or limits to add; the answer is the number of limits afterwards"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponClaimArguments(Arguments[CouponClaimResult]):
    """What COUPON.CLAIM takes."""

    COMMAND: ClassVar[str] = "COUPON.CLAIM"
    RESULT: ClassVar[type] = CouponClaimResult
    coupon: str
    """coupon ID"""
    subject: Mapping[str, str]
    """who and what the claim is for: dimensions and their values, by which limits count"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponCheckArguments(Arguments[CouponCheckResult]):
    """What COUPON.CHECK takes."""

    COMMAND: ClassVar[str] = "COUPON.CHECK"
    RESULT: ClassVar[type] = CouponCheckResult
    coupon: str
    """coupon ID"""
    subject: Mapping[str, str]
    """who and what the claim is for: dimensions and their values, by which limits count"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponRedeemArguments(Arguments[CouponRedeemResult]):
    """What COUPON.REDEEM takes."""

    COMMAND: ClassVar[str] = "COUPON.REDEEM"
    RESULT: ClassVar[type] = CouponRedeemResult
    coupon: str
    """coupon ID"""
    serial: int
    """serial number of the claim"""
    user: str
    """ID of the user who claimed; only this user can redeem"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponRevokeArguments(Arguments[CouponRevokeResult]):
    """What COUPON.REVOKE takes."""

    COMMAND: ClassVar[str] = "COUPON.REVOKE"
    RESULT: ClassVar[type] = CouponRevokeResult
    coupon: str
    """coupon ID"""
    serial: int
    """serial number of the claim"""
    give_back: bool | None = None
    """return the count to limits whose window is still open"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponClaimedArguments(Arguments[CouponClaimedResult]):
    """What COUPON.CLAIMED takes."""

    COMMAND: ClassVar[str] = "COUPON.CLAIMED"
    RESULT: ClassVar[type] = CouponClaimedResult
    coupon: str
    """coupon ID"""
    serial: int
    """serial number of the claim"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponGetArguments(Arguments[CouponGetResult]):
    """What COUPON.GET takes."""

    COMMAND: ClassVar[str] = "COUPON.GET"
    RESULT: ClassVar[type] = CouponGetResult
    coupon: str
    """coupon ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponPauseArguments(Arguments[CouponPauseResult]):
    """What COUPON.PAUSE takes."""

    COMMAND: ClassVar[str] = "COUPON.PAUSE"
    RESULT: ClassVar[type] = CouponPauseResult
    coupon: str
    """coupon ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponResumeArguments(Arguments[CouponResumeResult]):
    """What COUPON.RESUME takes."""

    COMMAND: ClassVar[str] = "COUPON.RESUME"
    RESULT: ClassVar[type] = CouponResumeResult
    coupon: str
    """coupon ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponListArguments(Arguments[CouponListResult]):
    """What COUPON.LIST takes."""

    COMMAND: ClassVar[str] = "COUPON.LIST"
    RESULT: ClassVar[type] = CouponListResult
    prefix: str | None = None
    """what the names begin with; all names by default"""
    cursor: str | None = None
    """where the list goes on, as the page before said"""
    limit: int | None = None
    """how many rows the page has at most; 100 by default"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketCreateArguments(Arguments[MarketCreateResult]):
    """What MARKET.CREATE takes."""

    COMMAND: ClassVar[str] = "MARKET.CREATE"
    RESULT: ClassVar[type] = MarketCreateResult
    market: str
    """market ID"""
    lot: int | None = None
    """order quantities must be a multiple of it; 1 by default (units of the base)"""
    max_quantity: int | None = None
    """the largest order quantity; 2^53 − 1 by default (units of the base)"""
    min_quantity: int | None = None
    """the smallest order quantity; 1 by default (units of the base)"""
    tick: int | None = None
    """prices must be a multiple of it; 1 by default (minor units of the quote per unit of the base)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketGetArguments(Arguments[MarketGetResult]):
    """What MARKET.GET takes."""

    COMMAND: ClassVar[str] = "MARKET.GET"
    RESULT: ClassVar[type] = MarketGetResult
    market: str
    """market ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketHaltArguments(Arguments[MarketHaltResult]):
    """What MARKET.HALT takes."""

    COMMAND: ClassVar[str] = "MARKET.HALT"
    RESULT: ClassVar[type] = MarketHaltResult
    market: str
    """market ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketResumeArguments(Arguments[MarketResumeResult]):
    """What MARKET.RESUME takes."""

    COMMAND: ClassVar[str] = "MARKET.RESUME"
    RESULT: ClassVar[type] = MarketResumeResult
    market: str
    """market ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketDepthArguments(Arguments[MarketDepthResult]):
    """What MARKET.DEPTH takes."""

    COMMAND: ClassVar[str] = "MARKET.DEPTH"
    RESULT: ClassVar[type] = MarketDepthResult
    market: str
    """market ID"""
    levels: int | None = None
    """number of price levels on each side; 10 by default, 10000 at most"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketTradesArguments(Arguments[MarketTradesResult]):
    """What MARKET.TRADES takes."""

    COMMAND: ClassVar[str] = "MARKET.TRADES"
    RESULT: ClassVar[type] = MarketTradesResult
    market: str
    """market ID"""
    count: int | None = None
    """maximum number of trades; the last hundred are kept"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketTickerArguments(Arguments[MarketTickerResult]):
    """What MARKET.TICKER takes."""

    COMMAND: ClassVar[str] = "MARKET.TICKER"
    RESULT: ClassVar[type] = MarketTickerResult
    market: str
    """market ID"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketListArguments(Arguments[MarketListResult]):
    """What MARKET.LIST takes."""

    COMMAND: ClassVar[str] = "MARKET.LIST"
    RESULT: ClassVar[type] = MarketListResult
    prefix: str | None = None
    """what the names begin with; all names by default"""
    cursor: str | None = None
    """where the list goes on, as the page before said"""
    limit: int | None = None
    """how many rows the page has at most; 100 by default"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderListArguments(Arguments[OrderListResult]):
    """What ORDER.LIST takes."""

    COMMAND: ClassVar[str] = "ORDER.LIST"
    RESULT: ClassVar[type] = OrderListResult
    market: str
    """market ID"""
    owner: str | None = None
    """ID of the owner whose orders are listed; all if left out"""
    cursor: str | None = None
    """where the list goes on, as the page before said"""
    limit: int | None = None
    """how many rows the page has at most; 100 by default"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderPlaceArguments(Arguments[OrderPlaceResult]):
    """What ORDER.PLACE takes."""

    COMMAND: ClassVar[str] = "ORDER.PLACE"
    RESULT: ClassVar[type] = OrderPlaceResult
    market: str
    """market ID"""
    order: str
    """order ID, unique within the market"""
    owner: str
    """ID of the order's owner"""
    side: Literal["BUY", "SELL"]
    """side of the book: BUY or SELL"""
    type: Literal["LIMIT", "MARKET"]
    """LIMIT: at that price or better; MARKET: at any price"""
    quantity: int
    """the quantity to trade (units of the base)"""
    price: int | None = None
    """the price (minor units of the quote per unit of the base)"""
    stp: Literal["NONE", "CANCEL_TAKER", "CANCEL_MAKER", "CANCEL_BOTH", "DECREMENT"] | None = None
    """self-trade prevention: NONE, CANCEL_TAKER, CANCEL_MAKER, CANCEL_BOTH or DECREMENT; NONE by default"""
    tif: Literal["GTC", "IOC", "FOK", "POST"] | None = None
    """time in force: GTC rests until filled or cancelled, IOC fills what it can and cancels the rest, FOK
    fills completely or is refused, POST only rests; by default GTC with a price and IOC without"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCancelArguments(Arguments[OrderCancelResult]):
    """What ORDER.CANCEL takes."""

    COMMAND: ClassVar[str] = "ORDER.CANCEL"
    RESULT: ClassVar[type] = OrderCancelResult
    market: str
    """market ID"""
    order: str
    """order ID, unique within the market"""
    owner: str
    """ID of the order's owner"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderReduceArguments(Arguments[OrderReduceResult]):
    """What ORDER.REDUCE takes."""

    COMMAND: ClassVar[str] = "ORDER.REDUCE"
    RESULT: ClassVar[type] = OrderReduceResult
    market: str
    """market ID"""
    order: str
    """order ID, unique within the market"""
    owner: str
    """ID of the order's owner"""
    by: int
    """by how much the order is reduced (units of the base)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderReplaceArguments(Arguments[OrderReplaceResult]):
    """What ORDER.REPLACE takes."""

    COMMAND: ClassVar[str] = "ORDER.REPLACE"
    RESULT: ClassVar[type] = OrderReplaceResult
    market: str
    """market ID"""
    order: str
    """order ID, unique within the market"""
    owner: str
    """ID of the order's owner"""
    price: int
    """the new price (minor units of the quote per unit of the base)"""
    quantity: int
    """the new remaining quantity (units of the base)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCancelallArguments(Arguments[OrderCancelallResult]):
    """What ORDER.CANCELALL takes."""

    COMMAND: ClassVar[str] = "ORDER.CANCELALL"
    RESULT: ClassVar[type] = OrderCancelallResult
    market: str
    """market ID"""
    owner: str
    """ID of the order's owner"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderGetArguments(Arguments[OrderGetResult]):
    """What ORDER.GET takes."""

    COMMAND: ClassVar[str] = "ORDER.GET"
    RESULT: ClassVar[type] = OrderGetResult
    market: str
    """market ID"""
    order: str
    """order ID, unique within the market"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationGetArguments(Arguments[OperationGetResult]):
    """What OPERATION.GET takes."""

    COMMAND: ClassVar[str] = "OPERATION.GET"
    RESULT: ClassVar[type] = OperationGetResult
    operation: str
    """operation ID"""
    on: str
    """ID of any resource in the target partition"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationResolveArguments(Arguments[OperationResolveResult]):
    """What OPERATION.RESOLVE takes."""

    COMMAND: ClassVar[str] = "OPERATION.RESOLVE"
    RESULT: ClassVar[type] = OperationResolveResult
    operation: str
    """operation ID"""
    on: str
    """ID of any resource in the target partition"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestArguments(Arguments[DigestResult]):
    """What DIGEST takes."""

    COMMAND: ClassVar[str] = "DIGEST"
    RESULT: ClassVar[type] = DigestResult
    resource: str | None = None
    """resource ID; every partition by default"""

