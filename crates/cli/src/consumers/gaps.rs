//! Events that a consumer misses: the log no longer reaches back to its position, as after a restored backup.

use std::collections::BTreeMap;

use scarce_client::Info;
use scarce_core::event::Position;

use super::held::{Divergence, Gap, Store};
use crate::Failed;

/// The partitions in which events are missing between a consumer's own position and the beginning of the log.
pub(super) async fn find(
    store: &Store,
    name: &str,
    server: &Info,
    diverged: &[Divergence],
) -> Result<Vec<Gap>, Failed> {
    let mut gaps = Vec::new();
    for (partition, extent) in &server.partitions {
        if diverged.iter().any(|its| its.partition == *partition) {
            continue;
        }
        let Some(held) = position(store, name, *partition).await? else { continue };
        // At the beginning it starts by itself, with the log or with the state.
        if held.sequence > 0 && held.sequence + 1 < extent.first {
            gaps.push(Gap { partition: *partition, held, begins_at: extent.first });
        }
    }
    Ok(gaps)
}

/// The partitions in which the engine knows that settlement has consumed events, and its tables do not know the consumer.
pub(super) async fn lost(
    store: &Store,
    name: &str,
    confirmed: &BTreeMap<u32, Position>,
    diverged: &[Divergence],
) -> Result<Vec<Gap>, Failed> {
    let mut lost = Vec::new();
    let has_consumed = |its: &(&u32, &Position)| {
        its.1.epoch > 0 && diverged.iter().all(|diverged| diverged.partition != *its.0)
    };
    for (partition, confirmed) in confirmed.iter().filter(has_consumed).filter(|_| name == "settlement") {
        if position(store, name, *partition).await?.is_none() {
            let begins_at = confirmed.sequence + 1;
            lost.push(Gap { partition: *partition, held: Position::default(), begins_at });
        }
    }
    Ok(lost)
}

/// Has settlement begin anew where its tables do not know it.
pub(super) async fn begin_anew(store: &Store, lost: &[Gap]) -> Result<(), Failed> {
    let Store::Delivery(delivery) = store else { return Ok(()) };
    for gap in lost {
        delivery.begin_settlement_anew(gap.partition).await?;
    }
    Ok(())
}

async fn position(store: &Store, name: &str, partition: u32) -> Result<Option<Position>, Failed> {
    match store {
        Store::Projection(projection) => {
            let positions = projection.positions().await?;
            Ok(positions.into_iter().find(|its| its.partition == partition).map(|its| its.position))
        }
        Store::Delivery(delivery) => Ok(delivery.held_position(name, partition).await?),
        Store::Mirror(mirror) => {
            let marks = mirror.marks().await?;
            Ok(marks.get(partition as usize).map(|mark| mark.position))
        }
        #[cfg(feature = "kafka")]
        Store::Kafka(_) => Ok(None),
        Store::Elsewhere => Ok(None),
    }
}

/// Sets a consumer of deliveries behind its gaps: webhooks onto the oldest event that is left, settlement onto the
/// beginning, from where it goes on with the state that the engine has.
pub(super) async fn close(store: &Store, name: &str, gaps: &[Gap]) -> Result<(), Failed> {
    let Store::Delivery(delivery) = store else { return Ok(()) };
    for gap in gaps {
        let sequence = if name == "webhooks" { gap.begins_at - 1 } else { 0 };
        delivery.skip_to(name, gap.partition, Position { epoch: 0, sequence }).await?;
    }
    Ok(())
}
