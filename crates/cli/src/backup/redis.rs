//! Backups of a deployment inside Redis, made beside the servers that write it: each partition at one sequence.

use std::collections::BTreeMap;
use std::sync::Arc;

use scarce_backup::{
    BackupError, LiveSource, MadeFile, MadePartition, Manifest, Vault, create_live, read_file,
};
use scarce_core::state::StateSettings;
use scarce_engine::{Failure, Log};
use scarce_engine_redis::copy::{DEPLOYMENT, PartitionCopy, Rows, UnreadableCopy};
use scarce_engine_redis::{RedisEngine, RedisSettings, default_state, inspect};

use crate::config::load;
use crate::files::progress_bar;
use crate::setting_flags::RedisFlags;
use crate::{Exit, Failed};

/// What the manifest of such a backup says.
pub(crate) const ENGINE: &str = "redis";

/// The file with the hashes that belong to no partition, as JSON.
const SHARED: &str = "shared.json";

/// Whether a Redis was named.
pub(crate) fn is_named(flags: &RedisFlags) -> bool {
    flags.0.given.iter().any(|given| given.key == "redis_url")
}

/// The Redis that was named.
pub(crate) fn settings(flags: &RedisFlags) -> Result<RedisSettings, Failed> {
    let settings = load(&flags.0)?.settings.redis().map_err(|error| Failed::text(Exit::Usage, error))?;
    Ok(RedisSettings { sweeps: false, ..settings })
}

/// Makes a backup.
pub(super) fn create(vault: &Vault, flags: &RedisFlags, is_full: bool) -> Result<Manifest, Failed> {
    let mut source = Source::open(settings(flags)?)?;
    let bar = progress_bar("backing up", 0);
    bar.set_length(u64::from(source.partitions()));
    let made = create_live(vault, &mut source, is_full, &mut |partition| {
        bar.set_position(u64::from(partition));
    });
    bar.finish_and_clear();
    made.map_err(|error| Failed::new(Exit::Failed, &error))
}

struct Source {
    engine: Arc<RedisEngine>,
    deployment: String,
}

impl Source {
    fn open(settings: RedisSettings) -> Result<Self, Failed> {
        let found = inspect::inspect(&settings)?;
        if !found.damages.is_empty() {
            return Err(Failed::text(Exit::Broken, found.damages.join("\n")));
        }
        // To open an engine creates a deployment where there is none.
        let Some(deployment) = found.deployment else {
            let text = format!(
                "there is no deployment behind '{}' in this Redis; see --redis-prefix",
                settings.prefix
            );
            return Err(Failed::text(Exit::Usage, text));
        };
        let engine = RedisEngine::open(RedisSettings { partitions: deployment.partitions, ..settings })?;
        let deployment = engine.deployment_id().to_owned();
        Ok(Self { engine: Arc::new(engine), deployment })
    }
}

fn unreadable(failure: &Failure) -> BackupError {
    BackupError::Live(failure.to_string())
}

impl LiveSource for Source {
    fn engine(&self) -> &str {
        ENGINE
    }

    fn deployment(&self) -> &str {
        &self.deployment
    }

    fn partitions(&self) -> u32 {
        self.engine.partitions()
    }

    fn files(&mut self) -> Result<Vec<MadeFile>, BackupError> {
        let shared = self.engine.copy_shared().map_err(|failure| unreadable(&failure))?;
        let content = serde_json::to_vec(&shared).map_err(|error| BackupError::Live(error.to_string()))?;
        Ok(vec![MadeFile { name: SHARED.to_owned(), content }])
    }

    fn partition(&mut self, partition: u32) -> Result<MadePartition, BackupError> {
        let copy = self.engine.copy(partition).map_err(|failure| unreadable(&failure))?;
        let (epoch, sequence, at_ms) =
            (copy.machine.epoch(), copy.machine.sequence(), copy.machine.state().at);
        let files = copy.files().into_iter();
        let files = files.map(|(name, content)| MadeFile { name: name.to_owned(), content }).collect();
        Ok(MadePartition { epoch, sequence, at_ms, files })
    }
}

/// A backup of a deployment inside Redis, to restore from.
pub(crate) struct Saved<'a> {
    pub(crate) vault: &'a Vault,
    pub(crate) manifest: &'a Manifest,
}

impl Saved<'_> {
    /// The hashes that belong to no partition.
    pub(crate) fn shared(&self) -> Result<BTreeMap<String, Rows>, Failed> {
        let content = read_file(self.vault, self.manifest, &self.manifest.files, SHARED);
        let content = content.map_err(|error| Failed::new(Exit::Broken, &error))?;
        let shared: BTreeMap<String, Rows> = serde_json::from_slice(&content).map_err(|error| {
            Failed::text(Exit::Broken, format!("backup {}, {SHARED}: {error}", self.manifest.id))
        })?;
        if shared.get(DEPLOYMENT).is_none_or(Rows::is_empty) {
            let text = format!("backup {}, {SHARED}: it has no deployment", self.manifest.id);
            return Err(Failed::text(Exit::Broken, text));
        }
        Ok(shared)
    }

    /// The settings of the deployment that all its servers have alike.
    pub(crate) fn state_settings(shared: &BTreeMap<String, Rows>) -> StateSettings {
        let field = |name: &str| shared.get(DEPLOYMENT)?.get(name)?.parse().ok();
        let usual = default_state();
        let receipt_retention_ms = field("receipt_retention_ms").unwrap_or(usual.receipt_retention_ms);
        StateSettings { receipt_retention_ms, ..usual }
    }

    /// Each partition, one after the other.
    pub(crate) fn partitions(
        &self,
        settings: &StateSettings,
    ) -> impl Iterator<Item = Result<PartitionCopy, Failed>> {
        self.manifest.partitions.iter().map(|part| {
            let read =
                |name: &str| read_file(self.vault, self.manifest, &part.files, name).map_err(Unread::Backup);
            PartitionCopy::read(settings.clone(), read).map_err(|unread| {
                let place = format!("backup {}, partition {}", self.manifest.id, part.partition);
                match unread {
                    Unread::Backup(error) => Failed::new(Exit::Broken, &error),
                    Unread::Copy(error) => Failed::text(Exit::Broken, format!("{place}: {error}")),
                }
            })
        })
    }
}

/// Why a partition of a backup cannot be read.
enum Unread {
    Backup(BackupError),
    Copy(UnreadableCopy),
}

impl From<UnreadableCopy> for Unread {
    fn from(error: UnreadableCopy) -> Self {
        Self::Copy(error)
    }
}

/// Reads all of a backup; gives the digest of each partition.
pub(super) fn drill(vault: &Vault, manifest: &Manifest) -> Result<Vec<(u32, String)>, Failed> {
    let saved = Saved { vault, manifest };
    let settings = Saved::state_settings(&saved.shared()?);
    let digest = |copy: PartitionCopy| {
        (copy.machine.partition(), format!("{:032x}", copy.machine.state().digest(None)))
    };
    saved.partitions(&settings).map(|copy| copy.map(digest)).collect()
}
