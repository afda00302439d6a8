//! Writes the log of a partition into the tables.

use std::time::{SystemTime, UNIX_EPOCH};

use scarce_core::event::Position;
use scarce_outflow::{Batch, Consumer, Trouble};
use scarce_sql::Doing;
use sqlx::Error;
use tokio::time::timeout;

use crate::ProjectionError;
use crate::fold::{Cursor, Fold, Misfit};
use crate::migrations::failure;
use crate::projection::{Projection, Slot};
use crate::store::{Link, Sheets, is_conflict, is_duplicate, is_lost};

mod cursor;
mod loading;

/// How often a batch is tried before that counts as trouble.
const TRIES_MAX: u32 = 4;

/// Takes the log of one partition. A batch is one transaction: its rows and the cursor, or nothing.
#[derive(Debug)]
pub struct SqlConsumer {
    projection: Projection,
    partition: u32,
    slot: Slot,
    /// What was written last, and the rows that are held of it; nothing when it is not certain.
    fold: Option<Fold>,
}

/// Why a batch did not go in.
#[derive(Debug)]
enum Stop {
    /// It does not fit what is there.
    Misfit(Misfit),
    /// Somebody else moved the cursor.
    Overtaken,
    /// A row that was written, and is held, is not there any more.
    Gone,
    /// The database refused, or was not there.
    Database(Error),
    /// It is not the right database, or cannot be reached.
    Projection(ProjectionError),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        match error {
            Error::RowNotFound => Self::Gone,
            error => Self::Database(error),
        }
    }
}

impl From<Misfit> for Stop {
    fn from(misfit: Misfit) -> Self {
        Self::Misfit(misfit)
    }
}

impl From<ProjectionError> for Stop {
    fn from(error: ProjectionError) -> Self {
        Self::Projection(error)
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
}

impl SqlConsumer {
    pub(crate) fn new(projection: Projection, partition: u32, slot: Slot) -> Self {
        Self { projection, partition, slot, fold: None }
    }

    async fn find_position(&mut self) -> Result<Option<Position>, Trouble> {
        // After a commit that was never answered, this is what tells; until then nothing is certain.
        let fold = self.fold.take();
        match timeout(self.projection.options().timeout, self.look()).await {
            Ok(Ok(cursor)) => {
                self.fold = fold.filter(|fold| fold.cursor == cursor);
                Ok(Some(cursor.position))
            }
            Ok(Err(stop)) => Err(self.trouble(&stop)),
            Err(_) => Err(Trouble::new(self.projection.late().to_string())),
        }
    }

    async fn take(&mut self, batch: &Batch) -> Result<(), Trouble> {
        let written = timeout(self.projection.options().timeout, self.write(batch)).await;
        match written {
            Ok(Ok(())) => Ok(()),
            Ok(Err(Stop::Database(error))) => {
                let (partition, from, to) = (self.partition, batch.after, batch.end());
                let what = self.trouble(&Stop::Database(error));
                Err(Trouble::new(format!("partition {partition}, events behind {from} up to {to}: {what}")))
            }
            Ok(Err(stop)) => Err(self.trouble(&stop)),
            // What was under way was dropped, and its connection with it.
            Err(_) => Err(Trouble::new(self.projection.late().to_string())),
        }
    }

    /// What is wrong, for who looks after it.
    fn trouble(&self, stop: &Stop) -> Trouble {
        let (partition, address) = (self.partition, self.projection.address());
        Trouble::new(match stop {
            Stop::Misfit(misfit) => format!("{misfit}; {}", misfit.advice()),
            Stop::Overtaken => format!(
                "another process projects partition {partition} into {address} too, and was faster; this one goes \
                 on from there, but run only one"
            ),
            Stop::Gone => format!(
                "a row of partition {partition} that was written into {address} is gone: if rows were removed by \
                 hand, put them back; otherwise rebuild"
            ),
            Stop::Database(error) => failure(address, error).to_string(),
            Stop::Projection(error) => error.to_string(),
        })
    }

    /// The cursor in the database.
    async fn look(&mut self) -> Result<Cursor, Stop> {
        let slot = Slot::clone(&self.slot);
        let mut slot = slot.lock().await;
        loop {
            let was_open = slot.is_some();
            let mut link = self.link(slot.take()).await?;
            match cursor::look(&mut link, &self.projection, self.partition).await {
                Ok(cursor) => {
                    *slot = Some(link);
                    return Ok(cursor);
                }
                // It may have been closed while it waited.
                Err(Stop::Database(error)) if was_open && is_lost(&error) => {}
                Err(stop) => {
                    self.projection.doubt().await;
                    return Err(stop);
                }
            }
        }
    }

    async fn link(&self, open: Option<Link>) -> Result<Link, Stop> {
        match open {
            Some(link) => Ok(link),
            None => Ok(self.projection.connect().await?),
        }
    }

    /// Writes a batch, again where that promises something.
    async fn write(&mut self, batch: &Batch) -> Result<(), Stop> {
        if let Some(fold) = &self.fold
            && let Ok(false) = fold.has_news(batch)
        {
            return Ok(());
        }
        let slot = Slot::clone(&self.slot);
        let mut slot = slot.lock().await;
        let mut had_duplicate = false;
        for tries_left in (0..TRIES_MAX).rev() {
            let was_open = slot.is_some();
            // Until it is certain what was written, nothing is held.
            let fold = self.fold.take();
            let was_held = fold.is_some();
            let was_careful =
                had_duplicate || fold.as_ref().is_some_and(|fold| fold.tables.uses.is_careful());
            let mut link = self.link(slot.take()).await?;
            let stop = match self.write_once(&mut link, fold, had_duplicate, batch).await {
                Ok(fold) => {
                    // At the beginning the cursor may not be there yet.
                    let has_begun = fold.cursor != Cursor::default();
                    (self.fold, *slot) = (has_begun.then_some(fold), Some(link));
                    return Ok(());
                }
                Err(stop) => stop,
            };
            let is_sound = stop.leaves_connection();
            if is_sound && link.roll_back().await.is_ok() {
                *slot = Some(link);
            }
            had_duplicate = matches!(&stop, Stop::Database(error) if is_duplicate(error));
            let again = match &stop {
                // A name or an id that is used again; where that was looked for, a mistake.
                Stop::Database(_) if had_duplicate => !was_careful,
                Stop::Database(error) => is_conflict(error) || (was_open && is_lost(error)),
                Stop::Misfit(_) | Stop::Gone => was_held,
                Stop::Overtaken | Stop::Projection(_) => false,
            };
            if !again || tries_left == 0 {
                if !is_sound {
                    self.projection.doubt().await;
                }
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
    ) -> Result<Fold, Stop> {
        link.begin().await?;
        let mut fold = match fold {
            Some(fold) => fold,
            None => self.fold_from(cursor::read(link, &self.projection, self.partition).await?),
        };
        if is_careful {
            fold.tables.uses.be_careful();
        }
        if !fold.has_news(batch)? {
            link.roll_back().await?;
            return Ok(fold);
        }
        let reached = fold.reaches(batch);
        // First of all, so that whoever else writes these rows waits, or is found out.
        cursor::advance(link, &self.projection, self.partition, (fold.cursor, reached), now_ms()).await?;
        fold.want(batch);
        loading::load(link, &mut fold.tables).await?;
        fold.apply(batch).map_err(Misfit::from)?;
        for sheet in fold.tables.sheets() {
            link.write(&sheet).await?;
        }
        link.commit().await?;
        fold.settle(reached);
        Ok(fold)
    }

    fn fold_from(&self, cursor: Cursor) -> Fold {
        let options = self.projection.options();
        let ids_kept_ms_min = i64::try_from(options.ids_kept_ms_min).unwrap_or(i64::MAX);
        Fold::new(self.partition, cursor, options.rows_max, ids_kept_ms_min)
    }
}

impl Stop {
    /// Whether the connection can be used further.
    fn leaves_connection(&self) -> bool {
        match self {
            Self::Misfit(_) | Self::Overtaken | Self::Gone => true,
            Self::Database(error) => is_duplicate(error) || is_conflict(error),
            Self::Projection(_) => false,
        }
    }
}

/// The clock of this machine, for who looks when the tables were written last.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
