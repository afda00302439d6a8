//! Where a database is.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::mysql::MySqlConnectOptions;
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};

use crate::Dialect;

/// How long SQLite waits for other writers of the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// How much of the file SQLite keeps in memory, in KiB.
const CACHE_KIB: i64 = 64 << 10;

/// After how many pages SQLite runs a checkpoint, which moves its write-ahead log into the file. The same
/// pages are written again and again, so fewer checkpoints write less in all.
const CHECKPOINT_PAGES: i64 = 4 << 10;

/// The page size of a new file, in bytes. A transaction writes many rows, into indexes in another order:
/// larger pages mean that fewer are read, checked and written.
const PAGE_BYTES: u32 = 16 << 10;

/// How many prepared statements a connection keeps: those for one, two, four … rows of each table.
const STATEMENTS_MAX: usize = 1_000;

/// A database, and how to connect to it.
#[derive(Clone, Debug)]
pub enum Address {
    /// A file.
    Sqlite(SqliteConnectOptions),
    /// A server of PostgreSQL.
    Postgres(PgConnectOptions),
    /// A server of MySQL or MariaDB.
    MySql(MySqlConnectOptions),
}

/// Why an address cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// Its scheme names no database that this release supports.
    #[error("'{scheme}:' is not a database that is supported here; write sqlite:, postgres: or mysql:")]
    Scheme {
        /// The part before the colon.
        scheme: String,
    },
    /// It cannot be parsed.
    #[error(
        "cannot read the database's address; write it as sqlite:///path/file.db or scheme://user:password@host:port/database"
    )]
    Unreadable {
        /// What is wrong with it.
        #[source]
        source: sqlx::Error,
    },
}

impl Address {
    /// Reads an address: `sqlite:///path/file.db`, `postgres://user:password@host:port/database`, or the same
    /// with `mysql:`. PostgreSQL lists its connections under `application_name`.
    ///
    /// # Errors
    /// When it is none of these.
    pub fn parse(url: &str, application_name: &str) -> Result<Self, AddressError> {
        let scheme = url.split(':').next().unwrap_or_default();
        let refused = |source| AddressError::Unreadable { source };
        match scheme {
            "sqlite" => SqliteConnectOptions::from_str(url).map(Self::sqlite).map_err(refused),
            "postgres" | "postgresql" => PgConnectOptions::from_str(url)
                .map(|options| {
                    let options = options.application_name(application_name);
                    Self::Postgres(options.disable_statement_logging())
                })
                .map_err(refused),
            "mysql" | "mariadb" => MySqlConnectOptions::from_str(url)
                .map(|options| {
                    let options = options.statement_cache_capacity(STATEMENTS_MAX);
                    Self::MySql(options.disable_statement_logging())
                })
                .map_err(refused),
            _ => Err(AddressError::Scheme { scheme: scheme.to_owned() }),
        }
    }

    /// The same, for who may make the database: a missing file is created, and its journal set up.
    #[must_use]
    pub fn of_owner(self) -> Self {
        match self {
            Self::Sqlite(options) => Self::Sqlite(
                options.create_if_missing(true).page_size(PAGE_BYTES).journal_mode(SqliteJournalMode::Wal),
            ),
            other => other,
        }
    }

    /// The same for content that is worth nothing once this process has ended: SQLite does not wait for the disk, and
    /// keeps what a transaction overwrites in memory.
    #[must_use]
    pub(crate) fn of_scratch(self) -> Self {
        match self {
            Self::Sqlite(options) => {
                let options = options.journal_mode(SqliteJournalMode::Memory);
                Self::Sqlite(options.synchronous(SqliteSynchronous::Off))
            }
            other => other,
        }
    }

    /// SQLite's file, unless the database is in memory.
    fn file(&self) -> Option<&Path> {
        let Self::Sqlite(options) = self else { return None };
        let path = options.get_filename();
        let is_in_memory =
            [&b":"[..], b"file:"].iter().any(|front| path.as_os_str().as_encoded_bytes().starts_with(front));
        (!is_in_memory).then_some(path)
    }

    /// Whether it is a file of SQLite that does not exist.
    pub(crate) fn is_missing_file(&self) -> bool {
        self.file().is_some_and(|path| !path.exists())
    }

    /// Creates SQLite's file, if it is missing, so that only this user may read it. SQLite gives the files beside it
    /// the same rights.
    pub(crate) fn create_private(&self) {
        let Some(path) = self.file() else { return };
        let mut creating = OpenOptions::new();
        creating.write(true).create_new(true).mode(0o600);
        // It exists already, or SQLite says why it cannot be created.
        drop(creating.open(path));
    }

    /// The dialect of the database.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
            Self::MySql(_) => Dialect::MySql,
        }
    }

    fn sqlite(options: SqliteConnectOptions) -> Self {
        let options = options
            .create_if_missing(false)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(BUSY_TIMEOUT)
            .statement_cache_capacity(STATEMENTS_MAX)
            .pragma("cache_size", (-CACHE_KIB).to_string())
            .pragma("wal_autocheckpoint", CHECKPOINT_PAGES.to_string());
        Self::Sqlite(options.disable_statement_logging())
    }
}

/// The database's address for people, without the password.
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
        let shown = |url| Address::parse(url, "test").map(|address| address.to_string()).expect("an address");
        assert_eq!(shown("sqlite:///tmp/a.db"), "SQLite /tmp/a.db");
        assert_eq!(shown("postgres://u:secret@h:1/d"), "PostgreSQL h:1/d");
        assert_eq!(shown("mariadb://u:secret@h:2/d"), "MySQL h:2/d");
        assert!(Address::parse("oracle://h", "test").is_err());
        assert!(Address::parse("postgres://h:port/d", "test").is_err());
    }
}
