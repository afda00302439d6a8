// Made by `cargo xtask reference` from the tables of commands and codes; change those, not this file.

import type { CallOptions, Outcome, Route } from "./outcome.js";

/** The version of Scarce that these types are of. */
export const VERSION = "0.1.0";

/** Where a change is in the log, and how safe it was when it was answered. */
export interface Receipt {
  /** operation ID (idempotency key): the command is applied once under it */
  operation: string;
  /** the partition that decided the command */
  partition: number;
  /** epoch of the partition; it rises at every start */
  epoch: number;
  /** sequence of the command's first event; for a refusal without events, of the last event before it */
  sequence_first: number;
  /** sequence of the command's last event */
  sequence_last: number;
  /** when the command was decided (ms since the Unix epoch) */
  at: number;
  /** durability level reached before the answer: in memory, replicated or synced to disk */
  durability: "memory" | "replicated" | "synced";
}

/** What is remembered of an operation. */
export interface RememberedOutcome {
  applied: boolean;
  code: string | null;
  facts: Record<string, unknown> | null;
  figures: ReadonlyArray<unknown> | null;
}

/** How a campaign is cut into packets. */
export interface Plan {
  /** total amount of all packets (minor units) */
  total: number;
  /** number of packets (packets) */
  count: number;
  /** EVEN, DOUBLE_MEAN or LINE_CUT */
  method: "EVEN" | "DOUBLE_MEAN" | "LINE_CUT";
  /** maximum amount of a packet; no limit by default (minor units) */
  max?: number | null | undefined;
  /** minimum amount of a packet; 1 by default (minor units) */
  min?: number | null | undefined;
}

/** A limit of a coupon. */
export interface Limit {
  /** limit name, by which you change the limit */
  name: string;
  /** claims allowed in a window (claims) */
  max: number;
  /** offset of the calendar window from UTC (minutes) */
  offset_minutes?: number | null | undefined;
  /** the dimensions by which the limit counts; without dimensions, all claims count together */
  per?: ReadonlyArray<string> | null | undefined;
  /** the window in which the limit counts: none, hour, day, week or month; or a duration in milliseconds */
  window?: "NONE" | "HOUR" | "DAY" | "WEEK" | "MONTH" | null | undefined;
  /** length of a fixed window; not for calendar windows (ms) */
  window_ms?: number | null | undefined;
}

/** A row of a list: hold, amount, status, deadline. */
export interface HoldRow {
  /** hold ID, unique within the account */
  hold: string;
  /** the amount left in the hold (minor units) */
  amount: number;
  /** open, captured, voided or expired */
  status: string;
  /** expiry time; absent if it does not expire (ms since the Unix epoch) */
  deadline: number | null;
}

/** A row of a list: account, asset, balance, held, available, status. */
export interface AccountGetRow {
  /** account ID */
  account: string;
  /** asset ID, such as USD-cents */
  asset: string;
  /** the balance, including money on hold (minor units) */
  balance: number;
  /** the amount on hold (minor units) */
  held: number;
  /** balance minus holds, not counting the overdraft; may be negative (minor units) */
  available: number;
  /** open, frozen or closed */
  status: string;
}

/** A row of a list: sku, total, available, reserved, sold, status. */
export interface StockGetRow {
  /** item ID (SKU) */
  sku: string;
  /** available + reserved + sold (units) */
  total: number;
  /** units available (units) */
  available: number;
  /** units that are reserved (units) */
  reserved: number;
  /** units sold, excluding returns (units) */
  sold: number;
  /** open, not_started, ended or closed */
  status: string;
}

/** A row of a list: user, packet, amount, at. */
export interface PacketClaimedRow {
  /** user ID */
  user: string;
  /** packet number, starting at 1 */
  packet: number;
  /** the amount in the packet (minor units) */
  amount: number;
  /** when it was claimed (ms since the Unix epoch) */
  at: number;
}

/** A row of a list: campaign, asset, count, total, claimed_count, claimed_amount, status. */
export interface PacketGetRow {
  /** campaign ID */
  campaign: string;
  /** asset ID, such as USD-cents */
  asset: string;
  /** number of packets in the campaign (packets) */
  count: number;
  /** total amount of all packets (minor units) */
  total: number;
  /** number of claimed packets (packets) */
  claimed_count: number;
  /** total amount of the claimed packets (minor units) */
  claimed_amount: number;
  /** open, not_started, ended, exhausted or closed */
  status: string;
}

/** A row of a list: coupon, status, claimed. */
export interface CouponGetRow {
  /** coupon ID */
  coupon: string;
  /** open, paused, not_started or ended */
  status: string;
  /** number of claims so far, including revoked ones (claims) */
  claimed: number;
}

/** A row of a list: price, quantity, orders. */
export interface LevelRow {
  /** the price (minor units of the quote per unit of the base) */
  price: number;
  /** total quantity left at this price (units of the base) */
  quantity: number;
  /** number of orders at this price (orders) */
  orders: number;
}

/** A row of a list: trade, price, quantity, taker_side, at. */
export interface OrderTradedRow {
  /** trade number within the market, starting at 1 */
  trade: number;
  /** the maker's price, that is, of the resting order (minor units of the quote per unit of the base) */
  price: number;
  /** quantity traded (units of the base) */
  quantity: number;
  /** the side of the incoming order */
  taker_side: "BUY" | "SELL";
  /** when the command was decided (ms since the Unix epoch) */
  at: number;
}

/** A row of a list: market, status, best_bid, best_ask, orders, trades. */
export interface MarketGetRow {
  /** market ID */
  market: string;
  /** open or halted */
  status: string;
  /** the highest buy price; absent if there are no buy orders (minor units of the quote per unit of the base) */
  best_bid: number | null;
  /**
   * the lowest sell price; absent if there are no sell orders (minor units of the quote per unit of the
   * base)
   */
  best_ask: number | null;
  /** number of orders on the book (orders) */
  orders: number;
  /** number of trades so far */
  trades: number;
}

/** A row of a list: trade, maker_order, price, quantity, maker_remaining. */
export interface FillRow {
  /** trade number within the market, starting at 1 */
  trade: number;
  /** the resting order */
  maker_order: string;
  /** the maker's price, that is, of the resting order (minor units of the quote per unit of the base) */
  price: number;
  /** quantity traded (units of the base) */
  quantity: number;
  /** quantity left in the resting order (units of the base) */
  maker_remaining: number;
}

/** A row of a list: partition, sequence, digest. */
export interface DigestRow {
  /** the partition that decided the command */
  partition: number;
  /** sequence number of the event in its partition's log */
  sequence: number;
  /** digest of the state, 32 hexadecimal digits */
  digest: string;
}

/** What INVALID rests on. */
export interface InvalidFacts {
  /** the argument that is at fault */
  argument: string;
  /** the reason */
  reason: string;
}

/** What CROSS_PARTITION rests on. */
export interface CrossPartitionFacts {
  /** an ID that the command names */
  first: string;
  /** an ID that belongs to another partition */
  second: string;
}

/** What OVERLOADED rests on. */
export interface OverloadedFacts {
  /**
   * what is full: a bounded queue, `operations`, the store of remembered operation IDs, or `memory`, the
   * memory budget
   */
  queue: string;
  /** how long to wait before the command can succeed; absent where that is not known (ms) */
  retry_after_ms: number | null;
}

/** What UNAVAILABLE rests on. */
export interface UnavailableFacts {
  /** the reason */
  reason: string;
}

/** What UNKNOWN rests on. */
export interface UnknownFacts {
  /** the reason */
  reason: string;
}

/** What MIGRATED rests on. */
export interface MigratedFacts {
  /** where the deployment is served now */
  address: string;
}

/** What ID_REUSED rests on. */
export interface IdReusedFacts {
  /** operation ID */
  operation: string;
}

/** What ID_EXPIRED rests on. */
export interface IdExpiredFacts {
  /** operation ID */
  operation: string;
  /** how long operation IDs are remembered (ms) */
  window_ms: number;
}

/** What DEADLINE_PASSED rests on. */
export interface DeadlinePassedFacts {
  /** deadline of the command (ms since the Unix epoch) */
  deadline: number;
  /** the timestamp by which the command was decided (ms since the Unix epoch) */
  now: number;
}

/** What RESOLVED_ABSENT rests on. */
export interface ResolvedAbsentFacts {
  /** operation ID */
  operation: string;
}

/** What BATCH_REFUSED rests on. */
export interface BatchRefusedFacts {
  /** the line in the batch, counting from 0 */
  index: number;
  /** the code of the refused line */
  code: string;
  /** the facts of the refused line */
  facts: Record<string, unknown>;
}

/** What STEP_LIMIT rests on. */
export interface StepLimitFacts {
  /** maximum records, packets or bytes for one step */
  limit: number;
}

/** What OVERFLOW rests on. */
export interface OverflowFacts {
  /** the value that would leave the range */
  argument: string;
}

/** What OPERATION_NOT_FOUND rests on. */
export interface OperationNotFoundFacts {
  /** operation ID */
  operation: string;
}

/** What NOT_STARTED rests on. */
export interface NotStartedFacts {
  /** start time: before then nothing is handed out; absent if there is none (ms since the Unix epoch) */
  starts_at: number | null;
  /** the timestamp by which the command was decided (ms since the Unix epoch) */
  now: number;
}

/** What ENDED rests on. */
export interface EndedFacts {
  /** end time: from then on nothing is handed out; absent if there is no end (ms since the Unix epoch) */
  ends_at: number | null;
  /** the timestamp by which the command was decided (ms since the Unix epoch) */
  now: number;
}

/** What CLAIMS_EXPIRED rests on. */
export interface ClaimsExpiredFacts {
  /** campaign ID */
  campaign: string;
}

/** What ACCOUNT_EXISTS rests on. */
export interface AccountExistsFacts {
  /** account ID */
  account: string;
}

/** What SAME_ACCOUNT rests on. */
export interface SameAccountFacts {
  /** account ID */
  account: string;
}

/** What ACCOUNT_NOT_FOUND rests on. */
export interface AccountNotFoundFacts {
  /** account ID */
  account: string;
}

/** What ACCOUNT_CLOSED rests on. */
export interface AccountClosedFacts {
  /** account ID */
  account: string;
}

/** What ACCOUNT_FROZEN rests on. */
export interface AccountFrozenFacts {
  /** account ID */
  account: string;
}

/** What HOLD_EXISTS rests on. */
export interface HoldExistsFacts {
  /** hold ID, unique within the account */
  hold: string;
}

/** What HOLD_NOT_FOUND rests on. */
export interface HoldNotFoundFacts {
  /** hold ID, unique within the account */
  hold: string;
}

/** What HOLD_CAPTURED rests on. */
export interface HoldCapturedFacts {
  /** hold ID, unique within the account */
  hold: string;
}

/** What HOLD_VOIDED rests on. */
export interface HoldVoidedFacts {
  /** hold ID, unique within the account */
  hold: string;
}

/** What HOLD_EXPIRED rests on. */
export interface HoldExpiredFacts {
  /** hold ID, unique within the account */
  hold: string;
  /** expiry time; absent if it does not expire (ms since the Unix epoch) */
  deadline: number;
}

/** What AMOUNT_EXCEEDS_HOLD rests on. */
export interface AmountExceedsHoldFacts {
  /** the amount left in the hold (minor units) */
  held: number;
  /** the amount requested (minor units) */
  requested: number;
}

/** What ASSET_MISMATCH rests on. */
export interface AssetMismatchFacts {
  /** the asset of the paying account */
  from: string;
  /** the asset of the receiving account */
  to: string;
}

/** What INSUFFICIENT_FUNDS rests on. */
export interface InsufficientFundsFacts {
  /** account ID */
  account: string;
  /** balance minus holds, not counting the overdraft; may be negative (minor units) */
  available: number;
  /** the amount requested (minor units) */
  requested: number;
}

/** What BALANCE_NOT_ZERO rests on. */
export interface BalanceNotZeroFacts {
  /** the balance, including money on hold (minor units) */
  balance: number;
  /** the amount on hold (minor units) */
  held: number;
}

/** What OVERDRAFT_IN_USE rests on. */
export interface OverdraftInUseFacts {
  /** balance minus holds, not counting the overdraft; may be negative (minor units) */
  available: number;
  /** the overdraft requested (minor units) */
  overdraft: number;
}

/** What STOCK_EXISTS rests on. */
export interface StockExistsFacts {
  /** item ID (SKU) */
  sku: string;
}

/** What STOCK_NOT_FOUND rests on. */
export interface StockNotFoundFacts {
  /** item ID (SKU) */
  sku: string;
}

/** What STOCK_CLOSED rests on. */
export interface StockClosedFacts {
  /** item ID (SKU) */
  sku: string;
}

/** What RESERVATION_EXISTS rests on. */
export interface ReservationExistsFacts {
  /** reservation ID, unique within the item */
  reservation: string;
}

/** What RESERVATION_NOT_FOUND rests on. */
export interface ReservationNotFoundFacts {
  /** reservation ID, unique within the item */
  reservation: string;
}

/** What RESERVATION_CONFIRMED rests on. */
export interface ReservationConfirmedFacts {
  /** reservation ID, unique within the item */
  reservation: string;
}

/** What RESERVATION_RELEASED rests on. */
export interface ReservationReleasedFacts {
  /** reservation ID, unique within the item */
  reservation: string;
}

/** What RESERVATION_EXPIRED rests on. */
export interface ReservationExpiredFacts {
  /** reservation ID, unique within the item */
  reservation: string;
  /** expiry time; absent if it does not expire (ms since the Unix epoch) */
  deadline: number;
}

/** What OWNER_LIMIT_REACHED rests on. */
export interface OwnerLimitReachedFacts {
  /** units that the owner has reserved or bought (units) */
  used: number;
  /** maximum units for one owner (units) */
  max: number;
}

/** What SOLD_OUT rests on. */
export interface SoldOutFacts {
  /** units available (units) */
  available: number;
  /** units requested (units) */
  requested: number;
}

/** What INSUFFICIENT_STOCK rests on. */
export interface InsufficientStockFacts {
  /** units available (units) */
  available: number;
  /** units requested (units) */
  requested: number;
}

/** What UNITS_NOT_SOLD rests on. */
export interface UnitsNotSoldFacts {
  /** the first serial */
  first: number;
  /** number of units, with consecutive serials from the first (units) */
  count: number;
}

/** What STOCK_INCONSISTENT rests on. */
export interface StockInconsistentFacts {
  /** the value that differs: total, sold, serial or returned */
  figure: string;
  /** the value counted */
  counted: number;
  /** the value recorded for the item */
  recorded: number;
}

/** What RECEIPT_EXPIRED rests on. */
export interface ReceiptExpiredFacts {
  /** the first serial */
  first: number;
  /** number of units, with consecutive serials from the first (units) */
  count: number;
}

/** What CAMPAIGN_EXISTS rests on. */
export interface CampaignExistsFacts {
  /** campaign ID */
  campaign: string;
}

/** What CAMPAIGN_NOT_FOUND rests on. */
export interface CampaignNotFoundFacts {
  /** campaign ID */
  campaign: string;
}

/** What ALREADY_CLAIMED rests on. */
export interface AlreadyClaimedFacts {
  /** packet number, starting at 1 */
  packet: number | null;
  /** the amount in the packet (minor units) */
  amount: number | null;
}

/** What EXHAUSTED rests on. */
export interface ExhaustedFacts {
  /** number of packets in the campaign (packets) */
  count: number;
}

/** What COUPON_EXISTS rests on. */
export interface CouponExistsFacts {
  /** coupon ID */
  coupon: string;
}

/** What COUPON_NOT_FOUND rests on. */
export interface CouponNotFoundFacts {
  /** coupon ID */
  coupon: string;
}

/** What COUPON_PAUSED rests on. */
export interface CouponPausedFacts {
  /** coupon ID */
  coupon: string;
}

/** What SUBJECT_INCOMPLETE rests on. */
export interface SubjectIncompleteFacts {
  /** limit name */
  limit: string;
  /** the dimension that is missing from the subject */
  dimension: string;
}

/** What LIMIT_REACHED rests on. */
export interface LimitReachedFacts {
  /** limit name */
  limit: string;
  /** claims counted in the current window (claims) */
  used: number;
  /** claims that the limit allows (claims) */
  max: number;
  /**
   * when the limit's window ends and counting restarts; absent if it never restarts (ms since the Unix
   * epoch)
   */
  resets_at: number | null;
}

/** What CLAIM_NOT_FOUND rests on. */
export interface ClaimNotFoundFacts {
  /** serial number of the claim; for red packets, the user ID */
  claim: number | string;
}

/** What CLAIM_REDEEMED rests on. */
export interface ClaimRedeemedFacts {
  /** serial number of the claim */
  serial: number;
}

/** What CLAIM_REVOKED rests on. */
export interface ClaimRevokedFacts {
  /** serial number of the claim */
  serial: number;
}

/** What CLAIM_EXPIRED rests on. */
export interface ClaimExpiredFacts {
  /** serial number of the claim */
  serial: number;
  /** expiry time; absent if it does not expire (ms since the Unix epoch) */
  deadline: number;
}

/** What MARKET_EXISTS rests on. */
export interface MarketExistsFacts {
  /** market ID */
  market: string;
}

/** What MARKET_NOT_FOUND rests on. */
export interface MarketNotFoundFacts {
  /** market ID */
  market: string;
}

/** What MARKET_HALTED rests on. */
export interface MarketHaltedFacts {
  /** market ID */
  market: string;
}

/** What ORDER_EXISTS rests on. */
export interface OrderExistsFacts {
  /** order ID, unique within the market */
  order: string;
}

/** What ORDER_NOT_FOUND rests on. */
export interface OrderNotFoundFacts {
  /** order ID, unique within the market */
  order: string;
}

/** What ORDER_CLOSED rests on. */
export interface OrderClosedFacts {
  /** order ID, unique within the market */
  order: string;
  /** open, partially_filled, filled or cancelled */
  status: string;
}

/** What PRICE_INVALID rests on. */
export interface PriceInvalidFacts {
  /** the price (minor units of the quote per unit of the base) */
  price: number;
  /** prices must be a multiple of it (minor units of the quote per unit of the base) */
  tick: number;
}

/** What QUANTITY_INVALID rests on. */
export interface QuantityInvalidFacts {
  /** the quantity to trade (units of the base) */
  quantity: number;
  /** order quantities must be a multiple of it (units of the base) */
  lot: number;
  /** the smallest order quantity (units of the base) */
  min: number;
  /** the largest order quantity (units of the base) */
  max: number;
}

/** What WOULD_TAKE rests on. */
export interface WouldTakeFacts {
  /** the best price on the opposite side (minor units of the quote per unit of the base) */
  best_price: number;
}

/** What WOULD_NOT_FILL rests on. */
export interface WouldNotFillFacts {
  /** the quantity that can be filled immediately (units of the base) */
  fillable: number;
  /** the quantity to trade (units of the base) */
  quantity: number;
}

/** What ACCOUNT.OPEN takes. */
export interface AccountOpenArguments {
  /** account ID */
  account: string;
  /** asset ID, such as USD-cents */
  asset: string;
  /** overdraft limit: how far below zero the account may go; 0 by default (minor units) */
  overdraft?: number | null | undefined;
}

/** What ACCOUNT.OPEN answers. */
export interface AccountOpenResult {
  /** balance minus holds, not counting the overdraft; may be negative (minor units) */
  available: number;
}

/** What ACCOUNT.GET takes. */
export interface AccountGetArguments {
  /** account ID */
  account: string;
}

/** What ACCOUNT.GET answers. */
export interface AccountGetResult {
  /** account ID */
  account: string;
  /** asset ID, such as USD-cents */
  asset: string;
  /** the balance, including money on hold (minor units) */
  balance: number;
  /** the amount on hold (minor units) */
  held: number;
  /** balance minus holds, not counting the overdraft; may be negative (minor units) */
  available: number;
  /** overdraft limit: how far below zero the account may go (minor units) */
  overdraft: number;
  /** open, frozen or closed */
  status: string;
}

/** What ACCOUNT.CREDIT takes. */
export interface AccountCreditArguments {
  /** account ID */
  account: string;
  /** the amount (minor units) */
  amount: number;
}

/** What ACCOUNT.CREDIT answers. */
export interface AccountCreditResult {
  /** balance minus holds, not counting the overdraft; may be negative (minor units) */
  available: number;
  /** the balance, including money on hold (minor units) */
  balance: number;
}

/** What ACCOUNT.DEBIT takes. */
export interface AccountDebitArguments {
  /** account ID */
  account: string;
  /** the amount (minor units) */
  amount: number;
}

/** What ACCOUNT.DEBIT answers. */
export interface AccountDebitResult {
  /** balance minus holds, not counting the overdraft; may be negative (minor units) */
  available: number;
  /** the balance, including money on hold (minor units) */
  balance: number;
}

/** What ACCOUNT.TRANSFER takes. */
export interface AccountTransferArguments {
  /** the paying account */
  from: string;
  /** the receiving account */
  to: string;
  /** the amount (minor units) */
  amount: number;
}

/** What ACCOUNT.TRANSFER answers. */
export interface AccountTransferResult {
  /** the paying account's available balance afterwards (minor units) */
  from_available: number;
  /** the receiving account's available balance afterwards (minor units) */
  to_available: number;
}

/** What ACCOUNT.HOLD takes. */
export interface AccountHoldArguments {
  /** account ID */
  account: string;
  /** hold ID, unique within the account */
  hold: string;
  /** the amount (minor units) */
  amount: number;
  /** duration, counted from now (ms) */
  ttl_ms?: number | null | undefined;
}

/** What ACCOUNT.HOLD answers. */
export interface AccountHoldResult {
  /** balance minus holds, not counting the overdraft; may be negative (minor units) */
  available: number;
  /** expiry time; absent if it does not expire (ms since the Unix epoch) */
  deadline: number | null;
}

/** What ACCOUNT.CAPTURE takes. */
export interface AccountCaptureArguments {
  /** account ID */
  account: string;
  /** hold ID, unique within the account */
  hold: string;
  /** the amount to capture; by default all that is left in the hold (minor units) */
  amount?: number | null | undefined;
  /** keep the uncaptured amount on hold */
  keep_rest?: boolean | null | undefined;
  /** the receiving account; by default the money leaves the system */
  to?: string | null | undefined;
}

/** What ACCOUNT.CAPTURE answers. */
export interface AccountCaptureResult {
  /** the amount captured from the hold (minor units) */
  captured: number;
  /** the amount left in the hold afterwards (minor units) */
  hold_remaining: number;
  /** balance minus holds, not counting the overdraft; may be negative (minor units) */
  available: number;
}

/** What ACCOUNT.VOID takes. */
export interface AccountVoidArguments {
  /** account ID */
  account: string;
  /** hold ID, unique within the account */
  hold: string;
}

/** What ACCOUNT.VOID answers. */
export interface AccountVoidResult {
  /** the amount that the hold had and that is available again (minor units) */
  released: number;
  /** balance minus holds, not counting the overdraft; may be negative (minor units) */
  available: number;
}

/** What ACCOUNT.EXTEND takes. */
export interface AccountExtendArguments {
  /** account ID */
  account: string;
  /** hold ID, unique within the account */
  hold: string;
  /** duration, counted from now (ms) */
  ttl_ms: number;
}

/** What ACCOUNT.EXTEND answers. */
export interface AccountExtendResult {
  /** expiry time; absent if it does not expire (ms since the Unix epoch) */
  deadline: number;
}

/** What ACCOUNT.HOLDS takes. */
export interface AccountHoldsArguments {
  /** account ID */
  account: string;
  /** where the list goes on, as the page before said */
  cursor?: string | null | undefined;
  /** how many rows the page has at most; 100 by default */
  limit?: number | null | undefined;
}

/** What ACCOUNT.HOLDS answers. */
export interface AccountHoldsResult {
  /** a page of holds: name, amount left, status, deadline */
  holds: ReadonlyArray<HoldRow>;
  /** whether another page follows */
  has_more: boolean;
  /** where the next page begins */
  cursor: string | null;
}

/** What ACCOUNT.FREEZE takes. */
export interface AccountFreezeArguments {
  /** account ID */
  account: string;
}

/** What ACCOUNT.FREEZE answers. */
export interface AccountFreezeResult {
  /** open, frozen or closed */
  status: string;
}

/** What ACCOUNT.UNFREEZE takes. */
export interface AccountUnfreezeArguments {
  /** account ID */
  account: string;
}

/** What ACCOUNT.UNFREEZE answers. */
export interface AccountUnfreezeResult {
  /** open, frozen or closed */
  status: string;
}

/** What ACCOUNT.CLOSE takes. */
export interface AccountCloseArguments {
  /** account ID */
  account: string;
}

/** What ACCOUNT.CLOSE answers. */
export interface AccountCloseResult {
  /** open, frozen or closed */
  status: string;
}

/** What ACCOUNT.OVERDRAFT takes. */
export interface AccountOverdraftArguments {
  /** account ID */
  account: string;
  /** overdraft limit: how far below zero the account may go (minor units) */
  overdraft: number;
}

/** What ACCOUNT.OVERDRAFT answers. */
export interface AccountOverdraftResult {
  /** overdraft limit: how far below zero the account may go (minor units) */
  overdraft: number;
  /** balance minus holds, not counting the overdraft; may be negative (minor units) */
  available: number;
}

/** What ACCOUNT.WORLD takes. */
export interface AccountWorldArguments {
  /** asset ID, such as USD-cents */
  asset: string;
  /** ID of any resource in the target partition */
  on: string;
}

/** What ACCOUNT.WORLD answers. */
export interface AccountWorldResult {
  /** ID of the asset's world account, which begins with $world: */
  account: string;
  /** asset ID, such as USD-cents */
  asset: string;
  /** the negated sum of all other balances of the asset in the partition (minor units) */
  balance: number;
}

/** What ACCOUNT.LIST takes. */
export interface AccountListArguments {
  /** what the names begin with; all names by default */
  prefix?: string | null | undefined;
  /** where the list goes on, as the page before said */
  cursor?: string | null | undefined;
  /** how many rows the page has at most; 100 by default */
  limit?: number | null | undefined;
}

/** What ACCOUNT.LIST answers. */
export interface AccountListResult {
  /** accounts in the order of their names */
  accounts: ReadonlyArray<AccountGetRow>;
  /** whether another page follows */
  has_more: boolean;
  /** where the next page begins */
  cursor: string | null;
}

/** What STOCK.CREATE takes. */
export interface StockCreateArguments {
  /** item ID (SKU) */
  sku: string;
  /** number of units (units) */
  quantity: number;
  /** end time: from then on nothing is handed out; absent if there is no end (ms since the Unix epoch) */
  ends_at?: number | null | undefined;
  /** maximum units for each owner; no limit if absent (units) */
  per_owner_max?: number | null | undefined;
  /** start time: before then nothing is handed out; absent if there is none (ms since the Unix epoch) */
  starts_at?: number | null | undefined;
}

/** What STOCK.CREATE answers. */
export interface StockCreateResult {
  /** units available (units) */
  available: number;
}

/** What STOCK.GET takes. */
export interface StockGetArguments {
  /** item ID (SKU) */
  sku: string;
}

/** What STOCK.GET answers. */
export interface StockGetResult {
  /** item ID (SKU) */
  sku: string;
  /** available + reserved + sold (units) */
  total: number;
  /** units available (units) */
  available: number;
  /** units that are reserved (units) */
  reserved: number;
  /** units sold, excluding returns (units) */
  sold: number;
  /** total units returned so far (units) */
  returned: number;
  /** maximum units for each owner; no limit if absent (units) */
  per_owner_max: number | null;
  /** start time: before then nothing is handed out; absent if there is none (ms since the Unix epoch) */
  starts_at: number | null;
  /** end time: from then on nothing is handed out; absent if there is no end (ms since the Unix epoch) */
  ends_at: number | null;
  /** open, not_started, ended or closed */
  status: string;
}

/** What STOCK.RESTOCK takes. */
export interface StockRestockArguments {
  /** item ID (SKU) */
  sku: string;
  /** number of units (units) */
  quantity: number;
}

/** What STOCK.RESTOCK answers. */
export interface StockRestockResult {
  /** units available (units) */
  available: number;
  /** available + reserved + sold (units) */
  total: number;
}

/** What STOCK.ADJUST takes. */
export interface StockAdjustArguments {
  /** item ID (SKU) */
  sku: string;
  /** change in units; negative to remove units (units) */
  delta: number;
  /** the reason, which is written to the log */
  reason: string;
}

/** What STOCK.ADJUST answers. */
export interface StockAdjustResult {
  /** units available (units) */
  available: number;
  /** available + reserved + sold (units) */
  total: number;
}

/** What STOCK.TAKE takes. */
export interface StockTakeArguments {
  /** item ID (SKU) */
  sku: string;
  /** number of units (units) */
  quantity: number;
  /** ID of the buyer */
  owner: string;
}

/** What STOCK.TAKE answers. */
export interface StockTakeResult {
  /** the first serial; the others follow in sequence */
  first_serial: number;
  /** units still available (units) */
  remaining: number;
}

/** What STOCK.RESERVE takes. */
export interface StockReserveArguments {
  /** item ID (SKU) */
  sku: string;
  /** reservation ID, unique within the item */
  reservation: string;
  /** number of units (units) */
  quantity: number;
  /** ID of the buyer */
  owner: string;
  /** duration, counted from now (ms) */
  ttl_ms: number;
}

/** What STOCK.RESERVE answers. */
export interface StockReserveResult {
  /** expiry time; absent if it does not expire (ms since the Unix epoch) */
  deadline: number;
  /** units still available (units) */
  remaining: number;
}

/** What STOCK.CONFIRM takes. */
export interface StockConfirmArguments {
  /** item ID (SKU) */
  sku: string;
  /** reservation ID, unique within the item */
  reservation: string;
}

/** What STOCK.CONFIRM answers. */
export interface StockConfirmResult {
  /** the first serial; the others follow in sequence */
  first_serial: number;
  /** number of units (units) */
  quantity: number;
}

/** What STOCK.RELEASE takes. */
export interface StockReleaseArguments {
  /** item ID (SKU) */
  sku: string;
  /** reservation ID, unique within the item */
  reservation: string;
}

/** What STOCK.RELEASE answers. */
export interface StockReleaseResult {
  /** units that are available again (units) */
  released: number;
  /** units still available (units) */
  remaining: number;
}

/** What STOCK.EXTEND takes. */
export interface StockExtendArguments {
  /** item ID (SKU) */
  sku: string;
  /** reservation ID, unique within the item */
  reservation: string;
  /** duration, counted from now (ms) */
  ttl_ms: number;
}

/** What STOCK.EXTEND answers. */
export interface StockExtendResult {
  /** expiry time; absent if it does not expire (ms since the Unix epoch) */
  deadline: number;
}

/** What STOCK.RETURN takes. */
export interface StockReturnArguments {
  /** item ID (SKU) */
  sku: string;
  /** the first serial */
  first: number;
  /** number of units, with consecutive serials from the first (units) */
  count: number;
}

/** What STOCK.RETURN answers. */
export interface StockReturnResult {
  /** units returned (units) */
  returned: number;
  /** units still available (units) */
  remaining: number;
}

/** What STOCK.CLOSE takes. */
export interface StockCloseArguments {
  /** item ID (SKU) */
  sku: string;
}

/** What STOCK.CLOSE answers. */
export interface StockCloseResult {
  /** units available (units) */
  available: number;
  /** units that are reserved (units) */
  reserved: number;
  /** units sold, excluding returns (units) */
  sold: number;
}

/** What STOCK.AUDIT takes. */
export interface StockAuditArguments {
  /** item ID (SKU) */
  sku: string;
}

/** What STOCK.AUDIT answers. */
export interface StockAuditResult {
  /** RUNNING until the last chunk, then CONSISTENT */
  state: string;
  /** units counted so far (units) */
  counted: number;
  /** the serial up to which receipts have been recounted */
  through_serial: number;
}

/** What STOCK.RESERVATION takes. */
export interface StockReservationArguments {
  /** item ID (SKU) */
  sku: string;
  /** reservation ID, unique within the item */
  reservation: string;
}

/** What STOCK.RESERVATION answers. */
export interface StockReservationResult {
  /** reservation ID, unique within the item */
  reservation: string;
  /** ID of the buyer */
  owner: string;
  /** number of units (units) */
  quantity: number;
  /** open, confirmed, released or expired */
  status: string;
  /** expiry time; absent if it does not expire (ms since the Unix epoch) */
  deadline: number | null;
  /** the first serial sold; absent unless the reservation was confirmed */
  first_serial: number | null;
}

/** What STOCK.LIST takes. */
export interface StockListArguments {
  /** what the names begin with; all names by default */
  prefix?: string | null | undefined;
  /** where the list goes on, as the page before said */
  cursor?: string | null | undefined;
  /** how many rows the page has at most; 100 by default */
  limit?: number | null | undefined;
}

/** What STOCK.LIST answers. */
export interface StockListResult {
  /** stock items in the order of their names */
  items: ReadonlyArray<StockGetRow>;
  /** whether another page follows */
  has_more: boolean;
  /** where the next page begins */
  cursor: string | null;
}

/** What PACKET.CREATE takes. */
export interface PacketCreateArguments {
  /** campaign ID */
  campaign: string;
  /** asset ID, such as USD-cents */
  asset: string;
  /** the amount of each packet, in the order in which they are claimed */
  amounts?: ReadonlyArray<number> | null | undefined;
  /** end time: from then on nothing is handed out; absent if there is no end (ms since the Unix epoch) */
  ends_at?: number | null | undefined;
  /** how to cut the total into packets: total, count and method */
  plan?: Plan | null | undefined;
  /** start time: before then nothing is handed out; absent if there is none (ms since the Unix epoch) */
  starts_at?: number | null | undefined;
}

/** What PACKET.CREATE answers. */
export interface PacketCreateResult {
  /** number of packets in the campaign (packets) */
  count: number;
  /** total amount of all packets (minor units) */
  total: number;
  /** SHA-256 of the seed and the plan, in hexadecimal; absent if the amounts were given individually */
  commitment: string | null;
}

/** What PACKET.CLAIM takes. */
export interface PacketClaimArguments {
  /** campaign ID */
  campaign: string;
  /** user ID */
  user: string;
}

/** What PACKET.CLAIM answers. */
export interface PacketClaimResult {
  /** packet number, starting at 1 */
  packet: number;
  /** the amount in the packet (minor units) */
  amount: number | null;
}

/** What PACKET.GET takes. */
export interface PacketGetArguments {
  /** campaign ID */
  campaign: string;
}

/** What PACKET.GET answers. */
export interface PacketGetResult {
  /** campaign ID */
  campaign: string;
  /** asset ID, such as USD-cents */
  asset: string;
  /** number of packets in the campaign (packets) */
  count: number;
  /** total amount of all packets (minor units) */
  total: number;
  /** number of claimed packets (packets) */
  claimed_count: number;
  /** total amount of the claimed packets (minor units) */
  claimed_amount: number;
  /** start time: before then nothing is handed out; absent if there is none (ms since the Unix epoch) */
  starts_at: number | null;
  /** end time: from then on nothing is handed out; absent if there is no end (ms since the Unix epoch) */
  ends_at: number | null;
  /** open, not_started, ended, exhausted or closed */
  status: string;
  /** SHA-256 of the seed and the plan, in hexadecimal; absent if the amounts were given individually */
  commitment: string | null;
  /**
   * the 32 bytes that determine the cut, in hexadecimal; revealed only once the campaign is closed, absent
   * if the amounts were given individually
   */
  seed: string | null;
}

/** What PACKET.CLOSE takes. */
export interface PacketCloseArguments {
  /** campaign ID */
  campaign: string;
}

/** What PACKET.CLOSE answers. */
export interface PacketCloseResult {
  /** number of claimed packets (packets) */
  claimed_count: number;
  /** number of remaining packets (packets) */
  left_count: number;
  /** total amount of the remaining packets (minor units) */
  left_amount: number | null;
  /**
   * the 32 bytes that determine the cut, in hexadecimal; revealed only once the campaign is closed, absent
   * if the amounts were given individually
   */
  seed: string | null;
}

/** What PACKET.CLAIMED takes. */
export interface PacketClaimedArguments {
  /** campaign ID */
  campaign: string;
  /** user ID */
  user: string;
}

/** What PACKET.CLAIMED answers. */
export interface PacketClaimedResult {
  /** user ID */
  user: string;
  /** packet number, starting at 1 */
  packet: number;
  /** the amount in the packet (minor units) */
  amount: number;
  /** when it was claimed (ms since the Unix epoch) */
  at: number;
}

/** What PACKET.CLAIMS takes. */
export interface PacketClaimsArguments {
  /** campaign ID */
  campaign: string;
  /** where the list goes on, as the page before said */
  cursor?: string | null | undefined;
  /** how many rows the page has at most; 100 by default */
  limit?: number | null | undefined;
}

/** What PACKET.CLAIMS answers. */
export interface PacketClaimsResult {
  /** a page of claims */
  claims: ReadonlyArray<PacketClaimedRow>;
  /** whether another page follows */
  has_more: boolean;
  /** where the next page begins */
  cursor: string | null;
}

/** What PACKET.LIST takes. */
export interface PacketListArguments {
  /** what the names begin with; all names by default */
  prefix?: string | null | undefined;
  /** where the list goes on, as the page before said */
  cursor?: string | null | undefined;
  /** how many rows the page has at most; 100 by default */
  limit?: number | null | undefined;
}

/** What PACKET.LIST answers. */
export interface PacketListResult {
  /** campaigns in the order of their names */
  campaigns: ReadonlyArray<PacketGetRow>;
  /** whether another page follows */
  has_more: boolean;
  /** where the next page begins */
  cursor: string | null;
}

/** What COUPON.CREATE takes. */
export interface CouponCreateArguments {
  /** coupon ID */
  coupon: string;
  /** 1 to 16 limits, each with a name, a maximum, dimensions and a window; the answer is their number */
  limits: ReadonlyArray<Limit>;
  /** how long a claim can be redeemed; without limit if absent (ms) */
  claim_ttl_ms?: number | null | undefined;
  /** end time: from then on nothing is handed out; absent if there is no end (ms since the Unix epoch) */
  ends_at?: number | null | undefined;
  /** start time: before then nothing is handed out; absent if there is none (ms since the Unix epoch) */
  starts_at?: number | null | undefined;
}

/** What COUPON.CREATE answers. */
export interface CouponCreateResult {
  /** 1 to 16 limits, each with a name, a maximum, dimensions and a window; the answer is their number */
  limits: number;
}

/** What COUPON.UPDATE takes. */
export interface CouponUpdateArguments {
  /** coupon ID */
  coupon: string;
  /** limits with a new maximum, or limits to add; the answer is the number of limits afterwards */
  limits: ReadonlyArray<Limit>;
}

/** What COUPON.UPDATE answers. */
export interface CouponUpdateResult {
  /** limits with a new maximum, or limits to add; the answer is the number of limits afterwards */
  limits: number;
}

/** What COUPON.CLAIM takes. */
export interface CouponClaimArguments {
  /** coupon ID */
  coupon: string;
  /** who and what the claim is for: dimensions and their values, by which limits count */
  subject: { user: string; [dimension: string]: string };
}

/** What COUPON.CLAIM answers. */
export interface CouponClaimResult {
  /** serial number of the claim */
  serial: number;
  /**
   * expiry time of the claim: from then on it cannot be redeemed; absent if it does not expire (ms since the
   * Unix epoch)
   */
  deadline: number | null;
}

/** What COUPON.CHECK takes. */
export interface CouponCheckArguments {
  /** coupon ID */
  coupon: string;
  /** who and what the claim is for: dimensions and their values, by which limits count */
  subject: { user: string; [dimension: string]: string };
}

/** What COUPON.CHECK answers. */
export interface CouponCheckResult {
}

/** What COUPON.REDEEM takes. */
export interface CouponRedeemArguments {
  /** coupon ID */
  coupon: string;
  /** serial number of the claim */
  serial: number;
  /** ID of the user who claimed; only this user can redeem */
  user: string;
}

/** What COUPON.REDEEM answers. */
export interface CouponRedeemResult {
  /** serial number of the claim */
  serial: number;
}

/** What COUPON.REVOKE takes. */
export interface CouponRevokeArguments {
  /** coupon ID */
  coupon: string;
  /** serial number of the claim */
  serial: number;
  /** return the count to limits whose window is still open */
  give_back?: boolean | null | undefined;
}

/** What COUPON.REVOKE answers. */
export interface CouponRevokeResult {
  /** number of limits to which the count was returned */
  given_back: number;
}

/** What COUPON.CLAIMED takes. */
export interface CouponClaimedArguments {
  /** coupon ID */
  coupon: string;
  /** serial number of the claim */
  serial: number;
}

/** What COUPON.CLAIMED answers. */
export interface CouponClaimedResult {
  /** serial number of the claim */
  serial: number;
  /** ID of the user who claimed */
  user: string;
  /** open, redeemed, revoked or expired */
  status: string;
  /** when it was claimed (ms since the Unix epoch) */
  at: number;
  /**
   * expiry time of the claim: from then on it cannot be redeemed; absent if it does not expire (ms since the
   * Unix epoch)
   */
  deadline: number | null;
}

/** What COUPON.GET takes. */
export interface CouponGetArguments {
  /** coupon ID */
  coupon: string;
}

/** What COUPON.GET answers. */
export interface CouponGetResult {
  /** coupon ID */
  coupon: string;
  /** open, paused, not_started or ended */
  status: string;
  /** number of claims so far, including revoked ones (claims) */
  claimed: number;
  /** start time: before then nothing is handed out; absent if there is none (ms since the Unix epoch) */
  starts_at: number | null;
  /** end time: from then on nothing is handed out; absent if there is no end (ms since the Unix epoch) */
  ends_at: number | null;
  /** how long a claim can be redeemed; without limit if absent (ms) */
  claim_ttl_ms: number | null;
  /** the limits, in the order in which they are checked */
  limits: ReadonlyArray<Limit>;
}

/** What COUPON.PAUSE takes. */
export interface CouponPauseArguments {
  /** coupon ID */
  coupon: string;
}

/** What COUPON.PAUSE answers. */
export interface CouponPauseResult {
  /** open, paused, not_started or ended */
  status: string;
}

/** What COUPON.RESUME takes. */
export interface CouponResumeArguments {
  /** coupon ID */
  coupon: string;
}

/** What COUPON.RESUME answers. */
export interface CouponResumeResult {
  /** open, paused, not_started or ended */
  status: string;
}

/** What COUPON.LIST takes. */
export interface CouponListArguments {
  /** what the names begin with; all names by default */
  prefix?: string | null | undefined;
  /** where the list goes on, as the page before said */
  cursor?: string | null | undefined;
  /** how many rows the page has at most; 100 by default */
  limit?: number | null | undefined;
}

/** What COUPON.LIST answers. */
export interface CouponListResult {
  /** coupons in the order of their names */
  coupons: ReadonlyArray<CouponGetRow>;
  /** whether another page follows */
  has_more: boolean;
  /** where the next page begins */
  cursor: string | null;
}

/** What MARKET.CREATE takes. */
export interface MarketCreateArguments {
  /** market ID */
  market: string;
  /** order quantities must be a multiple of it; 1 by default (units of the base) */
  lot?: number | null | undefined;
  /** the largest order quantity; 2^53 − 1 by default (units of the base) */
  max_quantity?: number | null | undefined;
  /** the smallest order quantity; 1 by default (units of the base) */
  min_quantity?: number | null | undefined;
  /** prices must be a multiple of it; 1 by default (minor units of the quote per unit of the base) */
  tick?: number | null | undefined;
}

/** What MARKET.CREATE answers. */
export interface MarketCreateResult {
  /** open or halted */
  status: string;
}

/** What MARKET.GET takes. */
export interface MarketGetArguments {
  /** market ID */
  market: string;
}

/** What MARKET.GET answers. */
export interface MarketGetResult {
  /** market ID */
  market: string;
  /** open or halted */
  status: string;
  /** prices must be a multiple of it (minor units of the quote per unit of the base) */
  tick: number;
  /** order quantities must be a multiple of it (units of the base) */
  lot: number;
  /** the smallest order quantity (units of the base) */
  min_quantity: number;
  /** the largest order quantity (units of the base) */
  max_quantity: number;
  /** the highest buy price; absent if there are no buy orders (minor units of the quote per unit of the base) */
  best_bid: number | null;
  /**
   * the lowest sell price; absent if there are no sell orders (minor units of the quote per unit of the
   * base)
   */
  best_ask: number | null;
  /** number of orders on the book (orders) */
  orders: number;
  /** number of trades so far */
  trades: number;
}

/** What MARKET.HALT takes. */
export interface MarketHaltArguments {
  /** market ID */
  market: string;
}

/** What MARKET.HALT answers. */
export interface MarketHaltResult {
  /** open or halted */
  status: string;
}

/** What MARKET.RESUME takes. */
export interface MarketResumeArguments {
  /** market ID */
  market: string;
}

/** What MARKET.RESUME answers. */
export interface MarketResumeResult {
  /** open or halted */
  status: string;
}

/** What MARKET.DEPTH takes. */
export interface MarketDepthArguments {
  /** market ID */
  market: string;
  /** number of price levels on each side; 10 by default, 10000 at most */
  levels?: number | null | undefined;
}

/** What MARKET.DEPTH answers. */
export interface MarketDepthResult {
  /** buy levels, highest price first */
  bids: ReadonlyArray<LevelRow>;
  /** sell levels, lowest price first */
  asks: ReadonlyArray<LevelRow>;
  /** sequence of the partition's last event that the book shows */
  sequence: number;
}

/** What MARKET.TRADES takes. */
export interface MarketTradesArguments {
  /** market ID */
  market: string;
  /** maximum number of trades; the last hundred are kept */
  count?: number | null | undefined;
}

/** What MARKET.TRADES answers. */
export interface MarketTradesResult {
  /** the latest trades, newest first */
  trades: ReadonlyArray<OrderTradedRow>;
}

/** What MARKET.TICKER takes. */
export interface MarketTickerArguments {
  /** market ID */
  market: string;
}

/** What MARKET.TICKER answers. */
export interface MarketTickerResult {
  /** market ID */
  market: string;
  /** the price of the last trade; absent before the first (minor units of the quote per unit of the base) */
  last_price: number | null;
  /** the quantity of the last trade (units of the base) */
  last_quantity: number | null;
  /** the side of the order that took in the last trade */
  last_side: "BUY" | "SELL" | null;
  /** when the last trade happened (ms since the Unix epoch) */
  last_at: number | null;
  /** the highest buy price; absent if there are no buy orders (minor units of the quote per unit of the base) */
  best_bid: number | null;
  /** the quantity at the best bid (units of the base) */
  bid_quantity: number | null;
  /**
   * the lowest sell price; absent if there are no sell orders (minor units of the quote per unit of the
   * base)
   */
  best_ask: number | null;
  /** the quantity at the best ask (units of the base) */
  ask_quantity: number | null;
  /** number of trades so far */
  trades: number;
  /** sequence of the partition's last event that it shows */
  sequence: number;
}

/** What MARKET.LIST takes. */
export interface MarketListArguments {
  /** what the names begin with; all names by default */
  prefix?: string | null | undefined;
  /** where the list goes on, as the page before said */
  cursor?: string | null | undefined;
  /** how many rows the page has at most; 100 by default */
  limit?: number | null | undefined;
}

/** What MARKET.LIST answers. */
export interface MarketListResult {
  /** markets in the order of their names */
  markets: ReadonlyArray<MarketGetRow>;
  /** whether another page follows */
  has_more: boolean;
  /** where the next page begins */
  cursor: string | null;
}

/** What ORDER.PLACE takes. */
export interface OrderPlaceArguments {
  /** market ID */
  market: string;
  /** order ID, unique within the market */
  order: string;
  /** ID of the order's owner */
  owner: string;
  /** side of the book: BUY or SELL */
  side: "BUY" | "SELL";
  /** LIMIT: at that price or better; MARKET: at any price */
  type: "LIMIT" | "MARKET";
  /** the quantity to trade (units of the base) */
  quantity: number;
  /** the price (minor units of the quote per unit of the base) */
  price?: number | null | undefined;
  /** self-trade prevention: NONE, CANCEL_TAKER, CANCEL_MAKER, CANCEL_BOTH or DECREMENT; NONE by default */
  stp?: "NONE" | "CANCEL_TAKER" | "CANCEL_MAKER" | "CANCEL_BOTH" | "DECREMENT" | null | undefined;
  /**
   * time in force: GTC rests until filled or cancelled, IOC fills what it can and cancels the rest, FOK
   * fills completely or is refused, POST only rests; by default GTC with a price and IOC without
   */
  tif?: "GTC" | "IOC" | "FOK" | "POST" | null | undefined;
}

/** What ORDER.PLACE answers. */
export interface OrderPlaceResult {
  /** open, partially_filled, filled or cancelled */
  status: string;
  /** the quantity filled so far (units of the base) */
  filled: number;
  /** unfilled quantity (units of the base) */
  remaining: number;
  /** the trades made by this command, in order: trade, maker_order, price, quantity, maker_remaining */
  fills: ReadonlyArray<FillRow>;
}

/** What ORDER.CANCEL takes. */
export interface OrderCancelArguments {
  /** market ID */
  market: string;
  /** order ID, unique within the market */
  order: string;
  /** ID of the order's owner */
  owner: string;
}

/** What ORDER.CANCEL answers. */
export interface OrderCancelResult {
  /** quantity that was unfilled (units of the base) */
  remaining: number;
}

/** What ORDER.REDUCE takes. */
export interface OrderReduceArguments {
  /** market ID */
  market: string;
  /** order ID, unique within the market */
  order: string;
  /** ID of the order's owner */
  owner: string;
  /** by how much the order is reduced (units of the base) */
  by: number;
}

/** What ORDER.REDUCE answers. */
export interface OrderReduceResult {
  /** open, partially_filled, filled or cancelled */
  status: string;
  /** unfilled quantity (units of the base) */
  remaining: number;
}

/** What ORDER.REPLACE takes. */
export interface OrderReplaceArguments {
  /** market ID */
  market: string;
  /** order ID, unique within the market */
  order: string;
  /** ID of the order's owner */
  owner: string;
  /** the new price (minor units of the quote per unit of the base) */
  price: number;
  /** the new remaining quantity (units of the base) */
  quantity: number;
}

/** What ORDER.REPLACE answers. */
export interface OrderReplaceResult {
  /** open, partially_filled, filled or cancelled */
  status: string;
  /** the quantity filled so far (units of the base) */
  filled: number;
  /** unfilled quantity (units of the base) */
  remaining: number;
  /** the trades made by this command, in order: trade, maker_order, price, quantity, maker_remaining */
  fills: ReadonlyArray<FillRow>;
}

/** What ORDER.CANCELALL takes. */
export interface OrderCancelallArguments {
  /** market ID */
  market: string;
  /** ID of the order's owner */
  owner: string;
}

/** What ORDER.CANCELALL answers. */
export interface OrderCancelallResult {
  /** number of cancelled orders (orders) */
  cancelled: number;
}

/** What ORDER.GET takes. */
export interface OrderGetArguments {
  /** market ID */
  market: string;
  /** order ID, unique within the market */
  order: string;
}

/** What ORDER.GET answers. */
export interface OrderGetResult {
  /** order ID, unique within the market */
  order: string;
  /** ID of the order's owner */
  owner: string;
  /** side of the book: BUY or SELL */
  side: "BUY" | "SELL";
  /** the limit price; absent for a market order (minor units of the quote per unit of the base) */
  price: number | null;
  /** unfilled quantity (units of the base) */
  remaining: number;
  /** the quantity filled so far (units of the base) */
  filled: number;
  /** time in force: GTC, IOC, FOK or POST */
  tif: "GTC" | "IOC" | "FOK" | "POST" | null;
  /** the self-trade prevention of the order when it is the incoming one */
  stp: "NONE" | "CANCEL_TAKER" | "CANCEL_MAKER" | "CANCEL_BOTH" | "DECREMENT" | null;
  /** open, partially_filled, filled or cancelled */
  status: string;
  /** why the order ended unfilled: requested, unfilled or self_trade; absent if it did not */
  reason: string | null;
}

/** What OPERATION.GET takes. */
export interface OperationGetArguments {
  /** operation ID */
  operation: string;
  /** ID of any resource in the target partition */
  on: string;
}

/** What OPERATION.GET answers. */
export interface OperationGetResult {
  /** operation ID */
  operation: string;
  /** sequence of the operation's last event */
  sequence: number;
  /** when the operation was decided (ms since the Unix epoch) */
  at: number;
  /** the answer: 1 and the values, or 0, the code and its facts */
  outcome: RememberedOutcome;
}

/** What OPERATION.RESOLVE takes. */
export interface OperationResolveArguments {
  /** operation ID */
  operation: string;
  /** ID of any resource in the target partition */
  on: string;
}

/** What OPERATION.RESOLVE answers. */
export interface OperationResolveResult {
  /** APPLIED or REFUSED if the operation is remembered; otherwise ABSENT from now on */
  state: string;
  /** the remembered answer; absent if the state is ABSENT */
  outcome: RememberedOutcome | null;
}

/** What DIGEST takes. */
export interface DigestArguments {
  /** resource ID; every partition by default */
  resource?: string | null | undefined;
}

/** What DIGEST answers. */
export interface DigestResult {
  /** one row for each partition: partition, sequence, digest */
  digests: ReadonlyArray<DigestRow>;
}

/** What each command takes and answers, and why it may be refused, in the order of the checks. */
export interface Commands {
  "ACCOUNT.OPEN": {
    arguments: AccountOpenArguments;
    result: AccountOpenResult;
    refusals: "ACCOUNT_EXISTS";
  };
  "ACCOUNT.GET": {
    arguments: AccountGetArguments;
    result: AccountGetResult;
    refusals: "ACCOUNT_NOT_FOUND";
  };
  "ACCOUNT.CREDIT": {
    arguments: AccountCreditArguments;
    result: AccountCreditResult;
    refusals: "ACCOUNT_NOT_FOUND" | "ACCOUNT_CLOSED" | "OVERFLOW";
  };
  "ACCOUNT.DEBIT": {
    arguments: AccountDebitArguments;
    result: AccountDebitResult;
    refusals: "ACCOUNT_NOT_FOUND" | "ACCOUNT_CLOSED" | "ACCOUNT_FROZEN" | "INSUFFICIENT_FUNDS" | "OVERFLOW";
  };
  "ACCOUNT.TRANSFER": {
    arguments: AccountTransferArguments;
    result: AccountTransferResult;
    refusals: "SAME_ACCOUNT" | "ACCOUNT_NOT_FOUND" | "ACCOUNT_CLOSED" | "ACCOUNT_FROZEN" | "ASSET_MISMATCH" | "INSUFFICIENT_FUNDS" | "OVERFLOW";
  };
  "ACCOUNT.HOLD": {
    arguments: AccountHoldArguments;
    result: AccountHoldResult;
    refusals: "ACCOUNT_NOT_FOUND" | "ACCOUNT_CLOSED" | "ACCOUNT_FROZEN" | "HOLD_EXISTS" | "INSUFFICIENT_FUNDS" | "OVERFLOW";
  };
  "ACCOUNT.CAPTURE": {
    arguments: AccountCaptureArguments;
    result: AccountCaptureResult;
    refusals: "ACCOUNT_NOT_FOUND" | "HOLD_NOT_FOUND" | "HOLD_CAPTURED" | "HOLD_VOIDED" | "HOLD_EXPIRED" | "AMOUNT_EXCEEDS_HOLD" | "ACCOUNT_CLOSED" | "ASSET_MISMATCH" | "OVERFLOW";
  };
  "ACCOUNT.VOID": {
    arguments: AccountVoidArguments;
    result: AccountVoidResult;
    refusals: "ACCOUNT_NOT_FOUND" | "HOLD_NOT_FOUND" | "HOLD_CAPTURED" | "HOLD_VOIDED" | "HOLD_EXPIRED";
  };
  "ACCOUNT.EXTEND": {
    arguments: AccountExtendArguments;
    result: AccountExtendResult;
    refusals: "ACCOUNT_NOT_FOUND" | "HOLD_NOT_FOUND" | "HOLD_CAPTURED" | "HOLD_VOIDED" | "HOLD_EXPIRED";
  };
  "ACCOUNT.HOLDS": {
    arguments: AccountHoldsArguments;
    result: AccountHoldsResult;
    refusals: "ACCOUNT_NOT_FOUND";
  };
  "ACCOUNT.FREEZE": {
    arguments: AccountFreezeArguments;
    result: AccountFreezeResult;
    refusals: "ACCOUNT_NOT_FOUND" | "ACCOUNT_CLOSED";
  };
  "ACCOUNT.UNFREEZE": {
    arguments: AccountUnfreezeArguments;
    result: AccountUnfreezeResult;
    refusals: "ACCOUNT_NOT_FOUND" | "ACCOUNT_CLOSED";
  };
  "ACCOUNT.CLOSE": {
    arguments: AccountCloseArguments;
    result: AccountCloseResult;
    refusals: "ACCOUNT_NOT_FOUND" | "BALANCE_NOT_ZERO";
  };
  "ACCOUNT.OVERDRAFT": {
    arguments: AccountOverdraftArguments;
    result: AccountOverdraftResult;
    refusals: "ACCOUNT_NOT_FOUND" | "ACCOUNT_CLOSED" | "OVERDRAFT_IN_USE";
  };
  "ACCOUNT.WORLD": {
    arguments: AccountWorldArguments;
    result: AccountWorldResult;
    refusals: "ACCOUNT_NOT_FOUND";
  };
  "ACCOUNT.LIST": {
    arguments: AccountListArguments;
    result: AccountListResult;
    refusals: never;
  };
  "STOCK.CREATE": {
    arguments: StockCreateArguments;
    result: StockCreateResult;
    refusals: "STOCK_EXISTS";
  };
  "STOCK.GET": {
    arguments: StockGetArguments;
    result: StockGetResult;
    refusals: "STOCK_NOT_FOUND";
  };
  "STOCK.RESTOCK": {
    arguments: StockRestockArguments;
    result: StockRestockResult;
    refusals: "STOCK_NOT_FOUND" | "STOCK_CLOSED" | "OVERFLOW";
  };
  "STOCK.ADJUST": {
    arguments: StockAdjustArguments;
    result: StockAdjustResult;
    refusals: "STOCK_NOT_FOUND" | "STOCK_CLOSED" | "INSUFFICIENT_STOCK" | "OVERFLOW";
  };
  "STOCK.TAKE": {
    arguments: StockTakeArguments;
    result: StockTakeResult;
    refusals: "STOCK_NOT_FOUND" | "STOCK_CLOSED" | "NOT_STARTED" | "ENDED" | "OWNER_LIMIT_REACHED" | "SOLD_OUT" | "INSUFFICIENT_STOCK" | "OVERFLOW";
  };
  "STOCK.RESERVE": {
    arguments: StockReserveArguments;
    result: StockReserveResult;
    refusals: "STOCK_NOT_FOUND" | "STOCK_CLOSED" | "NOT_STARTED" | "ENDED" | "RESERVATION_EXISTS" | "OWNER_LIMIT_REACHED" | "SOLD_OUT" | "INSUFFICIENT_STOCK" | "OVERFLOW";
  };
  "STOCK.CONFIRM": {
    arguments: StockConfirmArguments;
    result: StockConfirmResult;
    refusals: "RESERVATION_NOT_FOUND" | "RESERVATION_CONFIRMED" | "RESERVATION_RELEASED" | "RESERVATION_EXPIRED";
  };
  "STOCK.RELEASE": {
    arguments: StockReleaseArguments;
    result: StockReleaseResult;
    refusals: "RESERVATION_NOT_FOUND" | "RESERVATION_CONFIRMED" | "RESERVATION_RELEASED" | "RESERVATION_EXPIRED";
  };
  "STOCK.EXTEND": {
    arguments: StockExtendArguments;
    result: StockExtendResult;
    refusals: "RESERVATION_NOT_FOUND" | "RESERVATION_CONFIRMED" | "RESERVATION_RELEASED" | "RESERVATION_EXPIRED";
  };
  "STOCK.RETURN": {
    arguments: StockReturnArguments;
    result: StockReturnResult;
    refusals: "STOCK_NOT_FOUND" | "RECEIPT_EXPIRED" | "UNITS_NOT_SOLD";
  };
  "STOCK.CLOSE": {
    arguments: StockCloseArguments;
    result: StockCloseResult;
    refusals: "STOCK_NOT_FOUND";
  };
  "STOCK.AUDIT": {
    arguments: StockAuditArguments;
    result: StockAuditResult;
    refusals: "STOCK_NOT_FOUND" | "STOCK_INCONSISTENT";
  };
  "STOCK.RESERVATION": {
    arguments: StockReservationArguments;
    result: StockReservationResult;
    refusals: "RESERVATION_NOT_FOUND";
  };
  "STOCK.LIST": {
    arguments: StockListArguments;
    result: StockListResult;
    refusals: never;
  };
  "PACKET.CREATE": {
    arguments: PacketCreateArguments;
    result: PacketCreateResult;
    refusals: "CAMPAIGN_EXISTS" | "STEP_LIMIT";
  };
  "PACKET.CLAIM": {
    arguments: PacketClaimArguments;
    result: PacketClaimResult;
    refusals: "CAMPAIGN_NOT_FOUND" | "NOT_STARTED" | "ENDED" | "ALREADY_CLAIMED" | "EXHAUSTED";
  };
  "PACKET.GET": {
    arguments: PacketGetArguments;
    result: PacketGetResult;
    refusals: "CAMPAIGN_NOT_FOUND";
  };
  "PACKET.CLOSE": {
    arguments: PacketCloseArguments;
    result: PacketCloseResult;
    refusals: "CAMPAIGN_NOT_FOUND";
  };
  "PACKET.CLAIMED": {
    arguments: PacketClaimedArguments;
    result: PacketClaimedResult;
    refusals: "CAMPAIGN_NOT_FOUND" | "CLAIMS_EXPIRED" | "CLAIM_NOT_FOUND";
  };
  "PACKET.CLAIMS": {
    arguments: PacketClaimsArguments;
    result: PacketClaimsResult;
    refusals: "CAMPAIGN_NOT_FOUND" | "CLAIMS_EXPIRED";
  };
  "PACKET.LIST": {
    arguments: PacketListArguments;
    result: PacketListResult;
    refusals: never;
  };
  "COUPON.CREATE": {
    arguments: CouponCreateArguments;
    result: CouponCreateResult;
    refusals: "COUPON_EXISTS";
  };
  "COUPON.UPDATE": {
    arguments: CouponUpdateArguments;
    result: CouponUpdateResult;
    refusals: "COUPON_NOT_FOUND" | "INVALID";
  };
  "COUPON.CLAIM": {
    arguments: CouponClaimArguments;
    result: CouponClaimResult;
    refusals: "COUPON_NOT_FOUND" | "COUPON_PAUSED" | "NOT_STARTED" | "ENDED" | "SUBJECT_INCOMPLETE" | "LIMIT_REACHED" | "OVERFLOW";
  };
  "COUPON.CHECK": {
    arguments: CouponCheckArguments;
    result: CouponCheckResult;
    refusals: "COUPON_NOT_FOUND" | "COUPON_PAUSED" | "NOT_STARTED" | "ENDED" | "SUBJECT_INCOMPLETE" | "LIMIT_REACHED" | "OVERFLOW";
  };
  "COUPON.REDEEM": {
    arguments: CouponRedeemArguments;
    result: CouponRedeemResult;
    refusals: "CLAIM_NOT_FOUND" | "NOT_OWNER" | "CLAIM_REDEEMED" | "CLAIM_REVOKED" | "CLAIM_EXPIRED";
  };
  "COUPON.REVOKE": {
    arguments: CouponRevokeArguments;
    result: CouponRevokeResult;
    refusals: "CLAIM_NOT_FOUND" | "CLAIM_REDEEMED" | "CLAIM_REVOKED" | "CLAIM_EXPIRED";
  };
  "COUPON.CLAIMED": {
    arguments: CouponClaimedArguments;
    result: CouponClaimedResult;
    refusals: "CLAIM_NOT_FOUND";
  };
  "COUPON.GET": {
    arguments: CouponGetArguments;
    result: CouponGetResult;
    refusals: "COUPON_NOT_FOUND";
  };
  "COUPON.PAUSE": {
    arguments: CouponPauseArguments;
    result: CouponPauseResult;
    refusals: "COUPON_NOT_FOUND";
  };
  "COUPON.RESUME": {
    arguments: CouponResumeArguments;
    result: CouponResumeResult;
    refusals: "COUPON_NOT_FOUND";
  };
  "COUPON.LIST": {
    arguments: CouponListArguments;
    result: CouponListResult;
    refusals: never;
  };
  "MARKET.CREATE": {
    arguments: MarketCreateArguments;
    result: MarketCreateResult;
    refusals: "MARKET_EXISTS";
  };
  "MARKET.GET": {
    arguments: MarketGetArguments;
    result: MarketGetResult;
    refusals: "MARKET_NOT_FOUND";
  };
  "MARKET.HALT": {
    arguments: MarketHaltArguments;
    result: MarketHaltResult;
    refusals: "MARKET_NOT_FOUND";
  };
  "MARKET.RESUME": {
    arguments: MarketResumeArguments;
    result: MarketResumeResult;
    refusals: "MARKET_NOT_FOUND";
  };
  "MARKET.DEPTH": {
    arguments: MarketDepthArguments;
    result: MarketDepthResult;
    refusals: "MARKET_NOT_FOUND";
  };
  "MARKET.TRADES": {
    arguments: MarketTradesArguments;
    result: MarketTradesResult;
    refusals: "MARKET_NOT_FOUND";
  };
  "MARKET.TICKER": {
    arguments: MarketTickerArguments;
    result: MarketTickerResult;
    refusals: "MARKET_NOT_FOUND";
  };
  "MARKET.LIST": {
    arguments: MarketListArguments;
    result: MarketListResult;
    refusals: never;
  };
  "ORDER.PLACE": {
    arguments: OrderPlaceArguments;
    result: OrderPlaceResult;
    refusals: "MARKET_NOT_FOUND" | "MARKET_HALTED" | "ORDER_EXISTS" | "PRICE_INVALID" | "QUANTITY_INVALID" | "OVERFLOW" | "WOULD_TAKE" | "WOULD_NOT_FILL" | "STEP_LIMIT";
  };
  "ORDER.CANCEL": {
    arguments: OrderCancelArguments;
    result: OrderCancelResult;
    refusals: "MARKET_NOT_FOUND" | "ORDER_NOT_FOUND" | "NOT_OWNER" | "ORDER_CLOSED";
  };
  "ORDER.REDUCE": {
    arguments: OrderReduceArguments;
    result: OrderReduceResult;
    refusals: "MARKET_NOT_FOUND" | "ORDER_NOT_FOUND" | "NOT_OWNER" | "ORDER_CLOSED" | "QUANTITY_INVALID";
  };
  "ORDER.REPLACE": {
    arguments: OrderReplaceArguments;
    result: OrderReplaceResult;
    refusals: "MARKET_NOT_FOUND" | "ORDER_NOT_FOUND" | "NOT_OWNER" | "ORDER_CLOSED" | "MARKET_HALTED" | "PRICE_INVALID" | "QUANTITY_INVALID" | "OVERFLOW" | "WOULD_TAKE" | "STEP_LIMIT";
  };
  "ORDER.CANCELALL": {
    arguments: OrderCancelallArguments;
    result: OrderCancelallResult;
    refusals: "MARKET_NOT_FOUND" | "STEP_LIMIT";
  };
  "ORDER.GET": {
    arguments: OrderGetArguments;
    result: OrderGetResult;
    refusals: "MARKET_NOT_FOUND" | "ORDER_NOT_FOUND";
  };
  "OPERATION.GET": {
    arguments: OperationGetArguments;
    result: OperationGetResult;
    refusals: "ID_EXPIRED" | "OPERATION_NOT_FOUND";
  };
  "OPERATION.RESOLVE": {
    arguments: OperationResolveArguments;
    result: OperationResolveResult;
    refusals: "ID_EXPIRED";
  };
  "DIGEST": {
    arguments: DigestArguments;
    result: DigestResult;
    refusals: never;
  };
}

/** The name of a command. */
export type CommandName = keyof Commands;

/** The commands that can be lines of a batch. */
export type BatchCommand = "ACCOUNT.OPEN" | "ACCOUNT.GET" | "ACCOUNT.CREDIT" | "ACCOUNT.DEBIT" | "ACCOUNT.TRANSFER" | "ACCOUNT.HOLD" | "ACCOUNT.CAPTURE" | "ACCOUNT.VOID" | "ACCOUNT.EXTEND" | "ACCOUNT.FREEZE" | "ACCOUNT.UNFREEZE" | "ACCOUNT.CLOSE" | "ACCOUNT.OVERDRAFT" | "ACCOUNT.WORLD" | "STOCK.CREATE" | "STOCK.GET" | "STOCK.RESTOCK" | "STOCK.ADJUST" | "STOCK.TAKE" | "STOCK.RESERVE" | "STOCK.CONFIRM" | "STOCK.RELEASE" | "STOCK.EXTEND" | "STOCK.RETURN" | "STOCK.CLOSE" | "STOCK.AUDIT" | "STOCK.RESERVATION" | "PACKET.CREATE" | "PACKET.CLAIM" | "PACKET.GET" | "PACKET.CLOSE" | "PACKET.CLAIMED" | "COUPON.CREATE" | "COUPON.UPDATE" | "COUPON.CLAIM" | "COUPON.CHECK" | "COUPON.REDEEM" | "COUPON.REVOKE" | "COUPON.CLAIMED" | "COUPON.GET" | "COUPON.PAUSE" | "COUPON.RESUME" | "MARKET.CREATE" | "MARKET.GET" | "MARKET.HALT" | "MARKET.RESUME" | "MARKET.DEPTH" | "MARKET.TRADES" | "MARKET.TICKER" | "ORDER.PLACE" | "ORDER.CANCEL" | "ORDER.REDUCE" | "ORDER.REPLACE" | "ORDER.CANCELALL" | "ORDER.GET" | "OPERATION.GET";

/** The commands that change something under an id, so that they can be lines of an atomic batch. */
export type WriteCommand = "ACCOUNT.OPEN" | "ACCOUNT.CREDIT" | "ACCOUNT.DEBIT" | "ACCOUNT.TRANSFER" | "ACCOUNT.HOLD" | "ACCOUNT.CAPTURE" | "ACCOUNT.VOID" | "ACCOUNT.EXTEND" | "ACCOUNT.FREEZE" | "ACCOUNT.UNFREEZE" | "ACCOUNT.CLOSE" | "ACCOUNT.OVERDRAFT" | "STOCK.CREATE" | "STOCK.RESTOCK" | "STOCK.ADJUST" | "STOCK.TAKE" | "STOCK.RESERVE" | "STOCK.CONFIRM" | "STOCK.RELEASE" | "STOCK.EXTEND" | "STOCK.RETURN" | "STOCK.CLOSE" | "STOCK.AUDIT" | "PACKET.CREATE" | "PACKET.CLAIM" | "PACKET.CLOSE" | "COUPON.CREATE" | "COUPON.UPDATE" | "COUPON.CLAIM" | "COUPON.REDEEM" | "COUPON.REVOKE" | "COUPON.PAUSE" | "COUPON.RESUME" | "MARKET.CREATE" | "MARKET.HALT" | "MARKET.RESUME" | "ORDER.PLACE" | "ORDER.CANCEL" | "ORDER.REDUCE" | "ORDER.REPLACE" | "ORDER.CANCELALL";

/** The facts of each code. */
export interface Facts {
  /** An argument has the wrong shape, or contradicts what exists. */
  INVALID: InvalidFacts;
  /** The command touches resources that live in different partitions. */
  CROSS_PARTITION: CrossPartitionFacts;
  /** A bounded queue is full, no more operation ids can be remembered, or memory is nearly used up. */
  OVERLOADED: OverloadedFacts;
  /** The engine cannot take commands at the moment. */
  UNAVAILABLE: UnavailableFacts;
  /** The command was sent, but its outcome is not known. */
  UNKNOWN: UnknownFacts;
  /** The deployment has moved, and is not served here any more. */
  MIGRATED: MigratedFacts;
  /** The operation id was used before with other content. */
  ID_REUSED: IdReusedFacts;
  /** The time in the operation id is older than the window for which ids are remembered. */
  ID_EXPIRED: IdExpiredFacts;
  /** The command's deadline had passed when its turn came. */
  DEADLINE_PASSED: DeadlinePassedFacts;
  /** The operation was declared absent by OPERATION.RESOLVE before this duplicate arrived. */
  RESOLVED_ABSENT: ResolvedAbsentFacts;
  /** A line of an atomic batch was refused, so no line was applied. */
  BATCH_REFUSED: BatchRefusedFacts;
  /**
   * A command in an atomic batch needs more than one bounded step, the batch is larger than one step may be,
   * a dry run would have to touch more orders than it may, or a fill-or-kill order would have to look at
   * more of them.
   */
  STEP_LIMIT: StepLimitFacts;
  /** A result would leave the range of exact integers, 2^53 − 1. */
  OVERFLOW: OverflowFacts;
  /** No operation is remembered under this id. */
  OPERATION_NOT_FOUND: OperationNotFoundFacts;
  /** The sale or campaign has not begun. */
  NOT_STARTED: NotStartedFacts;
  /** The sale or campaign is over. */
  ENDED: EndedFacts;
  /** The campaign is over and the retention of its claims too, so they are not in memory any more. */
  CLAIMS_EXPIRED: ClaimsExpiredFacts;
  /** The record belongs to somebody else. */
  NOT_OWNER: Record<string, never>;
  /** An account of this name exists. */
  ACCOUNT_EXISTS: AccountExistsFacts;
  /** A transfer names one account as source and destination. */
  SAME_ACCOUNT: SameAccountFacts;
  /** No account of this name exists. */
  ACCOUNT_NOT_FOUND: AccountNotFoundFacts;
  /** The account is closed for good. */
  ACCOUNT_CLOSED: AccountClosedFacts;
  /** The account is frozen: no debits and no new holds. */
  ACCOUNT_FROZEN: AccountFrozenFacts;
  /** A hold of this name exists on the account. */
  HOLD_EXISTS: HoldExistsFacts;
  /** The account has no hold of this name, or it ended long ago. */
  HOLD_NOT_FOUND: HoldNotFoundFacts;
  /** The hold was captured. */
  HOLD_CAPTURED: HoldCapturedFacts;
  /** The hold was voided. */
  HOLD_VOIDED: HoldVoidedFacts;
  /** The hold's deadline has passed. */
  HOLD_EXPIRED: HoldExpiredFacts;
  /** The amount is larger than what the hold still holds. */
  AMOUNT_EXCEEDS_HOLD: AmountExceedsHoldFacts;
  /** The two accounts hold different assets. */
  ASSET_MISMATCH: AssetMismatchFacts;
  /** The available amount, overdraft included, is too small. */
  INSUFFICIENT_FUNDS: InsufficientFundsFacts;
  /** An account can be closed only when its balance is 0 and nothing is held. */
  BALANCE_NOT_ZERO: BalanceNotZeroFacts;
  /** The account is further below zero than the new overdraft allows. */
  OVERDRAFT_IN_USE: OverdraftInUseFacts;
  /** A stock item of this name exists. */
  STOCK_EXISTS: StockExistsFacts;
  /** No stock item of this name exists. */
  STOCK_NOT_FOUND: StockNotFoundFacts;
  /** The stock item is closed for sales. */
  STOCK_CLOSED: StockClosedFacts;
  /** A reservation of this name exists on the item. */
  RESERVATION_EXISTS: ReservationExistsFacts;
  /** The item has no reservation of this name, or it ended long ago. */
  RESERVATION_NOT_FOUND: ReservationNotFoundFacts;
  /** The reservation was confirmed; its units are sold. */
  RESERVATION_CONFIRMED: ReservationConfirmedFacts;
  /** The reservation was released. */
  RESERVATION_RELEASED: ReservationReleasedFacts;
  /** The reservation's deadline has passed; its units went back on sale. */
  RESERVATION_EXPIRED: ReservationExpiredFacts;
  /** The owner has, or would have, more units than one owner may. */
  OWNER_LIMIT_REACHED: OwnerLimitReachedFacts;
  /** No unit is left. */
  SOLD_OUT: SoldOutFacts;
  /** Some units are left, but fewer than asked for. */
  INSUFFICIENT_STOCK: InsufficientStockFacts;
  /** The range of serials is not wholly within one receipt, or was returned already. */
  UNITS_NOT_SOLD: UnitsNotSoldFacts;
  /** An audit counted different numbers than the item records. */
  STOCK_INCONSISTENT: StockInconsistentFacts;
  /** The retention of the receipt is over, so its units can no longer be returned here. */
  RECEIPT_EXPIRED: ReceiptExpiredFacts;
  /** A campaign of this name exists. */
  CAMPAIGN_EXISTS: CampaignExistsFacts;
  /** No campaign of this name exists. */
  CAMPAIGN_NOT_FOUND: CampaignNotFoundFacts;
  /** The user already has a packet of this campaign. */
  ALREADY_CLAIMED: AlreadyClaimedFacts;
  /** Every packet is claimed. */
  EXHAUSTED: ExhaustedFacts;
  /** A coupon of this name exists. */
  COUPON_EXISTS: CouponExistsFacts;
  /** No coupon of this name exists. */
  COUPON_NOT_FOUND: CouponNotFoundFacts;
  /** The coupon is paused. */
  COUPON_PAUSED: CouponPausedFacts;
  /** A limit counts by a dimension that the subject does not name. */
  SUBJECT_INCOMPLETE: SubjectIncompleteFacts;
  /** A quantity limit is used up for this subject. */
  LIMIT_REACHED: LimitReachedFacts;
  /** The coupon has no claim of this serial, or it ended long ago. */
  CLAIM_NOT_FOUND: ClaimNotFoundFacts;
  /** The claim was used. */
  CLAIM_REDEEMED: ClaimRedeemedFacts;
  /** The claim was revoked. */
  CLAIM_REVOKED: ClaimRevokedFacts;
  /** The claim was not used in time. */
  CLAIM_EXPIRED: ClaimExpiredFacts;
  /** A market of this name exists. */
  MARKET_EXISTS: MarketExistsFacts;
  /** No market of this name exists. */
  MARKET_NOT_FOUND: MarketNotFoundFacts;
  /** The market is halted: only cancels, reductions and replacements that keep priority go on. */
  MARKET_HALTED: MarketHaltedFacts;
  /** An order of this name exists or ended not long ago. */
  ORDER_EXISTS: OrderExistsFacts;
  /** The market has no order of this name, or it ended long ago. */
  ORDER_NOT_FOUND: OrderNotFoundFacts;
  /** The order was filled or cancelled. */
  ORDER_CLOSED: OrderClosedFacts;
  /** The price is not a multiple of the market's tick. */
  PRICE_INVALID: PriceInvalidFacts;
  /** The quantity is not a multiple of the lot, or is outside the market's bounds. */
  QUANTITY_INVALID: QuantityInvalidFacts;
  /** A post-only order would trade at once. */
  WOULD_TAKE: WouldTakeFacts;
  /** A fill-or-kill order cannot be filled completely. */
  WOULD_NOT_FILL: WouldNotFillFacts;
}

/** An outcome code. */
export type Code = keyof Facts;

/** Whether a code is an answer of the rules (a refusal), or an error. */
export const IS_REFUSAL: ReadonlyMap<string, boolean> = new Map([
  ["INVALID", false],
  ["CROSS_PARTITION", true],
  ["OVERLOADED", false],
  ["UNAVAILABLE", false],
  ["UNKNOWN", false],
  ["MIGRATED", false],
  ["ID_REUSED", true],
  ["ID_EXPIRED", true],
  ["DEADLINE_PASSED", true],
  ["RESOLVED_ABSENT", true],
  ["BATCH_REFUSED", true],
  ["STEP_LIMIT", true],
  ["OVERFLOW", true],
  ["OPERATION_NOT_FOUND", true],
  ["NOT_STARTED", true],
  ["ENDED", true],
  ["CLAIMS_EXPIRED", true],
  ["NOT_OWNER", true],
  ["ACCOUNT_EXISTS", true],
  ["SAME_ACCOUNT", true],
  ["ACCOUNT_NOT_FOUND", true],
  ["ACCOUNT_CLOSED", true],
  ["ACCOUNT_FROZEN", true],
  ["HOLD_EXISTS", true],
  ["HOLD_NOT_FOUND", true],
  ["HOLD_CAPTURED", true],
  ["HOLD_VOIDED", true],
  ["HOLD_EXPIRED", true],
  ["AMOUNT_EXCEEDS_HOLD", true],
  ["ASSET_MISMATCH", true],
  ["INSUFFICIENT_FUNDS", true],
  ["BALANCE_NOT_ZERO", true],
  ["OVERDRAFT_IN_USE", true],
  ["STOCK_EXISTS", true],
  ["STOCK_NOT_FOUND", true],
  ["STOCK_CLOSED", true],
  ["RESERVATION_EXISTS", true],
  ["RESERVATION_NOT_FOUND", true],
  ["RESERVATION_CONFIRMED", true],
  ["RESERVATION_RELEASED", true],
  ["RESERVATION_EXPIRED", true],
  ["OWNER_LIMIT_REACHED", true],
  ["SOLD_OUT", true],
  ["INSUFFICIENT_STOCK", true],
  ["UNITS_NOT_SOLD", true],
  ["STOCK_INCONSISTENT", true],
  ["RECEIPT_EXPIRED", true],
  ["CAMPAIGN_EXISTS", true],
  ["CAMPAIGN_NOT_FOUND", true],
  ["ALREADY_CLAIMED", true],
  ["EXHAUSTED", true],
  ["COUPON_EXISTS", true],
  ["COUPON_NOT_FOUND", true],
  ["COUPON_PAUSED", true],
  ["SUBJECT_INCOMPLETE", true],
  ["LIMIT_REACHED", true],
  ["CLAIM_NOT_FOUND", true],
  ["CLAIM_REDEEMED", true],
  ["CLAIM_REVOKED", true],
  ["CLAIM_EXPIRED", true],
  ["MARKET_EXISTS", true],
  ["MARKET_NOT_FOUND", true],
  ["MARKET_HALTED", true],
  ["ORDER_EXISTS", true],
  ["ORDER_NOT_FOUND", true],
  ["ORDER_CLOSED", true],
  ["PRICE_INVALID", true],
  ["QUANTITY_INVALID", true],
  ["WOULD_TAKE", true],
  ["WOULD_NOT_FILL", true],
  ["UNAUTHENTICATED", false],
  ["FORBIDDEN", false],
  ["TOO_MANY_ATTEMPTS", false],
  ["TOO_MANY_REQUESTS", false],
  ["NOT_ADMITTED", false],
  ["CROSS_ORIGIN", false],
  ["NOT_FOUND", false],
  ["METHOD_NOT_ALLOWED", false],
  ["MISDIRECTED", false],
  ["CURSOR_TRIMMED", false],
  ["PAYLOAD_TOO_LARGE", false],
  ["UNSUPPORTED_MEDIA_TYPE", false],
  ["SCRIPT_FORBIDDEN", false],
  ["SCRIPT_NOT_FOUND", false],
  ["SCRIPTS_FULL", false],
  ["SCRIPT_FAILED", false],
  ["SCRIPT_UNKNOWN", false],
]);

/** How each command is sent. */
export const ROUTES: { readonly [N in CommandName]: Route } = {
  "ACCOUNT.OPEN": { method: "POST", path: "/v1/accounts", query: [], on: "account", takesId: true, remembersRefusals: true },
  "ACCOUNT.GET": { method: "GET", path: "/v1/accounts/{account}", query: [], on: "", takesId: false, remembersRefusals: false },
  "ACCOUNT.CREDIT": { method: "POST", path: "/v1/accounts/{account}/credit", query: [], on: "account", takesId: true, remembersRefusals: true },
  "ACCOUNT.DEBIT": { method: "POST", path: "/v1/accounts/{account}/debit", query: [], on: "account", takesId: true, remembersRefusals: true },
  "ACCOUNT.TRANSFER": { method: "POST", path: "/v1/transfers", query: [], on: "from", takesId: true, remembersRefusals: true },
  "ACCOUNT.HOLD": { method: "POST", path: "/v1/accounts/{account}/holds", query: [], on: "account", takesId: true, remembersRefusals: true },
  "ACCOUNT.CAPTURE": { method: "POST", path: "/v1/accounts/{account}/holds/{hold}/capture", query: [], on: "account", takesId: true, remembersRefusals: true },
  "ACCOUNT.VOID": { method: "POST", path: "/v1/accounts/{account}/holds/{hold}/void", query: [], on: "account", takesId: true, remembersRefusals: true },
  "ACCOUNT.EXTEND": { method: "POST", path: "/v1/accounts/{account}/holds/{hold}/extend", query: [], on: "account", takesId: true, remembersRefusals: true },
  "ACCOUNT.HOLDS": { method: "GET", path: "/v1/accounts/{account}/holds", query: ["cursor", "limit"], on: "", takesId: false, remembersRefusals: false },
  "ACCOUNT.FREEZE": { method: "POST", path: "/v1/accounts/{account}/freeze", query: [], on: "account", takesId: true, remembersRefusals: true },
  "ACCOUNT.UNFREEZE": { method: "POST", path: "/v1/accounts/{account}/unfreeze", query: [], on: "account", takesId: true, remembersRefusals: true },
  "ACCOUNT.CLOSE": { method: "POST", path: "/v1/accounts/{account}/close", query: [], on: "account", takesId: true, remembersRefusals: true },
  "ACCOUNT.OVERDRAFT": { method: "POST", path: "/v1/accounts/{account}/overdraft", query: [], on: "account", takesId: true, remembersRefusals: true },
  "ACCOUNT.WORLD": { method: "GET", path: "/v1/worlds/{asset}", query: ["on"], on: "", takesId: false, remembersRefusals: false },
  "ACCOUNT.LIST": { method: "GET", path: "/v1/accounts", query: ["prefix", "cursor", "limit"], on: "", takesId: false, remembersRefusals: false },
  "STOCK.CREATE": { method: "POST", path: "/v1/stock", query: [], on: "sku", takesId: true, remembersRefusals: false },
  "STOCK.GET": { method: "GET", path: "/v1/stock/{sku}", query: [], on: "", takesId: false, remembersRefusals: false },
  "STOCK.RESTOCK": { method: "POST", path: "/v1/stock/{sku}/restock", query: [], on: "sku", takesId: true, remembersRefusals: false },
  "STOCK.ADJUST": { method: "POST", path: "/v1/stock/{sku}/adjust", query: [], on: "sku", takesId: true, remembersRefusals: false },
  "STOCK.TAKE": { method: "POST", path: "/v1/stock/{sku}/take", query: [], on: "sku", takesId: true, remembersRefusals: false },
  "STOCK.RESERVE": { method: "POST", path: "/v1/stock/{sku}/reservations", query: [], on: "sku", takesId: true, remembersRefusals: false },
  "STOCK.CONFIRM": { method: "POST", path: "/v1/stock/{sku}/reservations/{reservation}/confirm", query: [], on: "sku", takesId: true, remembersRefusals: false },
  "STOCK.RELEASE": { method: "POST", path: "/v1/stock/{sku}/reservations/{reservation}/release", query: [], on: "sku", takesId: true, remembersRefusals: false },
  "STOCK.EXTEND": { method: "POST", path: "/v1/stock/{sku}/reservations/{reservation}/extend", query: [], on: "sku", takesId: true, remembersRefusals: false },
  "STOCK.RETURN": { method: "POST", path: "/v1/stock/{sku}/return", query: [], on: "sku", takesId: true, remembersRefusals: false },
  "STOCK.CLOSE": { method: "POST", path: "/v1/stock/{sku}/close", query: [], on: "sku", takesId: true, remembersRefusals: false },
  "STOCK.AUDIT": { method: "POST", path: "/v1/stock/{sku}/audit", query: [], on: "sku", takesId: true, remembersRefusals: false },
  "STOCK.RESERVATION": { method: "GET", path: "/v1/stock/{sku}/reservations/{reservation}", query: [], on: "", takesId: false, remembersRefusals: false },
  "STOCK.LIST": { method: "GET", path: "/v1/stock", query: ["prefix", "cursor", "limit"], on: "", takesId: false, remembersRefusals: false },
  "PACKET.CREATE": { method: "POST", path: "/v1/packets", query: [], on: "campaign", takesId: true, remembersRefusals: false },
  "PACKET.CLAIM": { method: "POST", path: "/v1/packets/{campaign}/claims", query: [], on: "campaign", takesId: true, remembersRefusals: false },
  "PACKET.GET": { method: "GET", path: "/v1/packets/{campaign}", query: [], on: "", takesId: false, remembersRefusals: false },
  "PACKET.CLOSE": { method: "POST", path: "/v1/packets/{campaign}/close", query: [], on: "campaign", takesId: true, remembersRefusals: false },
  "PACKET.CLAIMED": { method: "GET", path: "/v1/packets/{campaign}/claims/{user}", query: [], on: "", takesId: false, remembersRefusals: false },
  "PACKET.CLAIMS": { method: "GET", path: "/v1/packets/{campaign}/claims", query: ["cursor", "limit"], on: "", takesId: false, remembersRefusals: false },
  "PACKET.LIST": { method: "GET", path: "/v1/packets", query: ["prefix", "cursor", "limit"], on: "", takesId: false, remembersRefusals: false },
  "COUPON.CREATE": { method: "POST", path: "/v1/coupons", query: [], on: "coupon", takesId: true, remembersRefusals: false },
  "COUPON.UPDATE": { method: "PATCH", path: "/v1/coupons/{coupon}", query: [], on: "coupon", takesId: true, remembersRefusals: false },
  "COUPON.CLAIM": { method: "POST", path: "/v1/coupons/{coupon}/claims", query: [], on: "coupon", takesId: true, remembersRefusals: false },
  "COUPON.CHECK": { method: "POST", path: "/v1/coupons/{coupon}/check", query: [], on: "", takesId: false, remembersRefusals: false },
  "COUPON.REDEEM": { method: "POST", path: "/v1/coupons/{coupon}/claims/{serial}/redeem", query: [], on: "coupon", takesId: true, remembersRefusals: false },
  "COUPON.REVOKE": { method: "POST", path: "/v1/coupons/{coupon}/claims/{serial}/revoke", query: [], on: "coupon", takesId: true, remembersRefusals: false },
  "COUPON.CLAIMED": { method: "GET", path: "/v1/coupons/{coupon}/claims/{serial}", query: [], on: "", takesId: false, remembersRefusals: false },
  "COUPON.GET": { method: "GET", path: "/v1/coupons/{coupon}", query: [], on: "", takesId: false, remembersRefusals: false },
  "COUPON.PAUSE": { method: "POST", path: "/v1/coupons/{coupon}/pause", query: [], on: "coupon", takesId: true, remembersRefusals: false },
  "COUPON.RESUME": { method: "POST", path: "/v1/coupons/{coupon}/resume", query: [], on: "coupon", takesId: true, remembersRefusals: false },
  "COUPON.LIST": { method: "GET", path: "/v1/coupons", query: ["prefix", "cursor", "limit"], on: "", takesId: false, remembersRefusals: false },
  "MARKET.CREATE": { method: "POST", path: "/v1/markets", query: [], on: "market", takesId: true, remembersRefusals: false },
  "MARKET.GET": { method: "GET", path: "/v1/markets/{market}", query: [], on: "", takesId: false, remembersRefusals: false },
  "MARKET.HALT": { method: "POST", path: "/v1/markets/{market}/halt", query: [], on: "market", takesId: true, remembersRefusals: false },
  "MARKET.RESUME": { method: "POST", path: "/v1/markets/{market}/resume", query: [], on: "market", takesId: true, remembersRefusals: false },
  "MARKET.DEPTH": { method: "GET", path: "/v1/markets/{market}/depth", query: ["levels"], on: "", takesId: false, remembersRefusals: false },
  "MARKET.TRADES": { method: "GET", path: "/v1/markets/{market}/trades", query: ["count"], on: "", takesId: false, remembersRefusals: false },
  "MARKET.TICKER": { method: "GET", path: "/v1/markets/{market}/ticker", query: [], on: "", takesId: false, remembersRefusals: false },
  "MARKET.LIST": { method: "GET", path: "/v1/markets", query: ["prefix", "cursor", "limit"], on: "", takesId: false, remembersRefusals: false },
  "ORDER.PLACE": { method: "POST", path: "/v1/markets/{market}/orders", query: [], on: "market", takesId: true, remembersRefusals: true },
  "ORDER.CANCEL": { method: "DELETE", path: "/v1/markets/{market}/orders/{order}", query: ["owner"], on: "market", takesId: true, remembersRefusals: true },
  "ORDER.REDUCE": { method: "POST", path: "/v1/markets/{market}/orders/{order}/reduce", query: [], on: "market", takesId: true, remembersRefusals: true },
  "ORDER.REPLACE": { method: "POST", path: "/v1/markets/{market}/orders/{order}/replace", query: [], on: "market", takesId: true, remembersRefusals: true },
  "ORDER.CANCELALL": { method: "DELETE", path: "/v1/markets/{market}/orders", query: ["owner"], on: "market", takesId: true, remembersRefusals: true },
  "ORDER.GET": { method: "GET", path: "/v1/markets/{market}/orders/{order}", query: [], on: "", takesId: false, remembersRefusals: false },
  "OPERATION.GET": { method: "GET", path: "/v1/operations/{operation}", query: ["on"], on: "", takesId: false, remembersRefusals: false },
  "OPERATION.RESOLVE": { method: "POST", path: "/v1/operations/{operation}/resolve", query: ["on"], on: "", takesId: false, remembersRefusals: false },
  "DIGEST": { method: "GET", path: "/v1/digest", query: ["resource"], on: "", takesId: false, remembersRefusals: false },
};

/** Sends a command. */
export interface Send {
  <N extends CommandName>(name: N, args: Commands[N]["arguments"], options?: CallOptions): Promise<Outcome<N>>;
}

/** The ACCOUNT commands. */
export class AccountCommands {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Opens an account that keeps one asset. */
  open(args: AccountOpenArguments, options?: CallOptions): Promise<Outcome<"ACCOUNT.OPEN">> {
    return this.#send("ACCOUNT.OPEN", args, options);
  }

  /** Shows an account's balance, held amount and status. */
  get(args: AccountGetArguments, options?: CallOptions): Promise<Outcome<"ACCOUNT.GET">> {
    return this.#send("ACCOUNT.GET", args, options);
  }

  /** Adds money to an account from outside. */
  credit(args: AccountCreditArguments, options?: CallOptions): Promise<Outcome<"ACCOUNT.CREDIT">> {
    return this.#send("ACCOUNT.CREDIT", args, options);
  }

  /** Takes money out of an account if enough is available. */
  debit(args: AccountDebitArguments, options?: CallOptions): Promise<Outcome<"ACCOUNT.DEBIT">> {
    return this.#send("ACCOUNT.DEBIT", args, options);
  }

  /** Moves money from one account to another of the same asset. */
  transfer(args: AccountTransferArguments, options?: CallOptions): Promise<Outcome<"ACCOUNT.TRANSFER">> {
    return this.#send("ACCOUNT.TRANSFER", args, options);
  }

  /** Sets money aside until it is captured, voided or past its deadline. */
  hold(args: AccountHoldArguments, options?: CallOptions): Promise<Outcome<"ACCOUNT.HOLD">> {
    return this.#send("ACCOUNT.HOLD", args, options);
  }

  /** Pays money out of a hold, to another account or outside, and releases or keeps the rest. */
  capture(args: AccountCaptureArguments, options?: CallOptions): Promise<Outcome<"ACCOUNT.CAPTURE">> {
    return this.#send("ACCOUNT.CAPTURE", args, options);
  }

  /** Ends a hold and makes its money available again. */
  void(args: AccountVoidArguments, options?: CallOptions): Promise<Outcome<"ACCOUNT.VOID">> {
    return this.#send("ACCOUNT.VOID", args, options);
  }

  /** Sets a new deadline for a hold, counted from now. */
  extend(args: AccountExtendArguments, options?: CallOptions): Promise<Outcome<"ACCOUNT.EXTEND">> {
    return this.#send("ACCOUNT.EXTEND", args, options);
  }

  /** Lists an account's holds by name, a page at a time: name, amount left, status, deadline. */
  holds(args: AccountHoldsArguments, options?: CallOptions): Promise<Outcome<"ACCOUNT.HOLDS">> {
    return this.#send("ACCOUNT.HOLDS", args, options);
  }

  /** Stops debits and new holds. */
  freeze(args: AccountFreezeArguments, options?: CallOptions): Promise<Outcome<"ACCOUNT.FREEZE">> {
    return this.#send("ACCOUNT.FREEZE", args, options);
  }

  /** Allows debits and new holds again. */
  unfreeze(args: AccountUnfreezeArguments, options?: CallOptions): Promise<Outcome<"ACCOUNT.UNFREEZE">> {
    return this.#send("ACCOUNT.UNFREEZE", args, options);
  }

  /** Closes an empty account for good. */
  close(args: AccountCloseArguments, options?: CallOptions): Promise<Outcome<"ACCOUNT.CLOSE">> {
    return this.#send("ACCOUNT.CLOSE", args, options);
  }

  /** Sets how far below zero the account may go. */
  overdraft(args: AccountOverdraftArguments, options?: CallOptions): Promise<Outcome<"ACCOUNT.OVERDRAFT">> {
    return this.#send("ACCOUNT.OVERDRAFT", args, options);
  }

  /** Shows the account through which money of an asset enters the partition of a resource. */
  world(args: AccountWorldArguments, options?: CallOptions): Promise<Outcome<"ACCOUNT.WORLD">> {
    return this.#send("ACCOUNT.WORLD", args, options);
  }

  /** Lists accounts by name, a page at a time: account, asset, balance, held, available, status. */
  list(args: AccountListArguments = {}, options?: CallOptions): Promise<Outcome<"ACCOUNT.LIST">> {
    return this.#send("ACCOUNT.LIST", args, options);
  }
}

/** The STOCK commands. */
export class StockCommands {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Puts a stock item on sale. */
  create(args: StockCreateArguments, options?: CallOptions): Promise<Outcome<"STOCK.CREATE">> {
    return this.#send("STOCK.CREATE", args, options);
  }

  /** Shows a stock item's counters, bounds and status. */
  get(args: StockGetArguments, options?: CallOptions): Promise<Outcome<"STOCK.GET">> {
    return this.#send("STOCK.GET", args, options);
  }

  /** Adds units. */
  restock(args: StockRestockArguments, options?: CallOptions): Promise<Outcome<"STOCK.RESTOCK">> {
    return this.#send("STOCK.RESTOCK", args, options);
  }

  /** Corrects the number of units, up or down, with a reason. */
  adjust(args: StockAdjustArguments, options?: CallOptions): Promise<Outcome<"STOCK.ADJUST">> {
    return this.#send("STOCK.ADJUST", args, options);
  }

  /** Sells units at once and returns their serials. */
  take(args: StockTakeArguments, options?: CallOptions): Promise<Outcome<"STOCK.TAKE">> {
    return this.#send("STOCK.TAKE", args, options);
  }

  /** Sets units aside for an owner until a deadline. */
  reserve(args: StockReserveArguments, options?: CallOptions): Promise<Outcome<"STOCK.RESERVE">> {
    return this.#send("STOCK.RESERVE", args, options);
  }

  /** Sells what a reservation holds and returns the serials. */
  confirm(args: StockConfirmArguments, options?: CallOptions): Promise<Outcome<"STOCK.CONFIRM">> {
    return this.#send("STOCK.CONFIRM", args, options);
  }

  /** Puts what a reservation holds back on sale. */
  release(args: StockReleaseArguments, options?: CallOptions): Promise<Outcome<"STOCK.RELEASE">> {
    return this.#send("STOCK.RELEASE", args, options);
  }

  /** Sets a new deadline for a reservation, counted from now. */
  extend(args: StockExtendArguments, options?: CallOptions): Promise<Outcome<"STOCK.EXTEND">> {
    return this.#send("STOCK.EXTEND", args, options);
  }

  /** Takes sold units back by their serials and puts as many on sale. */
  return(args: StockReturnArguments, options?: CallOptions): Promise<Outcome<"STOCK.RETURN">> {
    return this.#send("STOCK.RETURN", args, options);
  }

  /** Ends sales; open reservations expire or are confirmed. */
  close(args: StockCloseArguments, options?: CallOptions): Promise<Outcome<"STOCK.CLOSE">> {
    return this.#send("STOCK.CLOSE", args, options);
  }

  /** Recounts receipts against counters, a bounded piece at each call, while sales go on. */
  audit(args: StockAuditArguments, options?: CallOptions): Promise<Outcome<"STOCK.AUDIT">> {
    return this.#send("STOCK.AUDIT", args, options);
  }

  /** Shows a reservation. */
  reservation(args: StockReservationArguments, options?: CallOptions): Promise<Outcome<"STOCK.RESERVATION">> {
    return this.#send("STOCK.RESERVATION", args, options);
  }

  /** Lists stock items by name, a page at a time: sku, total, available, reserved, sold, status. */
  list(args: StockListArguments = {}, options?: CallOptions): Promise<Outcome<"STOCK.LIST">> {
    return this.#send("STOCK.LIST", args, options);
  }
}

/** The PACKET commands. */
export class PacketCommands {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Cuts red packets by a plan or from a list of amounts, and opens them for claims. */
  create(args: PacketCreateArguments, options?: CallOptions): Promise<Outcome<"PACKET.CREATE">> {
    return this.#send("PACKET.CREATE", args, options);
  }

  /** Gives a user the next packet. */
  claim(args: PacketClaimArguments, options?: CallOptions): Promise<Outcome<"PACKET.CLAIM">> {
    return this.#send("PACKET.CLAIM", args, options);
  }

  /** Shows a campaign: what was claimed and what is left, but never the next amounts. */
  get(args: PacketGetArguments, options?: CallOptions): Promise<Outcome<"PACKET.GET">> {
    return this.#send("PACKET.GET", args, options);
  }

  /** Ends a campaign, reports what was left and reveals the seed. */
  close(args: PacketCloseArguments, options?: CallOptions): Promise<Outcome<"PACKET.CLOSE">> {
    return this.#send("PACKET.CLOSE", args, options);
  }

  /** Shows the packet that a user claimed. */
  claimed(args: PacketClaimedArguments, options?: CallOptions): Promise<Outcome<"PACKET.CLAIMED">> {
    return this.#send("PACKET.CLAIMED", args, options);
  }

  /** Lists claimed packets in the order of the claims, a page at a time: user, packet, amount, at. */
  claims(args: PacketClaimsArguments, options?: CallOptions): Promise<Outcome<"PACKET.CLAIMS">> {
    return this.#send("PACKET.CLAIMS", args, options);
  }

  /**
   * Lists campaigns by name, a page at a time: campaign, asset, count, total, claimed_count, claimed_amount,
   * status.
   */
  list(args: PacketListArguments = {}, options?: CallOptions): Promise<Outcome<"PACKET.LIST">> {
    return this.#send("PACKET.LIST", args, options);
  }
}

/** The COUPON commands. */
export class CouponCommands {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Creates a coupon with any number of quantity limits. */
  create(args: CouponCreateArguments, options?: CallOptions): Promise<Outcome<"COUPON.CREATE">> {
    return this.#send("COUPON.CREATE", args, options);
  }

  /** Changes limits' maxima or adds limits while the coupon runs. */
  update(args: CouponUpdateArguments, options?: CallOptions): Promise<Outcome<"COUPON.UPDATE">> {
    return this.#send("COUPON.UPDATE", args, options);
  }

  /** Claims a coupon: counts the claim in every limit and returns its serial. */
  claim(args: CouponClaimArguments, options?: CallOptions): Promise<Outcome<"COUPON.CLAIM">> {
    return this.#send("COUPON.CLAIM", args, options);
  }

  /** Tells how a claim would be answered, without making it. */
  check(args: CouponCheckArguments, options?: CallOptions): Promise<Outcome<"COUPON.CHECK">> {
    return this.#send("COUPON.CHECK", args, options);
  }

  /** Redeems a claim, which can be used once. */
  redeem(args: CouponRedeemArguments, options?: CallOptions): Promise<Outcome<"COUPON.REDEEM">> {
    return this.#send("COUPON.REDEEM", args, options);
  }

  /** Voids an unused claim; with GIVEBACK it no longer counts in windows that still run. */
  revoke(args: CouponRevokeArguments, options?: CallOptions): Promise<Outcome<"COUPON.REVOKE">> {
    return this.#send("COUPON.REVOKE", args, options);
  }

  /** Shows a claim. */
  claimed(args: CouponClaimedArguments, options?: CallOptions): Promise<Outcome<"COUPON.CLAIMED">> {
    return this.#send("COUPON.CLAIMED", args, options);
  }

  /** Shows a coupon and its limits. */
  get(args: CouponGetArguments, options?: CallOptions): Promise<Outcome<"COUPON.GET">> {
    return this.#send("COUPON.GET", args, options);
  }

  /** Stops claims until the coupon is resumed. */
  pause(args: CouponPauseArguments, options?: CallOptions): Promise<Outcome<"COUPON.PAUSE">> {
    return this.#send("COUPON.PAUSE", args, options);
  }

  /** Allows claims again. */
  resume(args: CouponResumeArguments, options?: CallOptions): Promise<Outcome<"COUPON.RESUME">> {
    return this.#send("COUPON.RESUME", args, options);
  }

  /** Lists coupons by name, a page at a time: coupon, status, claimed. */
  list(args: CouponListArguments = {}, options?: CallOptions): Promise<Outcome<"COUPON.LIST">> {
    return this.#send("COUPON.LIST", args, options);
  }
}

/** The MARKET commands. */
export class MarketCommands {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Opens a market with an empty book. */
  create(args: MarketCreateArguments, options?: CallOptions): Promise<Outcome<"MARKET.CREATE">> {
    return this.#send("MARKET.CREATE", args, options);
  }

  /** Shows a market: rules, status, best prices, last trade. */
  get(args: MarketGetArguments, options?: CallOptions): Promise<Outcome<"MARKET.GET">> {
    return this.#send("MARKET.GET", args, options);
  }

  /** Stops trading; cancels and reductions go on. */
  halt(args: MarketHaltArguments, options?: CallOptions): Promise<Outcome<"MARKET.HALT">> {
    return this.#send("MARKET.HALT", args, options);
  }

  /** Allows trading again. */
  resume(args: MarketResumeArguments, options?: CallOptions): Promise<Outcome<"MARKET.RESUME">> {
    return this.#send("MARKET.RESUME", args, options);
  }

  /** Shows the book's levels, best first: price, quantity, orders. */
  depth(args: MarketDepthArguments, options?: CallOptions): Promise<Outcome<"MARKET.DEPTH">> {
    return this.#send("MARKET.DEPTH", args, options);
  }

  /**
   * Lists the last trades, latest first, of the hundred that are kept: trade, price, quantity, taker_side,
   * at.
   */
  trades(args: MarketTradesArguments, options?: CallOptions): Promise<Outcome<"MARKET.TRADES">> {
    return this.#send("MARKET.TRADES", args, options);
  }

  /** Shows a market's last trade and its best prices with their quantities. */
  ticker(args: MarketTickerArguments, options?: CallOptions): Promise<Outcome<"MARKET.TICKER">> {
    return this.#send("MARKET.TICKER", args, options);
  }

  /** Lists markets by name, a page at a time: market, status, best_bid, best_ask, orders, trades. */
  list(args: MarketListArguments = {}, options?: CallOptions): Promise<Outcome<"MARKET.LIST">> {
    return this.#send("MARKET.LIST", args, options);
  }
}

/** The ORDER commands. */
export class OrderCommands {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Places an order, which trades at once as far as it can. */
  place(args: OrderPlaceArguments, options?: CallOptions): Promise<Outcome<"ORDER.PLACE">> {
    return this.#send("ORDER.PLACE", args, options);
  }

  /** Takes an order off the book. */
  cancel(args: OrderCancelArguments, options?: CallOptions): Promise<Outcome<"ORDER.CANCEL">> {
    return this.#send("ORDER.CANCEL", args, options);
  }

  /** Makes an order smaller; it keeps its priority. */
  reduce(args: OrderReduceArguments, options?: CallOptions): Promise<Outcome<"ORDER.REDUCE">> {
    return this.#send("ORDER.REDUCE", args, options);
  }

  /** Changes an order's price and remaining quantity. */
  replace(args: OrderReplaceArguments, options?: CallOptions): Promise<Outcome<"ORDER.REPLACE">> {
    return this.#send("ORDER.REPLACE", args, options);
  }

  /** Takes all of an owner's orders off the book. */
  cancelall(args: OrderCancelallArguments, options?: CallOptions): Promise<Outcome<"ORDER.CANCELALL">> {
    return this.#send("ORDER.CANCELALL", args, options);
  }

  /** Shows an order. */
  get(args: OrderGetArguments, options?: CallOptions): Promise<Outcome<"ORDER.GET">> {
    return this.#send("ORDER.GET", args, options);
  }
}

/** The OPERATION commands. */
export class OperationCommands {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Shows the receipt that is remembered under an operation id. */
  get(args: OperationGetArguments, options?: CallOptions): Promise<Outcome<"OPERATION.GET">> {
    return this.#send("OPERATION.GET", args, options);
  }

  /** Returns the receipt, or marks the id so that no copy that arrives later is applied. */
  resolve(args: OperationResolveArguments, options?: CallOptions): Promise<Outcome<"OPERATION.RESOLVE">> {
    return this.#send("OPERATION.RESOLVE", args, options);
  }
}

