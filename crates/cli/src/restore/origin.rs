//! What a restore reads: a copy of a data directory, or a backup in a store.

use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::Arc;

use scarce_backup::{
    BackupError, BackupStorage, Manifest, PartitionPart, Point, ShippedLog, Vault, choose, read_log,
};
use scarce_core::state;
use scarce_engine_embedded::deployment::Deployment;
use scarce_engine_embedded::journal::JournalError;
use scarce_engine_embedded::lock::DirectoryLock;
use scarce_engine_embedded::storage::{FileStorage, Storage};
use scarce_engine_embedded::{
    EmbeddedError, PartitionFiles, Restored, Until, partition_directory, restore_partition,
};

use crate::backup::{of_backup, shown_time};
use crate::files::{Opened, advance, check_current, load_deployment, progress_bar};
use crate::{Exit, Failed};

const DEPLOYMENT_FILE: &str = "deployment.toml";
const DEPLOYMENT_BYTES_MAX: usize = 64 << 10;

/// The files of a deployment, from wherever they are.
pub(crate) struct Origin {
    pub(crate) deployment: Deployment,
    /// The backup, if it is one.
    pub(crate) backup: Option<Arc<Manifest>>,
    /// Other backups that cannot be used, and why.
    pub(crate) passed_over: Vec<String>,
    /// The newest backups of other histories.
    pub(crate) other_histories: Vec<String>,
    /// The last sequence of each partition, if it is a backup.
    pub(crate) ends: Vec<(u32, u64)>,
    /// The time at which partitions are cut where nothing else is asked for, so that they fit together.
    pub(crate) common_time_ms: Option<u64>,
    root: Arc<dyn Storage>,
    partitions: Vec<(u32, Arc<dyn Storage>)>,
    _still: Option<DirectoryLock>,
}

/// Whether an address names a store of backups, and not a data directory or a copy of one.
pub(super) fn is_store(from: &str) -> bool {
    from.contains("://")
        || (Path::new(from).join("backups").is_dir() && !Path::new(from).join(DEPLOYMENT_FILE).exists())
}

impl Origin {
    /// A copy of a data directory that no server uses.
    pub(super) fn directory(path: &Path) -> Result<Self, Failed> {
        load_deployment(path)?;
        check_current(path)?;
        let still = DirectoryLock::share(path).map_err(|error| {
            let text = format!(
                "{error}\nor restore from a backup: 'scarce backup create' makes one beside a running server"
            );
            Failed::text(Exit::Failed, text)
        })?;
        Ok(Self { _still: still, ..Self::at_rest(path)? })
    }

    /// A data directory that the caller keeps servers away from.
    pub(crate) fn at_rest(path: &Path) -> Result<Self, Failed> {
        let opened = Opened::open(path, None)?;
        let root = FileStorage::open_read_only(path).map_err(EmbeddedError::from)?;
        let partitions = opened.partitions().map(|files| (files.partition, files.storage)).collect();
        Ok(Self {
            deployment: opened.deployment,
            backup: None,
            passed_over: Vec::new(),
            other_histories: Vec::new(),
            ends: Vec::new(),
            common_time_ms: None,
            root: Arc::new(root),
            partitions,
            _still: None,
        })
    }

    /// The backup that a point names, as it is.
    pub(super) fn without_log(vault: &Arc<Vault>, point: &Point) -> Result<Self, Failed> {
        let chosen = choose(vault, point).map_err(|error| of_backup(&error))?;
        let (passed_over, other_histories) = (chosen.passed_over, chosen.other_histories);
        Ok(Self { passed_over, other_histories, ..Self::of(vault, chosen.manifest, None)? })
    }

    /// The backup of a point, with the log that follows it, which is laid aside in a folder. It must lead to what is
    /// wanted.
    pub(super) fn with_log(
        vault: &Arc<Vault>,
        point: &Point,
        wanted: &Point,
        folder: &Path,
    ) -> Result<Self, Failed> {
        let chosen = choose(vault, point).map_err(|error| of_backup(&error))?;
        let log = if chosen.has_log { Some(fetch_log(vault, &chosen.manifest, folder)?) } else { None };
        let checked = log.as_ref().map_or(Ok(()), |log| check_log(log, wanted, &chosen.manifest));
        let mut passed_over = chosen.passed_over;
        let (manifest, log) = match (checked, chosen.without_log) {
            (Ok(()), _) => (chosen.manifest, log),
            (Err(damaged), Some(other)) => {
                let reason = damaged.message.lines().next().unwrap_or_default().to_owned();
                passed_over.push(reason);
                (other, None)
            }
            (Err(damaged), None) => return Err(damaged),
        };
        check_time(log.as_deref(), wanted, &manifest)?;
        let other_histories = chosen.other_histories;
        Ok(Self { passed_over, other_histories, ..Self::of(vault, manifest, log.as_ref())? })
    }

    /// A backup, with the log that follows it if that is given.
    pub(crate) fn of(
        vault: &Arc<Vault>,
        manifest: Manifest,
        log: Option<&Arc<ShippedLog>>,
    ) -> Result<Self, Failed> {
        vault.key_of(&manifest).map_err(|error| Failed::new(Exit::Failed, &error))?;
        if let Some(engine) = &manifest.engine {
            let text = format!(
                "backup {} is of a deployment inside {engine} and makes no data directory; restore it with --redis-url",
                manifest.id
            );
            return Err(Failed::text(Exit::Usage, text));
        }
        let manifest = Arc::new(manifest);
        let root = BackupStorage::of_deployment(vault, &manifest);
        let deployment = Deployment::load(&root).map_err(read_failed)?;
        let deployment = deployment.ok_or_else(|| {
            Failed::text(Exit::Broken, format!("backup {} lacks {DEPLOYMENT_FILE}", manifest.id))
        })?;
        let partitions = BackupStorage::of_partitions(vault, &manifest, log).into_iter();
        let partitions =
            partitions.map(|(partition, files)| (partition, Arc::new(files) as Arc<dyn Storage>));
        let partitions: Vec<_> = partitions.collect();
        let log_to = log.map(|log| log.taken_at_ms).filter(|at| *at > 0 && partitions.len() > 1);
        let last = |part: &PartitionPart| {
            let shipped = log.and_then(|log| log.sequences.get(&part.partition).copied());
            (part.partition, part.last_sequence.max(shipped.unwrap_or(0)))
        };
        let ends = manifest.partitions.iter().map(last).collect();
        let common_time_ms = log_to.or_else(|| manifest.common_time_ms());
        let (backup, root) = (Some(manifest), Arc::new(root));
        Ok(Self {
            deployment,
            backup,
            passed_over: Vec::new(),
            other_histories: Vec::new(),
            ends,
            common_time_ms,
            root,
            partitions,
            _still: None,
        })
    }

    /// Restores everything into an empty directory, and verifies it by recovering it.
    pub(crate) fn restore(
        &self,
        to: &Path,
        until: &dyn Fn(u32) -> Until,
    ) -> Result<Vec<(u32, Restored)>, Failed> {
        self.copy_deployment(to)?;
        let mut done = Vec::new();
        for (partition, storage) in &self.partitions {
            let target = to.join(partition_directory(*partition));
            let target = FileStorage::open(target).map_err(EmbeddedError::from)?;
            let source = PartitionFiles {
                storage: storage.clone(),
                deployment: &self.deployment,
                partition: *partition,
            };
            let target = PartitionFiles { storage: Arc::new(target), ..source.clone() };
            let bar = progress_bar("restoring", *partition);
            let settings = state::StateSettings::default();
            let restored =
                restore_partition(&source, &target, until(*partition), &settings, &mut advance(&bar));
            bar.finish_and_clear();
            done.push((*partition, restored.map_err(|error| explain(&error, *partition))?));
        }
        Ok(done)
    }

    /// Copies the deployment's file byte for byte: all other files refer to its id.
    fn copy_deployment(&self, to: &Path) -> Result<(), Failed> {
        let copied = || {
            let file = self.root.open(DEPLOYMENT_FILE)?;
            let mut bytes = vec![0; DEPLOYMENT_BYTES_MAX];
            let read = file.read_at(0, &mut bytes)?;
            let storage = FileStorage::open(to)?;
            let mut copy = storage.create(DEPLOYMENT_FILE)?;
            copy.write_at(0, &bytes[..read])?;
            copy.sync_data()?;
            storage.sync_directory()
        };
        copied().map_err(read_failed)
    }
}

/// Reads the log that follows a backup into a file without a name in a folder.
pub(crate) fn fetch_log(
    vault: &Vault,
    manifest: &Manifest,
    folder: &Path,
) -> Result<Arc<ShippedLog>, Failed> {
    let spool = tempfile::tempfile_in(folder).map_err(|error| {
        Failed::text(Exit::Failed, format!("cannot write to {}: {error}", folder.display()))
    })?;
    let log = read_log(vault, manifest, spool).map_err(|error| Failed::new(Exit::Failed, &error))?;
    Ok(Arc::new(log))
}

/// Refuses a log that is damaged before the point. What comes later is not needed.
fn check_log(log: &ShippedLog, point: &Point, manifest: &Manifest) -> Result<(), Failed> {
    let Some(problem) = &log.problem else { return Ok(()) };
    let reaches = |partition: &u32, sequence: &u64| {
        let part = manifest.partitions.iter().find(|part| part.partition == *partition);
        part.is_some_and(|part| part.last_sequence >= *sequence)
            || log.sequences.get(partition).is_some_and(|last| last >= sequence)
    };
    let is_reached = match point {
        Point::Newest | Point::NewestAsItIs | Point::NewestUsable | Point::Backup(_) => false,
        Point::Time(at) => log.taken_at_ms >= *at || manifest.covers_time(*at),
        Point::Sequences(wanted) => wanted.iter().all(|(partition, sequence)| reaches(partition, sequence)),
    };
    if is_reached {
        return Ok(());
    }
    let mut failed = Failed::new(Exit::Failed, problem);
    let ends = log.sequences.iter().map(|(partition, last)| format!(" --through {partition}:{last}"));
    let id = &manifest.id;
    failed.message.push_str(&match ends.collect::<String>() {
        ends if ends.is_empty() => format!("\nwhat comes before can be restored with --backup {id}"),
        ends => format!("\nwhat comes before can be restored with{ends}"),
    });
    Err(failed)
}

/// Refuses a time up to which it is not known that all is there.
fn check_time(log: Option<&ShippedLog>, wanted: &Point, manifest: &Manifest) -> Result<(), Failed> {
    let Point::Time(at) = wanted else { return Ok(()) };
    let log_to = log.map_or(0, |log| log.taken_at_ms);
    if log_to >= *at || manifest.covers_time(*at) {
        return Ok(());
    }
    let (id, at, to) = (&manifest.id, shown_time(*at), shown_time(log_to.max(manifest.begun_at_ms)));
    let text = format!("backup {id} with the log that follows it leads to {to}, not to {at}");
    Err(Failed::text(Exit::Failed, text))
}

/// What a store of backups said where a read of it failed: no disk of this machine is at fault then.
fn store_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a BackupError> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let its = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if let Some(found) = its.and_then(|its| its.downcast_ref()) {
            return Some(found);
        }
        cause = error.source();
    }
    None
}

fn read_failed(error: impl Into<EmbeddedError>) -> Failed {
    let error = error.into();
    store_error(&error).map_or_else(|| Failed::new(Exit::Failed, &error), of_backup)
}

/// Damage in the middle is no reason to lose what precedes it.
fn explain(error: &EmbeddedError, partition: u32) -> Failed {
    if let Some(error) = store_error(error) {
        return of_backup(error);
    }
    let mut failed = Failed::new(Exit::Failed, error);
    if let EmbeddedError::Journal(JournalError::Corrupt { sequence, .. }) = error
        && *sequence > 1
    {
        failed.message.push_str(&format!(
            "\nwhat comes before the damage can be restored with --through {partition}:{}",
            sequence - 1
        ));
    }
    failed
}
