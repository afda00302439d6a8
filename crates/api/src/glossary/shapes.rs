//! The shapes in JSON besides arguments and answers: their names, which are scopes of terms, and their
//! fields.

/// A shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The name, for [`super::term_in`].
    pub name: &'static str,
    /// Its fields; rows in RESP have this order.
    pub fields: &'static [&'static str],
}

/// Every shape.
pub const SHAPES: &[Shape] = &[
    Shape { name: "fill", fields: &["trade", "maker_order", "price", "quantity", "maker_remaining"] },
    Shape { name: "level", fields: &["price", "quantity", "orders"] },
    Shape { name: "hold", fields: &["hold", "amount", "status", "deadline"] },
    Shape { name: "limit", fields: &["name", "max", "per", "window", "window_ms", "offset_minutes"] },
    Shape { name: "plan", fields: &["total", "count", "method", "min", "max"] },
    Shape { name: "campaign", fields: &["plan", "amounts"] },
    Shape { name: "claim", fields: &["subject"] },
    Shape { name: "subject", fields: &["user"] },
    Shape { name: "place", fields: &["type", "price"] },
    Shape { name: "digest", fields: &["partition", "sequence", "digest"] },
    Shape { name: "event", fields: &crate::event::MEMBERS },
    Shape { name: "answered", fields: &["code", "facts"] },
    Shape {
        name: "receipt",
        fields: &["partition", "epoch", "sequence_first", "sequence_last", "at", "replayed", "durability"],
    },
    Shape { name: "request", fields: &["operation", "deadline", "durability", "on", "receipt"] },
];
