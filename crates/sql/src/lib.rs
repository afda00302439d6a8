//! One interface to SQLite, PostgreSQL, MySQL and MariaDB.
//!
//! Begin with [`Database`]: a database with the tables of one deployment. It creates the tables, lends
//! connections and turns errors into messages that say what to do. Statements are written once, with `?` for
//! each value; a [`Link`] turns these into its database's placeholders. A [`Dialect`] covers the further
//! differences; tables are described once for all databases (`schema.rs`).
//!
//! This crate must not know what the tables contain: neither the log nor commands, events or deliveries.

mod address;
mod cell;
mod database;
mod dialect;
mod error;
mod fault;
mod limits;
mod link;
mod migrations;
mod mysql;
mod pool;
mod schema;
pub mod values;

pub use address::{Address, AddressError};
pub use cell::{Cell, Column, ColumnKind, Text};
pub use database::{Database, DatabaseOptions, TableSet};
pub use dialect::{Dialect, put, put_arrays, put_marks};
pub use error::DatabaseError;
pub(crate) use fault::describe;
pub use fault::{Remedies, is_conflict, is_duplicate, is_lost};
pub use link::{Doing, Link, traced};
pub(crate) use migrations::{MigrationFault, Migrations};
pub use pool::Lent;
