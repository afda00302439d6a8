//! The tables of the projection in their databases: statements, rows written, and rows read by their keys.

mod mysql;
mod postgres;
mod sheets;
mod sql;
mod sqlite;

pub(crate) use scarce_sql::{Address, Dialect, Link, is_conflict, is_duplicate, is_lost};
pub(crate) use sheets::Sheets;
