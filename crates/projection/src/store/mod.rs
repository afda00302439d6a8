//! The databases: where they are, connections to them, and the statements that they are spoken to with.

mod address;
mod fault;
mod link;
mod mysql;
mod postgres;
mod sql;
mod sqlite;

pub(crate) use address::Address;
pub(crate) use fault::{describe, is_conflict, is_duplicate, is_lost};
pub(crate) use link::Link;
pub(crate) use sql::Dialect;
