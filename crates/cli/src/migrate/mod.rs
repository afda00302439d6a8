//! `scarce migrate`: a deployment goes into other files, among another number of partitions.
//!
//! The new directory is made under another name. It gets its own name once it is whole, and is served only when the old
//! directory has the mark that it has moved: that is the one moment at which the deployment changes its place.

mod beside;
mod handover;
mod into_files;
mod into_redis;
mod partition_in_redis;
mod report;

use std::path::{Path, PathBuf};

use clap::Args;
use scarce_engine_embedded::EmbeddedError;
use scarce_engine_embedded::deployment::Deployment;
use scarce_engine_embedded::lock::{DirectoryLock, LockError};
use scarce_engine_embedded::relocation::{Arriving, Moved};
use scarce_engine_embedded::storage::FileStorage;

pub(super) use beside::{arrive, has_arrived};

use super::files::load_deployment;
use super::restore::{Making, Purpose, check_target};
use super::setting_flags::MoveFlags;
use super::{Ended, Exit, Failed};
use handover::Handover;

/// `scarce migrate`. The old files stay as they are but for a mark, and are never served again.
#[derive(Debug, Args)]
pub struct Migrate {
    /// The data directory that the deployment is in. A server that runs on it goes on until the new files are whole.
    #[arg(long, value_name = "DIR")]
    pub from: PathBuf,
    /// The data directory that it goes into, which must not exist, or be empty; or a Redis, such as redis://127.0.0.1:6379.
    #[arg(long, value_name = "DIR|URL")]
    pub to: PathBuf,
    /// The number of partitions from then on; otherwise as many as now.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub partitions: Option<u32>,
    /// Where it will be served, as host:port; callers of the old server are told. Otherwise the new directory is named.
    #[arg(long, value_name = "ADDRESS")]
    pub address: Option<String>,
    /// Say what would be done and whether it is possible, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON, an object on each line.
    #[arg(long)]
    pub json: bool,
    /// How to reach a Redis.
    #[command(flatten)]
    pub redis: MoveFlags,
}

/// A deployment whose files rest.
struct Source {
    deployment: Deployment,
    /// No server may start on the files meanwhile.
    _alone: DirectoryLock,
}

impl Source {
    fn begin(from: &Path) -> Result<Self, Failed> {
        let deployment = load_deployment(from)?;
        let alone = DirectoryLock::acquire(from).map_err(|error| {
            let exit = if matches!(error, LockError::Held { .. }) { Exit::Refused } else { Exit::Failed };
            Failed::new(exit, &error)
        })?;
        check_not_moved(from)?;
        Ok(Self { deployment, _alone: alone })
    }
}

/// What a move is made of.
struct Move<'a> {
    options: &'a Migrate,
    source: Source,
    partitions: u32,
}

pub(super) fn run(options: &Migrate) -> Ended {
    if let Some(url) = into_redis::address_of(&options.to) {
        return into_redis::run(options, url);
    }
    if !options.dry_run && matches!(DirectoryLock::share(&options.from), Err(LockError::Held { .. })) {
        return beside::run(options);
    }
    let the_move = Move::begin(options)?;
    if options.dry_run {
        let parts = the_move.try_out()?;
        report::print(options, the_move.partitions, &parts)?;
        return Ok(Exit::Done);
    }
    let making = Making::beside(&options.to, Purpose::Migrate)?;
    // Before the work: the disk of the old directory may be full.
    let handover = Handover::prepare(options)?;
    let parts = the_move.make(making.path())?;
    handover.complete(making)?;
    report::print(options, the_move.partitions, &parts)?;
    Ok(Exit::Done)
}

impl<'a> Move<'a> {
    fn begin(options: &'a Migrate) -> Result<Self, Failed> {
        load_deployment(&options.from)?;
        check_target(&options.to).map_err(|failed| Failed { exit: Exit::Refused, ..failed })?;
        check_apart(&options.from, &options.to)?;
        let source = Source::begin(&options.from)?;
        let partitions = options.partitions.unwrap_or(source.deployment.partitions);
        Ok(Self { options, source, partitions })
    }

    /// Whether the partitions stay as they are, with their logs.
    fn keeps_partitions(&self) -> bool {
        self.partitions == self.source.deployment.partitions
    }
}

fn storage(path: &Path) -> Result<FileStorage, Failed> {
    Ok(FileStorage::open(path).map_err(EmbeddedError::from)?)
}

/// Who removes the old directory, once it is not needed any more, must not remove the new one with it.
fn check_apart(from: &Path, to: &Path) -> Result<(), Failed> {
    let Ok(from) = from.canonicalize() else { return Ok(()) };
    let there = std::path::absolute(to)?.ancestors().find_map(|its| its.canonicalize().ok());
    if !there.is_some_and(|there| there.starts_with(&from)) {
        return Ok(());
    }
    let text = format!(
        "{} is inside of {}, which is left behind; name a directory beside it",
        to.display(),
        from.display()
    );
    Err(Failed::text(Exit::Refused, text))
}

/// A deployment moves on from where it is, and not from where it was.
fn check_not_moved(from: &Path) -> Result<(), Failed> {
    let root = FileStorage::open_read_only(from).map_err(EmbeddedError::from)?;
    if let Some(Moved { address, .. }) = Moved::load(&root).map_err(EmbeddedError::from)? {
        let text =
            format!("the deployment in {} has moved to {address}; move it on from there", from.display());
        return Err(Failed::text(Exit::Refused, text));
    }
    if Arriving::load(&root).map_err(EmbeddedError::from)?.is_some() {
        let text =
            format!("{} is not finished; start a server on it once, which finishes it", from.display());
        return Err(Failed::text(Exit::Refused, text));
    }
    Ok(())
}
