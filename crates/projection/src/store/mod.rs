//! The tables of the projection in their databases: statements, rows written and read by keys, and what is wrong.

mod mysql;
mod postgres;
mod sheets;
mod sql;
mod sqlite;

use scarce_sql::Remedies;
pub(crate) use scarce_sql::{Address, Dialect, Link, is_conflict, is_duplicate, is_lost};
pub(crate) use sheets::Sheets;

/// What those who look after the projection are to do.
const REMEDIES: Remedies = Remedies {
    missing: "put the table or column back, or drop all tables of the projection and rebuild",
    unreadable: "put the schema back, or drop the tables and rebuild",
    contradiction: "an event contradicts the tables: if rows were changed by hand, put them back; otherwise rebuild",
    damaged: "the file is damaged or no SQLite database; restore it, or remove it and rebuild",
};

/// What is wrong, and what to do about it.
pub(crate) fn describe(error: &sqlx::Error) -> String {
    scarce_sql::describe(error, &REMEDIES)
}
