//! A database with the tables of one deployment.

use std::sync::{Arc, Mutex as SyncMutex};
use std::time::Duration;

use sqlx::Error;
use tokio::sync::{Mutex, Semaphore};

use crate::pool::Idle;
use crate::{
    Address, Cell, ColumnKind, DatabaseError, Doing, Link, MigrationFault, Migrations, Remedies, describe,
    is_lost,
};

/// How long a clean end waits for other connections to SQLite's file to close, and how often it looks.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
const CLOSE_INTERVAL: Duration = Duration::from_millis(20);

/// A set of tables. A database has it once, for one deployment.
#[derive(Debug)]
pub struct TableSet {
    /// The application name that PostgreSQL shows for our connections.
    pub application: &'static str,
    /// The table with the columns `name` and `value` that records which deployment the tables belong to.
    pub meta: &'static str,
    /// The table that records the applied versions.
    pub migrations: &'static str,
    /// The schema of version 1, and the changes of each further version.
    pub versions: &'static [&'static str],
    /// The advice for each kind of error.
    pub remedies: Remedies,
}

/// How a database is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatabaseOptions {
    /// The timeout of every operation.
    pub timeout: Duration,
    /// How many connections may be in use at a time; further callers wait.
    pub connections_max: usize,
}

/// A database with the tables of one deployment. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Database {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) address: Address,
    deployment_id: String,
    tables: &'static TableSet,
    migrations: Migrations,
    options: DatabaseOptions,
    /// Whether the tables exist and belong to this deployment.
    is_ready: Mutex<bool>,
    /// Whether the tables are only read, never created or changed.
    is_read_only: bool,
    pub(crate) idle: SyncMutex<Vec<Idle>>,
    pub(crate) permits: Arc<Semaphore>,
    pub(crate) writers: Arc<Semaphore>,
}

impl Database {
    /// A database, connected to on first use. Missing tables are created then, and older ones are migrated.
    ///
    /// # Errors
    /// When the address or the deployment's id is invalid.
    pub fn new(
        url: &str,
        deployment_id: &str,
        tables: &'static TableSet,
        options: DatabaseOptions,
    ) -> Result<Self, DatabaseError> {
        if deployment_id.len() != 32 || !deployment_id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(DatabaseError::Deployment { id: deployment_id.to_owned() });
        }
        let address = Address::parse(url, tables.application)?.of_owner();
        Ok(Self::of(address, deployment_id.to_ascii_lowercase(), tables, options, false))
    }

    /// The same for content that is worth nothing once this process has ended: writing it does not wait for the disk.
    ///
    /// # Errors
    /// As [`Database::new`].
    pub fn new_scratch(
        url: &str,
        deployment_id: &str,
        tables: &'static TableSet,
        options: DatabaseOptions,
    ) -> Result<Self, DatabaseError> {
        let database = Self::new(url, deployment_id, tables, options)?;
        let Inner { address, deployment_id, .. } = &*database.inner;
        Ok(Self::of(address.clone().of_scratch(), deployment_id.clone(), tables, options, false))
    }

    /// Opens a database that another process fills, for reading: creates and changes nothing.
    ///
    /// # Errors
    /// When the address is invalid, the database does not answer, or the tables are missing.
    pub async fn open_read_only(
        url: &str,
        tables: &'static TableSet,
        options: DatabaseOptions,
    ) -> Result<Self, DatabaseError> {
        let address = Address::parse(url, tables.application)?;
        let no_tables = || {
            let (database, what, remedy) = (address.to_string(), tables.remedies.what, tables.remedies.none);
            DatabaseError::NoTables { database, what, remedy }
        };
        if address.is_missing_file() {
            return Err(no_tables());
        }
        let unread = Self::of(address.clone(), String::new(), tables, options, true);
        let (link, found) = unread
            .in_time(async {
                let mut link = unread.connect().await?;
                let found = deployment(&mut link, tables).await;
                Ok::<_, DatabaseError>((link, found.ok().flatten()))
            })
            .await?;
        let Some(deployment_id) = found else { return Err(no_tables()) };
        let database = Self::of(address, deployment_id, tables, options, true);
        database.put_back(link);
        Ok(database)
    }

    /// Opens a database that was in use before: tables of an earlier release are migrated, and nothing is created.
    ///
    /// # Errors
    /// When the address is invalid, the database does not answer, its tables are missing, or they belong to another
    /// deployment or a newer release.
    pub async fn open_existing(
        url: &str,
        deployment_id: &str,
        tables: &'static TableSet,
        options: DatabaseOptions,
    ) -> Result<Self, DatabaseError> {
        let found = Self::open_read_only(url, tables, options).await?;
        let database = Self::new(url, deployment_id, tables, options)?;
        if found.deployment_id() != database.deployment_id() {
            return Err(database.others(found.deployment_id().to_owned()));
        }
        found.close().await;
        database.check().await?;
        Ok(database)
    }

    fn of(
        address: Address,
        deployment_id: String,
        tables: &'static TableSet,
        options: DatabaseOptions,
        is_read_only: bool,
    ) -> Self {
        let migrations = Migrations::new(address.dialect(), tables.migrations, tables.versions);
        let inner = Inner {
            address,
            deployment_id,
            tables,
            migrations,
            options,
            is_ready: Mutex::new(false),
            is_read_only,
            idle: SyncMutex::default(),
            permits: Arc::new(Semaphore::new(options.connections_max.max(1))),
            writers: Arc::new(Semaphore::new(1)),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.inner.address
    }

    /// The deployment that the tables belong to.
    #[must_use]
    pub fn deployment_id(&self) -> &str {
        &self.inner.deployment_id
    }

    /// The timeout of every operation.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.inner.options.timeout
    }

    /// Connects once, to report errors early.
    ///
    /// # Errors
    /// When the database does not answer, or its tables belong to another deployment or a newer release.
    pub async fn check(&self) -> Result<(), DatabaseError> {
        self.in_time(async {
            self.lend().await?.done();
            Ok(())
        })
        .await
    }

    /// Opens a connection for the caller alone, after checking the tables.
    ///
    /// # Errors
    /// When the database does not answer, or its tables belong to another deployment or a newer release.
    pub fn connect(&self) -> Doing<'_, Link, DatabaseError> {
        Box::pin(async {
            let Inner { address, deployment_id, tables, is_ready, is_read_only, .. } = &*self.inner;
            if !*is_read_only {
                address.create_private();
            }
            let mut link = Link::open(address).await.map_err(|error| self.failed(&error))?;
            if *is_read_only {
                return Ok(link);
            }
            let mut is_ready = is_ready.lock().await;
            // The database may have been restored from a backup since.
            if !(*is_ready && is_ours(&mut link, tables, deployment_id).await) {
                *is_ready = false;
                self.prepare(&mut link).await?;
                *is_ready = true;
            }
            Ok(link)
        })
    }

    /// Creates missing tables and records the deployment they belong to; refuses those of another one.
    async fn prepare(&self, link: &mut Link) -> Result<(), DatabaseError> {
        let Inner { address, deployment_id, tables, migrations, .. } = &*self.inner;
        let (database, remedies) = (address.to_string(), &tables.remedies);
        if let Err(fault) = migrations.run(link).await {
            return Err(match fault {
                MigrationFault::Newer { found, known } => {
                    DatabaseError::Newer { database, found, known, remedy: remedies.newer }
                }
                MigrationFault::Tables { what } => {
                    DatabaseError::Tables { database, what, remedy: remedies.changed }
                }
                MigrationFault::Database(source) => self.failed(&source),
            });
        }
        let sql = link.dialect().insert_if_missing(tables.meta, &["name", "value"]);
        let values = ["deployment_id".into(), deployment_id.as_str().into()];
        link.execute(&sql, &values).await.map_err(|error| self.failed(&error))?;
        match deployment(link, tables).await.map_err(|error| self.failed(&error))? {
            Some(found) if found != *deployment_id => Err(self.others(found)),
            _ => Ok(()),
        }
    }

    /// Reads rows with columns of these kinds.
    ///
    /// # Errors
    /// When the database does not answer in time, or refuses the statement.
    pub fn fetch<'l>(
        &'l self,
        sql: &'l str,
        values: &'l [Cell],
        kinds: &'l [ColumnKind],
    ) -> Doing<'l, Vec<Vec<Cell>>, DatabaseError> {
        Box::pin(self.in_time(async move {
            loop {
                let mut lent = self.lend().await?;
                match lent.fetch(sql, values, kinds).await {
                    Ok(rows) => {
                        lent.done();
                        return Ok(rows);
                    }
                    // The connection may have been closed while it was idle.
                    Err(error) if lent.was_idle() && is_lost(&error) => {}
                    Err(error) => return Err(self.failed(&error)),
                }
            }
        }))
    }

    /// Runs one statement that writes; returns how many rows it changed.
    ///
    /// # Errors
    /// When the database does not answer in time, or refuses the statement.
    pub fn execute<'l>(&'l self, sql: &'l str, values: &'l [Cell]) -> Doing<'l, u64, DatabaseError> {
        Box::pin(self.in_time(async move {
            let mut lent = self.lend_to_write().await?;
            let changed = lent.execute(sql, values).await.map_err(|error| self.failed(&error))?;
            lent.done();
            Ok::<_, DatabaseError>(changed)
        }))
    }

    /// Closes idle connections. SQLite then has its write-ahead log in the file, and no file beside it, as soon as
    /// every connection of this process is closed; that is waited for, but not for long.
    pub async fn close(&self) {
        for link in self.inner.take_idle() {
            link.close().await;
        }
        let Address::Sqlite(options) = &self.inner.address else { return };
        let mut log = options.get_filename().as_os_str().to_owned();
        log.push("-wal");
        let gone = async {
            let mut again = tokio::time::interval(CLOSE_INTERVAL);
            while std::path::Path::new(&log).exists() {
                again.tick().await;
                // The last connection that closes moves the log into the file.
                let Ok(mut link) = Link::open(&self.inner.address).await else { return };
                drop(link.run("PRAGMA wal_checkpoint(TRUNCATE)").await);
                link.close().await;
            }
        };
        // Another process may use it.
        drop(tokio::time::timeout(CLOSE_TIMEOUT, gone).await);
    }

    /// Runs work that needs the database, within the timeout.
    ///
    /// # Errors
    /// The error of the work, or [`DatabaseError::Late`].
    pub async fn in_time<T, E: From<DatabaseError>>(
        &self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        tokio::time::timeout(self.timeout(), work).await.unwrap_or_else(|_| Err(self.late().into()))
    }

    /// An error of the database, with advice on what to do about it.
    #[must_use]
    pub fn failed(&self, error: &Error) -> DatabaseError {
        let Inner { address, tables, .. } = &*self.inner;
        DatabaseError::Failed { database: address.to_string(), what: describe(error, &tables.remedies) }
    }

    /// The error that the database did not answer in time.
    #[must_use]
    pub fn late(&self) -> DatabaseError {
        DatabaseError::Late { database: self.address().to_string(), timeout_ms: self.timeout().as_millis() }
    }

    /// The error that the tables belong to another deployment.
    #[must_use]
    pub fn others(&self, found: String) -> DatabaseError {
        let (database, wanted) = (self.address().to_string(), self.deployment_id().to_owned());
        DatabaseError::OtherDeployment { database, found, wanted }
    }

    /// The error that a row has unexpected contents.
    #[must_use]
    pub fn misread(&self, what: String) -> DatabaseError {
        let Inner { address, tables, .. } = &*self.inner;
        DatabaseError::Tables { database: address.to_string(), what, remedy: tables.remedies.changed }
    }
}

/// The deployment that the tables belong to.
async fn deployment(link: &mut Link, tables: &TableSet) -> Result<Option<String>, Error> {
    let sql = format!("SELECT value FROM {} WHERE name = 'deployment_id'", tables.meta);
    let rows = link.fetch(&sql, &[], &[ColumnKind::Text]).await?;
    Ok(rows.first().and_then(|row| row.first()).and_then(Cell::text).map(str::to_owned))
}

async fn is_ours(link: &mut Link, tables: &TableSet, deployment_id: &str) -> bool {
    deployment(link, tables).await.is_ok_and(|found| found.as_deref() == Some(deployment_id))
}
