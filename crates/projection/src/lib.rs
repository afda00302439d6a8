//! The log as tables in SQLite, PostgreSQL, MySQL or MariaDB: balances with every movement, units with who
//! got which, packets, coupons, orders, trades, operations. For accountants, support desks and whoever asks
//! for what an engine no longer keeps; never a source of truth for an engine.
//!
//! A [`Projection`] is a database; [`Projection::consumer`] takes the log of a partition and writes it there,
//! batch after batch, each in one transaction with the place that was reached, so that every event is in
//! the tables once whatever is killed when. [`Projection::history`] reads them.

mod consumer;
mod error;
mod fold;
pub mod history;
mod migrations;
mod projection;
mod rows;
mod shelf;
mod store;
mod table;

pub use consumer::SqlConsumer;
pub use error::ProjectionError;
pub use projection::{Options, Progress, Projection};
