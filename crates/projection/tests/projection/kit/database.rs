//! Real databases, an empty one for whoever asks.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use scarce_launch::{MariaDb, MariaDbOptions, Postgres, PostgresOptions};
use sqlx::mysql::MySqlPool;
use sqlx::postgres::PgPool;
use sqlx::sqlite::{SqliteConnection, SqlitePool};
use sqlx::{AssertSqlSafe, Connection, Row};
use tempfile::TempDir;

use super::schema::columns;

/// Which database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Sqlite,
    Postgres,
    MariaDb,
}

impl Kind {
    /// The folder of its migrations.
    pub fn dialect(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::MariaDb => "mysql",
        }
    }
}

/// The servers that all tests share; they end with the process.
static POSTGRES: OnceLock<Mutex<Postgres>> = OnceLock::new();
static MARIADB: OnceLock<Mutex<MariaDb>> = OnceLock::new();
static DATABASES: AtomicU64 = AtomicU64::new(0);

/// A database, and a way to look into it that is not the projection's.
pub struct Database {
    pub kind: Kind,
    url: String,
    pool: Pool,
    /// Where SQLite's file is.
    _folder: Option<TempDir>,
}

enum Pool {
    Sqlite(SqlitePool),
    Postgres(PgPool),
    MySql(MySqlPool),
}

impl Database {
    /// An empty database on a server that all tests share, or in a file of its own.
    pub fn new(kind: Kind) -> Self {
        let name = format!("d{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        match kind {
            Kind::Sqlite => {
                let folder = tempfile::tempdir().expect("a folder");
                let url = format!("sqlite://{}?mode=rwc", folder.path().join("projection.db").display());
                Self::at(kind, url, Some(folder))
            }
            Kind::Postgres => {
                let start = || Mutex::new(Postgres::start(&PostgresOptions::new()).expect("PostgreSQL"));
                let server = POSTGRES.get_or_init(start).lock().expect("the server");
                Self::at(kind, server.create_database(&name).expect("a database"), None)
            }
            Kind::MariaDb => {
                let start = || Mutex::new(MariaDb::start(&MariaDbOptions::new()).expect("MariaDB"));
                let server = MARIADB.get_or_init(start).lock().expect("the server");
                Self::at(kind, server.create_database(&name).expect("a database"), None)
            }
        }
    }

    /// The database of an address.
    pub fn at(kind: Kind, url: String, folder: Option<TempDir>) -> Self {
        let pool = match kind {
            Kind::Sqlite => Pool::Sqlite(SqlitePool::connect_lazy(&url).expect("an address")),
            Kind::Postgres => Pool::Postgres(PgPool::connect_lazy(&url).expect("an address")),
            Kind::MariaDb => Pool::MySql(MySqlPool::connect_lazy(&url).expect("an address")),
        };
        Self { kind, url, pool, _folder: folder }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Runs a statement.
    pub async fn run(&self, sql: &str) {
        self.try_run(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    pub async fn try_run(&self, sql: &str) -> Result<(), sqlx::Error> {
        let query = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        match &self.pool {
            // A new connection has seen no other schema.
            Pool::Sqlite(_) => {
                let mut connection = SqliteConnection::connect(&self.url).await?;
                query.execute(&mut connection).await?;
                connection.close().await
            }
            Pool::Postgres(pool) => query.execute(pool).await.map(drop),
            Pool::MySql(pool) => query.execute(pool).await.map(drop),
        }
    }

    /// What is selected, all as texts, `-` where there is nothing.
    pub async fn ask(&self, selected: &[&str], rest: &str) -> Vec<Vec<String>> {
        let as_text = |column: &&str| match self.kind {
            Kind::MariaDb => format!("CAST({column} AS CHAR)"),
            _ => format!("CAST({column} AS TEXT)"),
        };
        let list: Vec<String> = selected.iter().map(as_text).collect();
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

    /// One figure.
    pub async fn figure(&self, selected: &str, rest: &str) -> String {
        let rows = self.ask(&[selected], rest).await;
        rows.into_iter().flatten().next().unwrap_or_else(|| "nothing".to_owned())
    }

    /// Every row of every table that events are written to, in an order of their own.
    pub async fn dump(&self) -> BTreeMap<String, Vec<String>> {
        let mut dump = BTreeMap::new();
        for (table, columns) in columns(self.kind.dialect()) {
            if table == "meta" {
                continue;
            }
            let is_of_the_log = |column: &&String| *column != "updated_at_ms" || table != "cursors";
            let selected: Vec<&str> = columns.iter().filter(is_of_the_log).map(String::as_str).collect();
            let rows = self.ask(&selected, &format!("FROM {table}")).await;
            let mut rows: Vec<String> = rows.into_iter().map(|row| row.join(" | ")).collect();
            rows.sort();
            dump.insert(table, rows);
        }
        dump
    }
}
