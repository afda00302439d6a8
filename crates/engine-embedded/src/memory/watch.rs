//! The thread that measures.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::Memory;
use crate::EmbeddedError;

/// How often it measures: at full speed a partition takes some ten megabytes in this time.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// How often the allocator is reminded to give freed memory back.
const REMINDER_INTERVAL: Duration = Duration::from_secs(1);

/// Larger than what the allocator keeps for reuse.
const REMINDER_BYTES: usize = 8 << 20;

/// Measures as long as it lives.
pub(crate) struct MemoryWatch {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl MemoryWatch {
    /// Without a budget there is nothing to watch.
    pub(crate) fn start(memory: &Arc<Memory>) -> Result<Option<Self>, EmbeddedError> {
        if memory.budget.is_none() {
            return Ok(None);
        }
        let (stop, stopped) = bounded(0);
        let (memory, name) = (memory.clone(), "memory-watch".to_owned());
        let thread = std::thread::Builder::new()
            .name(name.clone())
            .spawn(move || run(&memory, &stopped))
            .map_err(|error| EmbeddedError::Thread { name, what: error.to_string() })?;
        Ok(Some(Self { stop: Some(stop), thread: Some(thread) }))
    }
}

impl Drop for MemoryWatch {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // It has nothing to lose.
            let _ = thread.join();
        }
    }
}

fn run(memory: &Memory, stopped: &Receiver<()>) {
    let mut reminded_at = Instant::now();
    // Nothing is ever sent: the other end is dropped when it is time to end.
    while stopped.recv_timeout(LOOK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        if reminded_at.elapsed() >= REMINDER_INTERVAL {
            reminded_at = Instant::now();
            remind();
        }
        memory.look();
    }
}

/// An allocator that waits before it gives memory back, as mimalloc does, looks for what is due only when something large
/// is freed. After a snapshot nothing may be for hours. The pages of this allocation are never touched.
fn remind() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(REMINDER_BYTES)));
}
