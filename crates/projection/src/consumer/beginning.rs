//! Beginning with the state at one position, where the log before it is gone.

use std::future::Future;

use scarce_outflow::{Image, Trouble};
use sqlx::Error;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::{BatchFailure, SqlConsumer, cursor, now_ms};
use crate::fold::LogCursor;
use crate::opening::{self, Unwanted};
use crate::projection::OwnLink;
use crate::store::{Link, Sheets};
use crate::table::Sheet;

/// How many pieces of rows wait for the database.
const SHEETS_MAX: usize = 4;

impl SqlConsumer {
    /// Writes the rows of a state and the cursor behind it in one transaction, however long that takes.
    pub(super) async fn open(&mut self, image: Box<dyn Image>) -> Result<(), Trouble> {
        self.fold = None;
        match self.open_tables(image).await {
            Ok(()) => Ok(()),
            Err(stop) => {
                let what = self.trouble(&stop);
                Err(Trouble::new(format!(
                    "the state of partition {} as opening balances: {what}",
                    self.partition
                )))
            }
        }
    }

    async fn open_tables(&self, image: Box<dyn Image>) -> Result<(), BatchFailure> {
        let own = OwnLink::clone(&self.link);
        let mut own = own.lock().await;
        // A connection that was idle may have been closed; this happens once.
        drop(own.take());
        let mut link = self.link(None).await?;
        self.write_state(&mut link, image).await?;
        *own = Some(link);
        Ok(())
    }

    async fn write_state(&self, link: &mut Link, mut image: Box<dyn Image>) -> Result<(), BatchFailure> {
        let (reached, now_ms) = (opening::cursor(image.moment()), now_ms());
        self.in_time(async { Ok(link.begin().await?) }).await?;
        let found = self.in_time(cursor::read(link, &self.projection, self.partition)).await?;
        if found.0 != LogCursor::default() {
            return Err(BatchFailure::Overtaken);
        }
        let moving = cursor::advance(link, &self.projection, self.partition, (found, reached), now_ms);
        self.in_time(moving).await?;
        let (sender, mut sheets) = mpsc::channel::<Sheet>(SHEETS_MAX);
        let making = tokio::task::spawn_blocking(move || {
            let mut take = |sheet| sender.blocking_send(sheet).map_err(|_| Unwanted);
            // Where the rows are not wanted any more, writing them failed, and says why.
            opening::rows(&mut *image, now_ms, &mut take)
        });
        while let Some(sheet) = sheets.recv().await {
            self.in_time(async { Ok(link.write(&sheet).await?) }).await?;
        }
        let made = making.await.map_err(|error| Error::Io(std::io::Error::other(error)))?;
        made.map_err(BatchFailure::Unread)?;
        self.in_time(async { Ok(link.commit().await?) }).await
    }

    /// Each step has the time of a batch: all of them together may take as long as the state is large.
    async fn in_time<T>(
        &self,
        step: impl Future<Output = Result<T, BatchFailure>>,
    ) -> Result<T, BatchFailure> {
        match timeout(self.projection.options().timeout, step).await {
            Ok(done) => done,
            Err(_) => Err(self.projection.store().late().into()),
        }
    }
}
