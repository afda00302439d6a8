//! The rows of answers that contain lists.

use crate::outcome::shape::{INTEGER, RowSpec, SIDE, TEXT, values};

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
