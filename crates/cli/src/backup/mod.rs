//! `scarce backup`: makes backups beside a running server, lists, verifies and removes them.

mod prune;
pub(crate) mod redis;
mod vault;
mod verify;

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use scarce_backup::{
    BackupError, BackupProgress, CreateOptions, Key, Listed, LogEnd, Manifest, Vault, log_end,
};
use serde_json::{Value, json};

use super::files::{check_current, print_rows, progress_bar};
use super::setting_flags::RedisFlags;
use super::{Ended, Exit, Failed};
use prune::Prune;
pub(super) use vault::{KeyFile, open_vault};
use verify::Verify;

/// `scarce backup`.
#[derive(Debug, Subcommand)]
pub enum Backup {
    /// Back up a data directory, or a deployment inside Redis, also while servers are running on it. What an earlier backup brought is not put again.
    Create(Create),
    /// List the backups of a store.
    List(List),
    /// Read a backup and compare all of it with its checksums.
    Verify(Verify),
    /// Remove old backups, and what no backup needs any more.
    Prune(Prune),
    /// Make a key that encrypts backups.
    Key(NewKey),
}

/// Where backups are.
#[derive(Debug, Args)]
pub struct StoreOptions {
    /// The store: a folder, file:///folder, or s3://bucket/prefix. Each deployment needs one of its own.
    #[arg(long, env = "SCARCE_BACKUP", value_name = "URL")]
    pub store: String,
    /// The key of encrypted backups.
    #[command(flatten)]
    pub key: KeyFile,
    /// Print JSON, an object on each line.
    #[arg(long)]
    pub json: bool,
}

/// `scarce backup create`.
#[derive(Debug, Args)]
pub struct Create {
    /// Where to.
    #[command(flatten)]
    pub place: StoreOptions,
    /// The data directory; a server may be running on it.
    #[arg(long, env = "SCARCE_DATA", default_value = "scarce-data", value_name = "DIR")]
    pub data: PathBuf,
    /// Put everything again, without referring to earlier backups.
    #[arg(long)]
    pub full: bool,
    /// With --redis-url: the Redis whose deployment is backed up, instead of a data directory.
    #[command(flatten)]
    pub redis: RedisFlags,
}

/// `scarce backup list`.
#[derive(Debug, Args)]
pub struct List {
    /// Of which store.
    #[command(flatten)]
    pub place: StoreOptions,
}

/// `scarce backup key`.
#[derive(Debug, Args)]
pub struct NewKey {
    /// The file to write; it must not exist. Without it, encrypted backups cannot be read: keep a copy elsewhere.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

pub(super) fn run(backup: &Backup) -> Ended {
    match backup {
        Backup::Create(options) => create(options),
        Backup::List(options) => list(options),
        Backup::Verify(options) => verify::run(options),
        Backup::Prune(options) => prune::run(options),
        Backup::Key(options) => make_key(options),
    }
}

impl StoreOptions {
    fn open(&self) -> Result<Vault, Failed> {
        open_vault(&self.store, &self.key)
    }
}

fn create(options: &Create) -> Ended {
    if redis::is_named(&options.redis) {
        let vault = options.place.open()?;
        let manifest = redis::create(&vault, &options.redis, options.full)?;
        print_rows(&rows_of(&manifest, &LogEnd::default()), &COLUMNS, options.place.json)?;
        return Ok(Exit::Done);
    }
    // A backup of what the deployment has left would hide that there is none of where it is.
    if options.data.is_dir() {
        check_current(&options.data)?;
    }
    let vault = options.place.open()?;
    let mut bar = progress_bar("backing up", 0);
    let mut of = 0;
    let mut advance = |progress: BackupProgress| {
        if progress.partition != of {
            of = progress.partition;
            bar.finish_and_clear();
            bar = progress_bar("backing up", of);
        }
        bar.set_length(progress.bytes_total);
        bar.set_position(progress.bytes_done);
    };
    let what = CreateOptions { is_full: options.full, ..CreateOptions::of(&options.data) };
    let made = scarce_backup::create(&vault, what, &mut advance);
    bar.finish_and_clear();
    let (manifest, problems) = made.map_err(|error| Failed::new(Exit::Failed, &error))?;
    print_rows(&rows_of(&manifest, &LogEnd::default()), &COLUMNS, options.place.json)?;
    let mut err = std::io::stderr().lock();
    for problem in problems {
        writeln!(err, "{problem}")?;
    }
    Ok(Exit::Done)
}

const COLUMNS: [&str; 10] = [
    "backup",
    "begun_at",
    "partition",
    "reaches_back_to",
    "sequence",
    "log_through",
    "bytes",
    "new_bytes",
    "builds_on",
    "encrypted",
];

/// A row for each partition, as it can be restored with the log that follows.
fn rows_of(manifest: &Manifest, log: &LogEnd) -> Vec<Value> {
    let (bytes, new_bytes) = (manifest.bytes(), manifest.new_bytes());
    let row = |part: &scarce_backup::PartitionPart| {
        json!({
            "backup": manifest.id,
            "deployment": manifest.deployment,
            "begun_at": shown_time(manifest.begun_at_ms),
            "begun_at_ms": manifest.begun_at_ms,
            "partition": part.partition,
            "epoch": part.epoch,
            "reaches_back_to": part.reaches_back_to(),
            "sequence": log.sequences.get(&part.partition).copied().unwrap_or(0).max(part.last_sequence),
            "log_parts": log.parts,
            "log_bytes": log.bytes,
            "log_through": (log.parts > 0).then(|| shown_time(log.taken_at_ms)),
            "log_through_ms": (log.parts > 0).then_some(log.taken_at_ms),
            "last_at_ms": part.last_at_ms,
            "bytes": bytes,
            "new_bytes": new_bytes,
            "builds_on": manifest.builds_on,
            "encrypted": manifest.key,
        })
    };
    manifest.partitions.iter().map(row).collect()
}

pub(super) fn shown_time(at_ms: u64) -> String {
    let at = i64::try_from(at_ms).ok().and_then(|at| Timestamp::from_millisecond(at).ok());
    at.map_or_else(|| at_ms.to_string(), |at| at.to_string())
}

fn list(options: &List) -> Ended {
    let vault = options.place.open()?;
    let listed = scarce_backup::list(&vault).map_err(|error| Failed::new(Exit::Failed, &error))?;
    check_any(&vault, &listed)?;
    let mut rows = Vec::new();
    let mut unusable = Vec::new();
    for Listed { id, manifest, .. } in listed {
        match manifest {
            Ok(manifest) => {
                if let Err(error @ BackupError::Plain { .. }) = vault.key_of(&manifest) {
                    unusable.push(error.to_string());
                }
                let log = end_of_log(&vault, &manifest, &mut unusable)?;
                rows.extend(rows_of(&manifest, &log));
            }
            Err(error) => unusable.push(format!("{id}: {}", Failed::new(Exit::Broken, &error).message)),
        }
    }
    print_rows(&rows, &COLUMNS, options.place.json)?;
    if unusable.is_empty() {
        return Ok(Exit::Done);
    }
    Err(Failed::text(Exit::Broken, unusable.join("\n")))
}

/// An empty folder may be one where a file system is not mounted.
fn check_any(vault: &Vault, listed: &[Listed]) -> Result<(), Failed> {
    if !listed.is_empty() {
        return Ok(());
    }
    Err(none_there(vault))
}

fn none_there(vault: &Vault) -> Failed {
    let place = vault.store.locate("");
    let mounted = if place.contains("://") { "" } else { ", and that it is mounted" };
    Failed::text(Exit::Failed, format!("there is no backup at {place}; check the address{mounted}"))
}

/// A failure of a backup, or of what is in its store.
pub(super) fn of_backup(error: &BackupError) -> Failed {
    let is_broken = matches!(error, BackupError::NewestUnusable { .. } | BackupError::Damaged { .. });
    Failed::new(if is_broken { Exit::Broken } else { Exit::Failed }, error)
}

/// Without the key it is not known how far the log goes.
fn end_of_log(vault: &Vault, manifest: &Manifest, unusable: &mut Vec<String>) -> Result<LogEnd, Failed> {
    match log_end(vault, manifest) {
        Err(BackupError::WrongKey { .. }) => Ok(LogEnd::default()),
        Err(error) => Err(Failed::new(Exit::Failed, &error)),
        Ok(end) => {
            unusable
                .extend(end.problem.iter().map(|problem| format!("log after {}: {problem}", manifest.id)));
            Ok(end)
        }
    }
}

fn make_key(options: &NewKey) -> Ended {
    let key = Key::generate()?;
    let mut file = std::fs::OpenOptions::new();
    let mut file = file.write(true).create_new(true).mode(0o600).open(&options.file).map_err(|error| {
        let text = format!("cannot make {}: {error}; a key is never overwritten", options.file.display());
        Failed::text(Exit::Failed, text)
    })?;
    writeln!(file, "{key}")?;
    file.sync_all()?;
    writeln!(
        std::io::stderr().lock(),
        "keep a copy of {} elsewhere: without it, the backups that it encrypts cannot be read",
        options.file.display()
    )?;
    Ok(Exit::Done)
}
