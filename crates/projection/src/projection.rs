//! A database that logs are projected into.

mod emptying;
mod readers;

use std::sync::Arc;
use std::time::Duration;

use scarce_core::event::Position;
use scarce_sql::Doing;
use tokio::sync::Mutex;

use crate::ProjectionError;
use crate::consumer::SqlConsumer;
use crate::history::History;
use crate::migrations::{deployment, failure, prepare};
use crate::store::{Address, Link};
use crate::table::{Cell, Kind};
pub(crate) use emptying::MARK;
use readers::Readers;

/// How a projection works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many rows of each table a consumer keeps in memory between batches, more or less. What is not
    /// there is read from the database, once for a batch.
    pub rows_max: usize,
    /// The least time for which the engine remembers operation ids: an id that is used again sooner is a
    /// mistake.
    pub ids_kept_ms_min: u64,
    /// How long a batch, or anything else, may take before the database counts as standing still.
    pub timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { rows_max: 50_000, ids_kept_ms_min: 600_000, timeout: Duration::from_secs(120) }
    }
}

/// How far the log of a partition is in the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Whose log.
    pub partition: u32,
    /// The place behind its last event in the tables.
    pub position: Position,
    /// The stamp of that event; nothing before the first.
    pub at_ms: Option<u64>,
    /// When that was written, by this machine's clock.
    pub updated_at_ms: u64,
}

/// What PostgreSQL shows to who looks at its connections.
const APPLICATION: &str = "scarce-projection";

/// A connection that is made when it is needed.
pub(crate) type Slot = Arc<Mutex<Option<Link>>>;

/// A database into which the logs of one deployment are projected. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Projection {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    address: Address,
    deployment_id: String,
    options: Options,
    /// Whether the tables are there, and hold the log of this deployment.
    is_ready: Mutex<bool>,
    /// Whether tables are left as they are, whatever they are.
    is_read_only: bool,
    /// The one connection by which all consumers write into SQLite: it lets in one writer at a time, and
    /// what one connection knows of the file is stale when another one has written.
    writer: Slot,
    readers: Readers,
}

impl Projection {
    /// Opens a projection: connects, makes tables that are missing, brings older ones up to date.
    ///
    /// `url` is `sqlite:///path/file.db`, `postgres://user:password@host:port/database`, or the same with
    /// `mysql:`; `deployment_id` are the 32 hexadecimal digits of the deployment whose logs these are.
    ///
    /// # Errors
    /// When the address cannot be read, the database does not answer, or its tables hold another deployment's
    /// log or are newer than this release.
    pub async fn open(url: &str, deployment_id: &str, options: Options) -> Result<Self, ProjectionError> {
        let projection = Self::new(url, deployment_id, options)?;
        let link = projection.connect_in_time().await?;
        projection.inner.readers.put_back(link);
        Ok(projection)
    }

    /// The same, but connects only when it is used: consumers and readers tell what is wrong until it is
    /// mended.
    ///
    /// # Errors
    /// When the address or the deployment's id cannot be read.
    pub fn new(url: &str, deployment_id: &str, options: Options) -> Result<Self, ProjectionError> {
        let is_id = deployment_id.len() == 32 && deployment_id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_id {
            return Err(ProjectionError::Deployment { id: deployment_id.to_owned() });
        }
        let deployment_id = deployment_id.to_ascii_lowercase();
        Ok(Self::of(Address::parse(url, APPLICATION)?, deployment_id, options, false))
    }

    /// Opens a projection that somebody else fills, to read it: makes and changes nothing.
    ///
    /// # Errors
    /// When the address cannot be read, the database does not answer, or holds no projection.
    pub async fn open_read_only(url: &str, options: Options) -> Result<Self, ProjectionError> {
        let address = Address::parse(url, APPLICATION)?.of_existing();
        let nothing = || ProjectionError::Nothing { database: address.to_string() };
        let reading = async {
            let mut link = Link::open(&address).await.map_err(|error| failure(&address, &error))?;
            let found = deployment(&mut link).await;
            Ok::<_, ProjectionError>((link, found.ok().flatten().ok_or_else(nothing)?))
        };
        let read = tokio::time::timeout(options.timeout, reading).await;
        let (link, deployment_id) = read.map_err(|_| late(&address, options.timeout))??;
        let projection = Self::of(address, deployment_id, options, true);
        projection.inner.readers.put_back(link);
        Ok(projection)
    }

    fn of(address: Address, deployment_id: String, options: Options, is_read_only: bool) -> Self {
        let is_ready = Mutex::new(false);
        let (writer, readers) = (Slot::default(), Readers::default());
        let inner = Inner { address, deployment_id, options, is_ready, is_read_only, writer, readers };
        Self { inner: Arc::new(inner) }
    }

    /// Who takes the log of a partition. Two of them for one partition do no harm: one of them writes, and
    /// the other one finds itself overtaken.
    #[must_use]
    pub fn consumer(&self, partition: u32) -> SqlConsumer {
        let slot = match self.inner.address {
            Address::Sqlite(_) => Arc::clone(&self.inner.writer),
            _ => Slot::default(),
        };
        SqlConsumer::new(self.clone(), partition, slot)
    }

    /// What is in the tables, for whoever asks.
    #[must_use]
    pub fn history(&self) -> History {
        History::new(self.clone())
    }

    /// How far each partition's log is in the tables, by partition.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn positions(&self) -> Result<Vec<Progress>, ProjectionError> {
        let sql = "SELECT partition_id, epoch, sequence, at_ms, updated_at_ms FROM cursors \
                   WHERE deployment_id = ? ORDER BY partition_id";
        let rows = self.read(sql, &[Cell::from(self.deployment_id())], &[Kind::Integer; 5]).await?;
        Ok(rows.iter().map(|row| progress(row)).collect())
    }

    /// Empties the tables and sets every cursor to the beginning, all or nothing; consumers then write the
    /// whole log again. What the log no longer holds is lost with that.
    ///
    /// # Errors
    /// When the database does not answer, or refuses.
    pub async fn rebuild(&self) -> Result<(), ProjectionError> {
        let mut link = self.connect_in_time().await?;
        let emptied = emptying::empty(&mut link).await;
        link.close().await;
        emptied.map_err(|error| failure(&self.inner.address, &error))
    }

    /// The database as people know it, without its password.
    #[must_use]
    pub fn database(&self) -> String {
        self.inner.address.to_string()
    }

    pub(crate) fn address(&self) -> &Address {
        &self.inner.address
    }

    pub(crate) fn deployment_id(&self) -> &str {
        &self.inner.deployment_id
    }

    pub(crate) fn options(&self) -> Options {
        self.inner.options
    }

    /// A new connection to tables that are as they should be.
    pub(crate) fn connect(&self) -> Doing<'_, Link, ProjectionError> {
        Box::pin(self.connect_anew())
    }

    async fn connect_anew(&self) -> Result<Link, ProjectionError> {
        let Inner { address, deployment_id, is_ready, is_read_only, .. } = &*self.inner;
        let mut link = Link::open(address).await.map_err(|error| failure(address, &error))?;
        if *is_read_only {
            return Ok(link);
        }
        let mut is_ready = is_ready.lock().await;
        if !*is_ready {
            prepare(&mut link, address, deployment_id).await?;
            *is_ready = true;
        }
        Ok(link)
    }

    /// Has the next one who connects look at the tables again: something was wrong.
    pub(crate) async fn doubt(&self) {
        *self.inner.is_ready.lock().await = false;
    }

    pub(crate) fn late(&self) -> ProjectionError {
        late(self.address(), self.options().timeout)
    }

    async fn connect_in_time(&self) -> Result<Link, ProjectionError> {
        let connected = tokio::time::timeout(self.options().timeout, self.connect()).await;
        connected.unwrap_or_else(|_| Err(self.late()))
    }

    /// Reads rows on a connection for readers.
    pub(crate) fn read<'l>(
        &'l self,
        sql: &'l str,
        values: &'l [Cell],
        kinds: &'l [Kind],
    ) -> Doing<'l, Vec<Vec<Cell>>, ProjectionError> {
        let reading = self.inner.readers.read(self, sql, values, kinds);
        Box::pin(async {
            match tokio::time::timeout(self.options().timeout, reading).await {
                Ok(read) => read,
                Err(_) => Err(self.late()),
            }
        })
    }
}

fn late(address: &Address, timeout: Duration) -> ProjectionError {
    ProjectionError::Late { database: address.to_string(), timeout_ms: timeout.as_millis() }
}

fn progress(row: &[Cell]) -> Progress {
    let number = |at: usize| match row.get(at) {
        Some(Cell::Integer(value)) => u64::try_from(*value).ok(),
        _ => None,
    };
    let figure = |at| number(at).unwrap_or(0);
    Progress {
        partition: u32::try_from(figure(0)).unwrap_or(u32::MAX),
        position: Position { epoch: figure(1), sequence: figure(2) },
        at_ms: number(3),
        updated_at_ms: figure(4),
    }
}
