//! Which history of the log a consumer's rows are of: the epochs that it has read, each from a sequence on. An epoch is of
//! one history, so what the rows share with a log that was put back ends in the last of them that this log has, too.

use scarce_core::event::Position;
use scarce_core::types::signed;
use scarce_outflow::Batch;
use scarce_sql::{Cell, Column, ColumnKind, Link};
use sqlx::Error;

use crate::page::Taken;
use crate::{Delivery, DeliveryError};

/// A piece of the log that a consumer has read, all of one epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The epoch; 0 if that is not known.
    pub epoch: u64,
    /// The first sequence.
    pub first: u64,
    /// The last sequence.
    pub last: u64,
}

const COLUMNS: [Column; 4] = [
    Column::text("consumer"),
    Column::integer("partition_id"),
    Column::integer("first_sequence"),
    Column::integer("epoch"),
];

impl Delivery {
    /// What a consumer of these tables has read of a partition's log, in its order. What an earlier release read is not part
    /// of it.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn stretches(&self, consumer: &str, partition: u32) -> Result<Vec<Stretch>, DeliveryError> {
        let sql = "SELECT e.epoch, e.first_sequence, c.sequence FROM delivery_epochs AS e \
                   JOIN delivery_cursors AS c ON c.consumer = e.consumer AND c.partition_id = e.partition_id \
                   WHERE e.consumer = ? AND e.partition_id = ? ORDER BY e.first_sequence DESC";
        let key = [Cell::from(consumer), i64::from(partition).into()];
        let mut next = None;
        let mut stretches = Vec::new();
        for row in self.store().fetch(sql, &key, &[ColumnKind::Integer; 3]).await? {
            let mut row = Taken::new(row);
            let (epoch, first, reached) = (row.natural(), row.natural(), row.natural());
            let last = next.map_or(reached, |next: u64| next.saturating_sub(1)).min(reached);
            next = Some(first);
            if first <= last {
                stretches.push(Stretch { epoch, first, last });
            }
        }
        stretches.reverse();
        Ok(stretches)
    }
}

/// Notes the epochs of a batch's events after a position, within the transaction that moves the cursor from there.
pub(crate) async fn note(
    link: &mut Link,
    consumer: &str,
    reached: Position,
    batch: &Batch,
) -> Result<(), Error> {
    let (mut epoch, mut cells) = (reached.epoch, Vec::new());
    for entry in batch.entries.iter().filter(|entry| entry.sequence_last() > reached.sequence) {
        if entry.head.epoch != epoch {
            epoch = entry.head.epoch;
            let sequence = entry.head.sequence_first.max(reached.sequence + 1);
            cells.extend(row(consumer, batch.partition, Position { epoch, sequence }));
        }
    }
    if cells.is_empty() {
        return Ok(());
    }
    if reached.sequence > 0 && !is_begun(link, consumer, batch.partition).await? {
        cells.extend(row(consumer, batch.partition, reached));
    }
    link.insert_missing("delivery_epochs", &COLUMNS, &cells).await.map(drop)
}

/// Whether anything is noted. Where an earlier release read before, it is not.
async fn is_begun(link: &mut Link, consumer: &str, partition: u32) -> Result<bool, Error> {
    let sql = "SELECT epoch FROM delivery_epochs WHERE consumer = ? AND partition_id = ? LIMIT 1";
    let key = [Cell::from(consumer), i64::from(partition).into()];
    Ok(!link.fetch(sql, &key, &[ColumnKind::Integer]).await?.is_empty())
}

/// Notes the epoch of a position that a consumer was set onto; 0 for those that it left out before.
pub(crate) async fn begin(
    link: &mut Link,
    consumer: &str,
    partition: u32,
    at: Position,
) -> Result<(), Error> {
    if at.sequence == 0 {
        return Ok(());
    }
    let sql = "DELETE FROM delivery_epochs WHERE consumer = ? AND partition_id = ? AND first_sequence = ?";
    link.execute(sql, &[consumer.into(), i64::from(partition).into(), signed(at.sequence).into()]).await?;
    link.insert_missing("delivery_epochs", &COLUMNS, &row(consumer, partition, at)).await.map(drop)
}

/// Forgets the epochs after a position, onto which a consumer is set because the log has another history behind it.
pub(crate) async fn cut(link: &mut Link, consumer: &str, partition: u32, to: Position) -> Result<(), Error> {
    let sql = "DELETE FROM delivery_epochs WHERE consumer = ? AND partition_id = ? AND first_sequence > ?";
    let values = [Cell::from(consumer), i64::from(partition).into(), signed(to.sequence).into()];
    link.execute(sql, &values).await?;
    begin(link, consumer, partition, to).await
}

fn row(consumer: &str, partition: u32, at: Position) -> [Cell; COLUMNS.len()] {
    [consumer.into(), i64::from(partition).into(), signed(at.sequence).into(), signed(at.epoch).into()]
}
