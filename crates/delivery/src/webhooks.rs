//! Deliveries to endpoints.

mod worker;

use scarce_sql::{Cell, Column, ColumnKind};

use crate::announcements::announcement_id;
use crate::page::{Conditions, Page, Taken};
use crate::queue::marks;
use crate::store::{millis, now_ms};
use crate::{Delivery, DeliveryError};

/// How many rows are removed at a time.
const REMOVED_AT_ONCE: usize = 500;

/// The state of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryState {
    /// It waits for its first attempt, or a retry.
    Pending,
    /// The receiver answered 200 to 299.
    Delivered,
    /// It is not retried unless an operator replays it.
    Dead,
}

impl DeliveryState {
    /// The word in the table.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Dead => "dead",
        }
    }

    fn from_word(word: &str) -> Self {
        match word {
            "pending" => Self::Pending,
            "delivered" => Self::Delivered,
            _ => Self::Dead,
        }
    }
}

/// A delivery of an event to an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookDelivery {
    /// Its number.
    pub id: i64,
    /// Its endpoint.
    pub endpoint_id: String,
    /// The id that the receiver sees, the same in every attempt.
    pub message_id: String,
    /// The event's name.
    pub event: String,
    /// The body.
    pub body: String,
    /// Its state.
    pub state: DeliveryState,
    /// The number of attempts.
    pub attempts: u64,
    /// While it is pending: the time of the next attempt, in Unix milliseconds; during an attempt, the time
    /// at which another worker would take it over.
    pub next_at_ms: u64,
    /// The status of the last response.
    pub last_status: Option<u16>,
    /// The error of the last attempt.
    pub last_error: Option<String>,
    /// When it was written, in Unix milliseconds.
    pub created_at_ms: u64,
    /// When it was delivered, in Unix milliseconds.
    pub done_at_ms: Option<u64>,
}

/// A filter for deliveries.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveryFilter<'a> {
    /// Those to this endpoint.
    pub endpoint_id: Option<&'a str>,
    /// Those in this state.
    pub state: Option<DeliveryState>,
}

/// The id that receivers see for an event: fixed, and the same for every endpoint. What is of no partition is an announcement
/// of the server's own.
#[must_use]
pub fn message_id(deployment_id: &str, partition: u32, epoch: u64, sequence: u64) -> String {
    if partition == u32::MAX {
        return announcement_id(deployment_id, sequence);
    }
    format!("evt_{deployment_id}_{partition}_{epoch}_{sequence}")
}

/// The columns of a delivery, in the order in which it is read.
pub(crate) const WEBHOOK_COLUMNS: [Column; 14] = [
    Column::integer("delivery_id"),
    Column::text("endpoint_id"),
    Column::integer("partition_id"),
    Column::integer("epoch"),
    Column::integer("sequence"),
    Column::text("event"),
    Column::text("body"),
    Column::text("state"),
    Column::integer("attempts"),
    Column::integer("next_at_ms"),
    Column::integer("last_status"),
    Column::text("last_error"),
    Column::integer("created_at_ms"),
    Column::integer("done_at_ms"),
];

impl WebhookDelivery {
    pub(crate) fn read(mut row: Taken, deployment_id: &str) -> Self {
        let (id, endpoint_id) = (row.integer(), row.text());
        let partition = u32::try_from(row.integer()).unwrap_or(u32::MAX);
        Self {
            id,
            endpoint_id,
            message_id: message_id(deployment_id, partition, row.natural(), row.natural()),
            event: row.text(),
            body: row.text(),
            state: DeliveryState::from_word(&row.text()),
            attempts: row.natural(),
            next_at_ms: row.natural(),
            last_status: row.optional().and_then(|status| u16::try_from(status).ok()),
            last_error: row.optional_text(),
            created_at_ms: row.natural(),
            done_at_ms: row.time(),
        }
    }
}

impl Delivery {
    /// A page of deliveries to endpoints, in the order in which they were written; dead letters are those in
    /// the state [`DeliveryState::Dead`]. `after` is the previous page's [`Page::next`].
    ///
    /// # Errors
    /// When the cursor is not from a page, or the database does not answer.
    pub async fn deliveries(
        &self,
        filter: DeliveryFilter<'_>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Page<WebhookDelivery>, DeliveryError> {
        let mut conditions = Conditions::default();
        conditions.and_if("endpoint_id = ?", filter.endpoint_id);
        conditions.and_literally(filter.state.map(|state| format!("state = '{}'", state.word())));
        let source = ("delivery_webhooks", "delivery_id", &WEBHOOK_COLUMNS[..]);
        let read = |row| WebhookDelivery::read(row, self.store().deployment_id());
        self.page(source, conditions, (after, limit), read).await
    }

    /// Makes a delivery again: a dead letter, or one that was delivered. Returns whether there was one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn replay_delivery(&self, id: i64) -> Result<bool, DeliveryError> {
        Ok(self.replay("delivery_id = ? AND state <> 'pending'", id.into()).await? > 0)
    }

    /// Retries all dead letters of an endpoint; returns how many.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn replay_endpoint(&self, endpoint_id: &str) -> Result<u64, DeliveryError> {
        self.replay("endpoint_id = ? AND state = 'dead'", endpoint_id.into()).await
    }

    async fn replay(&self, condition: &str, value: Cell) -> Result<u64, DeliveryError> {
        let sql = format!(
            "UPDATE delivery_webhooks SET state = 'pending', attempts = 0, next_at_ms = ?, done_at_ms = NULL, \
             lease_owner = NULL WHERE {condition}"
        );
        let count = self.store().execute(&sql, &[now_ms().into(), value]).await?;
        self.webhooks_written().notify_one();
        Ok(count)
    }

    /// Removes deliveries that succeeded longer ago than this; returns how many. Announcements stay: they say what an
    /// endpoint was told last.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn remove_delivered(&self, age: std::time::Duration) -> Result<u64, DeliveryError> {
        let before = now_ms().saturating_sub(millis(age));
        let find = format!(
            "SELECT delivery_id FROM delivery_webhooks WHERE state = 'delivered' AND done_at_ms < ? \
             AND partition_id >= 0 LIMIT {REMOVED_AT_ONCE}"
        );
        let mut removed = 0;
        loop {
            let rows = self.store().fetch(&find, &[before.into()], &[ColumnKind::Integer]).await?;
            let ids: Vec<Cell> = rows.into_iter().flatten().collect();
            if ids.is_empty() {
                return Ok(removed);
            }
            let sql = format!(
                "DELETE FROM delivery_webhooks WHERE delivery_id IN ({}) AND state = 'delivered'",
                marks(ids.len())
            );
            removed += self.store().execute(&sql, &ids).await?;
        }
    }
}
