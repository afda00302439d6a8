//! What the figures of answers, the facts of refusals and the fields of events are in JSON: by their
//! names, which the tables give, and by where they stand, where a name means two things.

/// What a figure is in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// An integer of magnitude up to 2^53 − 1.
    Integer,
    /// A text.
    Text,
    /// Either of them.
    IntegerOrText,
    /// One of these words.
    Words(&'static [&'static str]),
    /// 0 or 1 in words, true or false in JSON.
    Boolean,
    /// Integers in order.
    Integers,
    /// Texts in order.
    Texts,
    /// Objects with these fields, in order.
    Rows(&'static [&'static str], &'static str),
    /// A coupon's limits.
    Limits,
    /// A user and further dimensions.
    Subject,
    /// An outcome in an answer: applied with figures, or refused with facts.
    Outcome,
    /// The facts of the code that stands beside it.
    Facts,
}

/// A figure's shape, and whether it may be null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    /// What it is.
    pub shape: Shape,
    /// Whether there may be none.
    pub is_nullable: bool,
}

/// The fields of a fill.
pub const FILL: &[&str] = &["trade", "maker_order", "price", "quantity", "maker_remaining"];
/// The fields of a level of a book.
pub const LEVEL: &[&str] = &["price", "quantity", "orders"];
/// The fields of a hold in a list.
pub const HOLD: &[&str] = &["hold", "amount", "status", "deadline"];
/// The fields of a claim in a list.
pub const CLAIM: &[&str] = &["user", "packet", "amount", "at"];
/// The fields of a trade in a list.
pub const TRADE: &[&str] = &["trade", "price", "quantity", "taker_side", "at"];
/// The fields of a digest.
pub const DIGEST: &[&str] = &["partition", "sequence", "digest"];

const SIDES: &[&str] = &["BUY", "SELL"];
const TIFS: &[&str] = &["GTC", "IOC", "FOK", "POST"];
const STPS: &[&str] = &["NONE", "CANCEL_TAKER", "CANCEL_MAKER", "CANCEL_BOTH", "DECREMENT"];
const METHODS: &[&str] = &["EVEN", "DOUBLE_MEAN", "LINE_CUT"];

/// The type of a name in a scope: a command's name for its figures, a code's word for its facts, an
/// event's name for its fields, a shape's name (`hold`) for those of its rows.
#[must_use]
pub fn type_of(scope: &str, name: &str) -> Type {
    Type { shape: shape_of(scope, name), is_nullable: is_nullable(scope, name) }
}

fn shape_of(scope: &str, name: &str) -> Shape {
    match (scope, name) {
        ("COUPON.GET" | "coupon.created" | "coupon.updated", "limits") => Shape::Limits,
        ("STEP_LIMIT", "limit") | ("UNITS_NOT_SOLD" | "stock.returned", "first") => Shape::Integer,
        ("BATCH_REFUSED", "facts") => Shape::Facts,
        ("ACCOUNT.HOLDS", "holds") => Shape::Rows(HOLD, "hold"),
        ("PACKET.CLAIMS", "claims") => Shape::Rows(CLAIM, "PACKET.CLAIMED"),
        ("MARKET.DEPTH", "bids" | "asks") => Shape::Rows(LEVEL, "level"),
        ("MARKET.TRADES", "trades") => Shape::Rows(TRADE, "order.traded"),
        ("DIGEST", "digests") => Shape::Rows(DIGEST, "digest"),
        (_, "fills") => Shape::Rows(FILL, "fill"),
        (_, "outcome") => Shape::Outcome,
        (_, "subject") => Shape::Subject,
        ("coupon.claimed", "windows") => Shape::Integers,
        ("coupon.revoked", "given_back") => Shape::Texts,
        // A coupon's claim is known by its serial, a packet's by its user.
        ("CLAIM_NOT_FOUND", "claim") => Shape::IntegerOrText,
        (_, "open" | "consistent" | "by_self_trade" | "keeps_priority") => Shape::Boolean,
        (_, "side" | "taker_side") => Shape::Words(SIDES),
        (_, "tif") => Shape::Words(TIFS),
        (_, "stp") => Shape::Words(STPS),
        (_, "method") => Shape::Words(METHODS),
        _ if TEXTS.contains(&name) => Shape::Text,
        _ => Shape::Integer,
    }
}

/// The names whose figures are texts.
const TEXTS: &[&str] = &[
    "account",
    "argument",
    "asset",
    "campaign",
    "claim",
    "code",
    "commitment",
    "coupon",
    "digest",
    "dimension",
    "figure",
    "first",
    "from",
    "hold",
    "limit",
    "maker_order",
    "maker_owner",
    "market",
    "operation",
    "order",
    "owner",
    "queue",
    "reason",
    "reservation",
    "second",
    "seed",
    "sku",
    "state",
    "status",
    "taker_order",
    "taker_owner",
    "to",
    "user",
];

fn is_nullable(scope: &str, name: &str) -> bool {
    match (scope, name) {
        (_, "starts_at" | "ends_at" | "per_owner_max" | "claim_ttl_ms" | "commitment" | "seed") => true,
        (
            "ACCOUNT.HOLD" | "hold" | "hold.placed" | "COUPON.CLAIM" | "COUPON.CLAIMED" | "coupon.claimed",
            "deadline",
        ) => true,
        ("STOCK.RESERVATION", "deadline" | "first_serial") => true,
        ("hold.captured", "to" | "to_balance") => true,
        ("packets.closed", "method" | "max") => true,
        ("MARKET.GET", "best_bid" | "best_ask") => true,
        ("ORDER.GET", "price" | "reason" | "tif" | "stp") => true,
        ("order.placed", "price") => true,
        ("LIMIT_REACHED", "resets_at") => true,
        ("OPERATION.RESOLVE", "outcome") => true,
        // What a dry run keeps to itself.
        ("PACKET.CLAIM", "amount") | ("PACKET.CLOSE", "left_amount") => true,
        ("ALREADY_CLAIMED", "packet" | "amount") => true,
        _ => false,
    }
}
