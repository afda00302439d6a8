//! The rows of answers that contain lists.

use crate::outcome::shape::{INTEGER, RowSpec, SIDE, STP, TEXT, TIF, values};

/// A fill of an order.
pub static FILL: RowSpec = RowSpec {
    name: "fill",
    values: values![trade: INTEGER, maker_order: TEXT, price: INTEGER, quantity: INTEGER, maker_remaining: INTEGER],
    page_key: None,
};

/// A level of a book.
pub static LEVEL: RowSpec = RowSpec {
    name: "level",
    values: values![price: INTEGER, quantity: INTEGER, orders: INTEGER],
    page_key: None,
};

/// A hold of an account.
pub static HOLD: RowSpec = RowSpec {
    name: "hold",
    values: values![hold: TEXT, amount: INTEGER, status: TEXT, deadline: INTEGER.or_none()],
    page_key: Some("hold"),
};

/// A claimed packet.
pub static CLAIM: RowSpec = RowSpec {
    name: "PACKET.CLAIMED",
    values: values![user: TEXT, packet: INTEGER, amount: INTEGER, at: INTEGER],
    page_key: Some("packet"),
};

/// A listed order, with its place in the list.
pub static ORDER: RowSpec = RowSpec {
    name: "ORDER.GET",
    values: values![order: TEXT, owner: TEXT, side: SIDE, price: INTEGER, remaining: INTEGER, filled: INTEGER, tif: TIF, stp: STP, status: TEXT, place: TEXT],
    page_key: Some("place"),
};

/// A trade of a market.
pub static TRADE: RowSpec = RowSpec {
    name: "order.traded",
    values: values![trade: INTEGER, price: INTEGER, quantity: INTEGER, taker_side: SIDE, at: INTEGER],
    page_key: None,
};

/// The digest of a partition.
pub static DIGEST: RowSpec = RowSpec {
    name: "digest",
    values: values![partition: INTEGER, sequence: INTEGER, digest: TEXT],
    page_key: None,
};

/// A listed account.
pub static ACCOUNT: RowSpec = RowSpec {
    name: "ACCOUNT.GET",
    values: values![account: TEXT, asset: TEXT, balance: INTEGER, held: INTEGER, available: INTEGER, status: TEXT],
    page_key: Some("account"),
};

/// A listed stock item.
pub static STOCK: RowSpec = RowSpec {
    name: "STOCK.GET",
    values: values![sku: TEXT, total: INTEGER, available: INTEGER, reserved: INTEGER, sold: INTEGER, status: TEXT],
    page_key: Some("sku"),
};

/// A listed campaign.
pub static CAMPAIGN: RowSpec = RowSpec {
    name: "PACKET.GET",
    values: values![campaign: TEXT, asset: TEXT, count: INTEGER, total: INTEGER, claimed_count: INTEGER, claimed_amount: INTEGER, status: TEXT],
    page_key: Some("campaign"),
};

/// A listed coupon.
pub static COUPON: RowSpec = RowSpec {
    name: "COUPON.GET",
    values: values![coupon: TEXT, status: TEXT, claimed: INTEGER],
    page_key: Some("coupon"),
};

/// A listed market.
pub static MARKET: RowSpec = RowSpec {
    name: "MARKET.GET",
    values: values![market: TEXT, status: TEXT, best_bid: INTEGER.or_none(), best_ask: INTEGER.or_none(), orders: INTEGER, trades: INTEGER],
    page_key: Some("market"),
};
