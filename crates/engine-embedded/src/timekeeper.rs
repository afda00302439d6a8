//! The clock's note: what a start goes on from, in a file that is replaced every few seconds and at a clean end.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use scarce_engine::clock::{Clock, ClockNote, TrustedClock};

use crate::EmbeddedError;
use crate::storage::{Storage, StorageError, read_small, replace, sealed, unsealed};

const FILE_NAME: &str = "clock";
const TEMPORARY_NAME: &str = "clock.tmp";
const FILE_BYTES_MAX: u64 = 4 << 10;

/// How often the note is written.
const SAVED_EVERY: Duration = Duration::from_secs(5);

/// More changes than this do not follow one another at once: a doubt, and its confirmation.
const CHANGES_MAX: usize = 3;

/// The note, if there is one that can be trusted. Without one a start goes by the last stamp, as after another boot.
pub(crate) fn load(storage: &dyn Storage) -> Option<ClockNote> {
    let bytes = read_small(storage, FILE_NAME, FILE_BYTES_MAX).ok()??;
    let text = String::from_utf8(bytes).ok()?;
    ClockNote::from_text(unsealed(&text)?)
}

fn save(storage: &dyn Storage, note: &ClockNote) -> Result<(), StorageError> {
    replace(storage, TEMPORARY_NAME, FILE_NAME, sealed(&note.to_text()).as_bytes())
}

/// Takes over the note of other files of the same machine, if there is one.
pub(crate) fn copy(from: &dyn Storage, to: &dyn Storage) -> Result<(), StorageError> {
    load(from).map_or(Ok(()), |note| save(to, &note))
}

/// Writes the note as long as it lives, and once more when it ends.
pub(crate) struct Timekeeper {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Timekeeper {
    pub(crate) fn start(storage: Arc<dyn Storage>, clock: TrustedClock) -> Result<Self, EmbeddedError> {
        let (stop, stopped) = bounded(0);
        let name = "timekeeper".to_owned();
        let thread = std::thread::Builder::new()
            .name(name.clone())
            .spawn(move || run(&*storage, clock, &stopped))
            .map_err(|error| EmbeddedError::Thread { name, what: error.to_string() })?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Timekeeper {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // It has nothing to lose but the note.
            let _ = thread.join();
        }
    }
}

fn run(storage: &dyn Storage, mut clock: TrustedClock, stopped: &Receiver<()>) {
    let mut is_last = false;
    loop {
        clock.now();
        for _ in 0..CHANGES_MAX {
            let Some(change) = clock.proposal() else { break };
            clock.adopt(change);
        }
        if let Some(note) = clock.note() {
            // Without room on the disk the old note stays: a start then has less to go by, and doubts more.
            let _ = save(storage, &note);
        }
        if is_last {
            return;
        }
        // Nothing is ever sent: the other end is dropped when it is time to end.
        is_last = stopped.recv_timeout(SAVED_EVERY) == Err(RecvTimeoutError::Disconnected);
    }
}
