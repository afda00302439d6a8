//! The database of delivery, and its options.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use scarce_sql::{Database, DatabaseOptions, Remedies, TableSet};
use tokio::sync::Notify;

use crate::http::Sender;
use crate::{DeliveryError, DeliveryOptions};

/// The tables of delivery.
static TABLES: TableSet = TableSet {
    application: "scarce-delivery",
    meta: "delivery_meta",
    migrations: "delivery_migrations",
    versions: &[
        include_str!("../migrations/0001_tables.sql"),
        include_str!("../migrations/0002_operation_scheme.sql"),
        include_str!("../migrations/0003_counts.sql"),
        include_str!("../migrations/0004_failing.sql"),
        include_str!("../migrations/0005_histories.sql"),
        include_str!("../migrations/0006_epochs.sql"),
        include_str!("../migrations/0007_forgotten.sql"),
    ],
    remedies: Remedies {
        what: "such deliveries and settlements",
        missing: "put the table or column back, or restore the delivery_ tables from a backup",
        unreadable: "put the schema back, or restore the delivery_ tables from a backup",
        contradiction: "what is to be written contradicts the tables: if rows were changed by hand, put them back",
        damaged: "the file is damaged or not an SQLite database; restore it from a backup",
        newer: "start the newer release",
        changed: "restore the delivery_ tables from a backup",
        none: "name the database that 'scarce serve' delivers from; a server that is started with --webhooks or --settlement makes the tables",
    },
};

/// A database of delivery. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Delivery {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    store: Database,
    options: DeliveryOptions,
    sender: Sender,
    webhooks_written: Notify,
    settlements_written: Notify,
}

impl Delivery {
    /// Opens a database: connects, creates missing tables, migrates older ones.
    ///
    /// `url` is `sqlite:///path/file.db`, `postgres://user:password@host:port/database`, or the same with `mysql:`;
    /// `deployment_id` are the 32 hexadecimal digits of the deployment.
    ///
    /// # Errors
    /// When the address or the certificates are invalid, the database does not answer, or its tables belong
    /// to another deployment or a newer release.
    pub async fn open(
        url: &str,
        deployment_id: &str,
        options: DeliveryOptions,
    ) -> Result<Self, DeliveryError> {
        let delivery = Self::new(url, deployment_id, options)?;
        delivery.store().check().await?;
        Ok(delivery)
    }

    /// Opens a database that was in use before: nothing is created.
    ///
    /// # Errors
    /// As [`Delivery::open`], and when the database has no tables of delivery.
    pub async fn open_existing(
        url: &str,
        deployment_id: &str,
        options: DeliveryOptions,
    ) -> Result<Self, DeliveryError> {
        let of_database = options.of_database();
        let store = Database::open_existing(url, deployment_id, &TABLES, of_database).await?;
        Self::of(store, options)
    }

    /// Opens a database that another process delivers from, for reading: creates and changes nothing.
    ///
    /// # Errors
    /// When the address is invalid, the database does not answer, or has no tables of delivery
    /// ([`DatabaseError::NoTables`](crate::DatabaseError::NoTables)).
    pub async fn open_read_only(url: &str, options: DeliveryOptions) -> Result<Self, DeliveryError> {
        let store = Database::open_read_only(url, &TABLES, options.of_database()).await?;
        Self::of(store, options)
    }

    /// The same as [`Delivery::open`], but connects on first use: consumers and workers report trouble until it is over.
    ///
    /// # Errors
    /// When the address, the deployment's id or the certificates are invalid.
    pub fn new(url: &str, deployment_id: &str, options: DeliveryOptions) -> Result<Self, DeliveryError> {
        Self::of(Database::new(url, deployment_id, &TABLES, options.of_database())?, options)
    }

    fn of(store: Database, options: DeliveryOptions) -> Result<Self, DeliveryError> {
        let inner = Inner {
            store,
            sender: Sender::new(&options)?,
            webhooks_written: Notify::new(),
            settlements_written: Notify::new(),
            options,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Closes the connections that are not in use; SQLite leaves only its file behind then.
    pub async fn close(&self) {
        self.store().close().await;
    }

    /// The database's address for people, without the password.
    #[must_use]
    pub fn database(&self) -> String {
        self.store().address().to_string()
    }

    /// The deployment whose log flows through the tables.
    #[must_use]
    pub fn deployment_id(&self) -> &str {
        self.store().deployment_id()
    }

    pub(crate) fn store(&self) -> &Database {
        &self.inner.store
    }

    pub(crate) fn options(&self) -> &DeliveryOptions {
        &self.inner.options
    }

    pub(crate) fn sender(&self) -> &Sender {
        &self.inner.sender
    }

    /// Notified when a consumer of this process has written deliveries.
    pub(crate) fn webhooks_written(&self) -> &Notify {
        &self.inner.webhooks_written
    }

    /// Notified when a consumer of this process has written settlements.
    pub(crate) fn settlements_written(&self) -> &Notify {
        &self.inner.settlements_written
    }
}

impl DeliveryOptions {
    fn of_database(&self) -> DatabaseOptions {
        DatabaseOptions { timeout: self.timeout, connections_max: self.connections_max }
    }
}

/// The clock of this machine.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    millis(since)
}

/// A duration in milliseconds.
pub(crate) fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
