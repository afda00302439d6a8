//! Connections that are lent out and given back.
//!
//! This is not the pool of sqlx: that one keeps on connecting to a server that refuses, until its time is over, and
//! then does not say why; it asks the server once more for each connection that is given back; and it would give on a
//! connection in the middle of a transaction.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::OwnedSemaphorePermit;

use crate::database::Inner;
use crate::{Address, Database, DatabaseError, Doing, Link};

/// After how long without use a connection is tried before it is used: its server may have been restarted.
const IDLE_TRUSTED: Duration = Duration::from_millis(250);

/// A connection that nobody uses.
#[derive(Debug)]
pub(crate) struct Idle {
    link: Link,
    since: Instant,
}

/// A connection that is lent out. Dropped without [`Lent::done`] it is closed, and with it what was not committed.
#[derive(Debug)]
pub struct Lent {
    link: Option<Link>,
    database: Database,
    was_idle: bool,
    _permit: Option<OwnedSemaphorePermit>,
    /// Held until the writing is over.
    _writer: Option<OwnedSemaphorePermit>,
}

impl Database {
    /// Lends a connection.
    ///
    /// # Errors
    /// When the database does not answer, or its tables are another deployment's or a newer release's.
    pub fn lend(&self) -> Doing<'_, Lent, DatabaseError> {
        Box::pin(async {
            // Nobody closes the semaphore.
            let permit = Arc::clone(&self.inner.permits).acquire_owned().await.ok();
            let idle = self.inner.idle_link().await;
            let was_idle = idle.is_some();
            let link = match idle {
                Some(link) => link,
                None => self.connect().await?,
            };
            Ok(Lent { link: Some(link), database: self.clone(), was_idle, _permit: permit, _writer: None })
        })
    }

    /// Lends a connection to a writer. SQLite lets in one writer at a time; those of this process wait here in turn.
    ///
    /// # Errors
    /// As [`Database::lend`].
    pub async fn lend_to_write(&self) -> Result<Lent, DatabaseError> {
        let writer = match self.inner.address {
            Address::Sqlite(_) => Arc::clone(&self.inner.writers).acquire_owned().await.ok(),
            _ => None,
        };
        Ok(Lent { _writer: writer, ..self.lend().await? })
    }

    /// Takes in a connection for the next caller.
    pub(crate) fn put_back(&self, link: Link) {
        self.inner.idle().push(Idle { link, since: Instant::now() });
    }
}

impl Inner {
    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        // Links are only put in and taken out, which leaves nothing half done.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection that nobody uses and that still answers.
    async fn idle_link(&self) -> Option<Link> {
        loop {
            let Idle { mut link, since } = self.idle().pop()?;
            if since.elapsed() < IDLE_TRUSTED || link.run("SELECT 1").await.is_ok() {
                return Some(link);
            }
        }
    }
}

impl Lent {
    /// Whether it was used before, so that it may have been closed meanwhile.
    pub(crate) fn was_idle(&self) -> bool {
        self.was_idle
    }

    /// Gives the connection back for others.
    pub fn done(mut self) {
        if let Some(link) = self.link.take() {
            self.database.put_back(link);
        }
    }
}

impl Deref for Lent {
    type Target = Link;

    fn deref(&self) -> &Link {
        self.link.as_ref().unwrap_or_else(|| unreachable!("only `done` takes it, and consumes this"))
    }
}

impl DerefMut for Lent {
    fn deref_mut(&mut self) -> &mut Link {
        self.link.as_mut().unwrap_or_else(|| unreachable!("only `done` takes it, and consumes this"))
    }
}
