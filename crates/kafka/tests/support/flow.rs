//! A plain runner: reads the log, hands it to a writer, and restarts from a known position.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use scarce_core::event::Position;
use scarce_engine::Engine;
use scarce_kafka::EventWriter;
use scarce_outflow::{Batch, Consumer, Trouble};
use tokio::sync::Notify;

/// How many bytes of log a batch has.
pub const BATCH_BYTES: u64 = 64 << 10;

/// The runner's state, for the tests.
#[derive(Debug, Default)]
pub struct FlowProgress {
    pub confirmed: AtomicU64,
    pub troubles: AtomicU64,
    pub batches: AtomicU64,
}

/// Sends the log of a partition from a position up to a sequence.
pub async fn flow(
    engine: Arc<dyn Engine>,
    partition: u32,
    mut writer: EventWriter,
    from: Position,
    through: u64,
    progress: &FlowProgress,
) -> Vec<Trouble> {
    let (mut after, mut troubles) = (from, Vec::new());
    let more = Arc::new(Notify::new());
    let woken = more.clone();
    let _watch = engine.watch(partition, Arc::new(move || woken.notify_one())).expect("a partition");
    while after.sequence < through {
        let reader = engine.clone();
        let read = move || reader.entries(partition, after.sequence + 1, BATCH_BYTES);
        let entries = tokio::task::spawn_blocking(read).await.expect("read").expect("the log");
        if entries.is_empty() {
            more.notified().await;
            continue;
        }
        let batch = Batch { partition, after, entries };
        match writer.consume(&batch).await {
            Ok(()) => {
                after = batch.end();
                progress.batches.fetch_add(1, Ordering::Relaxed);
                progress.confirmed.store(after.sequence, Ordering::Release);
            }
            Err(trouble) => {
                progress.troubles.fetch_add(1, Ordering::Relaxed);
                troubles.push(trouble);
            }
        }
    }
    troubles
}
