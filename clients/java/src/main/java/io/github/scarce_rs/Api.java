// Made by `cargo xtask reference` from the tables of commands and codes; change those, not this file.
package io.github.scarce_rs;

import java.util.List;
import java.util.Map;

/** The types of commands and codes, and the commands by their groups. */
public final class Api {
    /** The version of Scarce that these types are of. */
    public static final String VERSION = "0.1.0";

    private Api() {}

    /**
     * Where a change is in the log, and how safe it was when it was answered.
     * @param operation operation ID (idempotency key): the command is applied once under it
     * @param partition the partition that decided the command
     * @param epoch epoch of the partition; it rises at every start
     * @param sequenceFirst sequence of the command's first event; for a refusal without events, of the
     * last event before it
     * @param sequenceLast sequence of the command's last event
     * @param at when the command was decided (ms since the Unix epoch)
     * @param durability durability level reached before the answer: in memory, replicated or synced to
     * disk
     */
    public record Receipt(String operation, long partition, long epoch, long sequenceFirst, long sequenceLast, long at, String durability) {
    }

    /**
     * What is remembered of an operation.
     */
    public record RememberedOutcome(boolean applied, String code, Map<String, Object> facts, List<Object> figures) {
    }

    /**
     * How a campaign is cut into packets.
     * @param total total amount of all packets (minor units)
     * @param count number of packets (packets)
     * @param method EVEN, DOUBLE_MEAN or LINE_CUT
     * @param max maximum amount of a packet; no limit by default (minor units)
     * @param min minimum amount of a packet; 1 by default (minor units)
     */
    public record Plan(long total, long count, String method, Long max, Long min) {
        /** With what is required. */
        public Plan(long total, long count, String method) {
            this(total, count, method, null, null);
        }

        /** The same with this. */
        public Plan withMax(Long max) {
            return new Plan(total, count, method, max, min);
        }

        /** The same with this. */
        public Plan withMin(Long min) {
            return new Plan(total, count, method, max, min);
        }

    }

    /**
     * A limit of a coupon.
     * @param name limit name, by which you change the limit
     * @param max claims allowed in a window (claims)
     * @param offsetMinutes offset of the calendar window from UTC (minutes)
     * @param per the dimensions by which the limit counts; without dimensions, all claims count together
     * @param window the window in which the limit counts: none, hour, day, week or month; or a duration in
     * milliseconds
     * @param windowMs length of a fixed window; not for calendar windows (ms)
     */
    public record Limit(String name, long max, Long offsetMinutes, List<String> per, String window, Long windowMs) {
        /** With what is required. */
        public Limit(String name, long max) {
            this(name, max, null, null, null, null);
        }

        /** The same with this. */
        public Limit withOffsetMinutes(Long offsetMinutes) {
            return new Limit(name, max, offsetMinutes, per, window, windowMs);
        }

        /** The same with this. */
        public Limit withPer(List<String> per) {
            return new Limit(name, max, offsetMinutes, per, window, windowMs);
        }

        /** The same with this. */
        public Limit withWindow(String window) {
            return new Limit(name, max, offsetMinutes, per, window, windowMs);
        }

        /** The same with this. */
        public Limit withWindowMs(Long windowMs) {
            return new Limit(name, max, offsetMinutes, per, window, windowMs);
        }

    }

    /**
     * A row of a list: hold, amount, status, deadline.
     * @param hold hold ID, unique within the account
     * @param amount the amount left in the hold (minor units)
     * @param status open, captured, voided or expired
     * @param deadline expiry time; absent if it does not expire (ms since the Unix epoch)
     */
    public record HoldRow(String hold, long amount, String status, Long deadline) {
    }

    /**
     * A row of a list: account, asset, balance, held, available, status.
     * @param account account ID
     * @param asset asset ID, such as USD-cents
     * @param balance the balance, including money on hold (minor units)
     * @param held the amount on hold (minor units)
     * @param available balance minus holds, not counting the overdraft; may be negative (minor units)
     * @param status open, frozen or closed
     */
    public record AccountGetRow(String account, String asset, long balance, long held, long available, String status) {
    }

    /**
     * A row of a list: sku, total, available, reserved, sold, status.
     * @param sku item ID (SKU)
     * @param total available + reserved + sold (units)
     * @param available units available (units)
     * @param reserved units that are reserved (units)
     * @param sold units sold, excluding returns (units)
     * @param status open, not_started, ended or closed
     */
    public record StockGetRow(String sku, long total, long available, long reserved, long sold, String status) {
    }

    /**
     * A row of a list: user, packet, amount, at.
     * @param user user ID
     * @param packet packet number, starting at 1
     * @param amount the amount in the packet (minor units)
     * @param at when it was claimed (ms since the Unix epoch)
     */
    public record PacketClaimedRow(String user, long packet, long amount, long at) {
    }

    /**
     * A row of a list: campaign, asset, count, total, claimed_count, claimed_amount, status.
     * @param campaign campaign ID
     * @param asset asset ID, such as USD-cents
     * @param count number of packets in the campaign (packets)
     * @param total total amount of all packets (minor units)
     * @param claimedCount number of claimed packets (packets)
     * @param claimedAmount total amount of the claimed packets (minor units)
     * @param status open, not_started, ended, exhausted or closed
     */
    public record PacketGetRow(String campaign, String asset, long count, long total, long claimedCount, long claimedAmount, String status) {
    }

    /**
     * A row of a list: coupon, status, claimed.
     * @param coupon coupon ID
     * @param status open, paused, not_started or ended
     * @param claimed number of claims so far, including revoked ones (claims)
     */
    public record CouponGetRow(String coupon, String status, long claimed) {
    }

    /**
     * A row of a list: price, quantity, orders.
     * @param price the price (minor units of the quote per unit of the base)
     * @param quantity total quantity left at this price (units of the base)
     * @param orders number of orders at this price (orders)
     */
    public record LevelRow(long price, long quantity, long orders) {
    }

    /**
     * A row of a list: trade, price, quantity, taker_side, at.
     * @param trade trade number within the market, starting at 1
     * @param price the maker's price, that is, of the resting order (minor units of the quote per unit of
     * the base)
     * @param quantity quantity traded (units of the base)
     * @param takerSide the side of the incoming order
     * @param at when the command was decided (ms since the Unix epoch)
     */
    public record OrderTradedRow(long trade, long price, long quantity, String takerSide, long at) {
    }

    /**
     * A row of a list: market, status, best_bid, best_ask, orders, trades.
     * @param market market ID
     * @param status open or halted
     * @param bestBid the highest buy price; absent if there are no buy orders (minor units of the quote
     * per unit of the base)
     * @param bestAsk the lowest sell price; absent if there are no sell orders (minor units of the quote
     * per unit of the base)
     * @param orders number of orders on the book (orders)
     * @param trades number of trades so far
     */
    public record MarketGetRow(String market, String status, Long bestBid, Long bestAsk, long orders, long trades) {
    }

    /**
     * A row of a list: order, owner, side, price, remaining, filled, tif, stp, status, place.
     * @param order order ID, unique within the market
     * @param owner ID of the order's owner
     * @param side side of the book: BUY or SELL
     * @param price the limit price; absent for a market order (minor units of the quote per unit of the
     * base)
     * @param remaining unfilled quantity (units of the base)
     * @param filled the quantity filled so far (units of the base)
     * @param tif time in force: GTC, IOC, FOK or POST
     * @param stp the self-trade prevention of the order when it is the incoming one
     * @param status open, partially_filled, filled or cancelled
     * @param place where the order is in the list: side, price, time priority and order
     */
    public record OrderGetRow(String order, String owner, String side, long price, long remaining, long filled, String tif, String stp, String status, String place) {
    }

    /**
     * A row of a list: trade, maker_order, price, quantity, maker_remaining.
     * @param trade trade number within the market, starting at 1
     * @param makerOrder the resting order
     * @param price the maker's price, that is, of the resting order (minor units of the quote per unit of
     * the base)
     * @param quantity quantity traded (units of the base)
     * @param makerRemaining quantity left in the resting order (units of the base)
     */
    public record FillRow(long trade, String makerOrder, long price, long quantity, long makerRemaining) {
    }

    /**
     * A row of a list: partition, sequence, digest.
     * @param partition the partition that decided the command
     * @param sequence sequence number of the event in its partition's log
     * @param digest digest of the state, 32 hexadecimal digits
     */
    public record DigestRow(long partition, long sequence, String digest) {
    }

    /**
     * What INVALID rests on.
     * @param argument the argument that is at fault
     * @param reason the reason
     */
    public record InvalidFacts(String argument, String reason) {
    }

    /**
     * What CROSS_PARTITION rests on.
     * @param first an ID that the command names
     * @param second an ID that belongs to another partition
     */
    public record CrossPartitionFacts(String first, String second) {
    }

    /**
     * What OVERLOADED rests on.
     * @param queue what is full: a bounded queue, `operations`, the store of remembered operation IDs, or
     * `memory`, the memory budget
     * @param retryAfterMs how long to wait before the command can succeed; absent where that is not known
     * (ms)
     */
    public record OverloadedFacts(String queue, Long retryAfterMs) {
    }

    /**
     * What UNAVAILABLE rests on.
     * @param reason the reason
     */
    public record UnavailableFacts(String reason) {
    }

    /**
     * What UNKNOWN rests on.
     * @param reason the reason
     */
    public record UnknownFacts(String reason) {
    }

    /**
     * What MIGRATED rests on.
     * @param address where the deployment is served now
     */
    public record MigratedFacts(String address) {
    }

    /**
     * What ID_REUSED rests on.
     * @param operation operation ID
     */
    public record IdReusedFacts(String operation) {
    }

    /**
     * What ID_EXPIRED rests on.
     * @param operation operation ID
     * @param windowMs how long operation IDs are remembered (ms)
     */
    public record IdExpiredFacts(String operation, long windowMs) {
    }

    /**
     * What DEADLINE_PASSED rests on.
     * @param deadline deadline of the command (ms since the Unix epoch)
     * @param now the timestamp by which the command was decided (ms since the Unix epoch)
     */
    public record DeadlinePassedFacts(long deadline, long now) {
    }

    /**
     * What RESOLVED_ABSENT rests on.
     * @param operation operation ID
     */
    public record ResolvedAbsentFacts(String operation) {
    }

    /**
     * What BATCH_REFUSED rests on.
     * @param index the line in the batch, counting from 0
     * @param code the code of the refused line
     * @param facts the facts of the refused line
     */
    public record BatchRefusedFacts(long index, String code, Map<String, Object> facts) {
    }

    /**
     * What STEP_LIMIT rests on.
     * @param limit maximum records, packets or bytes for one step
     */
    public record StepLimitFacts(long limit) {
    }

    /**
     * What OVERFLOW rests on.
     * @param argument the value that would leave the range
     */
    public record OverflowFacts(String argument) {
    }

    /**
     * What OPERATION_NOT_FOUND rests on.
     * @param operation operation ID
     */
    public record OperationNotFoundFacts(String operation) {
    }

    /**
     * What NOT_STARTED rests on.
     * @param startsAt start time: before then nothing is handed out; absent if there is none (ms since the
     * Unix epoch)
     * @param now the timestamp by which the command was decided (ms since the Unix epoch)
     */
    public record NotStartedFacts(Long startsAt, long now) {
    }

    /**
     * What ENDED rests on.
     * @param endsAt end time: from then on nothing is handed out; absent if there is no end (ms since the
     * Unix epoch)
     * @param now the timestamp by which the command was decided (ms since the Unix epoch)
     */
    public record EndedFacts(Long endsAt, long now) {
    }

    /**
     * What CLAIMS_EXPIRED rests on.
     * @param campaign campaign ID
     */
    public record ClaimsExpiredFacts(String campaign) {
    }

    /**
     * What ACCOUNT_EXISTS rests on.
     * @param account account ID
     */
    public record AccountExistsFacts(String account) {
    }

    /**
     * What SAME_ACCOUNT rests on.
     * @param account account ID
     */
    public record SameAccountFacts(String account) {
    }

    /**
     * What ACCOUNT_NOT_FOUND rests on.
     * @param account account ID
     */
    public record AccountNotFoundFacts(String account) {
    }

    /**
     * What ACCOUNT_CLOSED rests on.
     * @param account account ID
     */
    public record AccountClosedFacts(String account) {
    }

    /**
     * What ACCOUNT_FROZEN rests on.
     * @param account account ID
     */
    public record AccountFrozenFacts(String account) {
    }

    /**
     * What HOLD_EXISTS rests on.
     * @param hold hold ID, unique within the account
     */
    public record HoldExistsFacts(String hold) {
    }

    /**
     * What HOLD_NOT_FOUND rests on.
     * @param hold hold ID, unique within the account
     */
    public record HoldNotFoundFacts(String hold) {
    }

    /**
     * What HOLD_CAPTURED rests on.
     * @param hold hold ID, unique within the account
     */
    public record HoldCapturedFacts(String hold) {
    }

    /**
     * What HOLD_VOIDED rests on.
     * @param hold hold ID, unique within the account
     */
    public record HoldVoidedFacts(String hold) {
    }

    /**
     * What HOLD_EXPIRED rests on.
     * @param hold hold ID, unique within the account
     * @param deadline expiry time; absent if it does not expire (ms since the Unix epoch)
     */
    public record HoldExpiredFacts(String hold, long deadline) {
    }

    /**
     * What AMOUNT_EXCEEDS_HOLD rests on.
     * @param held the amount left in the hold (minor units)
     * @param requested the amount requested (minor units)
     */
    public record AmountExceedsHoldFacts(long held, long requested) {
    }

    /**
     * What ASSET_MISMATCH rests on.
     * @param from the asset of the paying account
     * @param to the asset of the receiving account
     */
    public record AssetMismatchFacts(String from, String to) {
    }

    /**
     * What INSUFFICIENT_FUNDS rests on.
     * @param account account ID
     * @param available balance minus holds, not counting the overdraft; may be negative (minor units)
     * @param requested the amount requested (minor units)
     */
    public record InsufficientFundsFacts(String account, long available, long requested) {
    }

    /**
     * What BALANCE_NOT_ZERO rests on.
     * @param balance the balance, including money on hold (minor units)
     * @param held the amount on hold (minor units)
     */
    public record BalanceNotZeroFacts(long balance, long held) {
    }

    /**
     * What OVERDRAFT_IN_USE rests on.
     * @param available balance minus holds, not counting the overdraft; may be negative (minor units)
     * @param overdraft the overdraft requested (minor units)
     */
    public record OverdraftInUseFacts(long available, long overdraft) {
    }

    /**
     * What STOCK_EXISTS rests on.
     * @param sku item ID (SKU)
     */
    public record StockExistsFacts(String sku) {
    }

    /**
     * What STOCK_NOT_FOUND rests on.
     * @param sku item ID (SKU)
     */
    public record StockNotFoundFacts(String sku) {
    }

    /**
     * What STOCK_CLOSED rests on.
     * @param sku item ID (SKU)
     */
    public record StockClosedFacts(String sku) {
    }

    /**
     * What RESERVATION_EXISTS rests on.
     * @param reservation reservation ID, unique within the item
     */
    public record ReservationExistsFacts(String reservation) {
    }

    /**
     * What RESERVATION_NOT_FOUND rests on.
     * @param reservation reservation ID, unique within the item
     */
    public record ReservationNotFoundFacts(String reservation) {
    }

    /**
     * What RESERVATION_CONFIRMED rests on.
     * @param reservation reservation ID, unique within the item
     */
    public record ReservationConfirmedFacts(String reservation) {
    }

    /**
     * What RESERVATION_RELEASED rests on.
     * @param reservation reservation ID, unique within the item
     */
    public record ReservationReleasedFacts(String reservation) {
    }

    /**
     * What RESERVATION_EXPIRED rests on.
     * @param reservation reservation ID, unique within the item
     * @param deadline expiry time; absent if it does not expire (ms since the Unix epoch)
     */
    public record ReservationExpiredFacts(String reservation, long deadline) {
    }

    /**
     * What OWNER_LIMIT_REACHED rests on.
     * @param used units that the owner has reserved or bought (units)
     * @param max maximum units for one owner (units)
     */
    public record OwnerLimitReachedFacts(long used, long max) {
    }

    /**
     * What SOLD_OUT rests on.
     * @param available units available (units)
     * @param requested units requested (units)
     */
    public record SoldOutFacts(long available, long requested) {
    }

    /**
     * What INSUFFICIENT_STOCK rests on.
     * @param available units available (units)
     * @param requested units requested (units)
     */
    public record InsufficientStockFacts(long available, long requested) {
    }

    /**
     * What UNITS_NOT_SOLD rests on.
     * @param first the first serial
     * @param count number of units, with consecutive serials from the first (units)
     */
    public record UnitsNotSoldFacts(long first, long count) {
    }

    /**
     * What STOCK_INCONSISTENT rests on.
     * @param figure the value that differs: total, sold, serial or returned
     * @param counted the value counted
     * @param recorded the value recorded for the item
     */
    public record StockInconsistentFacts(String figure, long counted, long recorded) {
    }

    /**
     * What RECEIPT_EXPIRED rests on.
     * @param first the first serial
     * @param count number of units, with consecutive serials from the first (units)
     */
    public record ReceiptExpiredFacts(long first, long count) {
    }

    /**
     * What CAMPAIGN_EXISTS rests on.
     * @param campaign campaign ID
     */
    public record CampaignExistsFacts(String campaign) {
    }

    /**
     * What CAMPAIGN_NOT_FOUND rests on.
     * @param campaign campaign ID
     */
    public record CampaignNotFoundFacts(String campaign) {
    }

    /**
     * What ALREADY_CLAIMED rests on.
     * @param packet packet number, starting at 1
     * @param amount the amount in the packet (minor units)
     */
    public record AlreadyClaimedFacts(Long packet, Long amount) {
    }

    /**
     * What EXHAUSTED rests on.
     * @param count number of packets in the campaign (packets)
     */
    public record ExhaustedFacts(long count) {
    }

    /**
     * What COUPON_EXISTS rests on.
     * @param coupon coupon ID
     */
    public record CouponExistsFacts(String coupon) {
    }

    /**
     * What COUPON_NOT_FOUND rests on.
     * @param coupon coupon ID
     */
    public record CouponNotFoundFacts(String coupon) {
    }

    /**
     * What COUPON_PAUSED rests on.
     * @param coupon coupon ID
     */
    public record CouponPausedFacts(String coupon) {
    }

    /**
     * What SUBJECT_INCOMPLETE rests on.
     * @param limit limit name
     * @param dimension the dimension that is missing from the subject
     */
    public record SubjectIncompleteFacts(String limit, String dimension) {
    }

    /**
     * What LIMIT_REACHED rests on.
     * @param limit limit name
     * @param used claims counted in the current window (claims)
     * @param max claims that the limit allows (claims)
     * @param resetsAt when the limit's window ends and counting restarts; absent if it never restarts (ms
     * since the Unix epoch)
     */
    public record LimitReachedFacts(String limit, long used, long max, Long resetsAt) {
    }

    /**
     * What CLAIM_NOT_FOUND rests on.
     * @param claim serial number of the claim; for red packets, the user ID
     */
    public record ClaimNotFoundFacts(Object claim) {
    }

    /**
     * What CLAIM_REDEEMED rests on.
     * @param serial serial number of the claim
     */
    public record ClaimRedeemedFacts(long serial) {
    }

    /**
     * What CLAIM_REVOKED rests on.
     * @param serial serial number of the claim
     */
    public record ClaimRevokedFacts(long serial) {
    }

    /**
     * What CLAIM_EXPIRED rests on.
     * @param serial serial number of the claim
     * @param deadline expiry time; absent if it does not expire (ms since the Unix epoch)
     */
    public record ClaimExpiredFacts(long serial, long deadline) {
    }

    /**
     * What MARKET_EXISTS rests on.
     * @param market market ID
     */
    public record MarketExistsFacts(String market) {
    }

    /**
     * What MARKET_NOT_FOUND rests on.
     * @param market market ID
     */
    public record MarketNotFoundFacts(String market) {
    }

    /**
     * What MARKET_HALTED rests on.
     * @param market market ID
     */
    public record MarketHaltedFacts(String market) {
    }

    /**
     * What ORDER_EXISTS rests on.
     * @param order order ID, unique within the market
     */
    public record OrderExistsFacts(String order) {
    }

    /**
     * What ORDER_NOT_FOUND rests on.
     * @param order order ID, unique within the market
     */
    public record OrderNotFoundFacts(String order) {
    }

    /**
     * What ORDER_CLOSED rests on.
     * @param order order ID, unique within the market
     * @param status open, partially_filled, filled or cancelled
     */
    public record OrderClosedFacts(String order, String status) {
    }

    /**
     * What PRICE_INVALID rests on.
     * @param price the price (minor units of the quote per unit of the base)
     * @param tick prices must be a multiple of it (minor units of the quote per unit of the base)
     */
    public record PriceInvalidFacts(long price, long tick) {
    }

    /**
     * What QUANTITY_INVALID rests on.
     * @param quantity the quantity to trade (units of the base)
     * @param lot order quantities must be a multiple of it (units of the base)
     * @param min the smallest order quantity (units of the base)
     * @param max the largest order quantity (units of the base)
     */
    public record QuantityInvalidFacts(long quantity, long lot, long min, long max) {
    }

    /**
     * What WOULD_TAKE rests on.
     * @param bestPrice the best price on the opposite side (minor units of the quote per unit of the base)
     */
    public record WouldTakeFacts(long bestPrice) {
    }

    /**
     * What WOULD_NOT_FILL rests on.
     * @param fillable the quantity that can be filled immediately (units of the base)
     * @param quantity the quantity to trade (units of the base)
     */
    public record WouldNotFillFacts(long fillable, long quantity) {
    }

    /**
     * What ACCOUNT.OPEN answers.
     * @param available balance minus holds, not counting the overdraft; may be negative (minor units)
     */
    public record AccountOpenResult(long available) {
    }

    /**
     * What ACCOUNT.GET answers.
     * @param account account ID
     * @param asset asset ID, such as USD-cents
     * @param balance the balance, including money on hold (minor units)
     * @param held the amount on hold (minor units)
     * @param available balance minus holds, not counting the overdraft; may be negative (minor units)
     * @param overdraft overdraft limit: how far below zero the account may go (minor units)
     * @param status open, frozen or closed
     */
    public record AccountGetResult(String account, String asset, long balance, long held, long available, long overdraft, String status) {
    }

    /**
     * What ACCOUNT.CREDIT answers.
     * @param available balance minus holds, not counting the overdraft; may be negative (minor units)
     * @param balance the balance, including money on hold (minor units)
     */
    public record AccountCreditResult(long available, long balance) {
    }

    /**
     * What ACCOUNT.DEBIT answers.
     * @param available balance minus holds, not counting the overdraft; may be negative (minor units)
     * @param balance the balance, including money on hold (minor units)
     */
    public record AccountDebitResult(long available, long balance) {
    }

    /**
     * What ACCOUNT.TRANSFER answers.
     * @param fromAvailable the paying account's available balance afterwards (minor units)
     * @param toAvailable the receiving account's available balance afterwards (minor units)
     */
    public record AccountTransferResult(long fromAvailable, long toAvailable) {
    }

    /**
     * What ACCOUNT.HOLD answers.
     * @param available balance minus holds, not counting the overdraft; may be negative (minor units)
     * @param deadline expiry time; absent if it does not expire (ms since the Unix epoch)
     */
    public record AccountHoldResult(long available, Long deadline) {
    }

    /**
     * What ACCOUNT.CAPTURE answers.
     * @param captured the amount captured from the hold (minor units)
     * @param holdRemaining the amount left in the hold afterwards (minor units)
     * @param available balance minus holds, not counting the overdraft; may be negative (minor units)
     */
    public record AccountCaptureResult(long captured, long holdRemaining, long available) {
    }

    /**
     * What ACCOUNT.VOID answers.
     * @param released the amount that the hold had and that is available again (minor units)
     * @param available balance minus holds, not counting the overdraft; may be negative (minor units)
     */
    public record AccountVoidResult(long released, long available) {
    }

    /**
     * What ACCOUNT.EXTEND answers.
     * @param deadline expiry time; absent if it does not expire (ms since the Unix epoch)
     */
    public record AccountExtendResult(long deadline) {
    }

    /**
     * What ACCOUNT.HOLDS answers.
     * @param holds a page of holds: name, amount left, status, deadline
     * @param hasMore whether another page follows
     * @param cursor where the next page begins
     */
    public record AccountHoldsResult(List<HoldRow> holds, boolean hasMore, String cursor) {
    }

    /**
     * What ACCOUNT.FREEZE answers.
     * @param status open, frozen or closed
     */
    public record AccountFreezeResult(String status) {
    }

    /**
     * What ACCOUNT.UNFREEZE answers.
     * @param status open, frozen or closed
     */
    public record AccountUnfreezeResult(String status) {
    }

    /**
     * What ACCOUNT.CLOSE answers.
     * @param status open, frozen or closed
     */
    public record AccountCloseResult(String status) {
    }

    /**
     * What ACCOUNT.OVERDRAFT answers.
     * @param overdraft overdraft limit: how far below zero the account may go (minor units)
     * @param available balance minus holds, not counting the overdraft; may be negative (minor units)
     */
    public record AccountOverdraftResult(long overdraft, long available) {
    }

    /**
     * What ACCOUNT.WORLD answers.
     * @param account ID of the asset's world account, which begins with $world:
     * @param asset asset ID, such as USD-cents
     * @param balance the negated sum of all other balances of the asset in the partition (minor units)
     */
    public record AccountWorldResult(String account, String asset, long balance) {
    }

    /**
     * What ACCOUNT.LIST answers.
     * @param accounts accounts in the order of their names
     * @param hasMore whether another page follows
     * @param cursor where the next page begins
     */
    public record AccountListResult(List<AccountGetRow> accounts, boolean hasMore, String cursor) {
    }

    /**
     * What STOCK.CREATE answers.
     * @param available units available (units)
     */
    public record StockCreateResult(long available) {
    }

    /**
     * What STOCK.GET answers.
     * @param sku item ID (SKU)
     * @param total available + reserved + sold (units)
     * @param available units available (units)
     * @param reserved units that are reserved (units)
     * @param sold units sold, excluding returns (units)
     * @param returned total units returned so far (units)
     * @param perOwnerMax maximum units for each owner; no limit if absent (units)
     * @param startsAt start time: before then nothing is handed out; absent if there is none (ms since the
     * Unix epoch)
     * @param endsAt end time: from then on nothing is handed out; absent if there is no end (ms since the
     * Unix epoch)
     * @param status open, not_started, ended or closed
     */
    public record StockGetResult(String sku, long total, long available, long reserved, long sold, long returned, Long perOwnerMax, Long startsAt, Long endsAt, String status) {
    }

    /**
     * What STOCK.RESTOCK answers.
     * @param available units available (units)
     * @param total available + reserved + sold (units)
     */
    public record StockRestockResult(long available, long total) {
    }

    /**
     * What STOCK.ADJUST answers.
     * @param available units available (units)
     * @param total available + reserved + sold (units)
     */
    public record StockAdjustResult(long available, long total) {
    }

    /**
     * What STOCK.TAKE answers.
     * @param firstSerial the first serial; the others follow in sequence
     * @param remaining units still available (units)
     */
    public record StockTakeResult(long firstSerial, long remaining) {
    }

    /**
     * What STOCK.RESERVE answers.
     * @param deadline expiry time; absent if it does not expire (ms since the Unix epoch)
     * @param remaining units still available (units)
     */
    public record StockReserveResult(long deadline, long remaining) {
    }

    /**
     * What STOCK.CONFIRM answers.
     * @param firstSerial the first serial; the others follow in sequence
     * @param quantity number of units (units)
     */
    public record StockConfirmResult(long firstSerial, long quantity) {
    }

    /**
     * What STOCK.RELEASE answers.
     * @param released units that are available again (units)
     * @param remaining units still available (units)
     */
    public record StockReleaseResult(long released, long remaining) {
    }

    /**
     * What STOCK.EXTEND answers.
     * @param deadline expiry time; absent if it does not expire (ms since the Unix epoch)
     */
    public record StockExtendResult(long deadline) {
    }

    /**
     * What STOCK.RETURN answers.
     * @param returned units returned (units)
     * @param remaining units still available (units)
     */
    public record StockReturnResult(long returned, long remaining) {
    }

    /**
     * What STOCK.CLOSE answers.
     * @param available units available (units)
     * @param reserved units that are reserved (units)
     * @param sold units sold, excluding returns (units)
     */
    public record StockCloseResult(long available, long reserved, long sold) {
    }

    /**
     * What STOCK.AUDIT answers.
     * @param state RUNNING until the last chunk, then CONSISTENT
     * @param counted units counted so far (units)
     * @param throughSerial the serial up to which receipts have been recounted
     */
    public record StockAuditResult(String state, long counted, long throughSerial) {
    }

    /**
     * What STOCK.RESERVATION answers.
     * @param reservation reservation ID, unique within the item
     * @param owner ID of the buyer
     * @param quantity number of units (units)
     * @param status open, confirmed, released or expired
     * @param deadline expiry time; absent if it does not expire (ms since the Unix epoch)
     * @param firstSerial the first serial sold; absent unless the reservation was confirmed
     */
    public record StockReservationResult(String reservation, String owner, long quantity, String status, Long deadline, Long firstSerial) {
    }

    /**
     * What STOCK.LIST answers.
     * @param items stock items in the order of their names
     * @param hasMore whether another page follows
     * @param cursor where the next page begins
     */
    public record StockListResult(List<StockGetRow> items, boolean hasMore, String cursor) {
    }

    /**
     * What PACKET.CREATE answers.
     * @param count number of packets in the campaign (packets)
     * @param total total amount of all packets (minor units)
     * @param commitment SHA-256 of the seed and the plan, in hexadecimal; absent if the amounts were given
     * individually
     */
    public record PacketCreateResult(long count, long total, String commitment) {
    }

    /**
     * What PACKET.CLAIM answers.
     * @param packet packet number, starting at 1
     * @param amount the amount in the packet (minor units)
     */
    public record PacketClaimResult(long packet, Long amount) {
    }

    /**
     * What PACKET.GET answers.
     * @param campaign campaign ID
     * @param asset asset ID, such as USD-cents
     * @param count number of packets in the campaign (packets)
     * @param total total amount of all packets (minor units)
     * @param claimedCount number of claimed packets (packets)
     * @param claimedAmount total amount of the claimed packets (minor units)
     * @param startsAt start time: before then nothing is handed out; absent if there is none (ms since the
     * Unix epoch)
     * @param endsAt end time: from then on nothing is handed out; absent if there is no end (ms since the
     * Unix epoch)
     * @param status open, not_started, ended, exhausted or closed
     * @param commitment SHA-256 of the seed and the plan, in hexadecimal; absent if the amounts were given
     * individually
     * @param seed the 32 bytes that determine the cut, in hexadecimal; revealed only once the campaign is
     * closed, absent if the amounts were given individually
     */
    public record PacketGetResult(String campaign, String asset, long count, long total, long claimedCount, long claimedAmount, Long startsAt, Long endsAt, String status, String commitment, String seed) {
    }

    /**
     * What PACKET.CLOSE answers.
     * @param claimedCount number of claimed packets (packets)
     * @param leftCount number of remaining packets (packets)
     * @param leftAmount total amount of the remaining packets (minor units)
     * @param seed the 32 bytes that determine the cut, in hexadecimal; revealed only once the campaign is
     * closed, absent if the amounts were given individually
     */
    public record PacketCloseResult(long claimedCount, long leftCount, Long leftAmount, String seed) {
    }

    /**
     * What PACKET.CLAIMED answers.
     * @param user user ID
     * @param packet packet number, starting at 1
     * @param amount the amount in the packet (minor units)
     * @param at when it was claimed (ms since the Unix epoch)
     */
    public record PacketClaimedResult(String user, long packet, long amount, long at) {
    }

    /**
     * What PACKET.CLAIMS answers.
     * @param claims a page of claims
     * @param hasMore whether another page follows
     * @param cursor where the next page begins
     */
    public record PacketClaimsResult(List<PacketClaimedRow> claims, boolean hasMore, String cursor) {
    }

    /**
     * What PACKET.LIST answers.
     * @param campaigns campaigns in the order of their names
     * @param hasMore whether another page follows
     * @param cursor where the next page begins
     */
    public record PacketListResult(List<PacketGetRow> campaigns, boolean hasMore, String cursor) {
    }

    /**
     * What COUPON.CREATE answers.
     * @param limits 1 to 16 limits, each with a name, a maximum, dimensions and a window; the answer is
     * their number
     */
    public record CouponCreateResult(long limits) {
    }

    /**
     * What COUPON.UPDATE answers.
     * @param limits limits with a new maximum, or limits to add; the answer is the number of limits
     * afterwards
     */
    public record CouponUpdateResult(long limits) {
    }

    /**
     * What COUPON.CLAIM answers.
     * @param serial serial number of the claim
     * @param deadline expiry time of the claim: from then on it cannot be redeemed; absent if it does not
     * expire (ms since the Unix epoch)
     */
    public record CouponClaimResult(long serial, Long deadline) {
    }

    /**
     * What COUPON.CHECK answers.
     */
    public record CouponCheckResult() {
    }

    /**
     * What COUPON.REDEEM answers.
     * @param serial serial number of the claim
     */
    public record CouponRedeemResult(long serial) {
    }

    /**
     * What COUPON.REVOKE answers.
     * @param givenBack number of limits to which the count was returned
     */
    public record CouponRevokeResult(long givenBack) {
    }

    /**
     * What COUPON.CLAIMED answers.
     * @param serial serial number of the claim
     * @param user ID of the user who claimed
     * @param status open, redeemed, revoked or expired
     * @param at when it was claimed (ms since the Unix epoch)
     * @param deadline expiry time of the claim: from then on it cannot be redeemed; absent if it does not
     * expire (ms since the Unix epoch)
     */
    public record CouponClaimedResult(long serial, String user, String status, long at, Long deadline) {
    }

    /**
     * What COUPON.GET answers.
     * @param coupon coupon ID
     * @param status open, paused, not_started or ended
     * @param claimed number of claims so far, including revoked ones (claims)
     * @param startsAt start time: before then nothing is handed out; absent if there is none (ms since the
     * Unix epoch)
     * @param endsAt end time: from then on nothing is handed out; absent if there is no end (ms since the
     * Unix epoch)
     * @param claimTtlMs how long a claim can be redeemed; without limit if absent (ms)
     * @param limits the limits, in the order in which they are checked
     */
    public record CouponGetResult(String coupon, String status, long claimed, Long startsAt, Long endsAt, Long claimTtlMs, List<Limit> limits) {
    }

    /**
     * What COUPON.PAUSE answers.
     * @param status open, paused, not_started or ended
     */
    public record CouponPauseResult(String status) {
    }

    /**
     * What COUPON.RESUME answers.
     * @param status open, paused, not_started or ended
     */
    public record CouponResumeResult(String status) {
    }

    /**
     * What COUPON.LIST answers.
     * @param coupons coupons in the order of their names
     * @param hasMore whether another page follows
     * @param cursor where the next page begins
     */
    public record CouponListResult(List<CouponGetRow> coupons, boolean hasMore, String cursor) {
    }

    /**
     * What MARKET.CREATE answers.
     * @param status open or halted
     */
    public record MarketCreateResult(String status) {
    }

    /**
     * What MARKET.GET answers.
     * @param market market ID
     * @param status open or halted
     * @param tick prices must be a multiple of it (minor units of the quote per unit of the base)
     * @param lot order quantities must be a multiple of it (units of the base)
     * @param minQuantity the smallest order quantity (units of the base)
     * @param maxQuantity the largest order quantity (units of the base)
     * @param bestBid the highest buy price; absent if there are no buy orders (minor units of the quote
     * per unit of the base)
     * @param bestAsk the lowest sell price; absent if there are no sell orders (minor units of the quote
     * per unit of the base)
     * @param orders number of orders on the book (orders)
     * @param trades number of trades so far
     */
    public record MarketGetResult(String market, String status, long tick, long lot, long minQuantity, long maxQuantity, Long bestBid, Long bestAsk, long orders, long trades) {
    }

    /**
     * What MARKET.HALT answers.
     * @param status open or halted
     */
    public record MarketHaltResult(String status) {
    }

    /**
     * What MARKET.RESUME answers.
     * @param status open or halted
     */
    public record MarketResumeResult(String status) {
    }

    /**
     * What MARKET.DEPTH answers.
     * @param bids buy levels, highest price first
     * @param asks sell levels, lowest price first
     * @param sequence sequence of the partition's last event that the book shows
     */
    public record MarketDepthResult(List<LevelRow> bids, List<LevelRow> asks, long sequence) {
    }

    /**
     * What MARKET.TRADES answers.
     * @param trades the latest trades, newest first
     */
    public record MarketTradesResult(List<OrderTradedRow> trades) {
    }

    /**
     * What MARKET.TICKER answers.
     * @param market market ID
     * @param lastPrice the price of the last trade; absent before the first (minor units of the quote per
     * unit of the base)
     * @param lastQuantity the quantity of the last trade (units of the base)
     * @param lastSide the side of the order that took in the last trade
     * @param lastAt when the last trade happened (ms since the Unix epoch)
     * @param bestBid the highest buy price; absent if there are no buy orders (minor units of the quote
     * per unit of the base)
     * @param bidQuantity the quantity at the best bid (units of the base)
     * @param bestAsk the lowest sell price; absent if there are no sell orders (minor units of the quote
     * per unit of the base)
     * @param askQuantity the quantity at the best ask (units of the base)
     * @param trades number of trades so far
     * @param sequence sequence of the partition's last event that it shows
     */
    public record MarketTickerResult(String market, Long lastPrice, Long lastQuantity, String lastSide, Long lastAt, Long bestBid, Long bidQuantity, Long bestAsk, Long askQuantity, long trades, long sequence) {
    }

    /**
     * What MARKET.LIST answers.
     * @param markets markets in the order of their names
     * @param hasMore whether another page follows
     * @param cursor where the next page begins
     */
    public record MarketListResult(List<MarketGetRow> markets, boolean hasMore, String cursor) {
    }

    /**
     * What ORDER.LIST answers.
     * @param orders the resting orders
     * @param hasMore whether another page follows
     * @param cursor where the next page begins
     */
    public record OrderListResult(List<OrderGetRow> orders, boolean hasMore, String cursor) {
    }

    /**
     * What ORDER.PLACE answers.
     * @param status open, partially_filled, filled or cancelled
     * @param filled the quantity filled so far (units of the base)
     * @param remaining unfilled quantity (units of the base)
     * @param fills the trades made by this command, in order: trade, maker_order, price, quantity,
     * maker_remaining
     */
    public record OrderPlaceResult(String status, long filled, long remaining, List<FillRow> fills) {
    }

    /**
     * What ORDER.CANCEL answers.
     * @param remaining quantity that was unfilled (units of the base)
     */
    public record OrderCancelResult(long remaining) {
    }

    /**
     * What ORDER.REDUCE answers.
     * @param status open, partially_filled, filled or cancelled
     * @param remaining unfilled quantity (units of the base)
     */
    public record OrderReduceResult(String status, long remaining) {
    }

    /**
     * What ORDER.REPLACE answers.
     * @param status open, partially_filled, filled or cancelled
     * @param filled the quantity filled so far (units of the base)
     * @param remaining unfilled quantity (units of the base)
     * @param fills the trades made by this command, in order: trade, maker_order, price, quantity,
     * maker_remaining
     */
    public record OrderReplaceResult(String status, long filled, long remaining, List<FillRow> fills) {
    }

    /**
     * What ORDER.CANCELALL answers.
     * @param cancelled number of cancelled orders (orders)
     */
    public record OrderCancelallResult(long cancelled) {
    }

    /**
     * What ORDER.GET answers.
     * @param order order ID, unique within the market
     * @param owner ID of the order's owner
     * @param side side of the book: BUY or SELL
     * @param price the limit price; absent for a market order (minor units of the quote per unit of the
     * base)
     * @param remaining unfilled quantity (units of the base)
     * @param filled the quantity filled so far (units of the base)
     * @param tif time in force: GTC, IOC, FOK or POST
     * @param stp the self-trade prevention of the order when it is the incoming one
     * @param status open, partially_filled, filled or cancelled
     * @param reason why the order ended unfilled: requested, unfilled or self_trade; absent if it did not
     */
    public record OrderGetResult(String order, String owner, String side, Long price, long remaining, long filled, String tif, String stp, String status, String reason) {
    }

    /**
     * What OPERATION.GET answers.
     * @param operation operation ID
     * @param sequence sequence of the operation's last event
     * @param at when the operation was decided (ms since the Unix epoch)
     * @param outcome the answer: 1 and the values, or 0, the code and its facts
     */
    public record OperationGetResult(String operation, long sequence, long at, RememberedOutcome outcome) {
    }

    /**
     * What OPERATION.RESOLVE answers.
     * @param state APPLIED or REFUSED if the operation is remembered; otherwise ABSENT from now on
     * @param outcome the remembered answer; absent if the state is ABSENT
     */
    public record OperationResolveResult(String state, RememberedOutcome outcome) {
    }

    /**
     * What DIGEST answers.
     * @param digests one row for each partition: partition, sequence, digest
     */
    public record DigestResult(List<DigestRow> digests) {
    }

    /**
     * What NOT_OWNER rests on.
     */
    public record NotOwnerFacts() {
    }

    /**
     * What ACCOUNT.OPEN takes.
     * @param account account ID
     * @param asset asset ID, such as USD-cents
     * @param overdraft overdraft limit: how far below zero the account may go; 0 by default (minor units)
     */
    public record AccountOpenArguments(String account, String asset, Long overdraft) implements Arguments<AccountOpenResult> {
        /** With what is required. */
        public AccountOpenArguments(String account, String asset) {
            this(account, asset, null);
        }

        /** The same with this. */
        public AccountOpenArguments withOverdraft(Long overdraft) {
            return new AccountOpenArguments(account, asset, overdraft);
        }

        @Override
        public Route route() {
            return new Route("ACCOUNT.OPEN", "POST", "/v1/accounts", List.of(), "account", true, true);
        }

        @Override
        public Class<AccountOpenResult> result() {
            return AccountOpenResult.class;
        }
    }

    /**
     * What ACCOUNT.GET takes.
     * @param account account ID
     */
    public record AccountGetArguments(String account) implements Arguments<AccountGetResult> {
        @Override
        public Route route() {
            return new Route("ACCOUNT.GET", "GET", "/v1/accounts/{account}", List.of(), "", false, false);
        }

        @Override
        public Class<AccountGetResult> result() {
            return AccountGetResult.class;
        }
    }

    /**
     * What ACCOUNT.CREDIT takes.
     * @param account account ID
     * @param amount the amount (minor units)
     */
    public record AccountCreditArguments(String account, long amount) implements Arguments<AccountCreditResult> {
        @Override
        public Route route() {
            return new Route("ACCOUNT.CREDIT", "POST", "/v1/accounts/{account}/credit", List.of(), "account", true, true);
        }

        @Override
        public Class<AccountCreditResult> result() {
            return AccountCreditResult.class;
        }
    }

    /**
     * What ACCOUNT.DEBIT takes.
     * @param account account ID
     * @param amount the amount (minor units)
     */
    public record AccountDebitArguments(String account, long amount) implements Arguments<AccountDebitResult> {
        @Override
        public Route route() {
            return new Route("ACCOUNT.DEBIT", "POST", "/v1/accounts/{account}/debit", List.of(), "account", true, true);
        }

        @Override
        public Class<AccountDebitResult> result() {
            return AccountDebitResult.class;
        }
    }

    /**
     * What ACCOUNT.TRANSFER takes.
     * @param from the paying account
     * @param to the receiving account
     * @param amount the amount (minor units)
     */
    public record AccountTransferArguments(String from, String to, long amount) implements Arguments<AccountTransferResult> {
        @Override
        public Route route() {
            return new Route("ACCOUNT.TRANSFER", "POST", "/v1/transfers", List.of(), "from", true, true);
        }

        @Override
        public Class<AccountTransferResult> result() {
            return AccountTransferResult.class;
        }
    }

    /**
     * What ACCOUNT.HOLD takes.
     * @param account account ID
     * @param hold hold ID, unique within the account
     * @param amount the amount (minor units)
     * @param ttlMs duration, counted from now (ms)
     */
    public record AccountHoldArguments(String account, String hold, long amount, Long ttlMs) implements Arguments<AccountHoldResult> {
        /** With what is required. */
        public AccountHoldArguments(String account, String hold, long amount) {
            this(account, hold, amount, null);
        }

        /** The same with this. */
        public AccountHoldArguments withTtlMs(Long ttlMs) {
            return new AccountHoldArguments(account, hold, amount, ttlMs);
        }

        @Override
        public Route route() {
            return new Route("ACCOUNT.HOLD", "POST", "/v1/accounts/{account}/holds", List.of(), "account", true, true);
        }

        @Override
        public Class<AccountHoldResult> result() {
            return AccountHoldResult.class;
        }
    }

    /**
     * What ACCOUNT.CAPTURE takes.
     * @param account account ID
     * @param hold hold ID, unique within the account
     * @param amount the amount to capture; by default all that is left in the hold (minor units)
     * @param keepRest keep the uncaptured amount on hold
     * @param to the receiving account; by default the money leaves the system
     */
    public record AccountCaptureArguments(String account, String hold, Long amount, Boolean keepRest, String to) implements Arguments<AccountCaptureResult> {
        /** With what is required. */
        public AccountCaptureArguments(String account, String hold) {
            this(account, hold, null, null, null);
        }

        /** The same with this. */
        public AccountCaptureArguments withAmount(Long amount) {
            return new AccountCaptureArguments(account, hold, amount, keepRest, to);
        }

        /** The same with this. */
        public AccountCaptureArguments withKeepRest(Boolean keepRest) {
            return new AccountCaptureArguments(account, hold, amount, keepRest, to);
        }

        /** The same with this. */
        public AccountCaptureArguments withTo(String to) {
            return new AccountCaptureArguments(account, hold, amount, keepRest, to);
        }

        @Override
        public Route route() {
            return new Route("ACCOUNT.CAPTURE", "POST", "/v1/accounts/{account}/holds/{hold}/capture", List.of(), "account", true, true);
        }

        @Override
        public Class<AccountCaptureResult> result() {
            return AccountCaptureResult.class;
        }
    }

    /**
     * What ACCOUNT.VOID takes.
     * @param account account ID
     * @param hold hold ID, unique within the account
     */
    public record AccountVoidArguments(String account, String hold) implements Arguments<AccountVoidResult> {
        @Override
        public Route route() {
            return new Route("ACCOUNT.VOID", "POST", "/v1/accounts/{account}/holds/{hold}/void", List.of(), "account", true, true);
        }

        @Override
        public Class<AccountVoidResult> result() {
            return AccountVoidResult.class;
        }
    }

    /**
     * What ACCOUNT.EXTEND takes.
     * @param account account ID
     * @param hold hold ID, unique within the account
     * @param ttlMs duration, counted from now (ms)
     */
    public record AccountExtendArguments(String account, String hold, long ttlMs) implements Arguments<AccountExtendResult> {
        @Override
        public Route route() {
            return new Route("ACCOUNT.EXTEND", "POST", "/v1/accounts/{account}/holds/{hold}/extend", List.of(), "account", true, true);
        }

        @Override
        public Class<AccountExtendResult> result() {
            return AccountExtendResult.class;
        }
    }

    /**
     * What ACCOUNT.HOLDS takes.
     * @param account account ID
     * @param cursor where the list goes on, as the page before said
     * @param limit how many rows the page has at most; 100 by default
     */
    public record AccountHoldsArguments(String account, String cursor, Long limit) implements Arguments<AccountHoldsResult> {
        /** With what is required. */
        public AccountHoldsArguments(String account) {
            this(account, null, null);
        }

        /** The same with this. */
        public AccountHoldsArguments withCursor(String cursor) {
            return new AccountHoldsArguments(account, cursor, limit);
        }

        /** The same with this. */
        public AccountHoldsArguments withLimit(Long limit) {
            return new AccountHoldsArguments(account, cursor, limit);
        }

        @Override
        public Route route() {
            return new Route("ACCOUNT.HOLDS", "GET", "/v1/accounts/{account}/holds", List.of("cursor", "limit"), "", false, false);
        }

        @Override
        public Class<AccountHoldsResult> result() {
            return AccountHoldsResult.class;
        }
    }

    /**
     * What ACCOUNT.FREEZE takes.
     * @param account account ID
     */
    public record AccountFreezeArguments(String account) implements Arguments<AccountFreezeResult> {
        @Override
        public Route route() {
            return new Route("ACCOUNT.FREEZE", "POST", "/v1/accounts/{account}/freeze", List.of(), "account", true, true);
        }

        @Override
        public Class<AccountFreezeResult> result() {
            return AccountFreezeResult.class;
        }
    }

    /**
     * What ACCOUNT.UNFREEZE takes.
     * @param account account ID
     */
    public record AccountUnfreezeArguments(String account) implements Arguments<AccountUnfreezeResult> {
        @Override
        public Route route() {
            return new Route("ACCOUNT.UNFREEZE", "POST", "/v1/accounts/{account}/unfreeze", List.of(), "account", true, true);
        }

        @Override
        public Class<AccountUnfreezeResult> result() {
            return AccountUnfreezeResult.class;
        }
    }

    /**
     * What ACCOUNT.CLOSE takes.
     * @param account account ID
     */
    public record AccountCloseArguments(String account) implements Arguments<AccountCloseResult> {
        @Override
        public Route route() {
            return new Route("ACCOUNT.CLOSE", "POST", "/v1/accounts/{account}/close", List.of(), "account", true, true);
        }

        @Override
        public Class<AccountCloseResult> result() {
            return AccountCloseResult.class;
        }
    }

    /**
     * What ACCOUNT.OVERDRAFT takes.
     * @param account account ID
     * @param overdraft overdraft limit: how far below zero the account may go (minor units)
     */
    public record AccountOverdraftArguments(String account, long overdraft) implements Arguments<AccountOverdraftResult> {
        @Override
        public Route route() {
            return new Route("ACCOUNT.OVERDRAFT", "POST", "/v1/accounts/{account}/overdraft", List.of(), "account", true, true);
        }

        @Override
        public Class<AccountOverdraftResult> result() {
            return AccountOverdraftResult.class;
        }
    }

    /**
     * What ACCOUNT.WORLD takes.
     * @param asset asset ID, such as USD-cents
     * @param on ID of any resource in the target partition
     */
    public record AccountWorldArguments(String asset, String on) implements Arguments<AccountWorldResult> {
        @Override
        public Route route() {
            return new Route("ACCOUNT.WORLD", "GET", "/v1/worlds/{asset}", List.of("on"), "", false, false);
        }

        @Override
        public Class<AccountWorldResult> result() {
            return AccountWorldResult.class;
        }
    }

    /**
     * What ACCOUNT.LIST takes.
     * @param prefix what the names begin with; all names by default
     * @param cursor where the list goes on, as the page before said
     * @param limit how many rows the page has at most; 100 by default
     */
    public record AccountListArguments(String prefix, String cursor, Long limit) implements Arguments<AccountListResult> {
        /** With what is required. */
        public AccountListArguments() {
            this(null, null, null);
        }

        /** The same with this. */
        public AccountListArguments withPrefix(String prefix) {
            return new AccountListArguments(prefix, cursor, limit);
        }

        /** The same with this. */
        public AccountListArguments withCursor(String cursor) {
            return new AccountListArguments(prefix, cursor, limit);
        }

        /** The same with this. */
        public AccountListArguments withLimit(Long limit) {
            return new AccountListArguments(prefix, cursor, limit);
        }

        @Override
        public Route route() {
            return new Route("ACCOUNT.LIST", "GET", "/v1/accounts", List.of("prefix", "cursor", "limit"), "", false, false);
        }

        @Override
        public Class<AccountListResult> result() {
            return AccountListResult.class;
        }
    }

    /**
     * What STOCK.CREATE takes.
     * @param sku item ID (SKU)
     * @param quantity number of units (units)
     * @param endsAt end time: from then on nothing is handed out; absent if there is no end (ms since the
     * Unix epoch)
     * @param perOwnerMax maximum units for each owner; no limit if absent (units)
     * @param startsAt start time: before then nothing is handed out; absent if there is none (ms since the
     * Unix epoch)
     */
    public record StockCreateArguments(String sku, long quantity, Long endsAt, Long perOwnerMax, Long startsAt) implements Arguments<StockCreateResult> {
        /** With what is required. */
        public StockCreateArguments(String sku, long quantity) {
            this(sku, quantity, null, null, null);
        }

        /** The same with this. */
        public StockCreateArguments withEndsAt(Long endsAt) {
            return new StockCreateArguments(sku, quantity, endsAt, perOwnerMax, startsAt);
        }

        /** The same with this. */
        public StockCreateArguments withPerOwnerMax(Long perOwnerMax) {
            return new StockCreateArguments(sku, quantity, endsAt, perOwnerMax, startsAt);
        }

        /** The same with this. */
        public StockCreateArguments withStartsAt(Long startsAt) {
            return new StockCreateArguments(sku, quantity, endsAt, perOwnerMax, startsAt);
        }

        @Override
        public Route route() {
            return new Route("STOCK.CREATE", "POST", "/v1/stock", List.of(), "sku", true, false);
        }

        @Override
        public Class<StockCreateResult> result() {
            return StockCreateResult.class;
        }
    }

    /**
     * What STOCK.GET takes.
     * @param sku item ID (SKU)
     */
    public record StockGetArguments(String sku) implements Arguments<StockGetResult> {
        @Override
        public Route route() {
            return new Route("STOCK.GET", "GET", "/v1/stock/{sku}", List.of(), "", false, false);
        }

        @Override
        public Class<StockGetResult> result() {
            return StockGetResult.class;
        }
    }

    /**
     * What STOCK.RESTOCK takes.
     * @param sku item ID (SKU)
     * @param quantity number of units (units)
     */
    public record StockRestockArguments(String sku, long quantity) implements Arguments<StockRestockResult> {
        @Override
        public Route route() {
            return new Route("STOCK.RESTOCK", "POST", "/v1/stock/{sku}/restock", List.of(), "sku", true, false);
        }

        @Override
        public Class<StockRestockResult> result() {
            return StockRestockResult.class;
        }
    }

    /**
     * What STOCK.ADJUST takes.
     * @param sku item ID (SKU)
     * @param delta change in units; negative to remove units (units)
     * @param reason the reason, which is written to the log
     */
    public record StockAdjustArguments(String sku, long delta, String reason) implements Arguments<StockAdjustResult> {
        @Override
        public Route route() {
            return new Route("STOCK.ADJUST", "POST", "/v1/stock/{sku}/adjust", List.of(), "sku", true, false);
        }

        @Override
        public Class<StockAdjustResult> result() {
            return StockAdjustResult.class;
        }
    }

    /**
     * What STOCK.TAKE takes.
     * @param sku item ID (SKU)
     * @param quantity number of units (units)
     * @param owner ID of the buyer
     */
    public record StockTakeArguments(String sku, long quantity, String owner) implements Arguments<StockTakeResult> {
        @Override
        public Route route() {
            return new Route("STOCK.TAKE", "POST", "/v1/stock/{sku}/take", List.of(), "sku", true, false);
        }

        @Override
        public Class<StockTakeResult> result() {
            return StockTakeResult.class;
        }
    }

    /**
     * What STOCK.RESERVE takes.
     * @param sku item ID (SKU)
     * @param reservation reservation ID, unique within the item
     * @param quantity number of units (units)
     * @param owner ID of the buyer
     * @param ttlMs duration, counted from now (ms)
     */
    public record StockReserveArguments(String sku, String reservation, long quantity, String owner, long ttlMs) implements Arguments<StockReserveResult> {
        @Override
        public Route route() {
            return new Route("STOCK.RESERVE", "POST", "/v1/stock/{sku}/reservations", List.of(), "sku", true, false);
        }

        @Override
        public Class<StockReserveResult> result() {
            return StockReserveResult.class;
        }
    }

    /**
     * What STOCK.CONFIRM takes.
     * @param sku item ID (SKU)
     * @param reservation reservation ID, unique within the item
     */
    public record StockConfirmArguments(String sku, String reservation) implements Arguments<StockConfirmResult> {
        @Override
        public Route route() {
            return new Route("STOCK.CONFIRM", "POST", "/v1/stock/{sku}/reservations/{reservation}/confirm", List.of(), "sku", true, false);
        }

        @Override
        public Class<StockConfirmResult> result() {
            return StockConfirmResult.class;
        }
    }

    /**
     * What STOCK.RELEASE takes.
     * @param sku item ID (SKU)
     * @param reservation reservation ID, unique within the item
     */
    public record StockReleaseArguments(String sku, String reservation) implements Arguments<StockReleaseResult> {
        @Override
        public Route route() {
            return new Route("STOCK.RELEASE", "POST", "/v1/stock/{sku}/reservations/{reservation}/release", List.of(), "sku", true, false);
        }

        @Override
        public Class<StockReleaseResult> result() {
            return StockReleaseResult.class;
        }
    }

    /**
     * What STOCK.EXTEND takes.
     * @param sku item ID (SKU)
     * @param reservation reservation ID, unique within the item
     * @param ttlMs duration, counted from now (ms)
     */
    public record StockExtendArguments(String sku, String reservation, long ttlMs) implements Arguments<StockExtendResult> {
        @Override
        public Route route() {
            return new Route("STOCK.EXTEND", "POST", "/v1/stock/{sku}/reservations/{reservation}/extend", List.of(), "sku", true, false);
        }

        @Override
        public Class<StockExtendResult> result() {
            return StockExtendResult.class;
        }
    }

    /**
     * What STOCK.RETURN takes.
     * @param sku item ID (SKU)
     * @param first the first serial
     * @param count number of units, with consecutive serials from the first (units)
     */
    public record StockReturnArguments(String sku, long first, long count) implements Arguments<StockReturnResult> {
        @Override
        public Route route() {
            return new Route("STOCK.RETURN", "POST", "/v1/stock/{sku}/return", List.of(), "sku", true, false);
        }

        @Override
        public Class<StockReturnResult> result() {
            return StockReturnResult.class;
        }
    }

    /**
     * What STOCK.CLOSE takes.
     * @param sku item ID (SKU)
     */
    public record StockCloseArguments(String sku) implements Arguments<StockCloseResult> {
        @Override
        public Route route() {
            return new Route("STOCK.CLOSE", "POST", "/v1/stock/{sku}/close", List.of(), "sku", true, false);
        }

        @Override
        public Class<StockCloseResult> result() {
            return StockCloseResult.class;
        }
    }

    /**
     * What STOCK.AUDIT takes.
     * @param sku item ID (SKU)
     */
    public record StockAuditArguments(String sku) implements Arguments<StockAuditResult> {
        @Override
        public Route route() {
            return new Route("STOCK.AUDIT", "POST", "/v1/stock/{sku}/audit", List.of(), "sku", true, false);
        }

        @Override
        public Class<StockAuditResult> result() {
            return StockAuditResult.class;
        }
    }

    /**
     * What STOCK.RESERVATION takes.
     * @param sku item ID (SKU)
     * @param reservation reservation ID, unique within the item
     */
    public record StockReservationArguments(String sku, String reservation) implements Arguments<StockReservationResult> {
        @Override
        public Route route() {
            return new Route("STOCK.RESERVATION", "GET", "/v1/stock/{sku}/reservations/{reservation}", List.of(), "", false, false);
        }

        @Override
        public Class<StockReservationResult> result() {
            return StockReservationResult.class;
        }
    }

    /**
     * What STOCK.LIST takes.
     * @param prefix what the names begin with; all names by default
     * @param cursor where the list goes on, as the page before said
     * @param limit how many rows the page has at most; 100 by default
     */
    public record StockListArguments(String prefix, String cursor, Long limit) implements Arguments<StockListResult> {
        /** With what is required. */
        public StockListArguments() {
            this(null, null, null);
        }

        /** The same with this. */
        public StockListArguments withPrefix(String prefix) {
            return new StockListArguments(prefix, cursor, limit);
        }

        /** The same with this. */
        public StockListArguments withCursor(String cursor) {
            return new StockListArguments(prefix, cursor, limit);
        }

        /** The same with this. */
        public StockListArguments withLimit(Long limit) {
            return new StockListArguments(prefix, cursor, limit);
        }

        @Override
        public Route route() {
            return new Route("STOCK.LIST", "GET", "/v1/stock", List.of("prefix", "cursor", "limit"), "", false, false);
        }

        @Override
        public Class<StockListResult> result() {
            return StockListResult.class;
        }
    }

    /**
     * What PACKET.CREATE takes.
     * @param campaign campaign ID
     * @param asset asset ID, such as USD-cents
     * @param amounts the amount of each packet, in the order in which they are claimed
     * @param endsAt end time: from then on nothing is handed out; absent if there is no end (ms since the
     * Unix epoch)
     * @param plan how to cut the total into packets: total, count and method
     * @param startsAt start time: before then nothing is handed out; absent if there is none (ms since the
     * Unix epoch)
     */
    public record PacketCreateArguments(String campaign, String asset, List<Long> amounts, Long endsAt, Plan plan, Long startsAt) implements Arguments<PacketCreateResult> {
        /** With what is required. */
        public PacketCreateArguments(String campaign, String asset) {
            this(campaign, asset, null, null, null, null);
        }

        /** The same with this. */
        public PacketCreateArguments withAmounts(List<Long> amounts) {
            return new PacketCreateArguments(campaign, asset, amounts, endsAt, plan, startsAt);
        }

        /** The same with this. */
        public PacketCreateArguments withEndsAt(Long endsAt) {
            return new PacketCreateArguments(campaign, asset, amounts, endsAt, plan, startsAt);
        }

        /** The same with this. */
        public PacketCreateArguments withPlan(Plan plan) {
            return new PacketCreateArguments(campaign, asset, amounts, endsAt, plan, startsAt);
        }

        /** The same with this. */
        public PacketCreateArguments withStartsAt(Long startsAt) {
            return new PacketCreateArguments(campaign, asset, amounts, endsAt, plan, startsAt);
        }

        @Override
        public Route route() {
            return new Route("PACKET.CREATE", "POST", "/v1/packets", List.of(), "campaign", true, false);
        }

        @Override
        public Class<PacketCreateResult> result() {
            return PacketCreateResult.class;
        }
    }

    /**
     * What PACKET.CLAIM takes.
     * @param campaign campaign ID
     * @param user user ID
     */
    public record PacketClaimArguments(String campaign, String user) implements Arguments<PacketClaimResult> {
        @Override
        public Route route() {
            return new Route("PACKET.CLAIM", "POST", "/v1/packets/{campaign}/claims", List.of(), "campaign", true, false);
        }

        @Override
        public Class<PacketClaimResult> result() {
            return PacketClaimResult.class;
        }
    }

    /**
     * What PACKET.GET takes.
     * @param campaign campaign ID
     */
    public record PacketGetArguments(String campaign) implements Arguments<PacketGetResult> {
        @Override
        public Route route() {
            return new Route("PACKET.GET", "GET", "/v1/packets/{campaign}", List.of(), "", false, false);
        }

        @Override
        public Class<PacketGetResult> result() {
            return PacketGetResult.class;
        }
    }

    /**
     * What PACKET.CLOSE takes.
     * @param campaign campaign ID
     */
    public record PacketCloseArguments(String campaign) implements Arguments<PacketCloseResult> {
        @Override
        public Route route() {
            return new Route("PACKET.CLOSE", "POST", "/v1/packets/{campaign}/close", List.of(), "campaign", true, false);
        }

        @Override
        public Class<PacketCloseResult> result() {
            return PacketCloseResult.class;
        }
    }

    /**
     * What PACKET.CLAIMED takes.
     * @param campaign campaign ID
     * @param user user ID
     */
    public record PacketClaimedArguments(String campaign, String user) implements Arguments<PacketClaimedResult> {
        @Override
        public Route route() {
            return new Route("PACKET.CLAIMED", "GET", "/v1/packets/{campaign}/claims/{user}", List.of(), "", false, false);
        }

        @Override
        public Class<PacketClaimedResult> result() {
            return PacketClaimedResult.class;
        }
    }

    /**
     * What PACKET.CLAIMS takes.
     * @param campaign campaign ID
     * @param cursor where the list goes on, as the page before said
     * @param limit how many rows the page has at most; 100 by default
     */
    public record PacketClaimsArguments(String campaign, String cursor, Long limit) implements Arguments<PacketClaimsResult> {
        /** With what is required. */
        public PacketClaimsArguments(String campaign) {
            this(campaign, null, null);
        }

        /** The same with this. */
        public PacketClaimsArguments withCursor(String cursor) {
            return new PacketClaimsArguments(campaign, cursor, limit);
        }

        /** The same with this. */
        public PacketClaimsArguments withLimit(Long limit) {
            return new PacketClaimsArguments(campaign, cursor, limit);
        }

        @Override
        public Route route() {
            return new Route("PACKET.CLAIMS", "GET", "/v1/packets/{campaign}/claims", List.of("cursor", "limit"), "", false, false);
        }

        @Override
        public Class<PacketClaimsResult> result() {
            return PacketClaimsResult.class;
        }
    }

    /**
     * What PACKET.LIST takes.
     * @param prefix what the names begin with; all names by default
     * @param cursor where the list goes on, as the page before said
     * @param limit how many rows the page has at most; 100 by default
     */
    public record PacketListArguments(String prefix, String cursor, Long limit) implements Arguments<PacketListResult> {
        /** With what is required. */
        public PacketListArguments() {
            this(null, null, null);
        }

        /** The same with this. */
        public PacketListArguments withPrefix(String prefix) {
            return new PacketListArguments(prefix, cursor, limit);
        }

        /** The same with this. */
        public PacketListArguments withCursor(String cursor) {
            return new PacketListArguments(prefix, cursor, limit);
        }

        /** The same with this. */
        public PacketListArguments withLimit(Long limit) {
            return new PacketListArguments(prefix, cursor, limit);
        }

        @Override
        public Route route() {
            return new Route("PACKET.LIST", "GET", "/v1/packets", List.of("prefix", "cursor", "limit"), "", false, false);
        }

        @Override
        public Class<PacketListResult> result() {
            return PacketListResult.class;
        }
    }

    /**
     * What COUPON.CREATE takes.
     * @param coupon coupon ID
     * @param limits 1 to 16 limits, each with a name, a maximum, dimensions and a window; the answer is
     * their number
     * @param claimTtlMs how long a claim can be redeemed; without limit if absent (ms)
     * @param endsAt end time: from then on nothing is handed out; absent if there is no end (ms since the
     * Unix epoch)
     * @param startsAt start time: before then nothing is handed out; absent if there is none (ms since the
     * Unix epoch)
     */
    public record CouponCreateArguments(String coupon, List<Limit> limits, Long claimTtlMs, Long endsAt, Long startsAt) implements Arguments<CouponCreateResult> {
        /** With what is required. */
        public CouponCreateArguments(String coupon, List<Limit> limits) {
            this(coupon, limits, null, null, null);
        }

        /** The same with this. */
        public CouponCreateArguments withClaimTtlMs(Long claimTtlMs) {
            return new CouponCreateArguments(coupon, limits, claimTtlMs, endsAt, startsAt);
        }

        /** The same with this. */
        public CouponCreateArguments withEndsAt(Long endsAt) {
            return new CouponCreateArguments(coupon, limits, claimTtlMs, endsAt, startsAt);
        }

        /** The same with this. */
        public CouponCreateArguments withStartsAt(Long startsAt) {
            return new CouponCreateArguments(coupon, limits, claimTtlMs, endsAt, startsAt);
        }

        @Override
        public Route route() {
            return new Route("COUPON.CREATE", "POST", "/v1/coupons", List.of(), "coupon", true, false);
        }

        @Override
        public Class<CouponCreateResult> result() {
            return CouponCreateResult.class;
        }
    }

    /**
     * What COUPON.UPDATE takes.
     * @param coupon coupon ID
     * @param limits limits with a new maximum, or limits to add; the answer is the number of limits
     * afterwards
     */
    public record CouponUpdateArguments(String coupon, List<Limit> limits) implements Arguments<CouponUpdateResult> {
        @Override
        public Route route() {
            return new Route("COUPON.UPDATE", "PATCH", "/v1/coupons/{coupon}", List.of(), "coupon", true, false);
        }

        @Override
        public Class<CouponUpdateResult> result() {
            return CouponUpdateResult.class;
        }
    }

    /**
     * What COUPON.CLAIM takes.
     * @param coupon coupon ID
     * @param subject who and what the claim is for: dimensions and their values, by which limits count
     */
    public record CouponClaimArguments(String coupon, Map<String, String> subject) implements Arguments<CouponClaimResult> {
        @Override
        public Route route() {
            return new Route("COUPON.CLAIM", "POST", "/v1/coupons/{coupon}/claims", List.of(), "coupon", true, false);
        }

        @Override
        public Class<CouponClaimResult> result() {
            return CouponClaimResult.class;
        }
    }

    /**
     * What COUPON.CHECK takes.
     * @param coupon coupon ID
     * @param subject who and what the claim is for: dimensions and their values, by which limits count
     */
    public record CouponCheckArguments(String coupon, Map<String, String> subject) implements Arguments<CouponCheckResult> {
        @Override
        public Route route() {
            return new Route("COUPON.CHECK", "POST", "/v1/coupons/{coupon}/check", List.of(), "", false, false);
        }

        @Override
        public Class<CouponCheckResult> result() {
            return CouponCheckResult.class;
        }
    }

    /**
     * What COUPON.REDEEM takes.
     * @param coupon coupon ID
     * @param serial serial number of the claim
     * @param user ID of the user who claimed; only this user can redeem
     */
    public record CouponRedeemArguments(String coupon, long serial, String user) implements Arguments<CouponRedeemResult> {
        @Override
        public Route route() {
            return new Route("COUPON.REDEEM", "POST", "/v1/coupons/{coupon}/claims/{serial}/redeem", List.of(), "coupon", true, false);
        }

        @Override
        public Class<CouponRedeemResult> result() {
            return CouponRedeemResult.class;
        }
    }

    /**
     * What COUPON.REVOKE takes.
     * @param coupon coupon ID
     * @param serial serial number of the claim
     * @param giveBack return the count to limits whose window is still open
     */
    public record CouponRevokeArguments(String coupon, long serial, Boolean giveBack) implements Arguments<CouponRevokeResult> {
        /** With what is required. */
        public CouponRevokeArguments(String coupon, long serial) {
            this(coupon, serial, null);
        }

        /** The same with this. */
        public CouponRevokeArguments withGiveBack(Boolean giveBack) {
            return new CouponRevokeArguments(coupon, serial, giveBack);
        }

        @Override
        public Route route() {
            return new Route("COUPON.REVOKE", "POST", "/v1/coupons/{coupon}/claims/{serial}/revoke", List.of(), "coupon", true, false);
        }

        @Override
        public Class<CouponRevokeResult> result() {
            return CouponRevokeResult.class;
        }
    }

    /**
     * What COUPON.CLAIMED takes.
     * @param coupon coupon ID
     * @param serial serial number of the claim
     */
    public record CouponClaimedArguments(String coupon, long serial) implements Arguments<CouponClaimedResult> {
        @Override
        public Route route() {
            return new Route("COUPON.CLAIMED", "GET", "/v1/coupons/{coupon}/claims/{serial}", List.of(), "", false, false);
        }

        @Override
        public Class<CouponClaimedResult> result() {
            return CouponClaimedResult.class;
        }
    }

    /**
     * What COUPON.GET takes.
     * @param coupon coupon ID
     */
    public record CouponGetArguments(String coupon) implements Arguments<CouponGetResult> {
        @Override
        public Route route() {
            return new Route("COUPON.GET", "GET", "/v1/coupons/{coupon}", List.of(), "", false, false);
        }

        @Override
        public Class<CouponGetResult> result() {
            return CouponGetResult.class;
        }
    }

    /**
     * What COUPON.PAUSE takes.
     * @param coupon coupon ID
     */
    public record CouponPauseArguments(String coupon) implements Arguments<CouponPauseResult> {
        @Override
        public Route route() {
            return new Route("COUPON.PAUSE", "POST", "/v1/coupons/{coupon}/pause", List.of(), "coupon", true, false);
        }

        @Override
        public Class<CouponPauseResult> result() {
            return CouponPauseResult.class;
        }
    }

    /**
     * What COUPON.RESUME takes.
     * @param coupon coupon ID
     */
    public record CouponResumeArguments(String coupon) implements Arguments<CouponResumeResult> {
        @Override
        public Route route() {
            return new Route("COUPON.RESUME", "POST", "/v1/coupons/{coupon}/resume", List.of(), "coupon", true, false);
        }

        @Override
        public Class<CouponResumeResult> result() {
            return CouponResumeResult.class;
        }
    }

    /**
     * What COUPON.LIST takes.
     * @param prefix what the names begin with; all names by default
     * @param cursor where the list goes on, as the page before said
     * @param limit how many rows the page has at most; 100 by default
     */
    public record CouponListArguments(String prefix, String cursor, Long limit) implements Arguments<CouponListResult> {
        /** With what is required. */
        public CouponListArguments() {
            this(null, null, null);
        }

        /** The same with this. */
        public CouponListArguments withPrefix(String prefix) {
            return new CouponListArguments(prefix, cursor, limit);
        }

        /** The same with this. */
        public CouponListArguments withCursor(String cursor) {
            return new CouponListArguments(prefix, cursor, limit);
        }

        /** The same with this. */
        public CouponListArguments withLimit(Long limit) {
            return new CouponListArguments(prefix, cursor, limit);
        }

        @Override
        public Route route() {
            return new Route("COUPON.LIST", "GET", "/v1/coupons", List.of("prefix", "cursor", "limit"), "", false, false);
        }

        @Override
        public Class<CouponListResult> result() {
            return CouponListResult.class;
        }
    }

    /**
     * What MARKET.CREATE takes.
     * @param market market ID
     * @param lot order quantities must be a multiple of it; 1 by default (units of the base)
     * @param maxQuantity the largest order quantity; 2^53 − 1 by default (units of the base)
     * @param minQuantity the smallest order quantity; 1 by default (units of the base)
     * @param tick prices must be a multiple of it; 1 by default (minor units of the quote per unit of the
     * base)
     */
    public record MarketCreateArguments(String market, Long lot, Long maxQuantity, Long minQuantity, Long tick) implements Arguments<MarketCreateResult> {
        /** With what is required. */
        public MarketCreateArguments(String market) {
            this(market, null, null, null, null);
        }

        /** The same with this. */
        public MarketCreateArguments withLot(Long lot) {
            return new MarketCreateArguments(market, lot, maxQuantity, minQuantity, tick);
        }

        /** The same with this. */
        public MarketCreateArguments withMaxQuantity(Long maxQuantity) {
            return new MarketCreateArguments(market, lot, maxQuantity, minQuantity, tick);
        }

        /** The same with this. */
        public MarketCreateArguments withMinQuantity(Long minQuantity) {
            return new MarketCreateArguments(market, lot, maxQuantity, minQuantity, tick);
        }

        /** The same with this. */
        public MarketCreateArguments withTick(Long tick) {
            return new MarketCreateArguments(market, lot, maxQuantity, minQuantity, tick);
        }

        @Override
        public Route route() {
            return new Route("MARKET.CREATE", "POST", "/v1/markets", List.of(), "market", true, false);
        }

        @Override
        public Class<MarketCreateResult> result() {
            return MarketCreateResult.class;
        }
    }

    /**
     * What MARKET.GET takes.
     * @param market market ID
     */
    public record MarketGetArguments(String market) implements Arguments<MarketGetResult> {
        @Override
        public Route route() {
            return new Route("MARKET.GET", "GET", "/v1/markets/{market}", List.of(), "", false, false);
        }

        @Override
        public Class<MarketGetResult> result() {
            return MarketGetResult.class;
        }
    }

    /**
     * What MARKET.HALT takes.
     * @param market market ID
     */
    public record MarketHaltArguments(String market) implements Arguments<MarketHaltResult> {
        @Override
        public Route route() {
            return new Route("MARKET.HALT", "POST", "/v1/markets/{market}/halt", List.of(), "market", true, false);
        }

        @Override
        public Class<MarketHaltResult> result() {
            return MarketHaltResult.class;
        }
    }

    /**
     * What MARKET.RESUME takes.
     * @param market market ID
     */
    public record MarketResumeArguments(String market) implements Arguments<MarketResumeResult> {
        @Override
        public Route route() {
            return new Route("MARKET.RESUME", "POST", "/v1/markets/{market}/resume", List.of(), "market", true, false);
        }

        @Override
        public Class<MarketResumeResult> result() {
            return MarketResumeResult.class;
        }
    }

    /**
     * What MARKET.DEPTH takes.
     * @param market market ID
     * @param levels number of price levels on each side; 10 by default, 10000 at most
     */
    public record MarketDepthArguments(String market, Long levels) implements Arguments<MarketDepthResult> {
        /** With what is required. */
        public MarketDepthArguments(String market) {
            this(market, null);
        }

        /** The same with this. */
        public MarketDepthArguments withLevels(Long levels) {
            return new MarketDepthArguments(market, levels);
        }

        @Override
        public Route route() {
            return new Route("MARKET.DEPTH", "GET", "/v1/markets/{market}/depth", List.of("levels"), "", false, false);
        }

        @Override
        public Class<MarketDepthResult> result() {
            return MarketDepthResult.class;
        }
    }

    /**
     * What MARKET.TRADES takes.
     * @param market market ID
     * @param count maximum number of trades; the last hundred are kept
     */
    public record MarketTradesArguments(String market, Long count) implements Arguments<MarketTradesResult> {
        /** With what is required. */
        public MarketTradesArguments(String market) {
            this(market, null);
        }

        /** The same with this. */
        public MarketTradesArguments withCount(Long count) {
            return new MarketTradesArguments(market, count);
        }

        @Override
        public Route route() {
            return new Route("MARKET.TRADES", "GET", "/v1/markets/{market}/trades", List.of("count"), "", false, false);
        }

        @Override
        public Class<MarketTradesResult> result() {
            return MarketTradesResult.class;
        }
    }

    /**
     * What MARKET.TICKER takes.
     * @param market market ID
     */
    public record MarketTickerArguments(String market) implements Arguments<MarketTickerResult> {
        @Override
        public Route route() {
            return new Route("MARKET.TICKER", "GET", "/v1/markets/{market}/ticker", List.of(), "", false, false);
        }

        @Override
        public Class<MarketTickerResult> result() {
            return MarketTickerResult.class;
        }
    }

    /**
     * What MARKET.LIST takes.
     * @param prefix what the names begin with; all names by default
     * @param cursor where the list goes on, as the page before said
     * @param limit how many rows the page has at most; 100 by default
     */
    public record MarketListArguments(String prefix, String cursor, Long limit) implements Arguments<MarketListResult> {
        /** With what is required. */
        public MarketListArguments() {
            this(null, null, null);
        }

        /** The same with this. */
        public MarketListArguments withPrefix(String prefix) {
            return new MarketListArguments(prefix, cursor, limit);
        }

        /** The same with this. */
        public MarketListArguments withCursor(String cursor) {
            return new MarketListArguments(prefix, cursor, limit);
        }

        /** The same with this. */
        public MarketListArguments withLimit(Long limit) {
            return new MarketListArguments(prefix, cursor, limit);
        }

        @Override
        public Route route() {
            return new Route("MARKET.LIST", "GET", "/v1/markets", List.of("prefix", "cursor", "limit"), "", false, false);
        }

        @Override
        public Class<MarketListResult> result() {
            return MarketListResult.class;
        }
    }

    /**
     * What ORDER.LIST takes.
     * @param market market ID
     * @param owner ID of the owner whose orders are listed; all if left out
     * @param cursor where the list goes on, as the page before said
     * @param limit how many rows the page has at most; 100 by default
     */
    public record OrderListArguments(String market, String owner, String cursor, Long limit) implements Arguments<OrderListResult> {
        /** With what is required. */
        public OrderListArguments(String market) {
            this(market, null, null, null);
        }

        /** The same with this. */
        public OrderListArguments withOwner(String owner) {
            return new OrderListArguments(market, owner, cursor, limit);
        }

        /** The same with this. */
        public OrderListArguments withCursor(String cursor) {
            return new OrderListArguments(market, owner, cursor, limit);
        }

        /** The same with this. */
        public OrderListArguments withLimit(Long limit) {
            return new OrderListArguments(market, owner, cursor, limit);
        }

        @Override
        public Route route() {
            return new Route("ORDER.LIST", "GET", "/v1/markets/{market}/orders", List.of("owner", "cursor", "limit"), "", false, false);
        }

        @Override
        public Class<OrderListResult> result() {
            return OrderListResult.class;
        }
    }

    /**
     * What ORDER.PLACE takes.
     * @param market market ID
     * @param order order ID, unique within the market
     * @param owner ID of the order's owner
     * @param side side of the book: BUY or SELL
     * @param type LIMIT: at that price or better; MARKET: at any price
     * @param quantity the quantity to trade (units of the base)
     * @param price the price (minor units of the quote per unit of the base)
     * @param stp self-trade prevention: NONE, CANCEL_TAKER, CANCEL_MAKER, CANCEL_BOTH or DECREMENT; NONE
     * by default
     * @param tif time in force: GTC rests until filled or cancelled, IOC fills what it can and cancels the
     * rest, FOK fills completely or is refused, POST only rests; by default GTC with a price and IOC
     * without
     */
    public record OrderPlaceArguments(String market, String order, String owner, String side, String type, long quantity, Long price, String stp, String tif) implements Arguments<OrderPlaceResult> {
        /** With what is required. */
        public OrderPlaceArguments(String market, String order, String owner, String side, String type, long quantity) {
            this(market, order, owner, side, type, quantity, null, null, null);
        }

        /** The same with this. */
        public OrderPlaceArguments withPrice(Long price) {
            return new OrderPlaceArguments(market, order, owner, side, type, quantity, price, stp, tif);
        }

        /** The same with this. */
        public OrderPlaceArguments withStp(String stp) {
            return new OrderPlaceArguments(market, order, owner, side, type, quantity, price, stp, tif);
        }

        /** The same with this. */
        public OrderPlaceArguments withTif(String tif) {
            return new OrderPlaceArguments(market, order, owner, side, type, quantity, price, stp, tif);
        }

        @Override
        public Route route() {
            return new Route("ORDER.PLACE", "POST", "/v1/markets/{market}/orders", List.of(), "market", true, true);
        }

        @Override
        public Class<OrderPlaceResult> result() {
            return OrderPlaceResult.class;
        }
    }

    /**
     * What ORDER.CANCEL takes.
     * @param market market ID
     * @param order order ID, unique within the market
     * @param owner ID of the order's owner
     */
    public record OrderCancelArguments(String market, String order, String owner) implements Arguments<OrderCancelResult> {
        @Override
        public Route route() {
            return new Route("ORDER.CANCEL", "DELETE", "/v1/markets/{market}/orders/{order}", List.of("owner"), "market", true, true);
        }

        @Override
        public Class<OrderCancelResult> result() {
            return OrderCancelResult.class;
        }
    }

    /**
     * What ORDER.REDUCE takes.
     * @param market market ID
     * @param order order ID, unique within the market
     * @param owner ID of the order's owner
     * @param by by how much the order is reduced (units of the base)
     */
    public record OrderReduceArguments(String market, String order, String owner, long by) implements Arguments<OrderReduceResult> {
        @Override
        public Route route() {
            return new Route("ORDER.REDUCE", "POST", "/v1/markets/{market}/orders/{order}/reduce", List.of(), "market", true, true);
        }

        @Override
        public Class<OrderReduceResult> result() {
            return OrderReduceResult.class;
        }
    }

    /**
     * What ORDER.REPLACE takes.
     * @param market market ID
     * @param order order ID, unique within the market
     * @param owner ID of the order's owner
     * @param price the new price (minor units of the quote per unit of the base)
     * @param quantity the new remaining quantity (units of the base)
     */
    public record OrderReplaceArguments(String market, String order, String owner, long price, long quantity) implements Arguments<OrderReplaceResult> {
        @Override
        public Route route() {
            return new Route("ORDER.REPLACE", "POST", "/v1/markets/{market}/orders/{order}/replace", List.of(), "market", true, true);
        }

        @Override
        public Class<OrderReplaceResult> result() {
            return OrderReplaceResult.class;
        }
    }

    /**
     * What ORDER.CANCELALL takes.
     * @param market market ID
     * @param owner ID of the order's owner
     */
    public record OrderCancelallArguments(String market, String owner) implements Arguments<OrderCancelallResult> {
        @Override
        public Route route() {
            return new Route("ORDER.CANCELALL", "DELETE", "/v1/markets/{market}/orders", List.of("owner"), "market", true, true);
        }

        @Override
        public Class<OrderCancelallResult> result() {
            return OrderCancelallResult.class;
        }
    }

    /**
     * What ORDER.GET takes.
     * @param market market ID
     * @param order order ID, unique within the market
     */
    public record OrderGetArguments(String market, String order) implements Arguments<OrderGetResult> {
        @Override
        public Route route() {
            return new Route("ORDER.GET", "GET", "/v1/markets/{market}/orders/{order}", List.of(), "", false, false);
        }

        @Override
        public Class<OrderGetResult> result() {
            return OrderGetResult.class;
        }
    }

    /**
     * What OPERATION.GET takes.
     * @param operation operation ID
     * @param on ID of any resource in the target partition
     */
    public record OperationGetArguments(String operation, String on) implements Arguments<OperationGetResult> {
        @Override
        public Route route() {
            return new Route("OPERATION.GET", "GET", "/v1/operations/{operation}", List.of("on"), "", false, false);
        }

        @Override
        public Class<OperationGetResult> result() {
            return OperationGetResult.class;
        }
    }

    /**
     * What OPERATION.RESOLVE takes.
     * @param operation operation ID
     * @param on ID of any resource in the target partition
     */
    public record OperationResolveArguments(String operation, String on) implements Arguments<OperationResolveResult> {
        @Override
        public Route route() {
            return new Route("OPERATION.RESOLVE", "POST", "/v1/operations/{operation}/resolve", List.of("on"), "", false, false);
        }

        @Override
        public Class<OperationResolveResult> result() {
            return OperationResolveResult.class;
        }
    }

    /**
     * What DIGEST takes.
     * @param resource resource ID; every partition by default
     */
    public record DigestArguments(String resource) implements Arguments<DigestResult> {
        /** With what is required. */
        public DigestArguments() {
            this(null);
        }

        /** The same with this. */
        public DigestArguments withResource(String resource) {
            return new DigestArguments(resource);
        }

        @Override
        public Route route() {
            return new Route("DIGEST", "GET", "/v1/digest", List.of("resource"), "", false, false);
        }

        @Override
        public Class<DigestResult> result() {
            return DigestResult.class;
        }
    }

    /** Whether a code is an answer of the rules (a refusal), or an error. */
    static final Map<String, Boolean> IS_REFUSAL = Map.ofEntries(
        Map.entry("INVALID", false),
        Map.entry("CROSS_PARTITION", true),
        Map.entry("OVERLOADED", false),
        Map.entry("UNAVAILABLE", false),
        Map.entry("UNKNOWN", false),
        Map.entry("MIGRATED", false),
        Map.entry("ID_REUSED", true),
        Map.entry("ID_EXPIRED", true),
        Map.entry("DEADLINE_PASSED", true),
        Map.entry("RESOLVED_ABSENT", true),
        Map.entry("BATCH_REFUSED", true),
        Map.entry("STEP_LIMIT", true),
        Map.entry("OVERFLOW", true),
        Map.entry("OPERATION_NOT_FOUND", true),
        Map.entry("NOT_STARTED", true),
        Map.entry("ENDED", true),
        Map.entry("CLAIMS_EXPIRED", true),
        Map.entry("NOT_OWNER", true),
        Map.entry("ACCOUNT_EXISTS", true),
        Map.entry("SAME_ACCOUNT", true),
        Map.entry("ACCOUNT_NOT_FOUND", true),
        Map.entry("ACCOUNT_CLOSED", true),
        Map.entry("ACCOUNT_FROZEN", true),
        Map.entry("HOLD_EXISTS", true),
        Map.entry("HOLD_NOT_FOUND", true),
        Map.entry("HOLD_CAPTURED", true),
        Map.entry("HOLD_VOIDED", true),
        Map.entry("HOLD_EXPIRED", true),
        Map.entry("AMOUNT_EXCEEDS_HOLD", true),
        Map.entry("ASSET_MISMATCH", true),
        Map.entry("INSUFFICIENT_FUNDS", true),
        Map.entry("BALANCE_NOT_ZERO", true),
        Map.entry("OVERDRAFT_IN_USE", true),
        Map.entry("STOCK_EXISTS", true),
        Map.entry("STOCK_NOT_FOUND", true),
        Map.entry("STOCK_CLOSED", true),
        Map.entry("RESERVATION_EXISTS", true),
        Map.entry("RESERVATION_NOT_FOUND", true),
        Map.entry("RESERVATION_CONFIRMED", true),
        Map.entry("RESERVATION_RELEASED", true),
        Map.entry("RESERVATION_EXPIRED", true),
        Map.entry("OWNER_LIMIT_REACHED", true),
        Map.entry("SOLD_OUT", true),
        Map.entry("INSUFFICIENT_STOCK", true),
        Map.entry("UNITS_NOT_SOLD", true),
        Map.entry("STOCK_INCONSISTENT", true),
        Map.entry("RECEIPT_EXPIRED", true),
        Map.entry("CAMPAIGN_EXISTS", true),
        Map.entry("CAMPAIGN_NOT_FOUND", true),
        Map.entry("ALREADY_CLAIMED", true),
        Map.entry("EXHAUSTED", true),
        Map.entry("COUPON_EXISTS", true),
        Map.entry("COUPON_NOT_FOUND", true),
        Map.entry("COUPON_PAUSED", true),
        Map.entry("SUBJECT_INCOMPLETE", true),
        Map.entry("LIMIT_REACHED", true),
        Map.entry("CLAIM_NOT_FOUND", true),
        Map.entry("CLAIM_REDEEMED", true),
        Map.entry("CLAIM_REVOKED", true),
        Map.entry("CLAIM_EXPIRED", true),
        Map.entry("MARKET_EXISTS", true),
        Map.entry("MARKET_NOT_FOUND", true),
        Map.entry("MARKET_HALTED", true),
        Map.entry("ORDER_EXISTS", true),
        Map.entry("ORDER_NOT_FOUND", true),
        Map.entry("ORDER_CLOSED", true),
        Map.entry("PRICE_INVALID", true),
        Map.entry("QUANTITY_INVALID", true),
        Map.entry("WOULD_TAKE", true),
        Map.entry("WOULD_NOT_FILL", true),
        Map.entry("UNAUTHENTICATED", false),
        Map.entry("FORBIDDEN", false),
        Map.entry("TOO_MANY_ATTEMPTS", false),
        Map.entry("TOO_MANY_REQUESTS", false),
        Map.entry("NOT_ADMITTED", false),
        Map.entry("CROSS_ORIGIN", false),
        Map.entry("NOT_FOUND", false),
        Map.entry("METHOD_NOT_ALLOWED", false),
        Map.entry("MISDIRECTED", false),
        Map.entry("CURSOR_TRIMMED", false),
        Map.entry("PAYLOAD_TOO_LARGE", false),
        Map.entry("UNSUPPORTED_MEDIA_TYPE", false),
        Map.entry("SCRIPT_FORBIDDEN", false),
        Map.entry("SCRIPT_NOT_FOUND", false),
        Map.entry("SCRIPTS_FULL", false),
        Map.entry("SCRIPT_FAILED", false),
        Map.entry("SCRIPT_UNKNOWN", false),
        Map.entry("HEADERS_TOO_LARGE", false),
        Map.entry("REQUEST_TIMEOUT", false),
        Map.entry("KEY_EXISTS", false),
        Map.entry("KEY_REPLACED", false),
        Map.entry("KEY_AMBIGUOUS", false));

    /** The type of each code's facts. */
    static final Map<String, Class<? extends Record>> FACTS = Map.ofEntries(
        Map.entry("INVALID", InvalidFacts.class),
        Map.entry("CROSS_PARTITION", CrossPartitionFacts.class),
        Map.entry("OVERLOADED", OverloadedFacts.class),
        Map.entry("UNAVAILABLE", UnavailableFacts.class),
        Map.entry("UNKNOWN", UnknownFacts.class),
        Map.entry("MIGRATED", MigratedFacts.class),
        Map.entry("ID_REUSED", IdReusedFacts.class),
        Map.entry("ID_EXPIRED", IdExpiredFacts.class),
        Map.entry("DEADLINE_PASSED", DeadlinePassedFacts.class),
        Map.entry("RESOLVED_ABSENT", ResolvedAbsentFacts.class),
        Map.entry("BATCH_REFUSED", BatchRefusedFacts.class),
        Map.entry("STEP_LIMIT", StepLimitFacts.class),
        Map.entry("OVERFLOW", OverflowFacts.class),
        Map.entry("OPERATION_NOT_FOUND", OperationNotFoundFacts.class),
        Map.entry("NOT_STARTED", NotStartedFacts.class),
        Map.entry("ENDED", EndedFacts.class),
        Map.entry("CLAIMS_EXPIRED", ClaimsExpiredFacts.class),
        Map.entry("NOT_OWNER", NotOwnerFacts.class),
        Map.entry("ACCOUNT_EXISTS", AccountExistsFacts.class),
        Map.entry("SAME_ACCOUNT", SameAccountFacts.class),
        Map.entry("ACCOUNT_NOT_FOUND", AccountNotFoundFacts.class),
        Map.entry("ACCOUNT_CLOSED", AccountClosedFacts.class),
        Map.entry("ACCOUNT_FROZEN", AccountFrozenFacts.class),
        Map.entry("HOLD_EXISTS", HoldExistsFacts.class),
        Map.entry("HOLD_NOT_FOUND", HoldNotFoundFacts.class),
        Map.entry("HOLD_CAPTURED", HoldCapturedFacts.class),
        Map.entry("HOLD_VOIDED", HoldVoidedFacts.class),
        Map.entry("HOLD_EXPIRED", HoldExpiredFacts.class),
        Map.entry("AMOUNT_EXCEEDS_HOLD", AmountExceedsHoldFacts.class),
        Map.entry("ASSET_MISMATCH", AssetMismatchFacts.class),
        Map.entry("INSUFFICIENT_FUNDS", InsufficientFundsFacts.class),
        Map.entry("BALANCE_NOT_ZERO", BalanceNotZeroFacts.class),
        Map.entry("OVERDRAFT_IN_USE", OverdraftInUseFacts.class),
        Map.entry("STOCK_EXISTS", StockExistsFacts.class),
        Map.entry("STOCK_NOT_FOUND", StockNotFoundFacts.class),
        Map.entry("STOCK_CLOSED", StockClosedFacts.class),
        Map.entry("RESERVATION_EXISTS", ReservationExistsFacts.class),
        Map.entry("RESERVATION_NOT_FOUND", ReservationNotFoundFacts.class),
        Map.entry("RESERVATION_CONFIRMED", ReservationConfirmedFacts.class),
        Map.entry("RESERVATION_RELEASED", ReservationReleasedFacts.class),
        Map.entry("RESERVATION_EXPIRED", ReservationExpiredFacts.class),
        Map.entry("OWNER_LIMIT_REACHED", OwnerLimitReachedFacts.class),
        Map.entry("SOLD_OUT", SoldOutFacts.class),
        Map.entry("INSUFFICIENT_STOCK", InsufficientStockFacts.class),
        Map.entry("UNITS_NOT_SOLD", UnitsNotSoldFacts.class),
        Map.entry("STOCK_INCONSISTENT", StockInconsistentFacts.class),
        Map.entry("RECEIPT_EXPIRED", ReceiptExpiredFacts.class),
        Map.entry("CAMPAIGN_EXISTS", CampaignExistsFacts.class),
        Map.entry("CAMPAIGN_NOT_FOUND", CampaignNotFoundFacts.class),
        Map.entry("ALREADY_CLAIMED", AlreadyClaimedFacts.class),
        Map.entry("EXHAUSTED", ExhaustedFacts.class),
        Map.entry("COUPON_EXISTS", CouponExistsFacts.class),
        Map.entry("COUPON_NOT_FOUND", CouponNotFoundFacts.class),
        Map.entry("COUPON_PAUSED", CouponPausedFacts.class),
        Map.entry("SUBJECT_INCOMPLETE", SubjectIncompleteFacts.class),
        Map.entry("LIMIT_REACHED", LimitReachedFacts.class),
        Map.entry("CLAIM_NOT_FOUND", ClaimNotFoundFacts.class),
        Map.entry("CLAIM_REDEEMED", ClaimRedeemedFacts.class),
        Map.entry("CLAIM_REVOKED", ClaimRevokedFacts.class),
        Map.entry("CLAIM_EXPIRED", ClaimExpiredFacts.class),
        Map.entry("MARKET_EXISTS", MarketExistsFacts.class),
        Map.entry("MARKET_NOT_FOUND", MarketNotFoundFacts.class),
        Map.entry("MARKET_HALTED", MarketHaltedFacts.class),
        Map.entry("ORDER_EXISTS", OrderExistsFacts.class),
        Map.entry("ORDER_NOT_FOUND", OrderNotFoundFacts.class),
        Map.entry("ORDER_CLOSED", OrderClosedFacts.class),
        Map.entry("PRICE_INVALID", PriceInvalidFacts.class),
        Map.entry("QUANTITY_INVALID", QuantityInvalidFacts.class),
        Map.entry("WOULD_TAKE", WouldTakeFacts.class),
        Map.entry("WOULD_NOT_FILL", WouldNotFillFacts.class));

    /** The ACCOUNT commands. */
    public static final class AccountCommands {
        private final Scarce scarce;

        AccountCommands(Scarce scarce) {
            this.scarce = scarce;
        }

        /** Opens an account that keeps one asset. */
        public Outcome<AccountOpenResult> open(AccountOpenArguments arguments) {
            return scarce.send(arguments);
        }

        /** Opens an account that keeps one asset. */
        public Outcome<AccountOpenResult> open(AccountOpenArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Shows an account's balance, held amount and status. */
        public Outcome<AccountGetResult> get(AccountGetArguments arguments) {
            return scarce.send(arguments);
        }

        /** Shows an account's balance, held amount and status. */
        public Outcome<AccountGetResult> get(AccountGetArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Adds money to an account from outside. */
        public Outcome<AccountCreditResult> credit(AccountCreditArguments arguments) {
            return scarce.send(arguments);
        }

        /** Adds money to an account from outside. */
        public Outcome<AccountCreditResult> credit(AccountCreditArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Takes money out of an account if enough is available. */
        public Outcome<AccountDebitResult> debit(AccountDebitArguments arguments) {
            return scarce.send(arguments);
        }

        /** Takes money out of an account if enough is available. */
        public Outcome<AccountDebitResult> debit(AccountDebitArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Moves money from one account to another of the same asset. */
        public Outcome<AccountTransferResult> transfer(AccountTransferArguments arguments) {
            return scarce.send(arguments);
        }

        /** Moves money from one account to another of the same asset. */
        public Outcome<AccountTransferResult> transfer(AccountTransferArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Sets money aside until it is captured, voided or past its deadline. */
        public Outcome<AccountHoldResult> hold(AccountHoldArguments arguments) {
            return scarce.send(arguments);
        }

        /** Sets money aside until it is captured, voided or past its deadline. */
        public Outcome<AccountHoldResult> hold(AccountHoldArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Pays money out of a hold, to another account or outside, and releases or keeps the rest. */
        public Outcome<AccountCaptureResult> capture(AccountCaptureArguments arguments) {
            return scarce.send(arguments);
        }

        /** Pays money out of a hold, to another account or outside, and releases or keeps the rest. */
        public Outcome<AccountCaptureResult> capture(AccountCaptureArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Ends a hold and makes its money available again. */
        public Outcome<AccountVoidResult> void_(AccountVoidArguments arguments) {
            return scarce.send(arguments);
        }

        /** Ends a hold and makes its money available again. */
        public Outcome<AccountVoidResult> void_(AccountVoidArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Sets a new deadline for a hold, counted from now. */
        public Outcome<AccountExtendResult> extend(AccountExtendArguments arguments) {
            return scarce.send(arguments);
        }

        /** Sets a new deadline for a hold, counted from now. */
        public Outcome<AccountExtendResult> extend(AccountExtendArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Lists an account's holds by name, a page at a time: name, amount left, status, deadline. */
        public Outcome<AccountHoldsResult> holds(AccountHoldsArguments arguments) {
            return scarce.send(arguments);
        }

        /** Lists an account's holds by name, a page at a time: name, amount left, status, deadline. */
        public Outcome<AccountHoldsResult> holds(AccountHoldsArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Stops debits and new holds. */
        public Outcome<AccountFreezeResult> freeze(AccountFreezeArguments arguments) {
            return scarce.send(arguments);
        }

        /** Stops debits and new holds. */
        public Outcome<AccountFreezeResult> freeze(AccountFreezeArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Allows debits and new holds again. */
        public Outcome<AccountUnfreezeResult> unfreeze(AccountUnfreezeArguments arguments) {
            return scarce.send(arguments);
        }

        /** Allows debits and new holds again. */
        public Outcome<AccountUnfreezeResult> unfreeze(AccountUnfreezeArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Closes an empty account for good. */
        public Outcome<AccountCloseResult> close(AccountCloseArguments arguments) {
            return scarce.send(arguments);
        }

        /** Closes an empty account for good. */
        public Outcome<AccountCloseResult> close(AccountCloseArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Sets how far below zero the account may go. */
        public Outcome<AccountOverdraftResult> overdraft(AccountOverdraftArguments arguments) {
            return scarce.send(arguments);
        }

        /** Sets how far below zero the account may go. */
        public Outcome<AccountOverdraftResult> overdraft(AccountOverdraftArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Shows the account through which money of an asset enters the partition of a resource. */
        public Outcome<AccountWorldResult> world(AccountWorldArguments arguments) {
            return scarce.send(arguments);
        }

        /** Shows the account through which money of an asset enters the partition of a resource. */
        public Outcome<AccountWorldResult> world(AccountWorldArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Lists accounts by name, a page at a time: account, asset, balance, held, available, status. */
        public Outcome<AccountListResult> list(AccountListArguments arguments) {
            return scarce.send(arguments);
        }

        /** Lists accounts by name, a page at a time: account, asset, balance, held, available, status. */
        public Outcome<AccountListResult> list(AccountListArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }
    }

    /** The STOCK commands. */
    public static final class StockCommands {
        private final Scarce scarce;

        StockCommands(Scarce scarce) {
            this.scarce = scarce;
        }

        /** Puts a stock item on sale. */
        public Outcome<StockCreateResult> create(StockCreateArguments arguments) {
            return scarce.send(arguments);
        }

        /** Puts a stock item on sale. */
        public Outcome<StockCreateResult> create(StockCreateArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Shows a stock item's counters, bounds and status. */
        public Outcome<StockGetResult> get(StockGetArguments arguments) {
            return scarce.send(arguments);
        }

        /** Shows a stock item's counters, bounds and status. */
        public Outcome<StockGetResult> get(StockGetArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Adds units. */
        public Outcome<StockRestockResult> restock(StockRestockArguments arguments) {
            return scarce.send(arguments);
        }

        /** Adds units. */
        public Outcome<StockRestockResult> restock(StockRestockArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Corrects the number of units, up or down, with a reason. */
        public Outcome<StockAdjustResult> adjust(StockAdjustArguments arguments) {
            return scarce.send(arguments);
        }

        /** Corrects the number of units, up or down, with a reason. */
        public Outcome<StockAdjustResult> adjust(StockAdjustArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Sells units at once and returns their serials. */
        public Outcome<StockTakeResult> take(StockTakeArguments arguments) {
            return scarce.send(arguments);
        }

        /** Sells units at once and returns their serials. */
        public Outcome<StockTakeResult> take(StockTakeArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Sets units aside for an owner until a deadline. */
        public Outcome<StockReserveResult> reserve(StockReserveArguments arguments) {
            return scarce.send(arguments);
        }

        /** Sets units aside for an owner until a deadline. */
        public Outcome<StockReserveResult> reserve(StockReserveArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Sells what a reservation holds and returns the serials. */
        public Outcome<StockConfirmResult> confirm(StockConfirmArguments arguments) {
            return scarce.send(arguments);
        }

        /** Sells what a reservation holds and returns the serials. */
        public Outcome<StockConfirmResult> confirm(StockConfirmArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Puts what a reservation holds back on sale. */
        public Outcome<StockReleaseResult> release(StockReleaseArguments arguments) {
            return scarce.send(arguments);
        }

        /** Puts what a reservation holds back on sale. */
        public Outcome<StockReleaseResult> release(StockReleaseArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Sets a new deadline for a reservation, counted from now. */
        public Outcome<StockExtendResult> extend(StockExtendArguments arguments) {
            return scarce.send(arguments);
        }

        /** Sets a new deadline for a reservation, counted from now. */
        public Outcome<StockExtendResult> extend(StockExtendArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Takes sold units back by their serials and puts as many on sale. */
        public Outcome<StockReturnResult> return_(StockReturnArguments arguments) {
            return scarce.send(arguments);
        }

        /** Takes sold units back by their serials and puts as many on sale. */
        public Outcome<StockReturnResult> return_(StockReturnArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Ends sales; open reservations expire or are confirmed. */
        public Outcome<StockCloseResult> close(StockCloseArguments arguments) {
            return scarce.send(arguments);
        }

        /** Ends sales; open reservations expire or are confirmed. */
        public Outcome<StockCloseResult> close(StockCloseArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Recounts receipts against counters, a bounded piece at each call, while sales go on. */
        public Outcome<StockAuditResult> audit(StockAuditArguments arguments) {
            return scarce.send(arguments);
        }

        /** Recounts receipts against counters, a bounded piece at each call, while sales go on. */
        public Outcome<StockAuditResult> audit(StockAuditArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Shows a reservation. */
        public Outcome<StockReservationResult> reservation(StockReservationArguments arguments) {
            return scarce.send(arguments);
        }

        /** Shows a reservation. */
        public Outcome<StockReservationResult> reservation(StockReservationArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Lists stock items by name, a page at a time: sku, total, available, reserved, sold, status. */
        public Outcome<StockListResult> list(StockListArguments arguments) {
            return scarce.send(arguments);
        }

        /** Lists stock items by name, a page at a time: sku, total, available, reserved, sold, status. */
        public Outcome<StockListResult> list(StockListArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }
    }

    /** The PACKET commands. */
    public static final class PacketCommands {
        private final Scarce scarce;

        PacketCommands(Scarce scarce) {
            this.scarce = scarce;
        }

        /** Cuts red packets by a plan or from a list of amounts, and opens them for claims. */
        public Outcome<PacketCreateResult> create(PacketCreateArguments arguments) {
            return scarce.send(arguments);
        }

        /** Cuts red packets by a plan or from a list of amounts, and opens them for claims. */
        public Outcome<PacketCreateResult> create(PacketCreateArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Gives a user the next packet. */
        public Outcome<PacketClaimResult> claim(PacketClaimArguments arguments) {
            return scarce.send(arguments);
        }

        /** Gives a user the next packet. */
        public Outcome<PacketClaimResult> claim(PacketClaimArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Shows a campaign: what was claimed and what is left, but never the next amounts. */
        public Outcome<PacketGetResult> get(PacketGetArguments arguments) {
            return scarce.send(arguments);
        }

        /** Shows a campaign: what was claimed and what is left, but never the next amounts. */
        public Outcome<PacketGetResult> get(PacketGetArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Ends a campaign, reports what was left and reveals the seed. */
        public Outcome<PacketCloseResult> close(PacketCloseArguments arguments) {
            return scarce.send(arguments);
        }

        /** Ends a campaign, reports what was left and reveals the seed. */
        public Outcome<PacketCloseResult> close(PacketCloseArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Shows the packet that a user claimed. */
        public Outcome<PacketClaimedResult> claimed(PacketClaimedArguments arguments) {
            return scarce.send(arguments);
        }

        /** Shows the packet that a user claimed. */
        public Outcome<PacketClaimedResult> claimed(PacketClaimedArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Lists claimed packets in the order of the claims, a page at a time: user, packet, amount, at. */
        public Outcome<PacketClaimsResult> claims(PacketClaimsArguments arguments) {
            return scarce.send(arguments);
        }

        /** Lists claimed packets in the order of the claims, a page at a time: user, packet, amount, at. */
        public Outcome<PacketClaimsResult> claims(PacketClaimsArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /**
         * Lists campaigns by name, a page at a time: campaign, asset, count, total, claimed_count,
         * claimed_amount, status.
         */
        public Outcome<PacketListResult> list(PacketListArguments arguments) {
            return scarce.send(arguments);
        }

        /**
         * Lists campaigns by name, a page at a time: campaign, asset, count, total, claimed_count,
         * claimed_amount, status.
         */
        public Outcome<PacketListResult> list(PacketListArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }
    }

    /** The COUPON commands. */
    public static final class CouponCommands {
        private final Scarce scarce;

        CouponCommands(Scarce scarce) {
            this.scarce = scarce;
        }

        /** Creates a coupon with any number of quantity limits. */
        public Outcome<CouponCreateResult> create(CouponCreateArguments arguments) {
            return scarce.send(arguments);
        }

        /** Creates a coupon with any number of quantity limits. */
        public Outcome<CouponCreateResult> create(CouponCreateArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Changes limits' maxima or adds limits while the coupon runs. */
        public Outcome<CouponUpdateResult> update(CouponUpdateArguments arguments) {
            return scarce.send(arguments);
        }

        /** Changes limits' maxima or adds limits while the coupon runs. */
        public Outcome<CouponUpdateResult> update(CouponUpdateArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Claims a coupon: counts the claim in every limit and returns its serial. */
        public Outcome<CouponClaimResult> claim(CouponClaimArguments arguments) {
            return scarce.send(arguments);
        }

        /** Claims a coupon: counts the claim in every limit and returns its serial. */
        public Outcome<CouponClaimResult> claim(CouponClaimArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Tells how a claim would be answered, without making it. */
        public Outcome<CouponCheckResult> check(CouponCheckArguments arguments) {
            return scarce.send(arguments);
        }

        /** Tells how a claim would be answered, without making it. */
        public Outcome<CouponCheckResult> check(CouponCheckArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Redeems a claim, which can be used once. */
        public Outcome<CouponRedeemResult> redeem(CouponRedeemArguments arguments) {
            return scarce.send(arguments);
        }

        /** Redeems a claim, which can be used once. */
        public Outcome<CouponRedeemResult> redeem(CouponRedeemArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Voids an unused claim; with GIVEBACK it no longer counts in windows that still run. */
        public Outcome<CouponRevokeResult> revoke(CouponRevokeArguments arguments) {
            return scarce.send(arguments);
        }

        /** Voids an unused claim; with GIVEBACK it no longer counts in windows that still run. */
        public Outcome<CouponRevokeResult> revoke(CouponRevokeArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Shows a claim. */
        public Outcome<CouponClaimedResult> claimed(CouponClaimedArguments arguments) {
            return scarce.send(arguments);
        }

        /** Shows a claim. */
        public Outcome<CouponClaimedResult> claimed(CouponClaimedArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Shows a coupon and its limits. */
        public Outcome<CouponGetResult> get(CouponGetArguments arguments) {
            return scarce.send(arguments);
        }

        /** Shows a coupon and its limits. */
        public Outcome<CouponGetResult> get(CouponGetArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Stops claims until the coupon is resumed. */
        public Outcome<CouponPauseResult> pause(CouponPauseArguments arguments) {
            return scarce.send(arguments);
        }

        /** Stops claims until the coupon is resumed. */
        public Outcome<CouponPauseResult> pause(CouponPauseArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Allows claims again. */
        public Outcome<CouponResumeResult> resume(CouponResumeArguments arguments) {
            return scarce.send(arguments);
        }

        /** Allows claims again. */
        public Outcome<CouponResumeResult> resume(CouponResumeArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Lists coupons by name, a page at a time: coupon, status, claimed. */
        public Outcome<CouponListResult> list(CouponListArguments arguments) {
            return scarce.send(arguments);
        }

        /** Lists coupons by name, a page at a time: coupon, status, claimed. */
        public Outcome<CouponListResult> list(CouponListArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }
    }

    /** The MARKET commands. */
    public static final class MarketCommands {
        private final Scarce scarce;

        MarketCommands(Scarce scarce) {
            this.scarce = scarce;
        }

        /** Opens a market with an empty book. */
        public Outcome<MarketCreateResult> create(MarketCreateArguments arguments) {
            return scarce.send(arguments);
        }

        /** Opens a market with an empty book. */
        public Outcome<MarketCreateResult> create(MarketCreateArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Shows a market: rules, status, best prices, last trade. */
        public Outcome<MarketGetResult> get(MarketGetArguments arguments) {
            return scarce.send(arguments);
        }

        /** Shows a market: rules, status, best prices, last trade. */
        public Outcome<MarketGetResult> get(MarketGetArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Stops trading; cancels and reductions go on. */
        public Outcome<MarketHaltResult> halt(MarketHaltArguments arguments) {
            return scarce.send(arguments);
        }

        /** Stops trading; cancels and reductions go on. */
        public Outcome<MarketHaltResult> halt(MarketHaltArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Allows trading again. */
        public Outcome<MarketResumeResult> resume(MarketResumeArguments arguments) {
            return scarce.send(arguments);
        }

        /** Allows trading again. */
        public Outcome<MarketResumeResult> resume(MarketResumeArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Shows the book's levels, best first: price, quantity, orders. */
        public Outcome<MarketDepthResult> depth(MarketDepthArguments arguments) {
            return scarce.send(arguments);
        }

        /** Shows the book's levels, best first: price, quantity, orders. */
        public Outcome<MarketDepthResult> depth(MarketDepthArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /**
         * Lists the last trades, latest first, of the hundred that are kept: trade, price, quantity,
         * taker_side, at.
         */
        public Outcome<MarketTradesResult> trades(MarketTradesArguments arguments) {
            return scarce.send(arguments);
        }

        /**
         * Lists the last trades, latest first, of the hundred that are kept: trade, price, quantity,
         * taker_side, at.
         */
        public Outcome<MarketTradesResult> trades(MarketTradesArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Shows a market's last trade and its best prices with their quantities. */
        public Outcome<MarketTickerResult> ticker(MarketTickerArguments arguments) {
            return scarce.send(arguments);
        }

        /** Shows a market's last trade and its best prices with their quantities. */
        public Outcome<MarketTickerResult> ticker(MarketTickerArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Lists markets by name, a page at a time: market, status, best_bid, best_ask, orders, trades. */
        public Outcome<MarketListResult> list(MarketListArguments arguments) {
            return scarce.send(arguments);
        }

        /** Lists markets by name, a page at a time: market, status, best_bid, best_ask, orders, trades. */
        public Outcome<MarketListResult> list(MarketListArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }
    }

    /** The ORDER commands. */
    public static final class OrderCommands {
        private final Scarce scarce;

        OrderCommands(Scarce scarce) {
            this.scarce = scarce;
        }

        /**
         * Lists resting orders, a page at a time: an owner's, oldest first, or all, bids before asks, in the
         * order in which they trade.
         */
        public Outcome<OrderListResult> list(OrderListArguments arguments) {
            return scarce.send(arguments);
        }

        /**
         * Lists resting orders, a page at a time: an owner's, oldest first, or all, bids before asks, in the
         * order in which they trade.
         */
        public Outcome<OrderListResult> list(OrderListArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Places an order, which trades at once as far as it can. */
        public Outcome<OrderPlaceResult> place(OrderPlaceArguments arguments) {
            return scarce.send(arguments);
        }

        /** Places an order, which trades at once as far as it can. */
        public Outcome<OrderPlaceResult> place(OrderPlaceArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Takes an order off the book. */
        public Outcome<OrderCancelResult> cancel(OrderCancelArguments arguments) {
            return scarce.send(arguments);
        }

        /** Takes an order off the book. */
        public Outcome<OrderCancelResult> cancel(OrderCancelArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Makes an order smaller; it keeps its priority. */
        public Outcome<OrderReduceResult> reduce(OrderReduceArguments arguments) {
            return scarce.send(arguments);
        }

        /** Makes an order smaller; it keeps its priority. */
        public Outcome<OrderReduceResult> reduce(OrderReduceArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Changes an order's price and remaining quantity. */
        public Outcome<OrderReplaceResult> replace(OrderReplaceArguments arguments) {
            return scarce.send(arguments);
        }

        /** Changes an order's price and remaining quantity. */
        public Outcome<OrderReplaceResult> replace(OrderReplaceArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Takes all of an owner's orders off the book. */
        public Outcome<OrderCancelallResult> cancelall(OrderCancelallArguments arguments) {
            return scarce.send(arguments);
        }

        /** Takes all of an owner's orders off the book. */
        public Outcome<OrderCancelallResult> cancelall(OrderCancelallArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Shows an order. */
        public Outcome<OrderGetResult> get(OrderGetArguments arguments) {
            return scarce.send(arguments);
        }

        /** Shows an order. */
        public Outcome<OrderGetResult> get(OrderGetArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }
    }

    /** The OPERATION commands. */
    public static final class OperationCommands {
        private final Scarce scarce;

        OperationCommands(Scarce scarce) {
            this.scarce = scarce;
        }

        /** Shows the receipt that is remembered under an operation id. */
        public Outcome<OperationGetResult> get(OperationGetArguments arguments) {
            return scarce.send(arguments);
        }

        /** Shows the receipt that is remembered under an operation id. */
        public Outcome<OperationGetResult> get(OperationGetArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }

        /** Returns the receipt, or marks the id so that no copy that arrives later is applied. */
        public Outcome<OperationResolveResult> resolve(OperationResolveArguments arguments) {
            return scarce.send(arguments);
        }

        /** Returns the receipt, or marks the id so that no copy that arrives later is applied. */
        public Outcome<OperationResolveResult> resolve(OperationResolveArguments arguments, CallOptions options) {
            return scarce.send(arguments, options);
        }
    }
}
