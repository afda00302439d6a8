//! The table of outcome codes. Gateways, documents, scripts and the conformance checklist are made
//! from it. Numbers are for ever: a code is added at the end of its block and never renumbered.

/// What becomes of an outcome under its operation id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The command was carried out.
    Applied,
    /// An ordinary answer: the rules forbid it now.
    Refusal,
    /// The request itself is wrong or came too late; never remembered under an id.
    Rejected,
    /// The engine could not decide; ask again with the same id.
    Failure,
}

macro_rules! codes {
    ($($number:literal $word:literal $variant:ident $kind:ident $status:literal $retryable:literal
        [$($fact:literal),*] $cause:literal $advice:literal;)*) => {
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

            /// The names of the facts that go with the code, in order.
            #[must_use]
            pub const fn facts(self) -> &'static [&'static str] {
                match self { $(Code::$variant => &[$($fact),*]),* }
            }

            /// What happened.
            #[must_use]
            pub const fn cause(self) -> &'static str {
                match self { $(Code::$variant => $cause),* }
            }

            /// What to do about it.
            #[must_use]
            pub const fn advice(self) -> &'static str {
                match self { $(Code::$variant => $advice),* }
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
    /// The number, for ever the same.
    #[must_use]
    pub const fn number(self) -> u16 {
        self as u16
    }
}

codes! {
    0 "APPLIED" Applied Applied 200 false []
        "The command was carried out." "Nothing.";
    1 "INVALID" Invalid Rejected 400 false ["argument", "reason"]
        "An argument has the wrong shape, or contradicts what exists." "Correct the named argument; nothing was changed.";
    2 "CROSS_PARTITION" CrossPartition Rejected 409 false ["first", "second"]
        "The command touches resources that live in different partitions." "Put resources that change together under one {tag}.";
    3 "OVERLOADED" Overloaded Failure 503 true ["queue"]
        "A bounded queue or the memory of operation ids is full." "Wait a moment and send the command again with the same id.";
    4 "UNAVAILABLE" Unavailable Failure 503 true ["reason"]
        "The engine cannot take commands at the moment." "Send the command again with the same id when the cause is gone.";
    5 "UNKNOWN" Unknown Failure 504 true ["reason"]
        "The command was sent but its outcome was not learned." "Send it again with the same id, or ask OPERATION.GET or OPERATION.RESOLVE.";
    10 "ID_REUSED" IdReused Refusal 422 false ["operation"]
        "The operation id was used before with other content." "Take a fresh id for a different command.";
    11 "ID_EXPIRED" IdExpired Rejected 409 false ["operation", "window_ms"]
        "The operation id carries a time before the window in which ids are remembered." "Look the operation up in the log (EVENTS) before you send it under a fresh id.";
    12 "DEADLINE_PASSED" DeadlinePassed Rejected 409 false ["deadline", "now"]
        "The command reached its turn at or after the deadline that it carries." "Nothing was changed; decide anew whether you still want it.";
    13 "RESOLVED_ABSENT" ResolvedAbsent Refusal 409 false ["operation"]
        "The operation was declared absent by OPERATION.RESOLVE before this copy arrived." "Take a fresh id if you want the effect after all.";
    14 "BATCH_REFUSED" BatchRefused Refusal 409 false ["index", "code", "facts"]
        "A line of an atomic batch was refused, so none was applied." "Look at the named line; its code says what to do.";
    15 "STEP_LIMIT" StepLimit Refusal 409 false ["limit"]
        "A command in an atomic batch would need more than one bounded step, or the batch would exceed the bytes of one." "Send that command on its own, or make it smaller.";
    16 "OVERFLOW" Overflow Refusal 409 false ["argument"]
        "A result would leave the range of exact integers, 2^53 − 1." "Use smaller amounts, or a coarser minor unit.";
    17 "OPERATION_NOT_FOUND" OperationNotFound Refusal 404 true ["operation"]
        "No operation is remembered under this id." "Send the operation, or settle it with OPERATION.RESOLVE.";
    20 "NOT_STARTED" NotStarted Refusal 409 true ["starts_at", "now"]
        "The sale or campaign has not begun." "Come back at the time named.";
    21 "ENDED" Ended Refusal 409 false ["ends_at", "now"]
        "The sale or campaign is over." "Nothing more can be had here.";
    22 "NOT_OWNER" NotOwner Refusal 409 false []
        "The record belongs to somebody else." "Name the owner who made it.";
    100 "ACCOUNT_EXISTS" AccountExists Refusal 409 false ["account"]
        "An account of this name exists." "Use it, or choose another name.";
    101 "SAME_ACCOUNT" SameAccount Refusal 409 false ["account"]
        "A transfer names one account as source and destination." "Name two different accounts.";
    102 "ACCOUNT_NOT_FOUND" AccountNotFound Refusal 404 false ["account"]
        "No account of this name exists." "Open it first, or check the name.";
    103 "ACCOUNT_CLOSED" AccountClosed Refusal 409 false ["account"]
        "The account is closed for good." "Use another account.";
    104 "ACCOUNT_FROZEN" AccountFrozen Refusal 409 true ["account"]
        "The account is frozen: no debits and no new holds." "Unfreeze it when the reason is settled.";
    105 "HOLD_EXISTS" HoldExists Refusal 409 false ["hold"]
        "A hold of this name exists on the account." "Choose another name for the hold.";
    106 "HOLD_NOT_FOUND" HoldNotFound Refusal 404 false ["hold"]
        "The account has no hold of this name, or it ended long ago." "Check the name; older holds are in the log (EVENTS).";
    107 "HOLD_CAPTURED" HoldCaptured Refusal 409 false ["hold"]
        "The hold was captured." "Nothing is left to capture or void.";
    108 "HOLD_VOIDED" HoldVoided Refusal 409 false ["hold"]
        "The hold was voided." "Make a new hold.";
    109 "HOLD_EXPIRED" HoldExpired Refusal 409 false ["hold", "deadline"]
        "The hold's deadline has passed." "Make a new hold.";
    110 "AMOUNT_EXCEEDS_HOLD" AmountExceedsHold Refusal 409 false ["held", "requested"]
        "More was asked for than the hold still holds." "Capture at most what is held.";
    111 "ASSET_MISMATCH" AssetMismatch Refusal 409 false ["from", "to"]
        "The two accounts keep different assets." "Use accounts of one asset.";
    112 "INSUFFICIENT_FUNDS" InsufficientFunds Refusal 409 true ["account", "available", "requested"]
        "Less is available, overdraft included, than was asked for." "Credit the account, or ask for less.";
    113 "BALANCE_NOT_ZERO" BalanceNotZero Refusal 409 true ["balance", "held"]
        "An account can be closed only when its balance is 0 and nothing is held." "Move the rest away and settle the holds first.";
    114 "OVERDRAFT_IN_USE" OverdraftInUse Refusal 409 true ["available", "overdraft"]
        "The account is further below zero than the new overdraft allows." "Credit the account first.";
    200 "STOCK_EXISTS" StockExists Refusal 409 false ["sku"]
        "A stock item of this name exists." "Restock it, or choose another name.";
    201 "STOCK_NOT_FOUND" StockNotFound Refusal 404 false ["sku"]
        "No stock item of this name exists." "Create it first, or check the name.";
    202 "STOCK_CLOSED" StockClosed Refusal 409 false ["sku"]
        "The stock item is closed for sales." "Nothing more is sold under this name.";
    203 "RESERVATION_EXISTS" ReservationExists Refusal 409 false ["reservation"]
        "A reservation of this name exists on the item." "Choose another name for the reservation.";
    204 "RESERVATION_NOT_FOUND" ReservationNotFound Refusal 404 false ["reservation"]
        "The item has no reservation of this name, or it ended long ago." "Check the name; older ones are in the log (EVENTS).";
    205 "RESERVATION_CONFIRMED" ReservationConfirmed Refusal 409 false ["reservation"]
        "The reservation was confirmed; its units are sold." "Use STOCK.RETURN to give units back.";
    206 "RESERVATION_RELEASED" ReservationReleased Refusal 409 false ["reservation"]
        "The reservation was released." "Reserve anew.";
    207 "RESERVATION_EXPIRED" ReservationExpired Refusal 409 false ["reservation", "deadline"]
        "The reservation's deadline has passed; its units went back on sale." "Reserve anew.";
    208 "OWNER_LIMIT_REACHED" OwnerLimitReached Refusal 409 false ["used", "max"]
        "The owner has, or would have, more units than one owner may." "Ask for fewer; returns and releases free the limit again.";
    209 "SOLD_OUT" SoldOut Refusal 409 true ["available", "requested"]
        "No unit is left." "Units may come back from reservations; watch stock.available_again.";
    210 "INSUFFICIENT_STOCK" InsufficientStock Refusal 409 true ["available", "requested"]
        "Some units are left, but fewer than asked for." "Ask for at most what is available.";
    211 "UNITS_NOT_SOLD" UnitsNotSold Refusal 409 false ["first", "count"]
        "The range of serials is not wholly within one receipt, or was returned already." "Name serials of one receipt that are still sold.";
    212 "STOCK_INCONSISTENT" StockInconsistent Refusal 409 false ["figure", "counted", "recorded"]
        "An audit counted other figures than the item records." "Stop selling the item and verify the journal; the event log says what is true.";
    300 "CAMPAIGN_EXISTS" CampaignExists Refusal 409 false ["campaign"]
        "A campaign of this name exists." "Choose another name.";
    301 "CAMPAIGN_NOT_FOUND" CampaignNotFound Refusal 404 false ["campaign"]
        "No campaign of this name exists." "Create it first, or check the name.";
    302 "ALREADY_CLAIMED" AlreadyClaimed Refusal 409 false ["packet", "amount"]
        "The user has a packet of this campaign." "The packet named is the user's for good.";
    303 "EXHAUSTED" Exhausted Refusal 409 false ["count"]
        "Every packet is claimed." "Nothing more can be had here.";
    400 "COUPON_EXISTS" CouponExists Refusal 409 false ["coupon"]
        "A coupon of this name exists." "Update it, or choose another name.";
    401 "COUPON_NOT_FOUND" CouponNotFound Refusal 404 false ["coupon"]
        "No coupon of this name exists." "Create it first, or check the name.";
    402 "COUPON_PAUSED" CouponPaused Refusal 409 true ["coupon"]
        "The coupon is paused." "Try again when it was resumed.";
    403 "SUBJECT_INCOMPLETE" SubjectIncomplete Refusal 409 false ["limit", "dimension"]
        "A limit counts by a dimension that the subject does not name." "Name every dimension that the coupon's limits count by.";
    404 "LIMIT_REACHED" LimitReached Refusal 409 true ["limit", "used", "max", "resets_at"]
        "A quantity limit is used up for this subject." "Wait until the time named, where there is one.";
    405 "CLAIM_NOT_FOUND" ClaimNotFound Refusal 404 false ["serial"]
        "The coupon has no claim of this serial, or it ended long ago." "Check the serial; older ones are in the log (EVENTS).";
    406 "CLAIM_REDEEMED" ClaimRedeemed Refusal 409 false ["serial"]
        "The claim was used." "A claim can be used once.";
    407 "CLAIM_REVOKED" ClaimRevoked Refusal 409 false ["serial"]
        "The claim was revoked." "Claim anew where the limits allow it.";
    408 "CLAIM_EXPIRED" ClaimExpired Refusal 409 false ["serial", "deadline"]
        "The claim was not used in time." "Claim anew where the limits allow it.";
    500 "MARKET_EXISTS" MarketExists Refusal 409 false ["market"]
        "A market of this name exists." "Choose another name.";
    501 "MARKET_NOT_FOUND" MarketNotFound Refusal 404 false ["market"]
        "No market of this name exists." "Create it first, or check the name.";
    502 "MARKET_HALTED" MarketHalted Refusal 409 true ["market"]
        "The market is halted: only cancels, reductions and replacements that keep priority go on." "Try again when it was resumed.";
    503 "ORDER_EXISTS" OrderExists Refusal 409 false ["order"]
        "An order of this name exists or ended not long ago." "Choose another name for the order.";
    504 "ORDER_NOT_FOUND" OrderNotFound Refusal 404 false ["order"]
        "The market has no order of this name, or it ended long ago." "Check the name; older ones are in the log (EVENTS).";
    505 "ORDER_CLOSED" OrderClosed Refusal 409 false ["order", "status"]
        "The order was filled or cancelled." "Place a new order.";
    506 "PRICE_INVALID" PriceInvalid Refusal 409 false ["price", "tick"]
        "The price is no multiple of the market's tick." "Round the price to the tick.";
    507 "QUANTITY_INVALID" QuantityInvalid Refusal 409 false ["quantity", "lot", "min", "max"]
        "The quantity is no multiple of the lot, or outside the market's bounds." "Choose a quantity within the bounds named.";
    508 "WOULD_TAKE" WouldTake Refusal 409 true ["best_price"]
        "A post-only order would trade at once." "Place it behind the price named.";
    509 "WOULD_NOT_FILL" WouldNotFill Refusal 409 true ["fillable", "quantity"]
        "A fill-or-kill order cannot be filled whole." "Ask for less, for another price, or without fill-or-kill.";
}
