//! Reads the files of a deployment without changing anything.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use scarce_engine_embedded::deployment::Deployment;
use scarce_engine_embedded::journal::JournalProgress;
use scarce_engine_embedded::lock::{DirectoryLock, LockError};
use scarce_engine_embedded::relocation::{self, MarkError};
use scarce_engine_embedded::storage::{FileStorage, Storage};
use scarce_engine_embedded::{EmbeddedError, PartitionFiles, partition_directory};
use serde_json::Value;

use super::columns::aligned;
use super::{Exit, Failed};

/// A data directory to look at.
#[derive(Debug, Args)]
pub struct Files {
    /// The data directory, or a copy of one; a server may be running on it.
    #[arg(long, env = "SCARCE_DATA", default_value = "scarce-data", value_name = "DIR")]
    pub data: PathBuf,
    /// Only this partition.
    #[arg(long, value_name = "N")]
    pub partition: Option<u32>,
    /// Print JSON, an object on each line.
    #[arg(long)]
    pub json: bool,
}

/// A deployment's files, read only.
pub(super) struct Opened {
    pub(super) deployment: Deployment,
    partitions: Vec<(u32, Arc<dyn Storage>)>,
    /// Whether a server is running on them.
    pub(super) is_served: bool,
}

/// How often to retry reading a file that is being written when it changed in between.
const ATTEMPTS_MAX: u32 = 5;

impl Files {
    pub(super) fn open(&self) -> Result<Opened, Failed> {
        Opened::open(&self.data, self.partition)
    }
}

impl Opened {
    /// Opens a data directory, or one partition of it.
    pub(super) fn open(data: &Path, only: Option<u32>) -> Result<Self, Failed> {
        let deployment = load_deployment(data)?;
        let mut partitions = Vec::new();
        for partition in
            (0..deployment.partitions).filter(|partition| only.is_none_or(|only| only == *partition))
        {
            let storage = open_read_only(&data.join(partition_directory(partition)))?;
            partitions.push((partition, Arc::new(storage) as Arc<dyn Storage>));
        }
        if partitions.is_empty() {
            let text = format!("there is no such partition; the deployment has {}", deployment.partitions);
            return Err(Failed::text(Exit::Usage, text));
        }
        let is_served = matches!(DirectoryLock::share(data), Err(LockError::Held { .. }));
        Ok(Self { deployment, partitions, is_served })
    }

    /// The files of each partition.
    pub(super) fn partitions(&self) -> impl Iterator<Item = PartitionFiles<'_>> {
        self.partitions.iter().map(|(partition, storage)| PartitionFiles {
            storage: storage.clone(),
            deployment: &self.deployment,
            partition: *partition,
        })
    }

    /// Reads something, and retries if a running server may have changed it meanwhile.
    pub(super) fn look<T>(
        &self,
        mut look: impl FnMut() -> Result<T, EmbeddedError>,
    ) -> Result<T, EmbeddedError> {
        let mut attempt = 1;
        loop {
            match look() {
                Err(_) if self.is_served && attempt < ATTEMPTS_MAX => attempt += 1,
                result => return result,
            }
        }
    }
}

/// The deployment of a data directory.
pub(super) fn load_deployment(data: &Path) -> Result<Deployment, Failed> {
    let missing = || {
        let text = format!(
            "{} holds no deployment; name the directory of 'scarce serve', or a copy of it",
            data.display()
        );
        Failed::text(Exit::Failed, text)
    };
    if !data.is_dir() {
        return Err(missing());
    }
    let root = open_read_only(data)?;
    Deployment::load(&root).map_err(|error| Failed::new(Exit::Failed, &error))?.ok_or_else(missing)
}

/// Refuses the files of a deployment that has moved away, or has not arrived: who copies them goes on without what happened
/// since.
pub(super) fn check_current(data: &Path) -> Result<(), Failed> {
    let Err(error) = relocation::check_current(&open_read_only(data)?) else { return Ok(()) };
    let mut failed = Failed::new(Exit::Failed, &error);
    if matches!(error, MarkError::Moved { .. }) {
        failed.message.push_str(
            "\ntake the files there, or a backup of them. Only if all of those are lost, go on from before the move: copy these \
             files and remove 'moved' from the copy",
        );
    }
    Err(failed)
}

fn open_read_only(path: &Path) -> Result<FileStorage, Failed> {
    FileStorage::open_read_only(path).map_err(|error| Failed::new(Exit::Failed, &error))
}

/// An unreadable file is a failure; a readable file with wrong content is a broken invariant.
pub(super) fn failed(error: impl Into<EmbeddedError>) -> Failed {
    Failed::from(error.into())
}

/// A progress bar over the bytes of a partition's journal; indicatif shows it on terminals only.
pub(super) fn progress_bar(doing: &str, partition: u32) -> ProgressBar {
    let bar = ProgressBar::new(0);
    let template = format!("{doing} partition {partition} {{bar:40}} {{bytes}}/{{total_bytes}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}

/// Advances a progress bar.
pub(super) fn advance(bar: &ProgressBar) -> impl FnMut(JournalProgress) + '_ {
    |progress| {
        bar.set_length(progress.bytes_total);
        bar.set_position(progress.bytes_done);
    }
}

/// A text whose control characters are escaped: a terminal would obey them, and a table would lose its lines.
fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for its in text.chars() {
        if its.is_control() { printable.extend(its.escape_default()) } else { printable.push(its) }
    }
    printable
}

/// Prints rows of JSON objects, as JSON lines or as a table with a header.
pub(super) fn print_rows(rows: &[Value], columns: &[&str], as_json: bool) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    if as_json {
        return rows.iter().try_for_each(|row| writeln!(out, "{row}"));
    }
    let cell = |row: &Value, column: &str| match &row[column] {
        Value::String(text) => printable(text),
        other => other.to_string(),
    };
    let head = columns.iter().map(|column| (*column).to_owned()).collect();
    let cells = rows.iter().map(|row| columns.iter().map(|column| cell(row, column)).collect());
    aligned(std::iter::once(head).chain(cells)).iter().try_for_each(|line| writeln!(out, "{line}"))
}
