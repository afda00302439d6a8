//! The table of outcome codes. Gateways, documents, scripts and the conformance checklist are generated
//! from it. Numbers never change: a new code is appended to its block, and no code is renumbered.

use super::shape::{FACTS, INTEGER, INTEGER_OR_TEXT, TEXT, ValueSpec, values};
use crate::language::Text;

/// The kinds of outcomes, which decide what is remembered under the operation id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The command was carried out.
    Applied,
    /// An ordinary answer: the rules forbid it now.
    Refusal,
    /// The request itself is wrong or came too late; never remembered under an id.
    Rejected,
    /// The engine could not decide; send the command again with the same id.
    Failure,
}

macro_rules! codes {
    ($($number:literal $word:literal $variant:ident $kind:ident $status:literal $retryable:literal
        [$($fact:ident: $type:expr),*] $cause:literal $cause_zh:literal $advice:literal $advice_zh:literal;)*) => {
        /// Why a command ended as it did.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Code { $(#[doc = $cause] $variant = $number),* }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Code] = &[$(Code::$variant),*];

            /// The word in answers.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Code::$variant => $word),* }
            }

            /// What kind of end this is.
            #[must_use]
            pub const fn kind(self) -> Kind {
                match self { $(Code::$variant => Kind::$kind),* }
            }

            /// The HTTP status.
            #[must_use]
            pub const fn http_status(self) -> u16 {
                match self { $(Code::$variant => $status),* }
            }

            /// Whether the same command may succeed when it is sent again later.
            #[must_use]
            pub const fn is_retryable(self) -> bool {
                match self { $(Code::$variant => $retryable),* }
            }

            /// The facts that go with the code, in order.
            #[must_use]
            pub const fn facts(self) -> &'static [ValueSpec] {
                match self { $(Code::$variant => const { values![$($fact: $type),*] }),* }
            }

            /// What happened.
            #[must_use]
            pub const fn cause(self) -> Text {
                match self { $(Code::$variant => Text::new($cause, $cause_zh)),* }
            }

            /// What to do about it.
            #[must_use]
            pub const fn advice(self) -> Text {
                match self { $(Code::$variant => Text::new($advice, $advice_zh)),* }
            }

            /// The code of a number, as in the log.
            #[must_use]
            pub const fn from_number(number: u16) -> Option<Code> {
                match number { $($number => Some(Code::$variant),)* _ => None }
            }

            /// The code of a word, in any case.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Code> {
                Self::ALL.iter().copied().find(|code| code.word().eq_ignore_ascii_case(word))
            }
        }
    };
}

impl Code {
    /// The number, which never changes.
    #[must_use]
    pub const fn number(self) -> u16 {
        self as u16
    }
}

codes! {
    0 "APPLIED" Applied Applied 200 false []
        "The command was carried out." "命令已执行。"
        "Nothing." "无需处理。";
    1 "INVALID" Invalid Rejected 400 false [argument: TEXT, reason: TEXT]
        "An argument has the wrong shape, or contradicts what exists." "某个参数格式不对，或与现有状态矛盾。"
        "Correct the named argument; nothing was changed." "更正指出的参数；没有任何改动。";
    2 "CROSS_PARTITION" CrossPartition Rejected 409 false [first: TEXT, second: TEXT]
        "The command touches resources that live in different partitions." "命令涉及的资源不在同一个分区。"
        "Put resources that change together under one {tag}." "把需要一起变动的资源放在同一个 {tag} 之下。";
    3 "OVERLOADED" Overloaded Failure 503 true [queue: TEXT, retry_after_ms: INTEGER.or_none()]
        "A bounded queue is full, no more operation ids can be remembered, or memory is nearly used up." "某个有界队列已满，可记录的操作 ID 已达上限，或内存即将用尽。"
        "Wait a moment and send the command again with the same id." "稍等片刻，用同一个 ID 重发。";
    4 "UNAVAILABLE" Unavailable Failure 503 true [reason: TEXT]
        "The engine cannot take commands at the moment." "引擎暂时不能受理命令。"
        "Send the command again with the same id once the cause is fixed." "排除原因后，用同一个 ID 重发。";
    5 "UNKNOWN" Unknown Failure 504 true [reason: TEXT]
        "The command was sent, but its outcome is not known." "命令已发出，但结果未知。"
        "Send it again with the same id, or ask OPERATION.GET or OPERATION.RESOLVE." "用同一个 ID 重发，或用 OPERATION.GET、OPERATION.RESOLVE 查明。";
    6 "MIGRATED" Migrated Failure 421 false [address: TEXT]
        "The deployment has moved, and is not served here any more." "该部署已迁走，此处不再提供服务。"
        "Send the command to the named address with the same id." "用同一个 ID 把命令发往指出的地址。";
    10 "ID_REUSED" IdReused Refusal 422 false [operation: TEXT]
        "The operation id was used before with other content." "该操作 ID 此前用于内容不同的命令。"
        "Use a new id for a different command." "不同的命令请换一个新 ID。";
    11 "ID_EXPIRED" IdExpired Rejected 409 false [operation: TEXT, window_ms: INTEGER]
        "The time in the operation id is older than the window for which ids are remembered." "操作 ID 自带的时间早于 ID 的保留窗口。"
        "Look the operation up in the log (EVENTS) before you send it under a new id." "先在日志（EVENTS）中查明该操作，再决定是否换新 ID 重发。";
    12 "DEADLINE_PASSED" DeadlinePassed Rejected 409 false [deadline: INTEGER, now: INTEGER]
        "The command's deadline had passed when its turn came." "轮到执行时，命令自带的截止时刻已过。"
        "Nothing was changed. Decide again whether you still want it." "没有任何改动；请重新决定是否还要执行。";
    13 "RESOLVED_ABSENT" ResolvedAbsent Refusal 409 false [operation: TEXT]
        "The operation was declared absent by OPERATION.RESOLVE before this duplicate arrived." "这次重复请求到达之前，该操作已被 OPERATION.RESOLVE 判定为不存在。"
        "Use a new id if you still want the effect." "若仍要生效，请换一个新 ID。";
    14 "BATCH_REFUSED" BatchRefused Refusal 409 false [index: INTEGER, code: TEXT, facts: FACTS]
        "A line of an atomic batch was refused, so no line was applied." "原子批次中有一行被拒绝，因此整批未执行。"
        "Look at the line given; its code says what to do." "查看指出的那一行，按它的结果码处理。";
    15 "STEP_LIMIT" StepLimit Refusal 409 false [limit: INTEGER]
        "A command in an atomic batch needs more than one bounded step, the batch is larger than one step may be, a dry run would have to touch more orders than it may, or a fill-or-kill order or a list of orders would have to look at more of them." "原子批次中的某条命令单步做不完，整批超出单步的字节数上限，试运行涉及的委托超出上限，或全部成交或拒绝（FOK）的订单、挂单列表需要查看的委托超出上限。"
        "Send that command on its own, or make it smaller. An order that is too large for a dry run can be placed. Before a fill-or-kill order, cancel some of your own orders, or use STP NONE. Go on with a list behind an order that still rests." "把该命令单独发送，或缩小规模。对试运行而言过大的委托仍可直接下单。对 FOK 订单，先撤掉一部分自己的委托，或使用 STP NONE。挂单列表从仍在簿上的订单之后继续。";
    16 "OVERFLOW" Overflow Refusal 409 false [argument: TEXT]
        "A result would leave the range of exact integers, 2^53 − 1." "计算结果会超出精确整数范围 2^53 − 1。"
        "Use smaller amounts, or a coarser minor unit." "减小金额，或改用更大的最小单位。";
    17 "OPERATION_NOT_FOUND" OperationNotFound Refusal 404 true [operation: TEXT]
        "No operation is remembered under this id." "没有该操作 ID 的记录。"
        "Send the operation, or make sure with OPERATION.RESOLVE that it is never applied." "发送该操作，或用 OPERATION.RESOLVE 确保它不会再生效。";
    20 "NOT_STARTED" NotStarted Refusal 409 true [starts_at: INTEGER.or_none(), now: INTEGER]
        "The sale or campaign has not begun." "销售或活动尚未开始。"
        "Try again at the time given." "到给出的时刻再试。";
    21 "ENDED" Ended Refusal 409 false [ends_at: INTEGER.or_none(), now: INTEGER]
        "The sale or campaign is over." "销售或活动已经结束。"
        "Nothing more is given out here." "此处不再发放。";
    304 "CLAIMS_EXPIRED" ClaimsExpired Refusal 409 false [campaign: TEXT]
        "The campaign is over and the retention of its claims too, so they are not in memory any more." "活动已结束，其领取记录也已过保留期，不在内存中了。"
        "Find the claim in the history or the log (EVENTS)." "请在历史查询或日志（EVENTS）里查找领取记录。";
    22 "NOT_OWNER" NotOwner Refusal 409 false []
        "The record belongs to somebody else." "该记录属于别人。"
        "Name the owner who made it." "请填创建它的用户。";
    100 "ACCOUNT_EXISTS" AccountExists Refusal 409 false [account: TEXT]
        "An account of this name exists." "同名账户已存在。"
        "Use it, or choose another name." "直接使用它，或换一个名称。";
    101 "SAME_ACCOUNT" SameAccount Refusal 409 false [account: TEXT]
        "A transfer names one account as source and destination." "转账的付款方与收款方是同一个账户。"
        "Name two different accounts." "请填两个不同的账户。";
    102 "ACCOUNT_NOT_FOUND" AccountNotFound Refusal 404 false [account: TEXT]
        "No account of this name exists." "没有这个账户。"
        "Open it first, or check the name." "先开户，或检查名称。";
    103 "ACCOUNT_CLOSED" AccountClosed Refusal 409 false [account: TEXT]
        "The account is closed for good." "账户已销户，不可恢复。"
        "Use another account." "请换用其他账户。";
    104 "ACCOUNT_FROZEN" AccountFrozen Refusal 409 true [account: TEXT]
        "The account is frozen: no debits and no new holds." "账户已冻结，不能扣款，也不能新增预扣。"
        "Unfreeze the account once the reason is resolved." "原因解决后解冻。";
    105 "HOLD_EXISTS" HoldExists Refusal 409 false [hold: TEXT]
        "A hold of this name exists on the account." "该账户下已有同名预扣单。"
        "Choose another name for the hold." "给预扣单换一个名称。";
    106 "HOLD_NOT_FOUND" HoldNotFound Refusal 404 false [hold: TEXT]
        "The account has no hold of this name, or it ended long ago." "该账户下没有这个预扣单，或它早已结束。"
        "Check the name; older holds are in the log (EVENTS)." "检查名称；更早的记录在日志（EVENTS）里。";
    107 "HOLD_CAPTURED" HoldCaptured Refusal 409 false [hold: TEXT]
        "The hold was captured." "该预扣已经实扣。"
        "Nothing is left to capture or void." "已没有可实扣或可取消的余额。";
    108 "HOLD_VOIDED" HoldVoided Refusal 409 false [hold: TEXT]
        "The hold was voided." "该预扣已经取消。"
        "Place a new hold." "另建预扣。";
    109 "HOLD_EXPIRED" HoldExpired Refusal 409 false [hold: TEXT, deadline: INTEGER]
        "The hold's deadline has passed." "该预扣已到期。"
        "Place a new hold." "另建预扣。";
    110 "AMOUNT_EXCEEDS_HOLD" AmountExceedsHold Refusal 409 false [held: INTEGER, requested: INTEGER]
        "The amount is larger than what the hold still holds." "请求金额超过预扣单的剩余金额。"
        "Capture at most what is held." "实扣金额不得超过预扣余额。";
    111 "ASSET_MISMATCH" AssetMismatch Refusal 409 false [from: TEXT, to: TEXT]
        "The two accounts hold different assets." "两个账户的资产不同。"
        "Use accounts of one asset." "请使用同一资产的账户。";
    112 "INSUFFICIENT_FUNDS" InsufficientFunds Refusal 409 true [account: TEXT, available: INTEGER, requested: INTEGER]
        "The available amount, overdraft included, is too small." "算上透支额度，可用金额仍不足。"
        "Credit the account, or ask for less." "先入账，或减小金额。";
    113 "BALANCE_NOT_ZERO" BalanceNotZero Refusal 409 true [balance: INTEGER, held: INTEGER]
        "An account can be closed only when its balance is 0 and nothing is held." "余额为 0 且没有预扣时才能销户。"
        "Transfer the rest away, and capture or void the holds first." "先转走余额，并实扣或取消各笔预扣。";
    114 "OVERDRAFT_IN_USE" OverdraftInUse Refusal 409 true [available: INTEGER, overdraft: INTEGER]
        "The account is further below zero than the new overdraft allows." "账户的负数余额已超出新的透支额度。"
        "Credit the account first." "先入账。";
    200 "STOCK_EXISTS" StockExists Refusal 409 false [sku: TEXT]
        "A stock item of this name exists." "同名商品已存在。"
        "Restock it, or choose another name." "补货，或换一个名称。";
    201 "STOCK_NOT_FOUND" StockNotFound Refusal 404 false [sku: TEXT]
        "No stock item of this name exists." "没有这个商品。"
        "Create it first, or check the name." "先创建，或检查名称。";
    202 "STOCK_CLOSED" StockClosed Refusal 409 false [sku: TEXT]
        "The stock item is closed for sales." "该商品已停止销售。"
        "Nothing more is sold under this name." "这个名称下不再出售。";
    203 "RESERVATION_EXISTS" ReservationExists Refusal 409 false [reservation: TEXT]
        "A reservation of this name exists on the item." "该商品下已有同名预占单。"
        "Choose another name for the reservation." "给预占单换一个名称。";
    204 "RESERVATION_NOT_FOUND" ReservationNotFound Refusal 404 false [reservation: TEXT]
        "The item has no reservation of this name, or it ended long ago." "该商品下没有这个预占单，或它早已结束。"
        "Check the name; older ones are in the log (EVENTS)." "检查名称；更早的记录在日志（EVENTS）里。";
    205 "RESERVATION_CONFIRMED" ReservationConfirmed Refusal 409 false [reservation: TEXT]
        "The reservation was confirmed; its units are sold." "该预占已经确认，商品已售出。"
        "Use STOCK.RETURN to give units back." "要退回请用 STOCK.RETURN。";
    206 "RESERVATION_RELEASED" ReservationReleased Refusal 409 false [reservation: TEXT]
        "The reservation was released." "该预占已经释放。"
        "Reserve again." "请重新预占。";
    207 "RESERVATION_EXPIRED" ReservationExpired Refusal 409 false [reservation: TEXT, deadline: INTEGER]
        "The reservation's deadline has passed; its units went back on sale." "该预占已到期，商品已恢复可售。"
        "Reserve again." "请重新预占。";
    208 "OWNER_LIMIT_REACHED" OwnerLimitReached Refusal 409 false [used: INTEGER, max: INTEGER]
        "The owner has, or would have, more units than one owner may." "该用户已达到、或将超出每人限购件数。"
        "Ask for fewer; returns and releases free the limit again." "减少件数；退货或释放预占会腾出额度。";
    209 "SOLD_OUT" SoldOut Refusal 409 true [available: INTEGER, requested: INTEGER]
        "No unit is left." "一件不剩，已售罄。"
        "Units may come back from reservations; watch stock.available_again." "预占释放后可能又有货；请关注 stock.available_again。";
    210 "INSUFFICIENT_STOCK" InsufficientStock Refusal 409 true [available: INTEGER, requested: INTEGER]
        "Some units are left, but fewer than asked for." "还有余量，但不够请求的件数。"
        "Ask for at most what is available." "请求件数不要超过可售件数。";
    211 "UNITS_NOT_SOLD" UnitsNotSold Refusal 409 false [first: INTEGER, count: INTEGER]
        "The range of serials is not wholly within one receipt, or was returned already." "这段序列号不全在同一张销售凭证之内，或其中有的已退货。"
        "Name serials of one receipt that are still sold." "请填同一张凭证内仍处于已售状态的序列号。";
    212 "STOCK_INCONSISTENT" StockInconsistent Refusal 409 false [figure: TEXT, counted: INTEGER, recorded: INTEGER]
        "An audit counted different numbers than the item records." "复核得到的数字与库存记录不一致。"
        "Stop selling the item and verify the journal; the event log is authoritative." "停售该商品并校验日志；以事件日志为准。";
    213 "RECEIPT_EXPIRED" ReceiptExpired Refusal 409 false [first: INTEGER, count: INTEGER]
        "The retention of the receipt is over, so its units can no longer be returned here." "销售凭证已过保留期，其中的商品不能再在此退货。"
        "Find the sale in the history or the log (EVENTS), and put the unit back on sale with STOCK.RESTOCK." "在历史查询或日志（EVENTS）里找到这次销售，再用 STOCK.RESTOCK 把商品重新上架。";
    300 "CAMPAIGN_EXISTS" CampaignExists Refusal 409 false [campaign: TEXT]
        "A campaign of this name exists." "同名红包活动已存在。"
        "Choose another name." "换一个名称。";
    301 "CAMPAIGN_NOT_FOUND" CampaignNotFound Refusal 404 false [campaign: TEXT]
        "No campaign of this name exists." "没有这个红包活动。"
        "Create it first, or check the name." "先创建，或检查名称。";
    302 "ALREADY_CLAIMED" AlreadyClaimed Refusal 409 false [packet: INTEGER.or_none(), amount: INTEGER.or_none()]
        "The user already has a packet of this campaign." "该用户已领过这个活动的红包。"
        "The packet given here is the user's and stays so." "所示红包即归该用户所有。";
    303 "EXHAUSTED" Exhausted Refusal 409 false [count: INTEGER]
        "Every packet is claimed." "红包已全部领完。"
        "Nothing more is given out here." "此处不再发放。";
    400 "COUPON_EXISTS" CouponExists Refusal 409 false [coupon: TEXT]
        "A coupon of this name exists." "同名优惠券已存在。"
        "Update it, or choose another name." "修改它，或换一个名称。";
    401 "COUPON_NOT_FOUND" CouponNotFound Refusal 404 false [coupon: TEXT]
        "No coupon of this name exists." "没有这个优惠券。"
        "Create it first, or check the name." "先创建，或检查名称。";
    402 "COUPON_PAUSED" CouponPaused Refusal 409 true [coupon: TEXT]
        "The coupon is paused." "优惠券已暂停领取。"
        "Try again after it is resumed." "恢复后再试。";
    403 "SUBJECT_INCOMPLETE" SubjectIncomplete Refusal 409 false [limit: TEXT, dimension: TEXT]
        "A limit counts by a dimension that the subject does not name." "某条限额要按一个维度计数，而领取主体没有给出该维度。"
        "Name every dimension that the coupon's limits count by." "补全该优惠券各条限额所用的维度。";
    404 "LIMIT_REACHED" LimitReached Refusal 409 true [limit: TEXT, used: INTEGER, max: INTEGER, resets_at: INTEGER.or_none()]
        "A quantity limit is used up for this subject." "该领取主体的某条限额已用完。"
        "Wait until the time given, if there is one." "若给出了重置时刻，请等到那时。";
    405 "CLAIM_NOT_FOUND" ClaimNotFound Refusal 404 false [claim: INTEGER_OR_TEXT]
        "The coupon has no claim of this serial, or it ended long ago." "没有这个编号的领取记录，或它早已结束。"
        "Check the serial; older ones are in the log (EVENTS)." "检查编号；更早的记录在日志（EVENTS）里。";
    406 "CLAIM_REDEEMED" ClaimRedeemed Refusal 409 false [serial: INTEGER]
        "The claim was used." "该领取已核销。"
        "A claim can be used once." "每次领取只能核销一次。";
    407 "CLAIM_REVOKED" ClaimRevoked Refusal 409 false [serial: INTEGER]
        "The claim was revoked." "该领取已作废。"
        "Claim again if the limits allow it." "限额允许时可重新领取。";
    408 "CLAIM_EXPIRED" ClaimExpired Refusal 409 false [serial: INTEGER, deadline: INTEGER]
        "The claim was not used in time." "该领取未在有效期内核销。"
        "Claim again if the limits allow it." "限额允许时可重新领取。";
    500 "MARKET_EXISTS" MarketExists Refusal 409 false [market: TEXT]
        "A market of this name exists." "同名市场已存在。"
        "Choose another name." "换一个名称。";
    501 "MARKET_NOT_FOUND" MarketNotFound Refusal 404 false [market: TEXT]
        "No market of this name exists." "没有这个市场。"
        "Create it first, or check the name." "先创建，或检查名称。";
    502 "MARKET_HALTED" MarketHalted Refusal 409 true [market: TEXT]
        "The market is halted: only cancels, reductions and replacements that keep priority go on." "市场已暂停交易：只受理撤单、减量，以及不改变排队位置的改单。"
        "Try again after it is resumed." "恢复交易后再试。";
    503 "ORDER_EXISTS" OrderExists Refusal 409 false [order: TEXT]
        "An order of this name exists or ended not long ago." "同名订单已存在，或刚结束不久。"
        "Choose another name for the order." "给订单换一个名称。";
    504 "ORDER_NOT_FOUND" OrderNotFound Refusal 404 false [order: TEXT]
        "The market has no order of this name, or it ended long ago." "该市场没有这个订单，或它早已结束。"
        "Check the name; older ones are in the log (EVENTS)." "检查名称；更早的记录在日志（EVENTS）里。";
    505 "ORDER_CLOSED" OrderClosed Refusal 409 false [order: TEXT, status: TEXT]
        "The order was filled or cancelled." "订单已全部成交或已撤销。"
        "Place a new order." "请重新下单。";
    506 "PRICE_INVALID" PriceInvalid Refusal 409 false [price: INTEGER, tick: INTEGER]
        "The price is not a multiple of the market's tick." "价格不是市场最小变动价位的整数倍。"
        "Round the price to the tick." "把价格取整到最小变动价位。";
    507 "QUANTITY_INVALID" QuantityInvalid Refusal 409 false [quantity: INTEGER, lot: INTEGER, min: INTEGER, max: INTEGER]
        "The quantity is not a multiple of the lot, or is outside the market's bounds." "数量不是最小数量单位的整数倍，或超出市场允许的范围。"
        "Choose a quantity within the bounds given." "请在给出的范围内选择数量。";
    508 "WOULD_TAKE" WouldTake Refusal 409 true [best_price: INTEGER]
        "A post-only order would trade at once." "只挂单的订单会立即成交。"
        "Place it behind the price given." "买单请低于、卖单请高于所示价格。";
    509 "WOULD_NOT_FILL" WouldNotFill Refusal 409 true [fillable: INTEGER, quantity: INTEGER]
        "A fill-or-kill order cannot be filled completely." "全部成交或拒绝（FOK）的订单无法全部成交。"
        "Use a smaller quantity or another price, or do without fill-or-kill." "减少数量、改变价格，或不用 FOK。";
}
