//! Connections for those who only read.

use std::sync::Mutex;

use tokio::sync::Semaphore;

use super::Projection;
use crate::ProjectionError;
use crate::migrations::failure;
use crate::store::{Link, is_lost};
use crate::table::{Cell, Kind};

/// How many connections read at a time at most; further readers wait.
const READERS_MAX: usize = 4;

/// Connections that wait for readers.
#[derive(Debug)]
pub(super) struct Readers {
    permits: Semaphore,
    idle: Mutex<Vec<Link>>,
}

impl Default for Readers {
    fn default() -> Self {
        Self { permits: Semaphore::new(READERS_MAX), idle: Mutex::default() }
    }
}

impl Readers {
    pub(super) fn put_back(&self, link: Link) {
        self.links().push(link);
    }

    fn links(&self) -> std::sync::MutexGuard<'_, Vec<Link>> {
        // Links are only put in and taken out, which leaves nothing half done.
        self.idle.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(super) async fn read(
        &self,
        projection: &Projection,
        sql: &str,
        values: &[Cell],
        kinds: &[Kind],
    ) -> Result<Vec<Vec<Cell>>, ProjectionError> {
        // Nobody closes it.
        let _permit = self.permits.acquire().await;
        loop {
            let idle = self.links().pop();
            let was_idle = idle.is_some();
            let mut link = match idle {
                Some(link) => link,
                None => projection.connect().await?,
            };
            match link.fetch(sql, values, kinds).await {
                Ok(rows) => {
                    self.put_back(link);
                    return Ok(rows);
                }
                // It may have been closed while it waited.
                Err(error) if was_idle && is_lost(&error) => {}
                Err(error) => {
                    projection.doubt().await;
                    return Err(failure(projection.address(), &error));
                }
            }
        }
    }
}
