//! Who takes the log and writes down what is to be done.

mod cursor;
mod settlement;
mod webhooks;

pub use settlement::SettlementConsumer;
pub use webhooks::WebhooksConsumer;

use scarce_core::event::Position;
use scarce_outflow::{Batch, Trouble};
use scarce_sql::is_conflict;
use sqlx::Error;

use crate::store::Lent;
use crate::{Delivery, DeliveryError};
use cursor::Key;

/// How often a batch is tried before that counts as trouble.
const TRIES_MAX: u32 = 4;

/// What a consumer makes of a batch: the rows to write, within the transaction that moves the cursor.
trait Rows {
    /// Writes the rows of the events behind a sequence; tells whether there were any.
    async fn write(&mut self, lent: &mut Lent, batch: &Batch, after: u64) -> Result<bool, Error>;
}

/// Why a batch did not go in.
enum Stop {
    /// The database refused, or was not there.
    Database(Error),
    /// It is not the right database, or cannot be reached.
    Delivery(DeliveryError),
    /// The batch does not follow what is there.
    Gap(Position),
    /// Somebody else moved the cursor.
    Overtaken,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

/// Where a consumer is by its own table.
async fn position(delivery: &Delivery, key: Key) -> Result<Option<Position>, Trouble> {
    let looked = delivery.in_time(async {
        let mut lent = delivery.lend().await?;
        let found = cursor::find(&mut lent, key).await.map_err(|error| delivery.failed(&error))?;
        lent.done();
        Ok(found)
    });
    looked.await.map_err(|error| Trouble::new(error.to_string()))
}

/// Writes a batch in one transaction, again where that promises something. Whether there were rows.
async fn take(delivery: &Delivery, key: Key, rows: &mut impl Rows, batch: &Batch) -> Result<bool, Trouble> {
    let taken = delivery.in_time(async {
        for tries_left in (0..TRIES_MAX).rev() {
            match take_once(delivery, key, rows, batch).await {
                Err(Stop::Database(error)) if tries_left > 0 && is_conflict(&error) => {}
                ended => return Ok(ended),
            }
        }
        Ok(Ok(false))
    });
    let stop = match taken.await {
        Ok(Ok(had_rows)) => return Ok(had_rows),
        Ok(Err(stop)) => stop,
        Err(error) => Stop::Delivery(error),
    };
    let Key { consumer, partition } = key;
    let (from, to, database) = (batch.after, batch.end(), delivery.address());
    Err(Trouble::new(match stop {
        Stop::Database(error) => {
            format!("partition {partition}, events behind {from} up to {to}: {}", delivery.failed(&error))
        }
        Stop::Delivery(error) => error.to_string(),
        Stop::Gap(reached) => format!(
            "{database}: '{consumer}' is up to {reached} in partition {partition}, and the batch begins behind \
             {from}; it goes on from where it is"
        ),
        Stop::Overtaken => format!(
            "{database}: another process takes partition {partition} as '{consumer}' too, and was faster; this one \
             goes on from there"
        ),
    }))
}

async fn take_once(delivery: &Delivery, key: Key, rows: &mut impl Rows, batch: &Batch) -> Result<bool, Stop> {
    let mut lent = delivery.lend_to_write().await.map_err(Stop::Delivery)?;
    lent.begin().await?;
    let reached = cursor::read(&mut lent, key, batch.after).await?;
    if reached.sequence < batch.after.sequence {
        return Err(Stop::Gap(reached));
    }
    if reached.sequence >= batch.end().sequence {
        lent.roll_back().await?;
        lent.done();
        return Ok(false);
    }
    // First of all, so that whoever else writes for this partition waits, or is found out.
    if !cursor::advance(&mut lent, key, reached, batch.end()).await? {
        return Err(Stop::Overtaken);
    }
    let had_rows = rows.write(&mut lent, batch, reached.sequence).await?;
    lent.commit().await?;
    lent.done();
    Ok(had_rows)
}
