//! SQLite, PostgreSQL, MySQL and MariaDB spoken to alike: where a database is, a connection to it, the values of
//! its columns, what its errors mean and what to do about them, and making tables.
//!
//! Statements are written once, with `?` for each value; a [`Link`] marks the values as its database wants them.
//! Where the databases differ further, a [`Dialect`] says how.

mod address;
mod cell;
mod dialect;
mod fault;
mod link;
mod migrations;
pub mod mysql;
pub mod postgres;
mod schema;
pub mod sqlite;

pub use address::{Address, AddressError};
pub use cell::{Cell, Column, Kind, Text};
pub use dialect::{Dialect, put, put_arrays, put_marks};
pub use fault::{Remedies, describe, is_conflict, is_duplicate, is_lost};
pub use link::{Doing, Link};
pub use migrations::{MigrationFault, Migrations};
