//! The projection's tables in the databases: statements, writing rows, and reading rows by their keys.

mod mysql;
mod postgres;
mod sheets;
mod sql;
mod sqlite;

pub(crate) use scarce_sql::{Address, Dialect, Link, is_conflict, is_duplicate, is_lost};
pub(crate) use sheets::Sheets;
