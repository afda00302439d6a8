//! What the tables hold of a history that the engine's log does not have, and setting their consumers onto the log
//! that is there.

use scarce_core::event::Position;
use scarce_core::types::signed;
use scarce_sql::{Cell, ColumnKind, Lent};
use sqlx::Error;

use crate::consumer::cursor;
use crate::page::{Conditions, Taken};
use crate::queue::NO_CREDIT;
use crate::settlement::SETTLEMENT_COLUMNS;
use crate::settlement::replaced::RESOLVED_BEFORE;
use crate::store::now_ms;
use crate::webhooks::WEBHOOK_COLUMNS;
use crate::{Delivery, DeliveryError, Settlement, WebhookDelivery, epochs};

/// How many rows of each kind are named at most.
pub const HELD_MAX: usize = 1_000;

/// What became of rows of the other history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rebased {
    /// Rows that nobody had acted on, which were removed.
    pub removed: u64,
    /// Settlements whose claim is looked for in the log: if it is there, or comes again, they are settled under their ids.
    pub awaited: u64,
    /// Settlements that became dead letters: of claims that may have been paid, and those that a person had decided about.
    pub dead: u64,
    /// Settlements whose credit may be lost, which are settled again under their ids.
    pub reopened: u64,
}

impl Delivery {
    /// The position of a consumer of these tables in a partition's log; `None` before its first event.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn held_position(
        &self,
        consumer: &str,
        partition: u32,
    ) -> Result<Option<Position>, DeliveryError> {
        let key = [Cell::from(consumer), i64::from(partition).into()];
        let rows = self.store().fetch(HELD, &key, &[ColumnKind::Integer; 2]).await?;
        Ok(position(rows))
    }

    /// Sets a consumer of these tables onto a position behind events that it misses, without touching what it has written.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn skip_to(&self, consumer: &str, partition: u32, to: Position) -> Result<(), DeliveryError> {
        let mut lent = self.store().lend_to_write().await?;
        let moved = skip(&mut lent, consumer, partition, to).await;
        moved.map_err(|error| self.store().failed(&error))?;
        lent.done();
        Ok(())
    }

    /// Sets the settlement's consumer onto the beginning of a partition, where these tables do not know it: it begins with
    /// all claims that the engine has, and none is credited before it was looked up.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn begin_settlement_anew(&self, partition: u32) -> Result<(), DeliveryError> {
        let mut lent = self.store().lend_to_write().await?;
        let begun = cursor::begin_anew(&mut lent, "settlement", partition).await;
        begun.map_err(|error| self.store().failed(&error))?;
        lent.done();
        Ok(())
    }

    /// The deliveries of a partition's events after a sequence, up to [`HELD_MAX`].
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn deliveries_after(
        &self,
        partition: u32,
        sequence: u64,
    ) -> Result<Vec<WebhookDelivery>, DeliveryError> {
        let source = ("delivery_webhooks", "delivery_id", &WEBHOOK_COLUMNS[..]);
        let read = |row| WebhookDelivery::read(row, self.store().deployment_id());
        Ok(self.page(source, behind(partition, sequence), (None, HELD_MAX), read).await?.items)
    }

    /// The settlements of packets that were claimed in a partition after a sequence, up to [`HELD_MAX`].
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn settlements_after(
        &self,
        partition: u32,
        sequence: u64,
    ) -> Result<Vec<Settlement>, DeliveryError> {
        let source = ("delivery_settlements", "settlement_id", &SETTLEMENT_COLUMNS[..]);
        Ok(self.page(source, behind(partition, sequence), (None, HELD_MAX), Settlement::read).await?.items)
    }

    /// Sets the webhooks' consumer of a partition onto a position. What was not sent of the events after it never is;
    /// what was sent stays in the table.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn rebase_webhooks(&self, partition: u32, to: Position) -> Result<Rebased, DeliveryError> {
        let mut lent = self.store().lend_to_write().await?;
        let done = rebase_webhooks(&mut lent, partition, to).await;
        let done = done.map_err(|error| self.store().failed(&error))?;
        lent.done();
        Ok(done)
    }

    /// Sets the settlement's consumer onto a position of each of these partitions. Settlements after it that were never
    /// tried are removed; the others wait for their claim in the log that is there, and those that may have been paid are
    /// dead letters meanwhile. Credits of the engine behind these positions may be lost with its history: their packets are
    /// settled again under the same operation id, which credits only what is missing. Of credits whose position is not
    /// known, those since `since_ms` (Unix milliseconds) are.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn rebase_settlement(
        &self,
        places: &[(u32, Position)],
        since_ms: u64,
    ) -> Result<Rebased, DeliveryError> {
        let mut lent = self.store().lend_to_write().await?;
        let done = rebase_settlement(&mut lent, places, since_ms).await;
        let done = done.map_err(|error| self.store().failed(&error))?;
        lent.done();
        Ok(done)
    }
}

const HELD: &str = "SELECT epoch, sequence FROM delivery_cursors WHERE consumer = ? AND partition_id = ?";

fn position(rows: Vec<Vec<Cell>>) -> Option<Position> {
    let mut row = Taken::new(rows.into_iter().next()?);
    Some(Position { epoch: row.natural(), sequence: row.natural() })
}

async fn skip(lent: &mut Lent, consumer: &str, partition: u32, to: Position) -> Result<(), Error> {
    lent.begin().await?;
    let key = [Cell::from(consumer), i64::from(partition).into()];
    if let Some(held) = position(lent.fetch(HELD, &key, &[ColumnKind::Integer; 2]).await?) {
        let unknown = Position { epoch: 0, sequence: held.sequence + 1 };
        epochs::begin(lent, consumer, partition, unknown).await?;
    }
    move_cursor(lent, consumer, partition, to).await?;
    lent.commit().await
}

fn behind(partition: u32, sequence: u64) -> Conditions {
    let mut conditions = Conditions::default();
    conditions.and("partition_id = ?", i64::from(partition));
    conditions.and("sequence > ?", signed(sequence));
    conditions
}

async fn rebase_webhooks(lent: &mut Lent, partition: u32, to: Position) -> Result<Rebased, Error> {
    lent.begin().await?;
    let sql = "DELETE FROM delivery_webhooks WHERE partition_id = ? AND sequence > ? AND state = 'pending'";
    let removed = lent.execute(sql, &place(partition, to)).await?;
    move_cursor(lent, "webhooks", partition, to).await?;
    epochs::cut(lent, "webhooks", partition, to).await?;
    lent.commit().await?;
    Ok(Rebased { removed, ..Rebased::default() })
}

async fn rebase_settlement(
    lent: &mut Lent,
    places: &[(u32, Position)],
    since_ms: u64,
) -> Result<Rebased, Error> {
    let mut done = Rebased::default();
    lent.begin().await?;
    for (partition, to) in places {
        let place = place(*partition, *to);
        let sql = "DELETE FROM delivery_settlements WHERE partition_id = ? AND sequence > ? \
                   AND state <> 'settled' AND first_tried_at_ms IS NULL AND resolved_at_ms IS NULL";
        done.removed += lent.execute(sql, &place).await?;
        let sql = "UPDATE delivery_settlements SET lost_at_ms = ? \
                   WHERE partition_id = ? AND sequence > ? AND lost_at_ms IS NULL";
        done.awaited += lent.execute(sql, &[&[now_ms().into()], &place[..]].concat()).await?;
        let sql = "UPDATE delivery_settlements SET state = 'dead', lease_owner = NULL, last_error = ? \
                   WHERE partition_id = ? AND sequence > ? AND state = 'pending'";
        done.dead += lent.execute(sql, &[&[Cell::from(LOST_CLAIM)], &place[..]].concat()).await?;
        move_cursor(lent, "settlement", *partition, *to).await?;
        epochs::cut(lent, "settlement", *partition, *to).await?;
    }
    done.reopened = reopen(lent, places, since_ms).await?;
    done.dead += doubt(lent, since_ms).await?;
    lent.commit().await?;
    Ok(done)
}

/// Has credits looked up again that are behind what both histories have, and whose claims the log still has. Of those of
/// earlier releases only the time is known. An outside system did not lose what it paid.
async fn reopen(lent: &mut Lent, places: &[(u32, Position)], since_ms: u64) -> Result<u64, Error> {
    let reopen = format!(
        "UPDATE delivery_settlements SET state = 'pending', next_at_ms = ?, attempts = 0, done_at_ms = NULL, \
         first_tried_at_ms = COALESCE(first_tried_at_ms, claimed_at_ms), {NO_CREDIT} \
         WHERE state = 'settled' AND route = 'engine' AND lost_at_ms IS NULL AND resolved_at_ms IS NULL"
    );
    let mut count = 0;
    for (partition, to) in places {
        let [partition, sequence] = place(*partition, *to);
        let sql = format!("{reopen} AND credit_partition_id = ? AND credit_sequence > ?");
        count += lent.execute(&sql, &[now_ms().into(), partition.clone(), sequence.clone()]).await?;
        let sql = format!(
            "UPDATE delivery_settlements SET {NO_CREDIT} \
             WHERE state <> 'settled' AND credit_partition_id = ? AND credit_sequence > ?"
        );
        lent.execute(&sql, &[partition, sequence]).await?;
    }
    let sql = format!("{reopen} AND credit_partition_id IS NULL AND done_at_ms >= ?");
    Ok(count + lent.execute(&sql, &[now_ms().into(), signed(since_ms).into()]).await?)
}

/// Has a person decide again about what a person noted as settled: how it was paid is not known here.
async fn doubt(lent: &mut Lent, since_ms: u64) -> Result<u64, Error> {
    let sql = "UPDATE delivery_settlements SET state = 'dead', last_error = ? WHERE state = 'settled' \
               AND route = 'engine' AND resolved_at_ms >= ? AND lost_at_ms IS NULL";
    lent.execute(sql, &[Cell::from(RESOLVED_BEFORE), signed(since_ms).into()]).await
}

/// Why a settlement of a lost claim is not tried again.
const LOST_CLAIM: &str = "events of the engine were lost, this claim perhaps with them, and a try may have paid it: if the \
                          log has the claim, it is tried again by itself; otherwise look whether it was paid, and resolve \
                          this";

fn place(partition: u32, to: Position) -> [Cell; 2] {
    [i64::from(partition).into(), signed(to.sequence).into()]
}

async fn move_cursor(lent: &mut Lent, consumer: &str, partition: u32, to: Position) -> Result<(), Error> {
    let sql = "UPDATE delivery_cursors SET epoch = ?, sequence = ?, updated_at_ms = ? \
               WHERE consumer = ? AND partition_id = ?";
    let values = [
        signed(to.epoch).into(),
        signed(to.sequence).into(),
        now_ms().into(),
        Cell::from(consumer),
        i64::from(partition).into(),
    ];
    lent.execute(sql, &values).await.map(drop)
}
