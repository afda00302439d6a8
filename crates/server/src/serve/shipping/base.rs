//! The backups that the log follows: the first at the start, then when they are due, each on a thread of its own.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use scarce_backup::{BackupError, CreateOptions, Manifest, Vault, create, list, remember};
use scarce_engine::clock::wall_ms;
use scarce_outflow::Backoff;

use super::{RETRY_DELAYS, ShippingState, explain, lock};

/// After so many parts of the log an incremental backup begins the next: a restore reads all of them.
const PARTS_MAX: u64 = 3_600;

/// How often it is looked at the end whether the making has ended.
const END_LOOK: Duration = Duration::from_millis(20);

/// Why a backup is not to be made after all.
type Abandoned = Arc<Mutex<Option<String>>>;

pub(super) struct Bases {
    shared: Arc<ShippingState>,
    vault: Arc<Vault>,
    data: PathBuf,
    full_every_ms: u64,
    thread: Option<JoinHandle<Result<Made, BackupError>>>,
    /// When the newest full backup was begun, once that is known.
    full_at_ms: u64,
    retry_at: Option<Instant>,
    backoff: Backoff,
    trouble: Option<String>,
}

/// A backup that is being made.
pub(super) struct Making {
    abandoned: Abandoned,
    /// How much log had been written when it was begun.
    pub(super) begun_at_bytes: u64,
}

impl Making {
    /// Ends it before its next piece. The first reason counts.
    pub(super) fn abandon(&self, reason: &str) {
        lock(&self.abandoned).get_or_insert_with(|| reason.to_owned());
    }

    pub(super) fn is_abandoned(&self) -> bool {
        lock(&self.abandoned).is_some()
    }
}

struct Made {
    manifest: Manifest,
    full_at_ms: u64,
}

impl Bases {
    pub(super) fn new(shared: Arc<ShippingState>, vault: Vault, data: PathBuf, full_every_ms: u64) -> Self {
        let (thread, retry_at, trouble) = (None, None, None);
        let backoff = Backoff::new(RETRY_DELAYS.0, RETRY_DELAYS.1);
        let vault = Arc::new(vault);
        Self { shared, vault, data, full_every_ms, thread, full_at_ms: 0, retry_at, backoff, trouble }
    }

    /// Why none can be made.
    pub(super) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Begins one if there is none with so many parts of log, or if one is due. While the store has not answered the
    /// last call of the one before, it would only wait.
    pub(super) fn begin_if_due(&mut self, parts: Option<u64>) {
        let is_old = wall_ms().saturating_sub(self.full_at_ms) >= self.full_every_ms;
        let is_due = parts.is_none_or(|parts| parts >= PARTS_MAX) || is_old;
        let may = self.thread.is_none() && self.retry_at.is_none_or(|at| Instant::now() >= at);
        if !is_due || !may || self.shared.base_calls.unanswered().is_some() {
            return;
        }
        self.shared.base_calls.give_up(false);
        let begun_at_bytes = {
            let mut kept = self.shared.kept();
            kept.begin_backup();
            kept.written_bytes()
        };
        let (vault, data, full_every_ms) = (self.vault.clone(), self.data.clone(), self.full_every_ms);
        let abandoned = Abandoned::default();
        let its = abandoned.clone();
        let thread = std::thread::Builder::new().name("backup-base".to_owned());
        match thread.spawn(move || make(&vault, &data, full_every_ms, &its)) {
            Ok(thread) => {
                self.thread = Some(thread);
                *lock(&self.shared.making) = Some(Making { abandoned, begun_at_bytes });
            }
            Err(error) => self.fail(&error),
        }
    }

    /// The backup that became complete since the last call.
    pub(super) fn finished(&mut self) -> Option<Manifest> {
        let thread = self.thread.take_if(|thread| thread.is_finished())?;
        *lock(&self.shared.making) = None;
        match thread.join() {
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

    /// Waits until the one that was abandoned has taken back what it had put.
    pub(super) fn end(&self, deadline: Instant) {
        while self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) && Instant::now() < deadline {
            std::thread::park_timeout(END_LOOK);
        }
    }
}

fn make(vault: &Vault, data: &Path, full_every_ms: u64, abandoned: &Abandoned) -> Result<Made, BackupError> {
    let newest_full_at_ms = newest_full_at_ms(vault)?;
    let is_full = wall_ms().saturating_sub(newest_full_at_ms) >= full_every_ms;
    let abandon = || lock(abandoned).clone();
    let options = CreateOptions { data, is_full, abandon: &abandon };
    let (manifest, problems) = create(vault, options, &mut |_| {})?;
    if let Err(error) = remember(vault, data) {
        let reason = explain(&error);
        tracing::warn!(reason, "it cannot be remembered that the store of backups is there");
    }
    for problem in problems {
        tracing::warn!(problem, "a backup lacks something that is damaged");
    }
    let full_at_ms = manifest.full_at_ms().max(newest_full_at_ms);
    Ok(Made { manifest, full_at_ms })
}

/// When the newest full backup of the store was begun; 0 if there is none.
fn newest_full_at_ms(vault: &Vault) -> Result<u64, BackupError> {
    let manifests = list(vault)?.into_iter().filter_map(|listed| listed.manifest.ok());
    // Every backup tells, because the full one may have been removed since.
    Ok(manifests.map(|manifest| manifest.full_at_ms()).max().unwrap_or(0))
}
