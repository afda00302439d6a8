//! The log as tables in SQLite, PostgreSQL, MySQL or MariaDB: balances with every movement, units and who got them,
//! packets, coupons, orders, trades, operations. For accountants and support desks, and for questions about what an
//! engine no longer keeps; never a source of truth for an engine.
//!
//! Begin with [`Projection`], which is a database. [`Projection::consumer`] consumes the log of a partition:
//! `fold` turns events into rows, and each batch is written in one transaction with its position, so that
//! every event is in the tables once, whatever is killed at any time. [`Projection::history`] reads them. The
//! tables are described in `migrations`.
//!
//! This crate must not know how a log is kept or served (it sees batches only), nor how a database is reached
//! (`scarce-sql` does). `fold` in turn must not know databases.

mod consumer;
mod description;
mod error;
mod fold;
pub mod history;
mod opening;
mod projection;
mod rows;
mod scales;
mod shelf;
mod store;
mod table;
mod verify;

pub use consumer::SqlConsumer;
pub use error::ProjectionError;
pub use projection::{Opening, ProjectedPosition, Projection, ProjectionOptions};
pub use scarce_sql::DatabaseError;
pub use verify::{Compared, Difference, Frozen, Repair, Repaired, Replay, RowPlace, Scope};
