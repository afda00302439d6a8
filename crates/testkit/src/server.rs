//! Database servers: those that all tests of a process share, and those of a single test.

use std::sync::{Mutex, MutexGuard, OnceLock};

use scarce_launch::{MariaDb, MariaDbOptions, Postgres, PostgresOptions};

use crate::{Database, DatabaseKind};

/// A server of a single test, which can be killed and restarted.
#[derive(Debug)]
pub enum DatabaseServer {
    /// PostgreSQL.
    Postgres(Postgres),
    /// MariaDB.
    MariaDb(MariaDb),
}

/// The servers that all tests of a process share; they end with it.
static POSTGRES: OnceLock<Mutex<DatabaseServer>> = OnceLock::new();
static MARIADB: OnceLock<Mutex<DatabaseServer>> = OnceLock::new();

/// The address of a new database on the shared server.
pub(crate) fn create_shared(kind: DatabaseKind, name: &str) -> String {
    let server = match kind {
        DatabaseKind::MariaDb => &MARIADB,
        _ => &POSTGRES,
    };
    let server: MutexGuard<'_, DatabaseServer> =
        server.get_or_init(|| Mutex::new(DatabaseServer::start(kind))).lock().expect("the server");
    server.create(name)
}

impl DatabaseServer {
    /// Starts one: MariaDB, or else PostgreSQL.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn start(kind: DatabaseKind) -> Self {
        match kind {
            DatabaseKind::MariaDb => Self::MariaDb(MariaDb::start(&MariaDbOptions::new()).expect("MariaDB")),
            _ => Self::Postgres(Postgres::start(&PostgresOptions::new()).expect("PostgreSQL")),
        }
    }

    fn create(&self, name: &str) -> String {
        match self {
            Self::Postgres(server) => server.create_database(name).expect("a database"),
            Self::MariaDb(server) => server.create_database(name).expect("a database"),
        }
    }

    /// Creates a new database on it.
    ///
    /// # Panics
    /// When it cannot be created.
    #[must_use]
    pub fn database(&self) -> Database {
        let kind = match self {
            Self::Postgres(_) => DatabaseKind::Postgres,
            Self::MariaDb(_) => DatabaseKind::MariaDb,
        };
        Database::at(kind, self.create("own"))
    }

    /// Kills and restarts it, on a thread that may block.
    ///
    /// # Panics
    /// When it does not restart.
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
