//! Real databases, a new empty one for each test.

use std::sync::atomic::{AtomicU64, Ordering};

use sqlx::mysql::MySqlPool;
use sqlx::postgres::PgPool;
use sqlx::sqlite::{SqliteConnection, SqlitePool};
use sqlx::{AssertSqlSafe, Connection, Row};
use tempfile::TempDir;

use crate::server::create_shared;

/// The kind of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseKind {
    /// SQLite, in a file.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// MariaDB.
    MariaDb,
}

impl DatabaseKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Sqlite, Self::Postgres, Self::MariaDb];
}

/// Numbers the databases of a process.
static DATABASES: AtomicU64 = AtomicU64::new(0);

/// A database, and access to its content independent of the crates under test.
#[derive(Debug)]
pub struct Database {
    pub(crate) kind: DatabaseKind,
    url: String,
    pub(crate) pool: Pool,
    /// The folder of SQLite's file.
    _folder: Option<TempDir>,
}

#[derive(Debug)]
pub(crate) enum Pool {
    Sqlite(SqlitePool),
    Postgres(PgPool),
    MySql(MySqlPool),
}

impl Database {
    /// Creates an empty database on a server that all tests of the process share, or in its own file.
    ///
    /// # Panics
    /// When it cannot be created.
    #[must_use]
    pub fn new(kind: DatabaseKind) -> Self {
        if kind == DatabaseKind::Sqlite {
            let folder = tempfile::tempdir().expect("a folder");
            let url = format!("sqlite://{}?mode=rwc", folder.path().join("test.db").display());
            return Self { _folder: Some(folder), ..Self::at(kind, url) };
        }
        let name = format!("d{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        Self::at(kind, create_shared(kind, &name))
    }

    /// The database at an address.
    ///
    /// # Panics
    /// When the address is invalid.
    #[must_use]
    pub fn at(kind: DatabaseKind, url: String) -> Self {
        let pool = match kind {
            DatabaseKind::Sqlite => Pool::Sqlite(SqlitePool::connect_lazy(&url).expect("an address")),
            DatabaseKind::Postgres => Pool::Postgres(PgPool::connect_lazy(&url).expect("an address")),
            DatabaseKind::MariaDb => Pool::MySql(MySqlPool::connect_lazy(&url).expect("an address")),
        };
        Self { kind, url, pool, _folder: None }
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Runs a statement.
    ///
    /// # Panics
    /// When the database refuses it.
    pub async fn run(&self, sql: &str) {
        self.try_run(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    /// Runs a statement that the database may refuse.
    ///
    /// # Errors
    /// When the database refuses it.
    pub async fn try_run(&self, sql: &str) -> Result<(), sqlx::Error> {
        let query = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        match &self.pool {
            // A new connection has no outdated schema cached.
            Pool::Sqlite(_) => {
                let mut connection = SqliteConnection::connect(&self.url).await?;
                query.execute(&mut connection).await?;
                connection.close().await
            }
            Pool::Postgres(pool) => query.execute(pool).await.map(drop),
            Pool::MySql(pool) => query.execute(pool).await.map(drop),
        }
    }

    /// The selected rows, all values as text, `-` for null.
    ///
    /// # Panics
    /// When the database refuses the query.
    pub async fn ask(&self, selected: &[&str], rest: &str) -> Vec<Vec<String>> {
        let text = if self.kind == DatabaseKind::MariaDb { "CHAR" } else { "TEXT" };
        let list: Vec<String> = selected.iter().map(|column| format!("CAST({column} AS {text})")).collect();
        let sql = format!("SELECT {} {rest}", list.join(", "));
        let count = selected.len();
        let read = |at: usize, value: Result<Option<String>, sqlx::Error>| {
            value
                .unwrap_or_else(|error| panic!("column {at} of {sql}: {error}"))
                .unwrap_or_else(|| "-".to_owned())
        };
        macro_rules! fetch {
            ($pool:expr) => {{
                let rows = sqlx::query(AssertSqlSafe(sql.clone()))
                    .fetch_all($pool)
                    .await
                    .unwrap_or_else(|error| panic!("{sql}: {error}"));
                rows.iter().map(|row| (0..count).map(|at| read(at, row.try_get(at))).collect()).collect()
            }};
        }
        match &self.pool {
            Pool::Sqlite(pool) => fetch!(pool),
            Pool::Postgres(pool) => fetch!(pool),
            Pool::MySql(pool) => fetch!(pool),
        }
    }

    /// A single value.
    ///
    /// # Panics
    /// When the database refuses the query.
    pub async fn figure(&self, selected: &str, rest: &str) -> String {
        let rows = self.ask(&[selected], rest).await;
        rows.into_iter().flatten().next().unwrap_or_else(|| "nothing".to_owned())
    }
}
