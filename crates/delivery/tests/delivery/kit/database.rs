//! Real databases, an empty one for whoever asks.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use scarce_launch::{MariaDb, MariaDbOptions, Postgres, PostgresOptions};
use sqlx::mysql::MySqlPool;
use sqlx::postgres::PgPool;
use sqlx::sqlite::SqlitePool;
use sqlx::{AssertSqlSafe, Row};
use tempfile::TempDir;

/// Which database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Sqlite,
    Postgres,
    MariaDb,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Sqlite, Self::Postgres, Self::MariaDb];
}

/// The servers that all tests share; they end with the process.
static POSTGRES: OnceLock<Mutex<Postgres>> = OnceLock::new();
static MARIADB: OnceLock<Mutex<MariaDb>> = OnceLock::new();
static DATABASES: AtomicU64 = AtomicU64::new(0);

/// A server of a test's own, which can be killed and started again.
pub enum Server {
    Postgres(Postgres),
    MariaDb(MariaDb),
}

impl Server {
    pub fn start(kind: Kind) -> Self {
        match kind {
            Kind::MariaDb => Self::MariaDb(MariaDb::start(&MariaDbOptions::new()).expect("MariaDB")),
            _ => Self::Postgres(Postgres::start(&PostgresOptions::new()).expect("PostgreSQL")),
        }
    }

    pub fn database(&self) -> Database {
        match self {
            Self::Postgres(server) => {
                Database::at(Kind::Postgres, server.create_database("own").expect("a database"), None)
            }
            Self::MariaDb(server) => {
                Database::at(Kind::MariaDb, server.create_database("own").expect("a database"), None)
            }
        }
    }

    /// Kills it and starts it again, on a thread that may wait.
    pub async fn kill_and_start(mut self) -> Self {
        let work = move || {
            match &mut self {
                Self::Postgres(server) => {
                    server.kill().expect("to kill it");
                    server.start_again().expect("to start it");
                }
                Self::MariaDb(server) => {
                    server.kill().expect("to kill it");
                    server.start_again().expect("to start it");
                }
            }
            self
        };
        tokio::task::spawn_blocking(work).await.expect("no panic")
    }
}

/// A database, and a way to look into it that is not delivery's.
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
                let url = format!("sqlite://{}?mode=rwc", folder.path().join("delivery.db").display());
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

    fn at(kind: Kind, url: String, folder: Option<TempDir>) -> Self {
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
        let query = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        let done = match &self.pool {
            Pool::Sqlite(pool) => query.execute(pool).await.map(drop),
            Pool::Postgres(pool) => query.execute(pool).await.map(drop),
            Pool::MySql(pool) => query.execute(pool).await.map(drop),
        };
        done.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    /// One figure as text.
    pub async fn figure(&self, selected: &str, rest: &str) -> String {
        let text = if self.kind == Kind::MariaDb { "CHAR" } else { "TEXT" };
        let sql = format!("SELECT CAST({selected} AS {text}) {rest}");
        let query = || AssertSqlSafe(sql.clone());
        macro_rules! figure {
            ($pool:expr) => {
                sqlx::query(query()).fetch_one($pool).await.map(|row| row.get::<Option<String>, _>(0))
            };
        }
        let read = match &self.pool {
            Pool::Sqlite(pool) => figure!(pool),
            Pool::Postgres(pool) => figure!(pool),
            Pool::MySql(pool) => figure!(pool),
        };
        read.unwrap_or_else(|error| panic!("{sql}: {error}")).unwrap_or_else(|| "-".to_owned())
    }
}
