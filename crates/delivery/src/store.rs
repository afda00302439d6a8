//! The database, and connections to it.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use scarce_sql::{Address, Cell, Doing, Kind, Link, MigrationFault, Migrations};
use sqlx::Error;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::error::failure;
use crate::http::Sender;
use crate::{DeliveryError, Options};

static MIGRATIONS: LazyLock<Migrations> = LazyLock::new(|| {
    let texts: [&[&str]; 3] = [
        &[include_str!("../migrations/sqlite/0001_tables.sql")],
        &[include_str!("../migrations/postgres/0001_tables.sql")],
        &[include_str!("../migrations/mysql/0001_tables.sql")],
    ];
    Migrations::new("delivery_migrations", texts)
});

/// After how long without use a connection is tried before it is used: its server may have been restarted.
const IDLE_TRUSTED: Duration = Duration::from_millis(250);

/// A database from which is delivered. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Delivery {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    address: Address,
    deployment_id: String,
    options: Options,
    sender: Sender,
    /// Whether the tables are there, and are this deployment's.
    is_ready: tokio::sync::Mutex<bool>,
    idle: Mutex<Vec<(Link, Instant)>>,
    permits: Arc<Semaphore>,
    /// SQLite lets in one writer at a time; those of this process wait here in turn.
    writers: Arc<Semaphore>,
    webhooks_written: Notify,
    settlements_written: Notify,
}

impl Delivery {
    /// Opens a database: connects, makes tables that are missing, brings older ones up to date.
    ///
    /// `url` is `sqlite:///path/file.db`, `postgres://user:password@host:port/database`, or the same with `mysql:`;
    /// `deployment_id` are the 32 hexadecimal digits of the deployment.
    ///
    /// # Errors
    /// When the address or the certificates cannot be read, the database does not answer, or its tables are another
    /// deployment's or newer than this release.
    pub async fn open(url: &str, deployment_id: &str, options: Options) -> Result<Self, DeliveryError> {
        let delivery = Self::new(url, deployment_id, options)?;
        delivery
            .in_time(async {
                delivery.lend().await?.done();
                Ok(())
            })
            .await?;
        Ok(delivery)
    }

    /// The same, but connects only when it is used: consumers and workers tell what is wrong until it is mended.
    ///
    /// # Errors
    /// When the address, the deployment's id or the certificates cannot be read.
    pub fn new(url: &str, deployment_id: &str, options: Options) -> Result<Self, DeliveryError> {
        if deployment_id.len() != 32 || !deployment_id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(DeliveryError::Deployment { id: deployment_id.to_owned() });
        }
        let inner = Inner {
            address: Address::parse(url, "scarce-delivery")?,
            deployment_id: deployment_id.to_ascii_lowercase(),
            sender: Sender::new(&options)?,
            is_ready: tokio::sync::Mutex::new(false),
            idle: Mutex::default(),
            permits: Arc::new(Semaphore::new(options.connections_max.max(1))),
            writers: Arc::new(Semaphore::new(1)),
            webhooks_written: Notify::new(),
            settlements_written: Notify::new(),
            options,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    pub(crate) fn options(&self) -> &Options {
        &self.inner.options
    }

    pub(crate) fn sender(&self) -> &Sender {
        &self.inner.sender
    }

    pub(crate) fn deployment_id(&self) -> &str {
        &self.inner.deployment_id
    }

    pub(crate) fn address(&self) -> &Address {
        &self.inner.address
    }

    /// Rung when a consumer of this process has written deliveries.
    pub(crate) fn webhooks_written(&self) -> &Notify {
        &self.inner.webhooks_written
    }

    /// Rung when a consumer of this process has written settlements.
    pub(crate) fn settlements_written(&self) -> &Notify {
        &self.inner.settlements_written
    }

    /// An error of the database with its text for people.
    pub(crate) fn failed(&self, error: &Error) -> DeliveryError {
        failure(&self.inner.address, error)
    }

    /// Does what needs the database, within the time that is given to everything.
    pub(crate) async fn in_time<T>(
        &self,
        work: impl Future<Output = Result<T, DeliveryError>>,
    ) -> Result<T, DeliveryError> {
        let timeout = self.inner.options.timeout;
        tokio::time::timeout(timeout, work).await.unwrap_or_else(|_| {
            let database = self.inner.address.to_string();
            Err(DeliveryError::Late { database, timeout_ms: timeout.as_millis() })
        })
    }

    /// Reads rows of columns of these kinds.
    pub(crate) fn fetch<'l>(
        &'l self,
        sql: &'l str,
        values: &'l [Cell],
        kinds: &'l [Kind],
    ) -> Doing<'l, Vec<Vec<Cell>>, DeliveryError> {
        Box::pin(self.in_time(async {
            let mut link = self.lend().await?;
            let rows = link.fetch(sql, values, kinds).await.map_err(|error| self.failed(&error))?;
            link.done();
            Ok(rows)
        }))
    }

    /// Runs one statement that writes; gives how many rows it changed.
    pub(crate) fn execute<'l>(&'l self, sql: &'l str, values: &'l [Cell]) -> Doing<'l, u64, DeliveryError> {
        Box::pin(self.in_time(async {
            let mut link = self.lend_to_write().await?;
            let changed = link.execute(sql, values).await.map_err(|error| self.failed(&error))?;
            link.done();
            Ok(changed)
        }))
    }

    /// A connection for one who writes.
    pub(crate) async fn lend_to_write(&self) -> Result<Lent, DeliveryError> {
        let writer = match self.inner.address {
            Address::Sqlite(_) => Arc::clone(&self.inner.writers).acquire_owned().await.ok(),
            _ => None,
        };
        Ok(Lent { writer, ..self.lend().await? })
    }

    /// A connection to tables that are as they should be.
    pub(crate) fn lend(&self) -> Doing<'_, Lent, DeliveryError> {
        Box::pin(async {
            let permit = Arc::clone(&self.inner.permits).acquire_owned().await.ok();
            let link = match self.inner.idle_link().await {
                Some(link) => link,
                None => self.connect().await?,
            };
            Ok(Lent { link: Some(link), delivery: self.clone(), _permit: permit, writer: None })
        })
    }

    async fn connect(&self) -> Result<Link, DeliveryError> {
        let Inner { address, deployment_id, is_ready, .. } = &*self.inner;
        let mut link = Link::open(address).await.map_err(|error| self.failed(&error))?;
        let mut is_ready = is_ready.lock().await;
        // The database may have been put back from a copy meanwhile.
        if !(*is_ready && is_ours(&mut link, deployment_id).await) {
            *is_ready = false;
            prepare(&mut link, address, deployment_id).await?;
            *is_ready = true;
        }
        Ok(link)
    }
}

impl Inner {
    fn idle(&self) -> MutexGuard<'_, Vec<(Link, Instant)>> {
        // Links are only put in and taken out, which leaves nothing half done.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection that waits and still answers.
    async fn idle_link(&self) -> Option<Link> {
        loop {
            let (mut link, used_at) = self.idle().pop()?;
            if used_at.elapsed() < IDLE_TRUSTED || link.run("SELECT 1").await.is_ok() {
                return Some(link);
            }
        }
    }
}

/// A connection that is lent out. Dropped without [`Lent::done`] it is closed, and with it what was not committed.
pub(crate) struct Lent {
    link: Option<Link>,
    delivery: Delivery,
    _permit: Option<OwnedSemaphorePermit>,
    #[allow(dead_code, reason = "held until the writing is over")]
    writer: Option<OwnedSemaphorePermit>,
}

impl Lent {
    /// Gives the connection back for others.
    pub(crate) fn done(mut self) {
        if let Some(link) = self.link.take() {
            self.delivery.inner.idle().push((link, Instant::now()));
        }
    }
}

impl Deref for Lent {
    type Target = Link;

    fn deref(&self) -> &Link {
        self.link.as_ref().unwrap_or_else(|| unreachable!("it is taken only by who gives it back"))
    }
}

impl DerefMut for Lent {
    fn deref_mut(&mut self) -> &mut Link {
        self.link.as_mut().unwrap_or_else(|| unreachable!("it is taken only by who gives it back"))
    }
}

/// Makes what tables are missing, and notes whose they are, or refuses another's.
async fn prepare(link: &mut Link, address: &Address, deployment_id: &str) -> Result<(), DeliveryError> {
    let database = address.to_string();
    MIGRATIONS.run(link).await.map_err(|fault| match fault {
        MigrationFault::Newer { found, known } => {
            DeliveryError::Newer { database: database.clone(), found, known }
        }
        MigrationFault::Tables { what } => DeliveryError::Tables { database: database.clone(), what },
        MigrationFault::Database(source) => failure(&database, &source),
    })?;
    let failed = |error: Error| failure(&database, &error);
    let sql = link.dialect().insert_if_missing("delivery_meta", &["name", "value"]);
    link.execute(&sql, &["deployment_id".into(), deployment_id.into()]).await.map_err(failed)?;
    match owner(link).await.map_err(failed)? {
        Some(found) if found != deployment_id => {
            Err(DeliveryError::OtherDeployment { database, found, wanted: deployment_id.to_owned() })
        }
        _ => Ok(()),
    }
}

/// Whose tables they are.
async fn owner(link: &mut Link) -> Result<Option<String>, Error> {
    let sql = "SELECT value FROM delivery_meta WHERE name = 'deployment_id'";
    let rows = link.fetch(sql, &[], &[Kind::Text]).await?;
    Ok(rows.first().and_then(|row| row.first()).and_then(Cell::text).map(str::to_owned))
}

async fn is_ours(link: &mut Link, deployment_id: &str) -> bool {
    owner(link).await.is_ok_and(|found| found.as_deref() == Some(deployment_id))
}

/// The clock of this machine.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    millis(since)
}

/// A length of time in milliseconds.
pub(crate) fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
