//! SQLite, PostgreSQL, MySQL and MariaDB behind one door.
//!
//! Begin with [`Database`]: a database with the tables of one deployment. It makes the tables, lends connections and
//! says what is wrong and what to do. Statements are written once, with `?` for each value; a [`Link`] marks the values
//! as its database wants them. Where the databases differ further, a [`Dialect`] says how; tables are described once
//! for all of them (`schema.rs`).
//!
//! This crate must not know what is in the tables: neither the log nor commands, events or deliveries.

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
pub use link::{Doing, Link};
pub(crate) use migrations::{MigrationFault, Migrations};
pub use pool::Lent;
