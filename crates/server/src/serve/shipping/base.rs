//! The backups that the log follows: the first at the start, then when they are due, each on a thread of its own.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use scarce_backup::{BackupError, CreateOptions, Manifest, Vault, create, list};
use scarce_engine::clock::wall_ms;
use scarce_outflow::Backoff;

use super::{RETRY_DELAYS, explain};

/// After so many parts of the log an incremental backup begins the next: a restore reads all of them.
const PARTS_MAX: u64 = 3_600;

/// Why a backup is not to be made after all.
type Abandoned = Arc<Mutex<Option<String>>>;

pub(super) struct Bases {
    vault: Arc<Vault>,
    data: PathBuf,
    full_every_ms: u64,
    running: Option<Running>,
    /// When the newest full backup was begun, once that is known.
    full_at_ms: u64,
    retry_at: Option<Instant>,
    backoff: Backoff,
    trouble: Option<String>,
}

struct Running {
    thread: JoinHandle<Result<Made, BackupError>>,
    abandoned: Abandoned,
    begun_at_bytes: u64,
}

struct Made {
    manifest: Manifest,
    full_at_ms: u64,
}

impl Bases {
    pub(super) fn new(vault: Arc<Vault>, data: PathBuf, full_every_ms: u64) -> Self {
        let (running, retry_at, trouble) = (None, None, None);
        let backoff = Backoff::new(RETRY_DELAYS.0, RETRY_DELAYS.1);
        Self { vault, data, full_every_ms, running, full_at_ms: 0, retry_at, backoff, trouble }
    }

    /// Why none can be made.
    pub(super) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// How much log had been written when the one was begun that is being made.
    pub(super) fn begun_at_bytes(&self) -> Option<u64> {
        self.running.as_ref().map(|running| running.begun_at_bytes)
    }

    /// Begins one if there is none with so many parts of log, or if one is due.
    pub(super) fn begin_if_due(&mut self, parts: Option<u64>, written_bytes: u64) {
        let is_old = wall_ms().saturating_sub(self.full_at_ms) >= self.full_every_ms;
        let is_due = parts.is_none_or(|parts| parts >= PARTS_MAX) || is_old;
        let may = self.running.is_none() && self.retry_at.is_none_or(|at| Instant::now() >= at);
        if !is_due || !may {
            return;
        }
        let (vault, data, full_every_ms) = (self.vault.clone(), self.data.clone(), self.full_every_ms);
        let abandoned = Abandoned::default();
        let its = abandoned.clone();
        let thread = std::thread::Builder::new().name("backup-base".to_owned());
        match thread.spawn(move || make(&vault, &data, full_every_ms, &its)) {
            Ok(thread) => self.running = Some(Running { thread, abandoned, begun_at_bytes: written_bytes }),
            Err(error) => self.fail(&error),
        }
    }

    /// The backup that became complete since the last call.
    pub(super) fn finished(&mut self) -> Option<Manifest> {
        let running = self.running.take_if(|running| running.thread.is_finished())?;
        match running.thread.join() {
            Ok(Ok(Made { manifest, full_at_ms })) => {
                let (backup, bytes) = (manifest.id.as_str(), manifest.new_bytes());
                let builds_on = manifest.builds_on.as_deref();
                tracing::info!(backup, builds_on, bytes, "a backup was made; the log follows it");
                (self.full_at_ms, self.retry_at, self.trouble) = (full_at_ms, None, None);
                self.backoff.reset();
                Some(manifest)
            }
            Ok(Err(error)) => {
                self.fail(&error);
                None
            }
            Err(_) => {
                self.fail(&BackupError::Abandoned("the making of a backup failed; see above".to_owned()));
                None
            }
        }
    }

    /// Notes why there is none.
    pub(super) fn fail(&mut self, error: &dyn std::error::Error) {
        self.retry_at = Some(Instant::now() + self.backoff.next_delay());
        self.trouble = Some(explain(error));
    }

    /// Ends the making of the one that is being made, before its next piece.
    pub(super) fn abandon(&mut self, reason: &str) {
        if let Some(running) = &self.running {
            let mut abandoned = running.abandoned.lock().unwrap_or_else(PoisonError::into_inner);
            abandoned.get_or_insert_with(|| reason.to_owned());
        }
    }
}

fn make(vault: &Vault, data: &Path, full_every_ms: u64, abandoned: &Abandoned) -> Result<Made, BackupError> {
    let newest_full_at_ms = newest_full_at_ms(vault)?;
    let is_full = wall_ms().saturating_sub(newest_full_at_ms) >= full_every_ms;
    let abandon = || abandoned.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let options = CreateOptions { data, is_full, abandon: &abandon };
    let (manifest, problems) = create(vault, options, &mut |_| {})?;
    for problem in problems {
        tracing::warn!(problem, "a backup lacks something that is damaged");
    }
    let full_at_ms = if manifest.builds_on.is_none() { manifest.begun_at_ms } else { newest_full_at_ms };
    Ok(Made { manifest, full_at_ms })
}

/// When the newest full backup of the store was begun; 0 if there is none.
fn newest_full_at_ms(vault: &Vault) -> Result<u64, BackupError> {
    let manifests = list(vault)?.into_iter().filter_map(|listed| listed.manifest.ok());
    let full = manifests.filter(|manifest| manifest.builds_on.is_none());
    Ok(full.map(|manifest| manifest.begun_at_ms).max().unwrap_or(0))
}
