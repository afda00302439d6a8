//! Writes a delivery for each event and each endpoint that wants it.

use scarce_api::event::{Public, public};
use scarce_core::event::Position;
use scarce_core::types::signed;
use scarce_outflow::{Batch, Consumer, Trouble};
use scarce_sql::{Cell, Column, Doing, Lent, Text};
use serde::Serialize;

use super::cursor::Key;
use super::{BatchFailure, Rows, position, take};
use crate::Delivery;
use crate::endpoints::wanting;
use crate::store::now_ms;

/// Consumes the log of one partition for webhooks.
#[derive(Debug)]
pub struct WebhooksConsumer {
    delivery: Delivery,
    key: Key,
}

impl Delivery {
    /// The consumer that writes the deliveries to endpoints for the log of a partition. An endpoint gets the
    /// events that are consumed after it was added.
    #[must_use]
    pub fn webhooks_consumer(&self, partition: u32) -> WebhooksConsumer {
        WebhooksConsumer { delivery: self.clone(), key: Key { consumer: "webhooks", partition } }
    }
}

impl Consumer for WebhooksConsumer {
    async fn position(&mut self) -> Result<Option<Position>, Trouble> {
        position(&self.delivery, self.key).await
    }

    fn is_rewritten(&self) -> bool {
        true
    }

    async fn consume(&mut self, batch: &Batch) -> Result<(), Trouble> {
        let mut rows = Deliveries;
        let taking: Doing<'_, _, _> = Box::pin(take(&self.delivery, self.key, &mut rows, batch));
        if taking.await? {
            self.delivery.webhooks_written().notify_one();
        }
        Ok(())
    }
}

/// The columns that a new delivery has.
pub(crate) const COLUMNS: [Column; 10] = [
    Column::text("endpoint_id"),
    Column::integer("partition_id"),
    Column::integer("epoch"),
    Column::integer("sequence"),
    Column::text("event"),
    Column::text("body"),
    Column::text("state"),
    Column::integer("attempts"),
    Column::integer("next_at_ms"),
    Column::integer("created_at_ms"),
];

struct Deliveries;

impl Rows for Deliveries {
    async fn write(&mut self, lent: &mut Lent, batch: &Batch, after: u64) -> Result<bool, BatchFailure> {
        let endpoints = wanting(lent).await?;
        let endpoints: Vec<(Text, _)> =
            endpoints.into_iter().map(|its| (its.id.as_str().into(), its)).collect();
        let (now, mut cells) = (now_ms(), Vec::new());
        let events = batch.entries.iter().flat_map(|entry| public(batch.partition, entry, after));
        for event in events {
            let name = event.event.spec().name;
            let mut body: Option<Text> = None;
            for (id, _) in endpoints.iter().filter(|(_, endpoint)| endpoint.wants(name)) {
                let body = body.get_or_insert_with(|| body_of(event).into());
                cells.extend([
                    Cell::Text(id.clone()),
                    i64::from(batch.partition).into(),
                    signed(event.head.epoch).into(),
                    signed(event.sequence).into(),
                    Cell::Word(name),
                    Cell::Text(body.clone()),
                    Cell::Word("pending"),
                    0.into(),
                    now.into(),
                    now.into(),
                ]);
            }
        }
        Ok(lent.insert_missing("delivery_webhooks", &COLUMNS, &cells).await? > 0)
    }
}

/// The body of a delivery.
#[derive(Serialize)]
struct Body<'a> {
    r#type: &'static str,
    timestamp: String,
    data: Public<'a>,
}

/// The body of a delivery. It has the public fields of the event, as streams do.
fn body_of(event: Public<'_>) -> String {
    let body = Body { r#type: event.event.spec().name, timestamp: iso_8601(event.head.at), data: event };
    // Keys are texts and amounts integers, so this cannot fail.
    serde_json::to_string(&body).unwrap_or_default()
}

/// A stamp in ISO 8601 format, in UTC; its milliseconds if it is too far away for a date.
pub(crate) fn iso_8601(at: u64) -> String {
    let date = i64::try_from(at).ok().and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
    date.map_or_else(|| at.to_string(), |date| date.to_string())
}
