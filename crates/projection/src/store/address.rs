//! Where a database is.

use std::str::FromStr;
use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::mysql::MySqlConnectOptions;
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};

use crate::ProjectionError;

/// How long SQLite waits for whoever else writes into the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// How much of the file SQLite keeps in memory, in KiB.
const CACHE_KIB: i64 = 64 << 10;

/// After how many pages SQLite moves what was written from its log into the file. The same pages are written
/// again and again, so that more of them at a time means less to write in all.
const CHECKPOINT_PAGES: i64 = 16 << 10;

/// How many statements a connection keeps prepared: those for one, two, four … rows of each table.
const STATEMENTS_MAX: usize = 1_000;

/// A database and how to connect to it.
#[derive(Clone, Debug)]
pub(crate) enum Address {
    Sqlite(SqliteConnectOptions),
    Postgres(PgConnectOptions),
    MySql(MySqlConnectOptions),
}

impl Address {
    /// Reads an address.
    pub(crate) fn parse(url: &str) -> Result<Self, ProjectionError> {
        let scheme = url.split(':').next().unwrap_or_default();
        let refused = |source| ProjectionError::Address { source };
        match scheme {
            "sqlite" => SqliteConnectOptions::from_str(url).map(Self::sqlite).map_err(refused),
            "postgres" | "postgresql" => PgConnectOptions::from_str(url)
                .map(|options| {
                    let options = options.application_name("scarce-projection");
                    Self::Postgres(options.disable_statement_logging())
                })
                .map_err(refused),
            "mysql" | "mariadb" => MySqlConnectOptions::from_str(url)
                .map(|options| {
                    let options = options.statement_cache_capacity(STATEMENTS_MAX);
                    Self::MySql(options.disable_statement_logging())
                })
                .map_err(refused),
            _ => Err(ProjectionError::Scheme { scheme: scheme.to_owned() }),
        }
    }

    /// The same, but a file that is not there is not made.
    pub(crate) fn of_existing(self) -> Self {
        match self {
            Self::Sqlite(options) => Self::Sqlite(options.create_if_missing(false)),
            other => other,
        }
    }

    fn sqlite(options: SqliteConnectOptions) -> Self {
        let options = options
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(BUSY_TIMEOUT)
            .statement_cache_capacity(STATEMENTS_MAX)
            .pragma("cache_size", (-CACHE_KIB).to_string())
            .pragma("wal_autocheckpoint", CHECKPOINT_PAGES.to_string());
        Self::Sqlite(options.disable_statement_logging())
    }
}

/// The database as people know it, without the password.
impl std::fmt::Display for Address {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(options) => write!(out, "SQLite {}", options.get_filename().display()),
            Self::Postgres(options) => {
                let name = options.get_database().unwrap_or_else(|| options.get_username());
                write!(out, "PostgreSQL {}:{}/{name}", options.get_host(), options.get_port())
            }
            Self::MySql(options) => {
                let name = options.get_database().unwrap_or("-");
                write!(out, "MySQL {}:{}/{name}", options.get_host(), options.get_port())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_known_by_its_scheme_and_shown_without_its_password() {
        let shown = |url| Address::parse(url).map(|address| address.to_string()).expect("an address");
        assert_eq!(shown("sqlite:///tmp/a.db"), "SQLite /tmp/a.db");
        assert_eq!(shown("postgres://u:secret@h:1/d"), "PostgreSQL h:1/d");
        assert_eq!(shown("mariadb://u:secret@h:2/d"), "MySQL h:2/d");
        assert!(Address::parse("oracle://h").is_err());
        assert!(Address::parse("postgres://h:port/d").is_err());
    }
}
