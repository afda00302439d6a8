//! `scarce projection verify`: compares the tables with what the log of the running server makes of them.

use std::io::Write;

use clap::Args;
use indicatif::ProgressBar;
use scarce_client::{Client, Extent, Info};
use scarce_projection::{Compared, Difference, Frozen, Projection, ProjectionOptions, Replay};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::super::args::Target;
use super::super::config::{load, sql_url};
use super::super::files::print_rows;
use super::super::{Ended, Exit, Failed};
use crate::setting_flags::SqlFlags;

/// How many events are asked for at a time.
const EVENTS_COUNT: &str = "2000";

/// `scarce projection verify`.
#[derive(Debug, Args)]
pub struct Verify {
    #[command(flatten)]
    /// Which database.
    pub database: SqlFlags,
    /// Which server.
    #[command(flatten)]
    pub target: Target,
    /// How many differences are listed; all rows are compared anyway.
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub limit: u16,
    /// Print JSON, an object on each line.
    #[arg(long)]
    pub json: bool,
}

const COLUMNS: [&str; 5] = ["table", "key", "column", "tables", "log"];

pub(super) fn run(options: &Verify) -> Ended {
    let url = sql_url(&load(&options.database.0)?.settings)?;
    let mut client = options.target.connect()?;
    let server = Info::ask(&mut client)?;
    let found = Runtime::new()?.block_on(async {
        let projection = Projection::open_read_only(&url, ProjectionOptions::default()).await?;
        if projection.deployment_id() != server.deployment_id {
            let text = format!(
                "{} holds the log of deployment {}, and the server is {}; name the database of this server",
                projection.database(),
                projection.deployment_id(),
                server.deployment_id
            );
            return Err(Failed::text(Exit::Usage, text));
        }
        let mut frozen = projection.freeze().await?;
        let limit = options.limit.into();
        let found = match trimmed(&frozen, &server) {
            None => Found::Compared(compare(&mut frozen, &mut client, &server, limit).await?),
            Some(trimmed) => Found::Sums(trimmed, frozen.check_sums(limit).await?),
        };
        frozen.close().await;
        Ok(found)
    })?;
    match found {
        Found::Compared(compared) => report(&compared, options.json),
        Found::Sums(trimmed, (differences, count)) => {
            report_sums(&trimmed, (&differences, count), options.json)
        }
    }
}

/// What could be compared.
enum Found {
    /// Every row with the log.
    Compared(Compared),
    /// Sums within the tables, and how many do not agree; why no more.
    Sums(String, (Vec<Difference>, u64)),
}

/// Which log no longer reaches back to its first event.
fn trimmed(frozen: &Frozen, server: &Info) -> Option<String> {
    let first = |partition| server.partitions.get(partition).map_or(1, |Extent { first, .. }| *first);
    let its = frozen.positions().iter().find(|its| first(&its.partition) > 1)?;
    let begins_at = first(&its.partition);
    Some(format!(
        "the log of partition {} begins at sequence {begins_at}, so only sums were compared",
        its.partition
    ))
}

fn report_sums(trimmed: &str, (differences, count): (&[Difference], u64), is_json: bool) -> Ended {
    let mut err = std::io::stderr().lock();
    writeln!(err, "{trimmed}")?;
    if differences.is_empty() {
        writeln!(err, "the sums within the tables agree; a change that leaves them alone is not found so")?;
        return Ok(Exit::Done);
    }
    print_rows(&differences.iter().map(row).collect::<Vec<_>>(), &COLUMNS, is_json)?;
    writeln!(err, "{count} sums do not agree")?;
    writeln!(err, "restore a backup of the tables, or run 'scarce projection rebuild --from-state'")?;
    Ok(Exit::Broken)
}

fn row(its: &Difference) -> Value {
    json!({
        "table": its.table, "key": its.key, "column": its.column,
        "tables": its.tables.as_deref().unwrap_or("(no row)"), "log": its.log.as_deref().unwrap_or("(no row)"),
    })
}

async fn compare(
    frozen: &mut Frozen,
    client: &mut Client,
    server: &Info,
    limit: usize,
) -> Result<Compared, Failed> {
    let folder = tempfile::tempdir()?;
    let replay = Replay::open(folder.path(), &server.deployment_id).await?;
    let bar = ProgressBar::new(frozen.positions().iter().map(|its| its.position.sequence).sum());
    for its in frozen.positions() {
        let partition = its.partition.to_string();
        let done = bar.position();
        replay
            .write(its, |after| {
                bar.set_position(done + after);
                let after = after.to_string();
                events(client, &["EVENTS", &partition, "0", &after, "COUNT", EVENTS_COUNT, "JSON"])
            })
            .await?;
    }
    bar.finish_and_clear();
    let compared = frozen.compare(&replay, limit).await?;
    replay.close().await;
    Ok(compared)
}

/// The events that the server answers, each as JSON.
fn events(client: &mut Client, words: &[&str]) -> Result<Vec<Vec<u8>>, Failed> {
    let redis::Value::Array(events) = client.call(words)? else {
        return Err(Failed::text(
            Exit::Failed,
            "the server answers EVENTS with no list; it is of another release",
        ));
    };
    let text = |event| match event {
        redis::Value::BulkString(text) => Ok(text),
        _ => Err(Failed::text(Exit::Failed, "the server shows no events as JSON; it is of another release")),
    };
    events.into_iter().map(text).collect()
}

fn report(compared: &Compared, is_json: bool) -> Ended {
    let rows: Vec<Value> = compared.differences.iter().map(row).collect();
    if !rows.is_empty() {
        print_rows(&rows, &COLUMNS, is_json)?;
    }
    let Compared { rows, wrong_rows, .. } = compared;
    let mut err = std::io::stderr().lock();
    if *wrong_rows == 0 {
        writeln!(err, "all {rows} rows are as the log makes them")?;
        return Ok(Exit::Done);
    }
    writeln!(err, "{wrong_rows} rows are missing, unexpected or changed, of {rows} that the log makes")?;
    writeln!(err, "restore a backup of the tables, or run 'scarce projection rebuild'")?;
    Ok(Exit::Broken)
}
