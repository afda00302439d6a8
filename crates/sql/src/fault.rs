//! The errors of databases: what they mean, and what to do about them.

use sqlx::Error;
use sqlx::error::{DatabaseError, ErrorKind};

/// Whether the row exists already.
#[must_use]
pub fn is_duplicate(error: &Error) -> bool {
    error.as_database_error().is_some_and(|error| error.is_unique_violation())
}

/// Whether another transaction was in the way, so that an immediate retry makes sense.
#[must_use]
pub fn is_conflict(error: &Error) -> bool {
    // PostgreSQL: serialization failure, deadlock; MySQL: deadlock.
    const CODES: [&str; 3] = ["40001", "40P01", "1213"];
    error.as_database_error().is_some_and(|error| code(error).is_some_and(|code| CODES.contains(&&*code)))
}

/// Whether the connection is lost; a new one may work.
#[must_use]
pub fn is_lost(error: &Error) -> bool {
    // PostgreSQL: shut down by an administrator, crashed, starting; MySQL: gone, shut down.
    const CODES: [&str; 6] = ["57P01", "57P02", "57P03", "1927", "1053", "4031"];
    match error {
        Error::Io(_) | Error::Protocol(_) | Error::WorkerCrashed | Error::Tls(_) => true,
        Error::Database(error) => code(&**error).is_some_and(|code| CODES.contains(&&*code)),
        _ => false,
    }
}

/// The database's code of the error. For MySQL its number, not the class.
fn code(error: &dyn DatabaseError) -> Option<String> {
    match error.try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>() {
        Some(error) => Some(error.number().to_string()),
        None => error.code().map(|code| code.into_owned()),
    }
}

/// What to do about each kind of error in a set of tables.
#[derive(Clone, Copy, Debug)]
pub struct Remedies {
    /// What the tables are.
    pub what: &'static str,
    /// When a table or a column is missing.
    pub missing: &'static str,
    /// When a column holds an invalid value.
    pub unreadable: &'static str,
    /// When a row contradicts existing rows.
    pub contradiction: &'static str,
    /// When SQLite's file is damaged.
    pub damaged: &'static str,
    /// When the tables were made by a newer release.
    pub newer: &'static str,
    /// When the tables differ from those of a release.
    pub changed: &'static str,
    /// When there are no such tables, and none may be created.
    pub none: &'static str,
}

/// What is wrong, and what to do about it.
#[must_use]
pub fn describe(error: &Error, remedies: &Remedies) -> String {
    match error {
        Error::Database(error) => {
            let code = code(&**error).unwrap_or_default();
            let advice = advice(&code, error.message(), &error.kind(), remedies);
            format!("it says '{}' (code {code}); {advice}", error.message())
        }
        Error::Io(error) => {
            format!("it cannot be reached ({error}); start it, or correct address and network")
        }
        Error::Tls(error) => {
            format!("no encrypted connection can be made ({error}); look at the certificates")
        }
        Error::ColumnDecode { index, source } => format!(
            "column {index} holds a value that this column cannot have ({source}); {}",
            remedies.unreadable
        ),
        Error::ColumnIndexOutOfBounds { .. } | Error::ColumnNotFound(_) => {
            format!(
                "it answered with other columns than asked for ({error}); check that the address names the right database"
            )
        }
        Error::WorkerCrashed | Error::Protocol(_) => {
            format!(
                "the connection broke in the middle of an answer ({error}); the next attempt makes a new one"
            )
        }
        error => format!("it failed ({error})"),
    }
}

/// Chosen by code for databases that have one, by the message for SQLite.
fn advice(code: &str, message: &str, kind: &ErrorKind, remedies: &Remedies) -> &'static str {
    match code {
        "28P01" | "28000" | "1045" | "1698" => "correct user and password in the address",
        "3D000" | "1049" => "create that database, or correct the address",
        "42501" | "1142" | "1044" => "give the user of the address the right to read and write these tables",
        "42P01" | "42703" | "1146" | "1054" => remedies.missing,
        "53100" | "1021" | "1114" | "1041" | "13" => "free space on the database's disk",
        "25006" | "1290" | "1836" | "1792" | "8" | "776" | "1032" | "520" | "264" | "1544" => {
            "let the database be written to"
        }
        "53300" | "1040" | "1203" => "allow more connections, or close some",
        "14" => "create the folder, and let this user write there",
        "5" | "261" | "517" => {
            "another process has held the lock on the file for 10 seconds; find it with 'fuser' and end its transaction"
        }
        "55P03" => {
            "another session has held a lock on these rows or their table for 10 seconds; find it with 'SELECT pid, query FROM pg_stat_activity WHERE xact_start IS NOT NULL' and end its transaction"
        }
        "1205" => {
            "another session has held a lock on these rows or their table for 10 seconds; find it with 'SHOW FULL PROCESSLIST' and 'SELECT * FROM information_schema.innodb_trx', and end its transaction"
        }
        "11" | "26" => remedies.damaged,
        "1" if message.contains("no such") || message.contains("has no column") => remedies.missing,
        "57P01" | "57P02" | "57P03" | "1053" => "wait until it runs again",
        _ => match kind {
            ErrorKind::UniqueViolation | ErrorKind::CheckViolation | ErrorKind::NotNullViolation => {
                remedies.contradiction
            }
            _ => "look at the database's log",
        },
    }
}
