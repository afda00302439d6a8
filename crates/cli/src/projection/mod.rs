//! `scarce projection`: shows the progress of the projection, rebuilds the tables, and fills them from Kafka.

mod follow;
#[cfg(feature = "kafka")]
mod topic;
mod verify;

use std::io::Write;
use std::time::Duration;

use clap::{Args, Subcommand};
pub use follow::Follow;
use indicatif::{ProgressBar, ProgressStyle};
use scarce_projection::Projection;
use serde_json::json;
use tokio::runtime::Runtime;
pub use verify::Verify;

use super::args::Target;
use super::files::print_rows;
use super::{Ended, Exit, Failed, sinks};
use crate::setting_flags::SqlFlags;
use scarce_client::{Extent, Info};

/// How often to check a server's progress.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// `scarce projection`.
#[derive(Debug, Subcommand)]
pub enum ProjectionCommand {
    /// Say how far the log of a running server is in the database.
    Status(Status),
    /// Empty the tables; the running server then writes its whole log into them again.
    Rebuild(Rebuild),
    /// Compare every row with what the log makes of it, while the server runs.
    Verify(Verify),
    /// Fill the tables from the topic of events in Kafka, where no server can reach the database.
    Follow(Follow),
}

/// `scarce projection status`.
#[derive(Debug, Args)]
pub struct Status {
    #[command(flatten)]
    /// Which database.
    pub database: SqlFlags,
    /// Which server.
    #[command(flatten)]
    pub target: Target,
    /// Print JSON, an object on each line.
    #[arg(long)]
    pub json: bool,
}

/// `scarce projection rebuild`.
#[derive(Debug, Args)]
pub struct Rebuild {
    #[command(flatten)]
    /// Which database.
    pub database: SqlFlags,
    /// Which server.
    #[command(flatten)]
    pub target: Target,
    /// Empty them without asking again: what the server's log no longer holds is lost.
    #[arg(long)]
    pub yes: bool,
    /// Where the log no longer has its beginning, begin with the state that it goes on from: the history before is
    /// lost.
    #[arg(long)]
    pub from_state: bool,
}

pub(super) fn run(command: &ProjectionCommand) -> Ended {
    match command {
        ProjectionCommand::Status(options) => status(options),
        ProjectionCommand::Rebuild(options) => rebuild(options),
        ProjectionCommand::Verify(options) => verify::run(options),
        ProjectionCommand::Follow(options) => follow::run(options),
    }
}

fn status(options: &Status) -> Ended {
    let server = Info::ask(&mut options.target.connect()?)?;
    let (progress, openings) = Runtime::new()?.block_on(async {
        let projection = sinks::projection(&options.database.0, &server).await?;
        Ok::<_, Failed>((projection.positions().await?, projection.openings().await?))
    })?;
    let row = |(partition, extent): (&u32, &Extent)| {
        let its = progress.iter().find(|its| its.partition == *partition);
        let opening = openings.iter().find(|its| its.partition == *partition);
        let sequence = its.map_or(0, |its| its.position.sequence);
        json!({
            "partition": partition,
            "epoch": its.map_or(0, |its| its.position.epoch),
            "sequence": sequence,
            "lag_events": extent.last.unwrap_or(0).saturating_sub(sequence),
            "event_at_ms": its.and_then(|its| its.at_ms),
            "updated_at_ms": its.map(|its| its.updated_at_ms),
            "opening_sequence": opening.map(|opening| opening.position.sequence),
            "opening_at_ms": opening.map(|opening| opening.at_ms),
        })
    };
    let rows: Vec<_> = server.partitions.iter().map(row).collect();
    let columns = [
        "partition",
        "epoch",
        "sequence",
        "lag_events",
        "event_at_ms",
        "updated_at_ms",
        "opening_sequence",
        "opening_at_ms",
    ];
    print_rows(&rows, &columns, options.json)?;
    Ok(Exit::Done)
}

fn rebuild(options: &Rebuild) -> Ended {
    let mut client = options.target.connect()?;
    let server = Info::ask(&mut client)?;
    let is_cut = |(_, its): &(&u32, &Extent)| its.first > 1 && !options.from_state;
    if let Some((partition, Extent { first, .. })) = server.partitions.iter().find(is_cut) {
        let lost = format!(
            "the log of partition {partition} begins at sequence {first}, so what was before it could not be written \
             again; keep these tables, or restore a copy of them. With --from-state they begin with opening balances \
             instead, and the history before is lost"
        );
        return Err(Failed::text(Exit::Refused, lost));
    }
    if !options.yes {
        let text = "this empties all tables of the projection; say --yes if that is meant";
        return Err(Failed::text(Exit::Usage, text));
    }
    Runtime::new()?.block_on(async {
        let projection = sinks::projection(&options.database.0, &server).await?;
        projection.rebuild().await?;
        follow(&projection, &server).await
    })
}

/// Shows how the server fills the tables, until they contain what was in the log at the start.
async fn follow(projection: &Projection, server: &Info) -> Ended {
    let total: u64 = server.partitions.values().filter_map(|extent| extent.last).sum();
    let bar = ProgressBar::new(total);
    if let Ok(style) = ProgressStyle::with_template("projecting {bar:30} {pos}/{len} events {per_sec} {eta}")
    {
        bar.set_style(style);
    }
    loop {
        let progress = projection.positions().await?;
        let done: u64 = progress
            .iter()
            .filter_map(|its| Some(its.position.sequence.min(server.partitions.get(&its.partition)?.last?)))
            .sum();
        bar.set_position(done);
        if done >= total {
            break;
        }
        tokio::time::sleep(LOOK_INTERVAL).await;
    }
    bar.finish_and_clear();
    writeln!(std::io::stdout(), "{total} events are in the tables")?;
    Ok(Exit::Done)
}

impl From<scarce_projection::ProjectionError> for Failed {
    fn from(error: scarce_projection::ProjectionError) -> Self {
        Self::new(Exit::Failed, &error)
    }
}
