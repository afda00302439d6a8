//! A pool of connections.
//!
//! This is not the pool of sqlx: that one keeps connecting to a server that refuses, until the timeout, and
//! then does not say why; it pings the server for each connection that is returned; and it would pass on a
//! connection in the middle of a transaction.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::OwnedSemaphorePermit;

use crate::database::Inner;
use crate::{Address, Database, DatabaseError, Doing, Link};

/// After how long idle a connection is tested before use: its server may have been restarted.
const IDLE_TRUSTED: Duration = Duration::from_millis(250);

/// An idle connection.
#[derive(Debug)]
pub(crate) struct Idle {
    link: Link,
    since: Instant,
}

/// A connection in use. Dropping it without [`Lent::done`] closes it and discards what was not committed.
#[derive(Debug)]
pub struct Lent {
    link: Option<Link>,
    database: Database,
    was_idle: bool,
    _permit: Option<OwnedSemaphorePermit>,
    /// Held until the writer is done.
    _writer: Option<OwnedSemaphorePermit>,
}

impl Database {
    /// Lends a connection.
    ///
    /// # Errors
    /// When the database does not answer, or its tables belong to another deployment or a newer release.
    pub fn lend(&self) -> Doing<'_, Lent, DatabaseError> {
        Box::pin(async {
            // The semaphore is never closed.
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

    /// Lends a connection to a writer. SQLite has one writer at a time; writers of this process queue here.
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

    /// Keeps a connection for the next caller.
    pub(crate) fn put_back(&self, link: Link) {
        self.inner.idle().push(Idle { link, since: Instant::now() });
    }
}

impl Inner {
    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        // Links are only pushed and popped, so a panic leaves nothing half done.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All idle connections.
    pub(crate) fn take_idle(&self) -> Vec<Link> {
        self.idle().drain(..).map(|idle| idle.link).collect()
    }

    /// An idle connection that still answers.
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
    /// Whether it was idle in the pool, so that it may have been closed since.
    pub(crate) fn was_idle(&self) -> bool {
        self.was_idle
    }

    /// Returns the connection to the pool.
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
