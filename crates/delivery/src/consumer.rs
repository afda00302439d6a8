//! Consumers, which read the log and write deliveries and settlements into tables.

mod beginning;
pub(crate) mod cursor;
mod forgotten;
mod known;
mod meeting;
mod settlement;
mod webhooks;

pub use settlement::SettlementConsumer;
pub use webhooks::WebhooksConsumer;
pub(crate) use webhooks::{COLUMNS as DELIVERY_COLUMNS, iso_8601};

use scarce_core::event::Position;
use scarce_outflow::{Batch, Failure, Trouble};
use scarce_sql::{Database, DatabaseError, Lent, is_conflict};
use sqlx::Error;

use crate::{Delivery, epochs};
use cursor::Key;

/// How many attempts a batch has before that counts as trouble.
const TRIES_MAX: u32 = 4;

/// Turns a batch into rows, within the transaction that moves the cursor.
trait Rows {
    /// Writes the rows of the events after a sequence; returns whether there were any.
    async fn write(&mut self, lent: &mut Lent, batch: &Batch, after: u64) -> Result<bool, BatchFailure>;
}

/// Why a batch was not written.
enum BatchFailure {
    /// The database refused, or did not answer.
    Database(Error),
    /// It is not the right database, or cannot be reached.
    Unusable(DatabaseError),
    /// The batch does not follow the cursor.
    Gap(Position),
    /// Another process moved the cursor.
    Overtaken,
    /// The state to begin with cannot be read.
    Unread(Failure),
}

impl From<Error> for BatchFailure {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

/// The consumer's position, from its table.
async fn position(delivery: &Delivery, key: Key) -> Result<Option<Position>, Trouble> {
    let found = cursor::look(delivery.store(), key);
    found.await.map_err(|error| Trouble::new(error.to_string()))
}

/// Writes a batch in one transaction, with retries where they may help. Returns whether there were rows.
async fn take(delivery: &Delivery, key: Key, rows: &mut impl Rows, batch: &Batch) -> Result<bool, Trouble> {
    let store = delivery.store();
    let taken = store.in_time(async {
        for tries_left in (0..TRIES_MAX).rev() {
            match take_once(store, key, rows, batch).await {
                Err(BatchFailure::Database(error)) if tries_left > 0 && is_conflict(&error) => {}
                ended => return Ok(ended),
            }
        }
        Ok::<_, DatabaseError>(Ok(false))
    });
    let stop = match taken.await {
        Ok(Ok(had_rows)) => return Ok(had_rows),
        Ok(Err(stop)) => stop,
        Err(error) => BatchFailure::Unusable(error),
    };
    let Key { consumer, partition } = key;
    let (from, to, database) = (batch.after, batch.end(), store.address());
    Err(Trouble::new(match stop {
        BatchFailure::Database(error) => {
            format!("partition {partition}, events behind {from} up to {to}: {}", store.failed(&error))
        }
        BatchFailure::Unusable(error) => error.to_string(),
        BatchFailure::Unread(failure) => failure.to_string(),
        BatchFailure::Gap(reached) => format!(
            "{database}: '{consumer}' is up to {reached} in partition {partition}, and the batch begins behind \
             {from}; it goes on from where it is"
        ),
        BatchFailure::Overtaken => format!(
            "{database}: another process takes partition {partition} as '{consumer}' too, and was faster; this one \
             goes on from there"
        ),
    }))
}

async fn take_once(
    store: &Database,
    key: Key,
    rows: &mut impl Rows,
    batch: &Batch,
) -> Result<bool, BatchFailure> {
    let mut lent = store.lend_to_write().await.map_err(BatchFailure::Unusable)?;
    lent.begin().await?;
    let reached = cursor::read(&mut lent, key, batch.after).await?;
    if reached.sequence < batch.after.sequence {
        return Err(BatchFailure::Gap(reached));
    }
    if reached.sequence >= batch.end().sequence {
        lent.roll_back().await?;
        lent.done();
        return Ok(false);
    }
    // First of all, so that another writer for this partition waits, or is detected.
    if !cursor::advance(&mut lent, key, reached, batch.end()).await? {
        return Err(BatchFailure::Overtaken);
    }
    epochs::note(&mut lent, key.consumer, reached, batch).await?;
    let had_rows = rows.write(&mut lent, batch, reached.sequence).await?;
    lent.commit().await?;
    lent.done();
    Ok(had_rows)
}
