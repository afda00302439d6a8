// Made by `cargo xtask reference` from the tables of commands and codes; change those, not this file.

import type { CallOptions, Outcome, Route } from "../outcome.js";
import type {
  AccountOpenArguments, AccountOpenResult, AccountGetArguments, AccountGetResult, AccountCreditArguments,
  AccountCreditResult, AccountDebitArguments, AccountDebitResult, AccountTransferArguments,
  AccountTransferResult, AccountHoldArguments, AccountHoldResult, AccountCaptureArguments, AccountCaptureResult,
  AccountVoidArguments, AccountVoidResult, AccountExtendArguments, AccountExtendResult, AccountHoldsArguments,
  AccountHoldsResult, AccountFreezeArguments, AccountFreezeResult, AccountUnfreezeArguments,
  AccountUnfreezeResult, AccountCloseArguments, AccountCloseResult, AccountOverdraftArguments,
  AccountOverdraftResult, AccountWorldArguments, AccountWorldResult, AccountListArguments, AccountListResult,
  StockCreateArguments, StockCreateResult, StockGetArguments, StockGetResult, StockRestockArguments,
  StockRestockResult, StockAdjustArguments, StockAdjustResult, StockTakeArguments, StockTakeResult,
  StockReserveArguments, StockReserveResult, StockConfirmArguments, StockConfirmResult, StockReleaseArguments,
  StockReleaseResult, StockExtendArguments, StockExtendResult, StockReturnArguments, StockReturnResult,
  StockCloseArguments, StockCloseResult, StockAuditArguments, StockAuditResult, StockReservationArguments,
  StockReservationResult, StockListArguments, StockListResult, PacketCreateArguments, PacketCreateResult,
  PacketClaimArguments, PacketClaimResult, PacketGetArguments, PacketGetResult, PacketCloseArguments,
  PacketCloseResult, PacketClaimedArguments, PacketClaimedResult, PacketClaimsArguments, PacketClaimsResult,
  PacketListArguments, PacketListResult, CouponCreateArguments, CouponCreateResult, CouponUpdateArguments,
  CouponUpdateResult, CouponClaimArguments, CouponClaimResult, CouponCheckArguments, CouponCheckResult,
  CouponRedeemArguments, CouponRedeemResult, CouponRevokeArguments, CouponRevokeResult, CouponClaimedArguments,
  CouponClaimedResult, CouponGetArguments, CouponGetResult, CouponPauseArguments, CouponPauseResult,
  CouponResumeArguments, CouponResumeResult, CouponListArguments, CouponListResult, MarketCreateArguments,
  MarketCreateResult, MarketGetArguments, MarketGetResult, MarketHaltArguments, MarketHaltResult,
  MarketResumeArguments, MarketResumeResult, MarketDepthArguments, MarketDepthResult, MarketTradesArguments,
  MarketTradesResult, MarketTickerArguments, MarketTickerResult, MarketListArguments, MarketListResult,
  OrderListArguments, OrderListResult, OrderPlaceArguments, OrderPlaceResult, OrderCancelArguments,
  OrderCancelResult, OrderReduceArguments, OrderReduceResult, OrderReplaceArguments, OrderReplaceResult,
  OrderCancelallArguments, OrderCancelallResult, OrderGetArguments, OrderGetResult, OperationGetArguments,
  OperationGetResult, OperationResolveArguments, OperationResolveResult, DigestArguments, DigestResult,
} from "./types.js";

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
  "ORDER.LIST": {
    arguments: OrderListArguments;
    result: OrderListResult;
    refusals: "MARKET_NOT_FOUND" | "STEP_LIMIT";
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
  "ORDER.LIST": { method: "GET", path: "/v1/markets/{market}/orders", query: ["owner", "cursor", "limit"], on: "", takesId: false, remembersRefusals: false },
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

  /**
   * Lists resting orders, a page at a time: an owner's, oldest first, or all, bids before asks, in the order
   * in which they trade.
   */
  list(args: OrderListArguments, options?: CallOptions): Promise<Outcome<"ORDER.LIST">> {
    return this.#send("ORDER.LIST", args, options);
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
