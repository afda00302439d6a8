//! What a consumer holds of a history that the log does not have.

use scarce_core::event::Position;
use scarce_delivery::Delivery;
use scarce_projection::Projection;
use serde_json::{Value, json};

use crate::Failed;

/// The columns of the list.
pub(super) const COLUMNS: [&str; 5] = ["holds", "partition", "id", "state", "detail"];

/// A partition in which a consumer holds another history.
pub(super) struct Divergence {
    pub(super) partition: u32,
    /// The last position that both histories have for certain.
    pub(super) confirmed: Position,
    pub(super) confirmed_at_ms: u64,
    /// The position in the other history.
    pub(super) held: Position,
}

/// Where a consumer keeps what it made of the log.
pub(super) enum Store {
    Projection(Projection),
    Delivery(Delivery),
    /// In Kafka, or wherever a consumer of another process keeps it.
    Elsewhere,
}

/// What was made of events after the last position that both histories have: up to 1 000 of each partition, by their
/// ids.
pub(super) async fn rows(store: &Store, name: &str, diverged: &[Divergence]) -> Result<Vec<Value>, Failed> {
    let mut rows = Vec::new();
    for its in diverged {
        rows.push(json!({
            "holds": "events",
            "partition": its.partition,
            "id": its.held.epoch,
            "state": null,
            "detail": format!("sequences {} to {}", its.confirmed.sequence + 1, its.held.sequence),
        }));
        match store {
            Store::Projection(projection) => rows.extend(operations(projection, its).await?),
            Store::Delivery(delivery) if name == "webhooks" => rows.extend(deliveries(delivery, its).await?),
            Store::Delivery(delivery) => rows.extend(settlements(delivery, its).await?),
            Store::Elsewhere => {}
        }
    }
    Ok(rows)
}

async fn operations(projection: &Projection, its: &Divergence) -> Result<Vec<Value>, Failed> {
    let found = projection.history().operations_after(its.partition, its.confirmed.sequence).await?;
    let row = |operation: &scarce_projection::history::Operation| {
        json!({
            "holds": "operation",
            "partition": its.partition,
            "id": operation.operation_id,
            "state": operation.outcome,
            "detail": format!("{}.{}", operation.epoch, operation.last_sequence),
        })
    };
    Ok(found.iter().map(row).collect())
}

async fn deliveries(delivery: &Delivery, its: &Divergence) -> Result<Vec<Value>, Failed> {
    let found = delivery.deliveries_after(its.partition, its.confirmed.sequence).await?;
    let row = |delivery: &scarce_delivery::WebhookDelivery| {
        json!({
            "holds": "delivery",
            "partition": its.partition,
            "id": delivery.message_id,
            "state": delivery.state.word(),
            "detail": format!("{} to {}", delivery.event, delivery.endpoint_id),
        })
    };
    Ok(found.iter().map(row).collect())
}

async fn settlements(delivery: &Delivery, its: &Divergence) -> Result<Vec<Value>, Failed> {
    let found = delivery.settlements_after(its.partition, its.confirmed.sequence).await?;
    let row = |settlement: &scarce_delivery::Settlement| {
        json!({
            "holds": "settlement",
            "partition": its.partition,
            "id": settlement.operation_id,
            "state": settlement.state.word(),
            "detail": format!(
                "{} {} to {}",
                settlement.amount,
                settlement.asset.as_deref().unwrap_or("of the campaign's asset"),
                settlement.user
            ),
        })
    };
    Ok(found.iter().map(row).collect())
}
