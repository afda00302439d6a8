//! A database that logs are projected into.

mod emptying;

use std::sync::Arc;
use std::time::Duration;

use scarce_core::event::Position;
use scarce_sql::{Database, DatabaseOptions};
use tokio::sync::Mutex;

use crate::ProjectionError;
use crate::consumer::SqlConsumer;
use crate::description::TABLES;
use crate::history::History;
use crate::scales::Scales;
use crate::store::{Address, Link};
use crate::table::{Cell, ColumnKind};
pub(crate) use emptying::MARK;

const POSITIONS: &str = "SELECT partition_id, epoch, sequence, at_ms, updated_at_ms FROM cursors \
                         WHERE deployment_id = ? ORDER BY partition_id";

/// The maximum number of concurrent readers; further ones wait.
const READERS_MAX: usize = 4;

/// The options of a projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProjectionOptions {
    /// About how many rows of each table a consumer caches between batches. Other rows are read from the
    /// database, once for a batch.
    pub rows_max: usize,
    /// The minimum time for which the engine remembers operation ids: a log that reuses an id sooner is
    /// wrong.
    pub ids_kept_ms_min: u64,
    /// The timeout of a batch, and of every other operation on the database.
    pub timeout: Duration,
}

impl Default for ProjectionOptions {
    fn default() -> Self {
        Self { rows_max: 50_000, ids_kept_ms_min: 600_000, timeout: Duration::from_secs(120) }
    }
}

/// The projected position in the log of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProjectedPosition {
    /// Whose log.
    pub partition: u32,
    /// The position of its last event in the tables.
    pub position: Position,
    /// The stamp of that event; `None` before the first.
    pub at_ms: Option<u64>,
    /// When that was written, by this machine's clock.
    pub updated_at_ms: u64,
}

/// Where the history of a partition begins in the tables: with the state at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Whose history.
    pub partition: u32,
    /// The last position of which the tables only have what it came to.
    pub position: Position,
    /// The stamp of that event.
    pub at_ms: u64,
}

/// A consumer's own connection, opened on first use.
pub(crate) type OwnLink = Arc<Mutex<Option<Link>>>;

/// A database into which the logs of one deployment are projected. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Projection {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    store: Database,
    options: ProjectionOptions,
    /// The one connection by which all consumers write into SQLite: it has one writer at a time, and a
    /// connection's cache of the file is stale after another one has written.
    writer: OwnLink,
    scales: Scales,
}

impl Projection {
    /// Opens a projection: connects, creates missing tables, migrates older ones.
    ///
    /// `url` is `sqlite:///path/file.db`, `postgres://user:password@host:port/database`, or the same with
    /// `mysql:`; `deployment_id` are the 32 hexadecimal digits of the deployment whose logs these are.
    ///
    /// # Errors
    /// When the address is invalid, the database does not answer, or its tables belong to another deployment
    /// or a newer release.
    pub async fn open(
        url: &str,
        deployment_id: &str,
        options: ProjectionOptions,
    ) -> Result<Self, ProjectionError> {
        let projection = Self::new(url, deployment_id, options)?;
        projection.store().check().await?;
        Ok(projection)
    }

    /// Opens a new projection whose content is worth nothing once this process has ended: nothing waits for the disk.
    ///
    /// # Errors
    /// As [`Projection::open`].
    pub(crate) async fn open_scratch(
        url: &str,
        deployment_id: &str,
        options: ProjectionOptions,
    ) -> Result<Self, ProjectionError> {
        let store = Database::new_scratch(url, deployment_id, &TABLES, options.of_database())?;
        store.check().await?;
        Ok(Self::of(store, options, Scales::default()))
    }

    /// Opens a projection that was in use before: nothing is created.
    ///
    /// # Errors
    /// As [`Projection::open`], and when the database has no projection.
    pub async fn open_existing(
        url: &str,
        deployment_id: &str,
        options: ProjectionOptions,
    ) -> Result<Self, ProjectionError> {
        let store = Database::open_existing(url, deployment_id, &TABLES, options.of_database()).await?;
        Ok(Self::of(store, options, Scales::default()))
    }

    /// The same as [`Projection::open`], but connects on first use: consumers and readers report trouble until it is over.
    ///
    /// # Errors
    /// When the address or the deployment's id is invalid.
    pub fn new(url: &str, deployment_id: &str, options: ProjectionOptions) -> Result<Self, ProjectionError> {
        let store = Database::new(url, deployment_id, &TABLES, options.of_database())?;
        Ok(Self::of(store, options, Scales::default()))
    }

    /// Opens a projection that another process fills, for reading: creates and changes nothing.
    ///
    /// # Errors
    /// When the address is invalid, the database does not answer, or has no projection.
    pub async fn open_read_only(url: &str, options: ProjectionOptions) -> Result<Self, ProjectionError> {
        let store = Database::open_read_only(url, &TABLES, options.of_database()).await?;
        Ok(Self::of(store, options, Scales::default()))
    }

    pub(crate) fn of(store: Database, options: ProjectionOptions, scales: Scales) -> Self {
        Self { inner: Arc::new(Inner { store, options, writer: OwnLink::default(), scales }) }
    }

    /// The consumer of a partition's log. Two consumers of one partition do no harm: one of them writes, and
    /// the other one notices that the cursor has moved.
    #[must_use]
    pub fn consumer(&self, partition: u32) -> SqlConsumer {
        let own_link = match self.store().address() {
            Address::Sqlite(_) => Arc::clone(&self.inner.writer),
            _ => OwnLink::default(),
        };
        SqlConsumer::new(self.clone(), partition, own_link)
    }

    /// Closes the connections that are not in use; SQLite leaves only its file behind then. To be called after the
    /// consumers have ended.
    pub async fn close(&self) {
        if let Some(link) = self.inner.writer.lock().await.take() {
            link.close().await;
        }
        self.store().close().await;
    }

    /// Reads history from the tables.
    #[must_use]
    pub fn history(&self) -> History {
        History::new(self.clone())
    }

    /// The projected position of each partition, by partition.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn positions(&self) -> Result<Vec<ProjectedPosition>, ProjectionError> {
        let deployment_id = [Cell::from(self.store().deployment_id())];
        let rows = self.store().fetch(POSITIONS, &deployment_id, &[ColumnKind::Integer; 5]).await?;
        Ok(rows.iter().map(|row| projected_position(row)).collect())
    }

    /// The same by a connection, within its transaction.
    pub(crate) async fn positions_by(
        &self,
        link: &mut Link,
    ) -> Result<Vec<ProjectedPosition>, ProjectionError> {
        let deployment_id = [Cell::from(self.store().deployment_id())];
        let rows = link.fetch(POSITIONS, &deployment_id, &[ColumnKind::Integer; 5]).await;
        let rows = rows.map_err(|error| self.store().failed(&error))?;
        Ok(rows.iter().map(|row| projected_position(row)).collect())
    }

    /// The deployment whose log the tables hold.
    #[must_use]
    pub fn deployment_id(&self) -> &str {
        self.store().deployment_id()
    }

    /// Empties the tables and sets every cursor to the beginning, all or nothing; consumers then write the
    /// whole log again. Events that were trimmed from the log are lost with that.
    ///
    /// # Errors
    /// When the database does not answer, or refuses a statement.
    pub async fn rebuild(&self) -> Result<(), ProjectionError> {
        let mut link = self.store().in_time(self.store().connect()).await?;
        let emptied = emptying::empty(&mut link).await;
        link.close().await;
        Ok(emptied.map_err(|error| self.store().failed(&error))?)
    }

    /// Empties the tables of some partitions only, all or nothing; consumers then begin anew. What the log no longer
    /// has of them is lost with that.
    ///
    /// # Errors
    /// When the database does not answer, or refuses a statement.
    pub async fn empty(&self, partitions: &[u32]) -> Result<(), ProjectionError> {
        let mut link = self.store().in_time(self.store().connect()).await?;
        let emptied = emptying::empty_partitions(&mut link, partitions).await;
        link.close().await;
        Ok(emptied.map_err(|error| self.store().failed(&error))?)
    }

    /// Where the history of partitions begins, if that is not the beginning of their logs.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn openings(&self) -> Result<Vec<Opening>, ProjectionError> {
        let sql = "SELECT partition_id, epoch, sequence, at_ms FROM openings ORDER BY partition_id";
        let rows = self.store().fetch(sql, &[], &[ColumnKind::Integer; 4]).await?;
        Ok(rows.iter().map(|row| opening(row)).collect())
    }

    /// The database's address for people, without the password.
    #[must_use]
    pub fn database(&self) -> String {
        self.store().address().to_string()
    }

    pub(crate) fn store(&self) -> &Database {
        &self.inner.store
    }

    pub(crate) fn scales(&self) -> &Scales {
        &self.inner.scales
    }

    pub(crate) fn options(&self) -> ProjectionOptions {
        self.inner.options
    }
}

impl ProjectionOptions {
    fn of_database(self) -> DatabaseOptions {
        DatabaseOptions { timeout: self.timeout, connections_max: READERS_MAX }
    }
}

fn number(row: &[Cell], at: usize) -> Option<u64> {
    match row.get(at) {
        Some(Cell::Integer(value)) => u64::try_from(*value).ok(),
        _ => None,
    }
}

fn projected_position(row: &[Cell]) -> ProjectedPosition {
    let figure = |at| number(row, at).unwrap_or(0);
    ProjectedPosition {
        partition: u32::try_from(figure(0)).unwrap_or(u32::MAX),
        position: Position { epoch: figure(1), sequence: figure(2) },
        at_ms: number(row, 3),
        updated_at_ms: figure(4),
    }
}

fn opening(row: &[Cell]) -> Opening {
    let figure = |at| number(row, at).unwrap_or(0);
    Opening {
        partition: u32::try_from(figure(0)).unwrap_or(u32::MAX),
        position: Position { epoch: figure(1), sequence: figure(2) },
        at_ms: figure(3),
    }
}
