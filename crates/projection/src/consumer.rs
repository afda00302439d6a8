//! Writes the log of a partition into the tables.

use std::time::{SystemTime, UNIX_EPOCH};

use scarce_core::event::Position;
use scarce_outflow::{Batch, Consumer, Failure, Image, Trouble};
use scarce_sql::{DatabaseError, Doing};
use sqlx::Error;
use tokio::time::timeout;

use crate::ProjectionError;
use crate::fold::{Fold, LogCursor, Misfit};
use crate::projection::{OwnLink, Projection};
use crate::store::{Link, Sheets, is_conflict, is_duplicate, is_lost};
use cursor::WrittenAt;

mod beginning;
mod cursor;
mod loading;

/// How many attempts a batch has before that counts as trouble.
const TRIES_MAX: u32 = 4;

/// Consumes the log of one partition. A batch is one transaction: its rows and the cursor, or nothing.
#[derive(Debug)]
pub struct SqlConsumer {
    projection: Projection,
    partition: u32,
    link: OwnLink,
    /// The state after the last write, with its cached rows; `None` while that is uncertain.
    fold: Option<Fold>,
    /// When that write was, as the tables say.
    written_at: WrittenAt,
}

/// Why a batch was not written.
#[derive(Debug)]
enum BatchFailure {
    /// It does not fit the tables.
    Misfit(Misfit),
    /// Another process moved the cursor.
    Overtaken,
    /// A row that was written, and is cached, is gone.
    Gone,
    /// The database refused, or did not answer.
    Database(Error),
    /// It is not the right database, or cannot be reached.
    Projection(ProjectionError),
    /// The state to begin with cannot be read.
    Unread(Failure),
}

impl From<Error> for BatchFailure {
    fn from(error: Error) -> Self {
        match error {
            Error::RowNotFound => Self::Gone,
            error => Self::Database(error),
        }
    }
}

impl From<Misfit> for BatchFailure {
    fn from(misfit: Misfit) -> Self {
        Self::Misfit(misfit)
    }
}

impl From<ProjectionError> for BatchFailure {
    fn from(error: ProjectionError) -> Self {
        Self::Projection(error)
    }
}

impl From<DatabaseError> for BatchFailure {
    fn from(error: DatabaseError) -> Self {
        Self::Projection(error.into())
    }
}

impl Consumer for SqlConsumer {
    async fn position(&mut self) -> Result<Option<Position>, Trouble> {
        let finding: Doing<'_, _, _> = Box::pin(self.find_position());
        finding.await
    }

    async fn consume(&mut self, batch: &Batch) -> Result<(), Trouble> {
        let taking: Doing<'_, _, _> = Box::pin(self.take(batch));
        taking.await
    }

    fn is_rewritten(&self) -> bool {
        true
    }

    fn takes_image(&self) -> bool {
        true
    }

    async fn begin_with(&mut self, image: Box<dyn Image>) -> Result<(), Trouble> {
        let beginning: Doing<'_, _, _> = Box::pin(self.open(image));
        beginning.await
    }
}

impl SqlConsumer {
    pub(crate) fn new(projection: Projection, partition: u32, link: OwnLink) -> Self {
        Self { projection, partition, link, fold: None, written_at: 0 }
    }

    async fn find_position(&mut self) -> Result<Option<Position>, Trouble> {
        // After a commit without an answer the cursor tells whether it succeeded; until then nothing is
        // certain.
        let fold = self.fold.take();
        match timeout(self.projection.options().timeout, self.look()).await {
            Ok(Ok((cursor, written_at))) => {
                let written_before = std::mem::replace(&mut self.written_at, written_at);
                self.fold = fold.filter(|fold| fold.cursor == cursor && written_at == written_before);
                Ok(Some(cursor.position))
            }
            Ok(Err(stop)) => Err(self.trouble(&stop)),
            Err(_) => Err(Trouble::new(self.projection.store().late().to_string())),
        }
    }

    async fn take(&mut self, batch: &Batch) -> Result<(), Trouble> {
        let written = timeout(self.projection.options().timeout, self.write(batch)).await;
        match written {
            Ok(Ok(())) => Ok(()),
            Ok(Err(BatchFailure::Database(error))) => {
                let (partition, from, to) = (self.partition, batch.after, batch.end());
                let what = self.trouble(&BatchFailure::Database(error));
                Err(Trouble::new(format!("partition {partition}, events behind {from} up to {to}: {what}")))
            }
            Ok(Err(stop)) => Err(self.trouble(&stop)),
            // The operation in progress was dropped, and its connection with it.
            Err(_) => Err(Trouble::new(self.projection.store().late().to_string())),
        }
    }

    /// The trouble, and what to do.
    fn trouble(&self, stop: &BatchFailure) -> Trouble {
        let (partition, address) = (self.partition, self.projection.store().address());
        Trouble::new(match stop {
            BatchFailure::Misfit(misfit) => format!("{misfit}; {}", misfit.advice()),
            BatchFailure::Overtaken => format!(
                "another process projects partition {partition} into {address} too, and was faster; this one goes \
                 on from there, but run only one"
            ),
            BatchFailure::Gone => format!(
                "a row of partition {partition} that was written into {address} is gone: if rows were removed by \
                 hand, put them back; otherwise rebuild"
            ),
            BatchFailure::Database(error) => self.projection.store().failed(error).to_string(),
            BatchFailure::Projection(error) => error.to_string(),
            BatchFailure::Unread(failure) => failure.to_string(),
        })
    }

    /// The cursor in the database.
    async fn look(&mut self) -> Result<(LogCursor, WrittenAt), BatchFailure> {
        let own = OwnLink::clone(&self.link);
        let mut own = own.lock().await;
        loop {
            let was_open = own.is_some();
            let mut link = self.link(own.take()).await?;
            match cursor::look(&mut link, &self.projection, self.partition).await {
                Ok(cursor) => {
                    self.projection.scales().write(&mut link).await?;
                    *own = Some(link);
                    return Ok(cursor);
                }
                // It may have been closed while it was idle.
                Err(BatchFailure::Database(error)) if was_open && is_lost(&error) => {}
                Err(stop) => return Err(stop),
            }
        }
    }

    async fn link(&self, open: Option<Link>) -> Result<Link, BatchFailure> {
        match open {
            Some(link) => Ok(link),
            None => Ok(self.projection.store().connect().await?),
        }
    }

    /// Writes a batch, with retries where they may help.
    async fn write(&mut self, batch: &Batch) -> Result<(), BatchFailure> {
        if let Some(fold) = &self.fold
            && let Ok(false) = fold.has_news(batch)
        {
            return Ok(());
        }
        let own = OwnLink::clone(&self.link);
        let mut own = own.lock().await;
        let mut had_duplicate = false;
        for tries_left in (0..TRIES_MAX).rev() {
            let was_open = own.is_some();
            // Nothing is cached until it is certain what was written.
            let fold = self.fold.take();
            let held = fold.as_ref().map(|fold| fold.cursor.clone());
            let was_careful =
                had_duplicate || fold.as_ref().is_some_and(|fold| fold.tables.uses.is_careful());
            let mut link = self.link(own.take()).await?;
            let stop = match self.write_once(&mut link, fold, had_duplicate, batch).await {
                Ok((fold, written_at)) => {
                    self.written_at = written_at;
                    // At the beginning the cursor may be missing.
                    let has_begun = fold.cursor != LogCursor::default();
                    (self.fold, *own) = (has_begun.then_some(fold), Some(link));
                    return Ok(());
                }
                Err(stop) => stop,
            };
            let mut was_repaired = false;
            if stop.leaves_connection() && link.roll_back().await.is_ok() {
                if let (BatchFailure::Overtaken, Some(held)) = (&stop, &held) {
                    let found = cursor::look(&mut link, &self.projection, self.partition).await;
                    was_repaired = found.is_ok_and(|(found, _)| found == *held);
                }
                *own = Some(link);
            }
            had_duplicate = matches!(&stop, BatchFailure::Database(error) if is_duplicate(error));
            let again = match &stop {
                // A name or an id was reused; if earlier uses were looked up, this is a mistake.
                BatchFailure::Database(_) if had_duplicate => !was_careful,
                BatchFailure::Database(error) => is_conflict(error) || (was_open && is_lost(error)),
                BatchFailure::Misfit(_) | BatchFailure::Gone => held.is_some(),
                // The cursor is where it was: rows were put right, and those in memory are forgotten now.
                BatchFailure::Overtaken => was_repaired,
                BatchFailure::Projection(_) | BatchFailure::Unread(_) => false,
            };
            if !again || tries_left == 0 {
                return Err(stop);
            }
        }
        Ok(())
    }

    /// Writes a batch in one transaction.
    async fn write_once(
        &self,
        link: &mut Link,
        fold: Option<Fold>,
        is_careful: bool,
        batch: &Batch,
    ) -> Result<(Fold, WrittenAt), BatchFailure> {
        link.begin().await?;
        let (mut fold, written_at) = match fold {
            Some(fold) => (fold, self.written_at),
            None => {
                let (cursor, written_at) = cursor::read(link, &self.projection, self.partition).await?;
                (self.fold_from(cursor), written_at)
            }
        };
        if is_careful {
            fold.tables.uses.be_careful();
        }
        if !fold.has_news(batch)? {
            link.roll_back().await?;
            return Ok((fold, written_at));
        }
        let (reached, now) = (fold.reaches(batch), now_ms());
        let from = (fold.cursor.clone(), written_at);
        // First of all, so that another writer of these rows waits, or is detected.
        cursor::advance(link, &self.projection, self.partition, (from, reached.clone()), now).await?;
        fold.want(batch);
        loading::load(link, &mut fold.tables, self.partition).await?;
        fold.apply(batch).map_err(Misfit::from)?;
        for sheet in fold.tables.sheets() {
            link.write(&sheet).await?;
        }
        link.commit().await?;
        fold.settle(reached);
        Ok((fold, now))
    }

    fn fold_from(&self, cursor: LogCursor) -> Fold {
        let options = self.projection.options();
        let ids_kept_ms_min = i64::try_from(options.ids_kept_ms_min).unwrap_or(i64::MAX);
        Fold::new(self.partition, cursor, options.rows_max, ids_kept_ms_min)
    }
}

impl BatchFailure {
    /// Whether the connection is still usable.
    fn leaves_connection(&self) -> bool {
        match self {
            Self::Misfit(_) | Self::Overtaken | Self::Gone => true,
            Self::Database(error) => is_duplicate(error) || is_conflict(error),
            Self::Projection(_) | Self::Unread(_) => false,
        }
    }
}

/// The clock of this machine, to show when the tables were last written.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
