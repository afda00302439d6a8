//! The data directory: whether it is usable, which process uses it, and its content. Creates nothing.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use indicatif::HumanBytes;
use rustix::fs::{Access, FlockOperation};
use scarce_core::event::Entry;
use scarce_engine_embedded::deployment::Deployment;
use scarce_engine_embedded::journal;
use scarce_engine_embedded::partition_directory;
use scarce_engine_embedded::snapshot::{self, SnapshotOwner};
use scarce_engine_embedded::storage::{FileStorage, Storage};
use scarce_settings::ServerSettings;
use serde_json::json;

use super::disk::nearest_directory;
use super::finding::Finding;

/// What the other checks need to know about the data directory.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The process that holds its lock.
    pub(super) holder: Option<u32>,
    /// The last timestamp in its log, in Unix milliseconds.
    pub(super) newest_stamp: Option<u64>,
}

pub(super) fn examine(settings: &ServerSettings) -> (Vec<Finding>, Found) {
    let (data, mut found) = (settings.data.as_path(), Found::default());
    let mut findings = vec![directory(data)];
    if !data.is_dir() {
        return (findings, found);
    }
    let (lock, holder) = lock(data);
    found.holder = holder;
    findings.push(lock);
    let (deployment, loaded) = deployment(data, settings);
    findings.push(deployment);
    if let Some(deployment) = loaded {
        let (files, newest_stamp) = files(data, &deployment);
        found.newest_stamp = newest_stamp;
        findings.push(files);
    }
    (findings, found)
}

fn directory(data: &Path) -> Finding {
    const NAME: &str = "data directory";
    let shown = data.display();
    if data.exists() && !data.is_dir() {
        return Finding::fail(NAME, format!("{shown} is no directory"), "name another with --data");
    }
    let (nearest, is_there) = (nearest_directory(data), data.is_dir());
    let can_write = rustix::fs::access(&nearest, Access::WRITE_OK | Access::EXEC_OK).is_ok();
    if !can_write {
        let found = format!("{} is not writable for this user", nearest.display());
        return Finding::fail(
            NAME,
            found,
            "give it to the user that runs the server, or name another with --data",
        );
    }
    if !is_there {
        return Finding::ok(NAME, format!("{shown} is not there yet; 'scarce serve' creates it"));
    }
    let mode = std::fs::metadata(data).map_or(0, |found| found.permissions().mode());
    Finding::ok(NAME, format!("{shown} is writable"))
        .warn_if(mode & 0o077 != 0, format!("other users can look into it: chmod 700 {shown}"))
        .with(json!({ "path": data }))
}

/// Whether a server uses the directory. Takes the lock shared for a moment to find out.
fn lock(data: &Path) -> (Finding, Option<u32>) {
    const NAME: &str = "lock";
    let Ok(mut file) = File::open(data.join("lock")) else {
        return (Finding::ok(NAME, "free; it was never taken"), None);
    };
    if rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
        return (Finding::ok(NAME, "free"), None);
    }
    let mut text = String::new();
    // Even if the process id is unreadable, the lock is held.
    let _ = file.read_to_string(&mut text);
    let pid = text.trim().parse::<u32>().ok();
    let who = pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"));
    (
        Finding::ok(NAME, format!("held by {who}: a server runs on this directory"))
            .with(json!({ "pid": pid })),
        pid,
    )
}

fn deployment(data: &Path, settings: &ServerSettings) -> (Finding, Option<Deployment>) {
    const NAME: &str = "deployment";
    let loaded = FileStorage::open(data)
        .map_err(|error| error.to_string())
        .and_then(|storage| Deployment::load(&storage).map_err(|error| error.to_string()));
    let deployment = match loaded {
        Err(text) => return (Finding::fail(NAME, text, "the server does not start with this"), None),
        Ok(None) => return (Finding::ok(NAME, "none yet; the first start creates it"), None),
        Ok(Some(deployment)) => deployment,
    };
    let id: String = deployment.deployment_id.iter().map(|byte| format!("{byte:02x}")).collect();
    let text = format!("{id}, {} partitions", deployment.partitions);
    let figures = json!({ "deployment_id": id, "partitions": deployment.partitions });
    let finding = if deployment.partitions == settings.partitions {
        Finding::ok(NAME, text)
    } else {
        let advice = format!(
            "the settings say {}, and the number is fixed: set partitions = {}",
            settings.partitions, deployment.partitions
        );
        Finding::fail(NAME, text, advice)
    };
    (finding.with(figures), Some(deployment))
}

/// Files of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: u64,
    bytes: u64,
}

impl Sum {
    fn add(&mut self, path: &Path) {
        self.count += 1;
        self.bytes += std::fs::metadata(path).map_or(0, |found| found.len());
    }
}

/// Journal and snapshots of all partitions, and their last timestamp.
fn files(data: &Path, deployment: &Deployment) -> (Finding, Option<u64>) {
    let (mut segments, mut snapshots, mut newest_stamp) = (Sum::default(), Sum::default(), None);
    let mut damaged = Vec::new();
    for partition in 0..deployment.partitions {
        let path = data.join(partition_directory(partition));
        for entry in std::fs::read_dir(&path).into_iter().flatten().flatten() {
            match entry.file_name().to_string_lossy() {
                name if name.ends_with(".seg") => segments.add(&entry.path()),
                name if name.ends_with(".snap") => snapshots.add(&entry.path()),
                _ => {}
            }
        }
        if path.is_dir() {
            match stamp_of(&path, deployment, partition) {
                Ok(stamp) => newest_stamp = newest_stamp.max(stamp),
                Err(text) => damaged.push(text),
            }
        }
    }
    let text = format!(
        "journal {} in {} files, snapshots {} in {}",
        HumanBytes(segments.bytes),
        segments.count,
        HumanBytes(snapshots.bytes),
        snapshots.count
    );
    let advice =
        || format!("'scarce journal verify --data {}' says how far it can be trusted", data.display());
    let finding = match damaged.first() {
        None => Finding::ok("files", text),
        Some(first) => Finding::fail("files", format!("{text}; {first}"), advice()),
    };
    let figures = json!({
        "journal_files": segments.count,
        "journal_bytes": segments.bytes,
        "snapshot_files": snapshots.count,
        "snapshot_bytes": snapshots.bytes,
        "newest_stamp_ms": newest_stamp,
    });
    (finding.with(figures), newest_stamp)
}

/// The last timestamp of a partition's log, or of its newest snapshot if the log is empty.
fn stamp_of(path: &Path, deployment: &Deployment, partition: u32) -> Result<Option<u64>, String> {
    let storage = FileStorage::open(path).map_err(|error| error.to_string())?;
    let payload = journal::newest_payload(&storage).map_err(|error| error.to_string())?;
    if let Some(payload) = payload {
        let unread = |_| format!("the newest frame in {} holds no entries of this version", path.display());
        return Ok(Entry::read_all(&payload).map_err(unread)?.last().map(|entry| entry.head.at));
    }
    newest_snapshot(&storage, deployment, partition)
}

fn newest_snapshot(
    storage: &dyn Storage,
    deployment: &Deployment,
    partition: u32,
) -> Result<Option<u64>, String> {
    let owner = SnapshotOwner { deployment_id: deployment.deployment_id, partition };
    let Some(newest) = snapshot::list(storage).map_err(|error| error.to_string())?.pop() else {
        return Ok(None);
    };
    let reader = snapshot::load(storage, &newest.name, &owner).map_err(|error| error.to_string())?;
    Ok(Some(reader.info().stamp_ms))
}
