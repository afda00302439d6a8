//! What tests of several crates share: real databases, and waiting for conditions.
//!
//! Begin with [`Database`]: an empty database of a [`DatabaseKind`]. This crate must not know what it tests:
//! it reads databases on its own, without the crates that write to them. Everything panics where a test
//! should fail.

mod database;
mod plans;
mod recorder;
mod server;
mod waiting;

pub use database::{Database, DatabaseKind};
pub use recorder::Recorder;
pub use server::DatabaseServer;
pub use waiting::{LOOK_INTERVAL, PATIENCE, number, wait_until};
