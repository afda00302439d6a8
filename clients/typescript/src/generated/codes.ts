// Made by `cargo xtask reference` from the tables of commands and codes; change those, not this file.

import type {
  InvalidFacts, CrossPartitionFacts, OverloadedFacts, UnavailableFacts, UnknownFacts, MigratedFacts,
  IdReusedFacts, IdExpiredFacts, DeadlinePassedFacts, ResolvedAbsentFacts, BatchRefusedFacts, StepLimitFacts,
  OverflowFacts, OperationNotFoundFacts, NotStartedFacts, EndedFacts, ClaimsExpiredFacts, AccountExistsFacts,
  SameAccountFacts, AccountNotFoundFacts, AccountClosedFacts, AccountFrozenFacts, HoldExistsFacts,
  HoldNotFoundFacts, HoldCapturedFacts, HoldVoidedFacts, HoldExpiredFacts, AmountExceedsHoldFacts,
  AssetMismatchFacts, InsufficientFundsFacts, BalanceNotZeroFacts, OverdraftInUseFacts, StockExistsFacts,
  StockNotFoundFacts, StockClosedFacts, ReservationExistsFacts, ReservationNotFoundFacts,
  ReservationConfirmedFacts, ReservationReleasedFacts, ReservationExpiredFacts, OwnerLimitReachedFacts,
  SoldOutFacts, InsufficientStockFacts, UnitsNotSoldFacts, StockInconsistentFacts, ReceiptExpiredFacts,
  CampaignExistsFacts, CampaignNotFoundFacts, AlreadyClaimedFacts, ExhaustedFacts, CouponExistsFacts,
  CouponNotFoundFacts, CouponPausedFacts, SubjectIncompleteFacts, LimitReachedFacts, ClaimNotFoundFacts,
  ClaimRedeemedFacts, ClaimRevokedFacts, ClaimExpiredFacts, MarketExistsFacts, MarketNotFoundFacts,
  MarketHaltedFacts, OrderExistsFacts, OrderNotFoundFacts, OrderClosedFacts, PriceInvalidFacts,
  QuantityInvalidFacts, WouldTakeFacts, WouldNotFillFacts,
} from "./types.js";

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
   * a dry run would have to touch more orders than it may, or a fill-or-kill order or a list of orders would
   * have to look at more of them.
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
  ["HEADERS_TOO_LARGE", false],
  ["REQUEST_TIMEOUT", false],
  ["KEY_EXISTS", false],
  ["KEY_REPLACED", false],
  ["KEY_AMBIGUOUS", false],
]);
