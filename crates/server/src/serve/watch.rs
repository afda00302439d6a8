//! Watches whether the partitions take changes, and logs when that ends and begins: a full disk, a Redis that is
//! away, a consumer too far behind.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use scarce_engine::Engine;

/// How often it looks.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// The running watch.
pub(super) struct ReadyWatch {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl ReadyWatch {
    pub(super) fn start(engine: Arc<dyn Engine>) -> std::io::Result<Self> {
        let (stop, stopped) = bounded(0);
        let thread = std::thread::Builder::new()
            .name("ready-watch".to_owned())
            .spawn(move || watch(&*engine, &stopped))?;
        Ok(Self { stop, thread })
    }

    pub(super) fn end(self) {
        drop(self.stop);
        // Its panic was already logged.
        let _ = self.thread.join();
    }
}

/// Why a partition takes no changes, and since when.
type Refusal = Option<(Instant, String)>;

fn watch(engine: &dyn Engine, stopped: &Receiver<()>) {
    let mut refusals: Vec<Refusal> = vec![None; engine.partitions() as usize];
    let mut crowded = vec![false; engine.partitions() as usize];
    while stopped.recv_timeout(LOOK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        for (refusal, partition) in refusals.iter_mut().zip(0..) {
            note(partition, engine.check_ready(partition).err().map(|failure| failure.to_string()), refusal);
        }
        for (crowded, partition) in crowded.iter_mut().zip(0..) {
            note_ids(engine, partition, crowded);
        }
    }
}

/// From this share of the ids that may be remembered on, those that must not be forgotten yet are too many, in percent.
const IDS_WARN_PERCENT: u64 = 80;

/// Below this share they are few again.
const IDS_CALM_PERCENT: u64 = 70;

/// Warns before new ids are refused because those of the minimum window fill the memory of ids.
fn note_ids(engine: &dyn Engine, partition: u32, is_crowded: &mut bool) {
    let Ok(metrics) = engine.metrics(partition) else { return };
    let settings = engine.state_settings();
    let (locked, operations_max) = (metrics.levels().operations_locked, settings.operations_max as u64);
    let percent = locked.saturating_mul(100).checked_div(operations_max).unwrap_or(0);
    if !*is_crowded && percent >= IDS_WARN_PERCENT {
        *is_crowded = true;
        let ((rate, span), window_ms) = (settings.new_ids_rate(), settings.window_ms_min);
        tracing::warn!(
            partition,
            locked,
            operations_max,
            window_ms,
            "new operation ids come faster than {rate} {span}, which the partition can go on taking; at 100 % it refuses them"
        );
    } else if *is_crowded && percent < IDS_CALM_PERCENT {
        *is_crowded = false;
        tracing::info!(partition, locked, operations_max, "there is room for operation ids again");
    }
}

fn note(partition: u32, reason: Option<String>, refusal: &mut Refusal) {
    match (reason, refusal.take()) {
        (Some(reason), Some((since, former))) => {
            if reason != former {
                tracing::warn!(partition, reason, "the partition still takes no changes");
            }
            *refusal = Some((since, reason));
        }
        (Some(reason), None) => {
            tracing::warn!(partition, reason, "the partition takes no changes");
            *refusal = Some((Instant::now(), reason));
        }
        (None, Some((since, _))) => {
            let refused_ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
            tracing::info!(partition, refused_ms, "the partition takes changes again");
        }
        (None, None) => {}
    }
}
