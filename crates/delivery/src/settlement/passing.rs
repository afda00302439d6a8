//! A credit counts as settled once the consumer of the log has passed it. Before that, a put-back copy or a failover may
//! have lost it without the consumer finding its own position gone.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use scarce_core::event::Position;
use scarce_core::types::signed;
use scarce_sql::{Cell, ColumnKind, DatabaseError};

use super::claims::ClaimedSettlement;
use super::inside::{ENGINE_RETRY_MAX, Settler};
use crate::Delivery;
use crate::page::Taken;
use crate::queue::{Ended, SETTLEMENTS};
use crate::retry::delay;
use crate::store::{millis, now_ms};

/// How long to wait for the consumer before a batch is recorded: it is usually as fast.
const PATIENCE: Duration = Duration::from_millis(200);

/// The first pause between two looks; it doubles.
const PAUSE_FIRST: Duration = Duration::from_millis(5);

/// The positions of the log's consumer in each partition.
pub(crate) type Reached = BTreeMap<u32, Position>;

impl Delivery {
    /// How far a consumer is in each partition.
    pub(crate) async fn reached(&self, consumer: &str) -> Result<Reached, DatabaseError> {
        let sql = "SELECT partition_id, epoch, sequence FROM delivery_cursors WHERE consumer = ?";
        let rows = self.store().fetch(sql, &[consumer.into()], &[ColumnKind::Integer; 3]).await?;
        let read = |row| {
            let mut row = Taken::new(row);
            let partition = u32::try_from(row.natural()).ok()?;
            Some((partition, Position { epoch: row.natural(), sequence: row.natural() }))
        };
        Ok(rows.into_iter().filter_map(read).collect())
    }

    /// Whether the consumer has read on behind a position, in a history that has it.
    pub(super) async fn has_passed(
        &self,
        reached: &Reached,
        (partition, at): (u32, Position),
    ) -> Result<bool, DatabaseError> {
        match reached.get(&partition) {
            Some(reached) if reached.sequence < at.sequence => Ok(false),
            Some(reached) if reached.epoch == at.epoch => Ok(true),
            Some(_) => Ok(self.epoch_at(partition, at.sequence).await?.is_none_or(|epoch| epoch == at.epoch)),
            None => Ok(false),
        }
    }

    /// The epoch that the consumer has read at a sequence, if that is known.
    async fn epoch_at(&self, partition: u32, sequence: u64) -> Result<Option<u64>, DatabaseError> {
        let sql = "SELECT epoch FROM delivery_epochs WHERE consumer = 'settlement' AND partition_id = ? \
                   AND first_sequence <= ? ORDER BY first_sequence DESC LIMIT 1";
        let key = [Cell::from(i64::from(partition)), signed(sequence).into()];
        let rows = self.store().fetch(sql, &key, &[ColumnKind::Integer]).await?;
        Ok(rows.into_iter().next().map(|row| Taken::new(row).natural()).filter(|epoch| *epoch > 0))
    }
}

impl Settler {
    /// Finds out which of the credits the consumer has passed, and waits a moment for it. The others are looked at again.
    pub(super) async fn wait_for_consumer(&mut self, ended: &mut Ended) -> Result<(), DatabaseError> {
        let (begun, mut pause) = (Instant::now(), PAUSE_FIRST);
        loop {
            let reached = self.delivery.reached(SETTLEMENTS.name).await?;
            for credits in ended.credited.iter_mut().filter(|its| its.next_at_ms.is_some()) {
                if self.delivery.has_passed(&reached, (credits.partition, credits.through)).await? {
                    credits.next_at_ms = None;
                }
            }
            let is_passed = ended.credited.iter().all(|its| its.next_at_ms.is_none());
            if is_passed || begun.elapsed() >= PATIENCE {
                break;
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
        let mut waiting = ended.credited.iter_mut().filter_map(|its| its.next_at_ms.as_mut()).peekable();
        self.waits = if waiting.peek().is_some() { self.waits.saturating_add(1) } else { 0 };
        let pause = delay(self.delivery.options(), self.waits, None).min(ENGINE_RETRY_MAX);
        waiting.for_each(|next_at_ms| *next_at_ms = now_ms().saturating_add(millis(pause)));
        Ok(())
    }

    /// Ends packets whose credit the consumer has passed since it was made. The others are sent again: what the engine has
    /// is answered as a duplicate.
    pub(super) async fn end_passed(
        &self,
        claimed: Vec<ClaimedSettlement>,
        ended: &mut Ended,
    ) -> Vec<ClaimedSettlement> {
        let has_credits = claimed.iter().any(|its| its.credit.is_some());
        let reached =
            if has_credits { self.delivery.reached(SETTLEMENTS.name).await } else { Ok(Reached::new()) };
        let Ok(reached) = reached else { return claimed };
        let mut rest = Vec::with_capacity(claimed.len());
        for its in claimed {
            match its.credit {
                Some(credit) if self.delivery.has_passed(&reached, credit).await.is_ok_and(|has| has) => {
                    ended.credit(its.id, credit.0, credit.1);
                }
                _ => rest.push(its),
            }
        }
        rest
    }
}
