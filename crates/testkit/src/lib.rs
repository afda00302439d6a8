//! What tests of several crates have in common: real databases, and waiting for what must happen.
//!
//! Begin with [`Database`]: an empty database of a [`DatabaseKind`]. This crate must not know what it tests: it looks
//! into databases on its own, without the crates that write there. Everything panics where a test should fail.

mod database;
mod server;
mod waiting;

pub use database::{Database, DatabaseKind};
pub use server::DatabaseServer;
pub use waiting::{LOOK_INTERVAL, PATIENCE, number, wait_until};
