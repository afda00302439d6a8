//! `scarce restore`: a new data directory from a copy of one, or from a backup.

mod making;
mod origin;
mod point;
mod redis;
mod target;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use scarce_backup::Point;
use scarce_engine::clock::LEAP_STARTING_MAX;
use scarce_engine_embedded::deployment::Deployment;
use scarce_engine_embedded::{Restored, Until};
use serde_json::json;

use super::backup::{KeyFile, open_vault, shown_time};
use super::files::print_rows;
use super::setting_flags::RedisFlags;
use super::{Ended, Exit, Failed};
pub(super) use making::{Making, Purpose};
pub(super) use origin::{Origin, fetch_log};
use point::{At, Through};

/// `scarce restore`. The source is only read. The new directory is of the same deployment: do not let programs take
/// one for the other, and do not serve both.
#[derive(Debug, Args)]
pub struct Restore {
    /// What to restore from: a store of backups (a folder, file:///folder, or s3://bucket/prefix), or a copy
    /// of a data directory that no server is running on.
    #[arg(long, value_name = "URL")]
    pub from: String,
    /// The new data directory; it must not exist, or be empty. Without it, a deployment is restored into the Redis of --redis-url.
    #[arg(long, value_name = "DIR", required_unless_present = "redis_url", conflicts_with = "redis_url")]
    pub data: Option<PathBuf>,
    /// The last sequence to restore, as 0:1200 for partition 0; others are restored whole. May be repeated. A
    /// command or batch whose events reach beyond it is left out as a whole. Where there is one partition, 1200 will do.
    #[arg(long, alias = "sequence", value_name = "PARTITION:SEQ", conflicts_with_all = ["at", "redis_url"])]
    pub through: Vec<Through>,
    /// Restore every partition as it was at this time, as 2026-11-22T10:00:00Z or in Unix milliseconds.
    #[arg(long, value_name = "TIME", conflicts_with = "redis_url")]
    pub at: Option<At>,
    /// The backup to restore; otherwise the newest, or the one that reaches the time or the sequence.
    #[arg(long, value_name = "ID")]
    pub backup: Option<String>,
    /// Where the newest backup is damaged, restore the newest that can be used, with the log that follows it.
    #[arg(long, conflicts_with_all = ["backup", "at", "through"])]
    pub skip_damaged: bool,
    /// Restore a deployment without any events if all of them come later than the time.
    #[arg(long)]
    pub allow_empty: bool,
    /// The key of encrypted backups.
    #[command(flatten)]
    pub key: KeyFile,
    /// Print JSON, an object on each line.
    #[arg(long)]
    pub json: bool,
    /// With --redis-url: the Redis into which a backup of a deployment inside Redis is restored. It must have nothing behind the prefix.
    #[command(flatten)]
    pub redis: RedisFlags,
}

pub(super) fn run(options: &Restore) -> Ended {
    let Some(data) = &options.data else { return redis::run(options) };
    check_target(data)?;
    let making = Making::beside(data, Purpose::Restore)?;
    let origin = open(options, making.path())?;
    let through = check_partitions(options, &origin.deployment)?;
    let common = origin.common_time_ms.filter(|_| through.is_empty());
    let until = |partition| match (options.at, through.iter().find(|(its, _)| *its == partition)) {
        (Some(At(at)), _) => Until::Time(at),
        (None, Some((_, sequence))) => Until::Sequence(*sequence),
        (None, None) => common.map_or(Until::End, Until::LastBefore),
    };
    let done =
        origin.restore(making.path(), &until).map_err(|failed| explain_cut(failed, common, &origin))?;
    check_not_empty(options, &done)?;
    making.finish(data)?;
    report(options, data, (&origin, &done))
}

/// An empty deployment is hardly what is wanted of one that has events.
fn check_not_empty(options: &Restore, done: &[(u32, Restored)]) -> Result<(), Failed> {
    let is_empty = done.iter().all(|(_, restored)| restored.sequence == 0);
    let left_out: u64 = done.iter().map(|(_, restored)| restored.events_left_out).sum();
    if !is_empty || left_out == 0 || options.allow_empty || !options.through.is_empty() {
        return Ok(());
    }
    let text = format!(
        "nothing had happened at that time: all {left_out} events come later; add --allow-empty to restore a deployment without any"
    );
    Err(Failed::text(Exit::Failed, text))
}

/// Names the way around a cut that nobody asked for.
pub(super) fn explain_cut(mut failed: Failed, common: Option<u64>, origin: &Origin) -> Failed {
    if let Some(at) = common {
        let ends = origin.ends.iter().map(|(partition, last)| format!(" --through {partition}:{last}"));
        let (at, ends) = (shown_time(at), ends.collect::<String>());
        failed.message.push_str(&format!(
            "\npartitions are cut at {at}, so that they fit together; each can be restored to its own end with{ends}"
        ));
    }
    failed
}

/// Opens what is restored; the log that follows a backup is laid aside in `folder`.
fn open(options: &Restore, folder: &Path) -> Result<Origin, Failed> {
    if making::is_unfinished(Path::new(&options.from)) {
        let text = format!("{} is unfinished and lacks what was not copied", options.from);
        return Err(Failed::text(Exit::Failed, text));
    }
    if !origin::is_store(&options.from) {
        if options.backup.is_some() {
            let text =
                format!("{} is a data directory and holds no backups; leave out --backup", options.from);
            return Err(Failed::text(Exit::Usage, text));
        }
        return Origin::directory(Path::new(&options.from));
    }
    let vault = Arc::new(open_vault(&options.from, &options.key)?);
    let sequences = options.through.iter().map(|through| (through.partition.unwrap_or(0), through.sequence));
    let wanted = match options.at {
        Some(At(at)) => Point::Time(at),
        None if options.skip_damaged => Point::NewestUsable,
        None if options.through.is_empty() => Point::Newest,
        None => Point::Sequences(sequences.collect()),
    };
    match &options.backup {
        Some(id) if wanted == Point::Newest => Origin::without_log(&vault, &Point::Backup(id.clone())),
        Some(id) => Origin::with_log(&vault, &Point::Backup(id.clone()), &wanted, folder),
        None => Origin::with_log(&vault, &wanted, &wanted, folder),
    }
}

pub(super) fn check_target(data: &Path) -> Result<(), Failed> {
    let refused = |reason: String| Err(Failed::text(Exit::Failed, reason));
    if making::is_unfinished(data) {
        return refused(format!(
            "{} has the name of an unfinished directory; name another one, and the next command beside it removes what a killed one left",
            data.display()
        ));
    }
    if let Some(kind) = target::irreplaceable(data) {
        return refused(format!(
            "{} is {kind}, which the new directory cannot take the place of; name a directory that does not exist yet, such as {}",
            data.display(),
            data.join("restored").display()
        ));
    }
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

/// The last sequence of each partition for which one is given.
fn check_partitions(options: &Restore, deployment: &Deployment) -> Result<Vec<(u32, u64)>, Failed> {
    let usage = |text: String| Err(Failed::text(Exit::Usage, text));
    let partitions = deployment.partitions;
    let mut found: Vec<(u32, u64)> = Vec::new();
    for through in &options.through {
        let partition = match through.partition {
            Some(partition) => partition,
            None if partitions == 1 => 0,
            None => {
                return usage(format!(
                    "the deployment has {partitions} partitions; say of which, as --through 0:{}",
                    through.sequence
                ));
            }
        };
        if partition >= partitions {
            return usage(format!(
                "there is no partition {partition}; the deployment has {partitions}, counted from 0"
            ));
        }
        if found.iter().any(|(other, _)| *other == partition) {
            return usage(format!("--through is given twice for partition {partition}"));
        }
        found.push((partition, through.sequence));
    }
    Ok(found)
}

fn report(options: &Restore, data: &Path, (origin, done): (&Origin, &[(u32, Restored)])) -> Ended {
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
    if let Some(backup) = &origin.backup {
        for problem in origin.passed_over.iter().chain(&origin.other_histories) {
            writeln!(err, "{problem}")?;
        }
        writeln!(err, "restored from backup {}", backup.id)?;
        let common = origin.common_time_ms.filter(|_| options.at.is_none() && options.through.is_empty());
        if let Some(at) = common {
            let at = shown_time(at);
            writeln!(
                err,
                "partitions were cut at {at}, so that none has what follows from what another lacks"
            )?;
        }
    }
    for (partition, restored) in done {
        for problem in &restored.problems {
            writeln!(err, "partition {partition}: {problem}")?;
        }
    }
    if done.iter().any(|(_, restored)| restored.events_left_out > 0) {
        writeln!(err, "operations that were left out are unknown there: a copy of one is carried out anew")?;
    }
    let mut command = format!("scarce serve --data {}", data.display());
    if origin.deployment.partitions > 1 {
        command.push_str(&format!(" --partitions {}", origin.deployment.partitions));
    }
    if done.iter().any(|(_, restored)| is_long_ago(restored.at)) {
        command.push_str(" --accept-clock");
    }
    writeln!(err, "next: {command}")?;
    Ok(Exit::Done)
}

/// Whether a server would distrust the clock after such a timestamp.
pub(super) fn is_long_ago(at: u64) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    at > 0 && now.as_millis() > u128::from(at) + LEAP_STARTING_MAX.as_millis()
}
