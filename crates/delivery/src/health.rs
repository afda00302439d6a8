//! How much work is waiting, for metrics and for people.

use scarce_sql::ColumnKind;

use crate::page::Taken;
use crate::queue::{Queue, SETTLEMENTS, WEBHOOKS};
use crate::store::now_ms;
use crate::{Delivery, DeliveryError};

/// How much work of one kind is waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lag {
    /// Not done, and not dead letters.
    pub pending: u64,
    /// Pending work that could be tried now: no worker has claimed it, and no delay holds it back. Deliveries
    /// to paused and disabled endpoints count here, too.
    pub due: u64,
    /// Dead letters.
    pub dead: u64,
    /// How long the oldest pending work has waited, in milliseconds.
    pub oldest_pending_ms: Option<u64>,
}

/// How much work is waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Deliveries to endpoints.
    pub webhooks: Lag,
    /// Settlements.
    pub settlement: Lag,
    /// Endpoints that are suspended because nothing arrived there.
    pub suspended_endpoints: u64,
}

/// How many rows there are in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Not done.
    pub pending: u64,
    /// Delivered or settled.
    pub done: u64,
    /// Dead letters.
    pub dead: u64,
}

impl Delivery {
    /// How much work is waiting.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn health(&self) -> Result<Health, DeliveryError> {
        Ok(Health {
            webhooks: self.lag(WEBHOOKS).await?,
            settlement: self.lag(SETTLEMENTS).await?,
            suspended_endpoints: self.suspended_endpoints().await?,
        })
    }

    async fn suspended_endpoints(&self) -> Result<u64, DeliveryError> {
        let sql = "SELECT COUNT(*) FROM delivery_failing WHERE suspended_at_ms IS NOT NULL";
        let rows = self.store().fetch(sql, &[], &[ColumnKind::Integer]).await?;
        Ok(Taken::new(rows.into_iter().next().unwrap_or_default()).natural())
    }

    /// How many settlements are in each state. It counts all rows.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn settlement_counts(&self) -> Result<Counts, DeliveryError> {
        self.counts(SETTLEMENTS).await
    }

    /// How many deliveries to endpoints are in each state. It counts all rows.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn delivery_counts(&self) -> Result<Counts, DeliveryError> {
        self.counts(WEBHOOKS).await
    }

    async fn lag(&self, queue: Queue) -> Result<Lag, DeliveryError> {
        let now = now_ms();
        let sql = format!(
            "SELECT COUNT(*), COUNT(CASE WHEN next_at_ms <= ? THEN 1 END), MIN(created_at_ms) \
             FROM {} WHERE state = 'pending'",
            queue.table
        );
        let rows = self.store().fetch(&sql, &[now.into()], &[ColumnKind::Integer; 3]).await?;
        let mut row = Taken::new(rows.into_iter().next().unwrap_or_default());
        let (pending, due) = (row.natural(), row.natural());
        let oldest_pending_ms =
            row.optional().map(|at| u64::try_from(now.saturating_sub(at)).unwrap_or_default());
        let sql = format!("SELECT COUNT(*) FROM {} WHERE state = 'dead'", queue.table);
        let rows = self.store().fetch(&sql, &[], &[ColumnKind::Integer]).await?;
        let dead = Taken::new(rows.into_iter().next().unwrap_or_default()).natural();
        Ok(Lag { pending, due, dead, oldest_pending_ms })
    }

    async fn counts(&self, queue: Queue) -> Result<Counts, DeliveryError> {
        let sql = format!("SELECT state, COUNT(*) FROM {} GROUP BY state", queue.table);
        let mut counts = Counts::default();
        for row in self.store().fetch(&sql, &[], &[ColumnKind::Text, ColumnKind::Integer]).await? {
            let mut row = Taken::new(row);
            match row.text().as_str() {
                "pending" => counts.pending = row.natural(),
                "dead" => counts.dead = row.natural(),
                _ => counts.done = row.natural(),
            }
        }
        Ok(counts)
    }
}
