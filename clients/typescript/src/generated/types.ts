// Made by `cargo xtask reference` from the tables of commands and codes; change those, not this file.

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

/** A row of a list: order, owner, side, price, remaining, filled, tif, stp, status, place. */
export interface OrderGetRow {
  /** order ID, unique within the market */
  order: string;
  /** ID of the order's owner */
  owner: string;
  /** side of the book: BUY or SELL */
  side: "BUY" | "SELL";
  /** the limit price; absent for a market order (minor units of the quote per unit of the base) */
  price: number;
  /** unfilled quantity (units of the base) */
  remaining: number;
  /** the quantity filled so far (units of the base) */
  filled: number;
  /** time in force: GTC, IOC, FOK or POST */
  tif: "GTC" | "IOC" | "FOK" | "POST";
  /** the self-trade prevention of the order when it is the incoming one */
  stp: "NONE" | "CANCEL_TAKER" | "CANCEL_MAKER" | "CANCEL_BOTH" | "DECREMENT";
  /** open, partially_filled, filled or cancelled */
  status: string;
  /** where the order is in the list: side, price, time priority and order */
  place: string;
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

/** What ORDER.LIST takes. */
export interface OrderListArguments {
  /** market ID */
  market: string;
  /** ID of the owner whose orders are listed; all if left out */
  owner?: string | null | undefined;
  /** where the list goes on, as the page before said */
  cursor?: string | null | undefined;
  /** how many rows the page has at most; 100 by default */
  limit?: number | null | undefined;
}

/** What ORDER.LIST answers. */
export interface OrderListResult {
  /** the resting orders */
  orders: ReadonlyArray<OrderGetRow>;
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
