//! `scarce mirror`: shows how far the mirror in Redis is, compares it with the engine, and has it written anew.

use std::io::Write;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use scarce_client::{Client, Extent, Info};
use scarce_core::event::Position;
use scarce_core::state::StateSettings;
use scarce_mirror::{Mark, Mirror, MirrorError};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::args::Target;
use crate::call::json as answer_json;
use crate::config::load;
use crate::files::print_rows;
use crate::setting_flags::{MirrorFlags, SettingFlags};
use crate::{Ended, Exit, Failed};

/// How long to wait until mirror and engine are at the same sequence.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often it is looked.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// `scarce mirror`.
#[derive(Debug, Subcommand)]
pub enum MirrorCommand {
    /// Say how far the log of a running server is in the mirror.
    Status(Options),
    /// Compare the digest of what the mirror's keys hold with that of the running server, at the same sequence.
    Verify(Options),
    /// Have the running server compare every row of the mirror with its state, and write what differs.
    Rebuild(Options),
}

/// Which mirror, and of which server.
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    /// Which Redis.
    pub redis: MirrorFlags,
    /// Which server.
    #[command(flatten)]
    pub target: Target,
    /// Print JSON, an object on each line.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(command: &MirrorCommand) -> Ended {
    match command {
        MirrorCommand::Status(options) => status(options),
        MirrorCommand::Verify(options) => verify(options),
        MirrorCommand::Rebuild(options) => rebuild(options),
    }
}

/// The mirror of a server.
pub(crate) fn open(flags: &SettingFlags, server: &Info) -> Result<Mirror, Failed> {
    let settings = load(flags)?.settings;
    let redis = settings.mirror_redis().map_err(|text| Failed::text(Exit::Usage, text))?;
    let redis = redis.ok_or_else(|| {
        Failed::text(
            Exit::Usage,
            "name the mirror's Redis with --mirror, such as --mirror redis://127.0.0.1:6379",
        )
    })?;
    let partitions = u32::try_from(server.partitions.len()).unwrap_or(u32::MAX);
    Ok(Mirror::new(&redis, partitions, &server.deployment_id)?)
}

fn status(options: &Options) -> Ended {
    let mut client = options.target.connect()?;
    let server = Info::ask(&mut client)?;
    let mirror = open(&options.redis.0, &server)?;
    let marks = Runtime::new()?.block_on(mirror.marks())?;
    let mut rows = Vec::new();
    for ((partition, extent), mark) in server.partitions.iter().zip(&marks) {
        let position = mark.position;
        let is_other = is_of_another_history(&mut client, *partition, position)?;
        let lag = extent.last.unwrap_or(0).saturating_sub(position.sequence);
        rows.push(json!({
            "partition": partition,
            "epoch": position.epoch,
            "sequence": position.sequence,
            "history": if is_other { "other" } else { "same" },
            "lag_events": Some(lag).filter(|_| !is_other),
            "event_at_ms": Some(mark.at).filter(|at| *at > 0),
            "written_at_ms": Some(mark.written_at).filter(|at| *at > 0),
            "writer": mark.writer,
        }));
    }
    let columns =
        ["partition", "epoch", "sequence", "history", "lag_events", "event_at_ms", "written_at_ms", "writer"];
    print_rows(&rows, &columns, options.json)?;
    if rows.iter().any(|row| row["history"] == "other") {
        let advice = "the mirror shows positions that the server's log never had, as of before a restore: a server with --mirror \
                      compares every row at its start, and writes what differs";
        writeln!(std::io::stderr(), "{advice}")?;
    }
    Ok(Exit::Done)
}

/// Whether the log of a server never had a position. Of one that was trimmed that is not known.
fn is_of_another_history(client: &mut Client, partition: u32, position: Position) -> Result<bool, Failed> {
    let Position { epoch, sequence } = position;
    if sequence == 0 {
        return Ok(false);
    }
    let words = [partition.to_string(), epoch.to_string(), sequence.to_string()];
    let answer = client
        .call(&["EVENTS", &words[0], &words[1], &words[2], "COUNT", "1"])
        .map(|answer| answer_json(&answer))?;
    Ok(answer["message"].as_str().is_some_and(|text| text.contains("begin anew")))
}

fn verify(options: &Options) -> Ended {
    let mut client = options.target.connect()?;
    let server = Info::ask(&mut client)?;
    let mirror = open(&options.redis.0, &server)?;
    let runtime = Runtime::new()?;
    runtime.block_on(mirror.marks())?;
    let mut rows = Vec::new();
    for partition in server.partitions.keys() {
        rows.push(compare(&runtime, &mirror, &mut client, *partition)?);
    }
    print_rows(&rows, &["partition", "sequence", "mirror", "engine", "equal"], options.json)?;
    if rows.iter().all(|row| row["equal"] == true) {
        return Ok(Exit::Done);
    }
    let advice = "the mirror differs: 'scarce mirror rebuild' has the server write what differs; if it differs again, someone \
                  else writes there";
    writeln!(std::io::stderr(), "{advice}")?;
    Ok(Exit::Broken)
}

/// Compares the digests of a partition once both are at the same sequence.
fn compare(runtime: &Runtime, mirror: &Mirror, client: &mut Client, partition: u32) -> Result<Value, Failed> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let found = runtime.block_on(mirror.digest(partition, &StateSettings::default()))?;
        let engine = digest_of(client, partition)?;
        if let (Some((position, digest)), Some((sequence, expected))) = (found, engine)
            && position.sequence == sequence
        {
            let digest = format!("{digest:032x}");
            return Ok(json!({
                "partition": partition, "sequence": sequence, "equal": digest == expected, "mirror": digest, "engine": expected,
            }));
        }
        runtime.block_on(async { tokio::time::sleep(LOOK_INTERVAL).await });
    }
    let text = format!(
        "partition {partition}: mirror and engine were at different sequences for {} s; 'scarce mirror status' says how far the \
         mirror is behind; try again while fewer commands arrive",
        PATIENCE.as_secs()
    );
    Err(Failed::text(Exit::Failed, text))
}

/// The digest of a partition of the server, and its sequence.
fn digest_of(client: &mut Client, partition: u32) -> Result<Option<(u64, String)>, Failed> {
    let answer = answer_json(&client.call(&["DIGEST"])?);
    let rows = answer.as_array().cloned().unwrap_or_default();
    let row = rows.into_iter().find(|row| row.get(0).and_then(Value::as_u64) == Some(partition.into()));
    Ok(row.and_then(|row| Some((row.get(1)?.as_u64()?, row.get(2)?.as_str()?.to_owned()))))
}

fn rebuild(options: &Options) -> Ended {
    let server = Info::ask(&mut options.target.connect()?)?;
    let mirror = open(&options.redis.0, &server)?;
    let runtime = Runtime::new()?;
    for partition in server.partitions.keys() {
        runtime.block_on(mirror.begin_anew(*partition))?;
    }
    // The server looks after its mirror every few seconds where nothing happens.
    let (mut seen, mut since) = (Vec::new(), Instant::now());
    loop {
        let marks = runtime.block_on(mirror.marks())?;
        if marks != seen {
            (seen, since) = (marks.clone(), Instant::now());
        }
        if since.elapsed() >= PATIENCE {
            let text = "nobody writes the mirror: start the server with --mirror, or see 'scarce consumers list' and its log for \
                        what keeps it; it is compared and written then";
            return Err(Failed::text(Exit::Failed, text));
        }
        let is_there = |(mark, extent): (&Mark, &Extent)| mark.position.sequence >= extent.last.unwrap_or(0);
        if marks.iter().zip(server.partitions.values()).all(is_there) {
            break;
        }
        runtime.block_on(async { tokio::time::sleep(LOOK_INTERVAL).await });
    }
    writeln!(std::io::stdout(), "the mirror shows the state of every partition")?;
    Ok(Exit::Done)
}

impl From<MirrorError> for Failed {
    fn from(error: MirrorError) -> Self {
        Self::new(Exit::Failed, &error)
    }
}
