//! What a consumer holds of a history that the log does not have.

use scarce_core::event::Position;
use scarce_delivery::Delivery;
use scarce_mirror::Mirror;
use scarce_projection::Projection;
use serde_json::{Value, json};
#[cfg(feature = "kafka")]
use {
    crate::Exit,
    scarce_kafka::events::held_events,
    scarce_kafka::{KafkaError, KafkaSettings},
};

use crate::Failed;

/// How many events of a partition are listed.
#[cfg(feature = "kafka")]
const EVENTS_MAX: usize = 1_000;

/// The columns of the list.
pub(super) const COLUMNS: [&str; 5] = ["holds", "partition", "id", "state", "detail"];

/// A partition in which a consumer holds another history.
pub(super) struct Divergence {
    pub(super) partition: u32,
    /// The last position that both histories have for certain; the beginning if none is known.
    pub(super) confirmed: Position,
    pub(super) confirmed_at_ms: u64,
    /// The position in the other history.
    pub(super) held: Position,
}

impl Divergence {
    /// Whether the engine does not know a position that both histories have.
    pub(super) fn is_unknown(&self) -> bool {
        self.confirmed_at_ms == 0
    }
}

/// A partition of which a consumer misses events that the log no longer has.
pub(super) struct Gap {
    pub(super) partition: u32,
    /// The consumer's position.
    pub(super) held: Position,
    /// The first sequence that is still in the log.
    pub(super) begins_at: u64,
}

/// Where a consumer keeps what it made of the log.
pub(super) enum Store {
    Projection(Projection),
    Delivery(Delivery),
    Mirror(Mirror),
    /// In the topic of events.
    #[cfg(feature = "kafka")]
    Kafka(Box<KafkaSettings>),
    /// Wherever a consumer of another process keeps it, or in a topic that was not named.
    Elsewhere,
}

/// What was made of events after the last position that both histories have: up to 1 000 of each partition, by their
/// ids.
pub(super) async fn rows(store: &Store, name: &str, diverged: &[Divergence]) -> Result<Vec<Value>, Failed> {
    let mut rows = Vec::new();
    for its in diverged {
        let range = format!("sequences {} to {}", its.confirmed.sequence + 1, its.held.sequence);
        rows.push(row("events", its, its.held.epoch, None, &range));
        match store {
            Store::Projection(projection) => rows.extend(operations(projection, its).await?),
            Store::Delivery(delivery) if name == "webhooks" => rows.extend(deliveries(delivery, its).await?),
            Store::Delivery(delivery) => rows.extend(settlements(delivery, its).await?),
            #[cfg(feature = "kafka")]
            Store::Kafka(settings) => rows.extend(events(settings, its)?),
            // Its rows are those of a state, not of events.
            Store::Mirror(_) | Store::Elsewhere => {}
        }
    }
    Ok(rows)
}

/// The events that a consumer misses.
pub(super) fn gap_rows(gaps: &[Gap]) -> Vec<Value> {
    let row = |gap: &Gap| {
        let missing = format!("sequences {} to {}", gap.held.sequence + 1, gap.begins_at.saturating_sub(1));
        json!({ "holds": "gap", "partition": gap.partition, "id": null, "state": "missing", "detail": missing })
    };
    gaps.iter().map(row).collect()
}

/// A row of the list.
fn row(holds: &str, its: &Divergence, id: impl Into<Value>, state: Option<&str>, detail: &str) -> Value {
    json!({ "holds": holds, "partition": its.partition, "id": id.into(), "state": state, "detail": detail })
}

async fn operations(projection: &Projection, its: &Divergence) -> Result<Vec<Value>, Failed> {
    let found = projection.history().operations_after(its.partition, its.confirmed.sequence).await?;
    let rows = found.into_iter().map(|operation| {
        let position = format!("{}.{}", operation.epoch, operation.last_sequence);
        row("operation", its, operation.operation_id, Some(&operation.outcome), &position)
    });
    Ok(rows.collect())
}

/// The events that readers of the topic have behind the last position that both histories have.
#[cfg(feature = "kafka")]
fn events(settings: &KafkaSettings, its: &Divergence) -> Result<Vec<Value>, Failed> {
    let found = held_events(settings, its.partition, its.confirmed.sequence).map_err(no_topic)?;
    let rows = found.into_iter().take(EVENTS_MAX).map(|event| {
        let what = format!("{} of {}", event.kind, event.subject.as_deref().unwrap_or("the log"));
        row("event", its, event.id, Some("published"), &what)
    });
    Ok(rows.collect())
}

/// Why the topic cannot be read.
#[cfg(feature = "kafka")]
#[allow(clippy::needless_pass_by_value, reason = "as map_err gives it")]
pub(super) fn no_topic(error: KafkaError) -> Failed {
    Failed::new(Exit::Failed, &error)
}

async fn deliveries(delivery: &Delivery, its: &Divergence) -> Result<Vec<Value>, Failed> {
    let found = delivery.deliveries_after(its.partition, its.confirmed.sequence).await?;
    let rows = found.into_iter().map(|delivery| {
        let what = format!("{} to {}", delivery.event, delivery.endpoint_id);
        row("delivery", its, delivery.message_id, Some(delivery.state.word()), &what)
    });
    Ok(rows.collect())
}

async fn settlements(delivery: &Delivery, its: &Divergence) -> Result<Vec<Value>, Failed> {
    let found = delivery.settlements_after(its.partition, its.confirmed.sequence).await?;
    let rows = found.into_iter().map(|settlement| {
        let asset = settlement.asset.as_deref().unwrap_or("of the campaign's asset");
        let what = format!("{} {asset} to {}", settlement.amount, settlement.user);
        row("settlement", its, settlement.operation_id, Some(settlement.state.word()), &what)
    });
    Ok(rows.collect())
}
