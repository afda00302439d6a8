//! `scarce restore`: a new data directory from a copy of one.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use scarce_core::state;
use scarce_engine::clock::LEAP_STARTING_MAX;
use scarce_engine_embedded::deployment::Deployment;
use scarce_engine_embedded::journal::JournalError;
use scarce_engine_embedded::lock::DirectoryLock;
use scarce_engine_embedded::storage::{FileStorage, Storage};
use scarce_engine_embedded::{
    EmbeddedError, PartitionFiles, Restored, Until, partition_directory, restore_partition,
};
use serde_json::json;
use tempfile::TempDir;

use super::files::{Opened, advance, print_rows, progress_bar};
use super::{Ended, Exit, Failed};

/// `scarce restore`. The source is only read. The new directory is of the same deployment: do not let programs take
/// one for the other, and do not serve both.
#[derive(Debug, Args)]
pub struct Restore {
    /// The copy to restore from: a data directory that no server is running on.
    #[arg(long, value_name = "DIR")]
    pub from: PathBuf,
    /// The new data directory; it must not exist, or be empty.
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// The last sequence to restore, as 0:1200 for partition 0; others are restored whole. May be repeated. A
    /// command or batch whose events reach beyond it is left out as a whole.
    #[arg(long, value_name = "PARTITION:SEQ", conflicts_with = "at")]
    pub through: Vec<Through>,
    /// Restore every partition as it was at this time, in Unix milliseconds.
    #[arg(long, value_name = "TIME_MS")]
    pub at: Option<u64>,
    /// Print JSON, an object on each line.
    #[arg(long)]
    pub json: bool,
}

/// The last sequence of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Through {
    partition: u32,
    sequence: u64,
}

impl FromStr for Through {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = text
            .split_once(':')
            .and_then(|(partition, sequence)| Some((partition.parse().ok()?, sequence.parse().ok()?)));
        let (partition, sequence) = parsed.ok_or("must be as 0:1200")?;
        Ok(Self { partition, sequence })
    }
}

pub(super) fn run(options: &Restore) -> Ended {
    check_target(&options.data)?;
    let opened = Opened::open(&options.from, None)?;
    check_partitions(options, &opened.deployment)?;
    let _still = DirectoryLock::share(&options.from).map_err(|error| {
        let text = format!("{error}\nor restore from a copy that was taken while no server ran");
        Failed::text(Exit::Failed, text)
    })?;
    let making = begin(&options.data)?;
    copy_deployment(&options.from, making.path())?;
    let mut done = Vec::new();
    for source in opened.partitions() {
        let partition = source.partition;
        let restored = restore(options, &source, &making.path().join(partition_directory(partition)))?;
        done.push((partition, restored));
    }
    finish(making, &options.data)?;
    report(options, &opened.deployment, &done)
}

fn check_target(data: &Path) -> Result<(), Failed> {
    let refused = |reason: String| Err(Failed::text(Exit::Failed, reason));
    match std::fs::read_dir(data).map(|mut entries| entries.next().is_some()) {
        Ok(true) => refused(format!(
            "{} is not empty; name a directory that does not exist yet, nothing is ever overwritten",
            data.display()
        )),
        Ok(false) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => refused(format!("cannot look into {}: {error}", data.display())),
    }
}

fn check_partitions(options: &Restore, deployment: &Deployment) -> Result<(), Failed> {
    let partitions = deployment.partitions;
    for (at, through) in options.through.iter().enumerate() {
        if through.partition >= partitions {
            let text = format!(
                "there is no partition {}; the deployment has {partitions}, counted from 0",
                through.partition
            );
            return Err(Failed::text(Exit::Usage, text));
        }
        if options.through[..at].iter().any(|other| other.partition == through.partition) {
            let text = format!("--through is given twice for partition {}", through.partition);
            return Err(Failed::text(Exit::Usage, text));
        }
    }
    Ok(())
}

/// A temporary directory beside the new one, so that an incomplete result never has the final name.
fn begin(data: &Path) -> Result<TempDir, Failed> {
    let parent = parent_of(data);
    let made = std::fs::create_dir_all(parent)
        .and_then(|()| tempfile::Builder::new().prefix(".scarce-restore-").tempdir_in(parent));
    made.map_err(|error| Failed::text(Exit::Failed, format!("cannot write to {}: {error}", parent.display())))
}

fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Copies the deployment's file byte for byte: all other files refer to its id.
fn copy_deployment(from: &Path, to: &Path) -> Result<(), Failed> {
    const NAME: &str = "deployment.toml";
    let bytes = std::fs::read(from.join(NAME))?;
    let storage = FileStorage::open(to).map_err(|error| Failed::new(Exit::Failed, &error))?;
    let written = storage.create(NAME).and_then(|mut file| {
        file.write_at(0, &bytes)?;
        file.sync_data()?;
        storage.sync_directory()
    });
    written.map_err(|error| Failed::new(Exit::Failed, &error))
}

fn restore(options: &Restore, source: &PartitionFiles<'_>, target: &Path) -> Result<Restored, Failed> {
    let storage = FileStorage::open(target).map_err(|error| Failed::new(Exit::Failed, &error))?;
    let target = PartitionFiles { storage: Arc::new(storage), ..source.clone() };
    let through = options.through.iter().find(|through| through.partition == source.partition);
    let until = match (options.at, through) {
        (Some(at), _) => Until::Time(at),
        (None, Some(through)) => Until::Sequence(through.sequence),
        (None, None) => Until::End,
    };
    let bar = progress_bar("restoring", source.partition);
    let settings = state::StateSettings::default();
    let restored = restore_partition(source, &target, until, &settings, &mut advance(&bar));
    bar.finish_and_clear();
    restored.map_err(|error| explain(&error, source.partition))
}

/// Damage in the middle is no reason to lose what precedes it.
fn explain(error: &EmbeddedError, partition: u32) -> Failed {
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

/// Renames the finished directory to its final name.
fn finish(making: TempDir, data: &Path) -> Result<(), Failed> {
    std::fs::rename(making.path(), data).map_err(|error| {
        Failed::text(
            Exit::Failed,
            format!("cannot give the new directory the name {}: {error}", data.display()),
        )
    })?;
    // It has its final name now, and must stay.
    let _ = making.keep();
    std::fs::File::open(parent_of(data)).and_then(|parent| parent.sync_all())?;
    Ok(())
}

fn report(options: &Restore, deployment: &Deployment, done: &[(u32, Restored)]) -> Ended {
    let rows: Vec<_> = done
        .iter()
        .map(|(partition, restored)| {
            json!({
                "partition": partition,
                "sequence": restored.sequence,
                "at": restored.at,
                "digest": format!("{:032x}", restored.digest),
                "epoch": restored.epoch,
                "events_left_out": restored.events_left_out,
                "problems": restored.problems,
            })
        })
        .collect();
    let columns = ["partition", "sequence", "at", "digest", "epoch", "events_left_out"];
    print_rows(&rows, &columns, options.json)?;
    let mut err = std::io::stderr().lock();
    for (partition, restored) in done {
        for problem in &restored.problems {
            writeln!(err, "partition {partition}: {problem}")?;
        }
    }
    if done.iter().any(|(_, restored)| restored.events_left_out > 0) {
        writeln!(err, "operations that were left out are unknown there: a copy of one is carried out anew")?;
    }
    let mut command = format!("scarce serve --data {}", options.data.display());
    if deployment.partitions > 1 {
        command.push_str(&format!(" --partitions {}", deployment.partitions));
    }
    if done.iter().any(|(_, restored)| is_long_ago(restored.at)) {
        command.push_str(" --accept-clock");
    }
    writeln!(err, "next: {command}")?;
    Ok(Exit::Done)
}

/// Whether a server would distrust the clock after such a timestamp.
fn is_long_ago(at: u64) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    at > 0 && now.as_millis() > u128::from(at) + LEAP_STARTING_MAX.as_millis()
}
