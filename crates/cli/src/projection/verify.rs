//! `scarce projection verify`: compares the tables with what the log of the running server makes of them, and where its
//! beginning is gone, with the state that it goes on from.

use std::io::Write;

use clap::Args;
use indicatif::ProgressBar;
use scarce_client::{Client, Extent, Info};
use scarce_projection::{Compared, Difference, Frozen, Projection, ProjectionOptions, Replay};
use scarce_reconcile::{LogSource, Options, ReconcileProgress, RowsReport, compare_rows};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::super::args::Target;
use super::super::config::{load, sql_url};
use super::super::files::print_rows;
use super::super::{Ended, Exit, Failed};
use crate::reconcile::logs::of_server;
use crate::setting_flags::SqlStateFlags;

/// How many events are asked for at a time.
const EVENTS_COUNT: &str = "2000";

/// `scarce projection verify`.
#[derive(Debug, Args)]
pub struct Verify {
    #[command(flatten)]
    /// Which database; and where the engine's data is, for a log that no longer reaches back to its beginning.
    pub settings: SqlStateFlags,
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
    let settings = load(&options.settings.0)?.settings;
    let url = sql_url(&settings)?;
    let mut client = options.target.connect()?;
    let server = Info::ask(&mut client)?;
    let runtime = Runtime::new()?;
    let projection = runtime.block_on(Projection::open_read_only(&url, ProjectionOptions::default()))?;
    if projection.deployment_id() != server.deployment_id {
        let text = format!(
            "{} holds the log of deployment {}, and the server is {}; name the database of this server",
            projection.database(),
            projection.deployment_id(),
            server.deployment_id
        );
        return Err(Failed::text(Exit::Usage, text));
    }
    let mut frozen = runtime.block_on(projection.freeze())?;
    let limit = usize::from(options.limit);
    let Some(trimmed) = trimmed(&frozen, &server) else {
        let compared = runtime.block_on(compare(&mut frozen, &mut client, &server, limit))?;
        runtime.block_on(frozen.close());
        return report(&compared, options.json);
    };
    match of_server(&settings, &server, client) {
        Ok(mut log) => {
            runtime.block_on(frozen.close());
            let rows = compare_with_state(&runtime, &projection, &mut *log, limit)?;
            report_rows(&rows, options.json)
        }
        Err(why) => {
            let (differences, count) = runtime.block_on(frozen.check_sums(limit))?;
            runtime.block_on(frozen.close());
            let text = format!(
                "{trimmed}, so only sums were compared. To compare rows, too, name the engine's data (--data, or --engine redis \
                 with --redis-url): {}",
                why.message
            );
            report_sums(&text, (&differences, count), options.json)
        }
    }
}

/// Compares the rows with the log and with the state that it goes on from.
fn compare_with_state(
    runtime: &Runtime,
    projection: &Projection,
    log: &mut dyn LogSource,
    limit: usize,
) -> Result<RowsReport, Failed> {
    let bar = ProgressBar::new_spinner();
    let mut show = |progress: ReconcileProgress| {
        bar.set_position(progress.done);
        true
    };
    let options = Options { limit, ..Options::default() };
    let rows = compare_rows(runtime.handle(), projection, log, options, &mut show);
    bar.finish_and_clear();
    Ok(rows?)
}

/// Reports rows that were compared with a log without its beginning.
fn report_rows(rows: &RowsReport, is_json: bool) -> Ended {
    let mut err = std::io::stderr().lock();
    for (partition, after) in &rows.begin_after {
        writeln!(
            err,
            "the log of partition {partition} begins at {}: compared with the state at {after}",
            after + 1
        )?;
    }
    if let Some(unproved) = rows.compared.unproved_text() {
        writeln!(err, "{unproved}")?;
    }
    rows.left_out.iter().try_for_each(|why| writeln!(err, "{why}"))?;
    let (sums, wrong_sums) = &rows.wrong_sums;
    let mut found: Vec<Value> = rows.compared.differences.iter().chain(sums).map(row).collect();
    found.extend(rows.findings.iter().map(|its| {
        json!({ "table": "cursors", "key": its.partition, "column": its.field, "tables": its.found, "log": its.expected })
    }));
    if !found.is_empty() {
        print_rows(&found, &COLUMNS, is_json)?;
        let wrong_rows = rows.compared.wrong_rows;
        writeln!(
            err,
            "{wrong_rows} rows are missing, unexpected or changed, and {wrong_sums} sums do not agree"
        )?;
        writeln!(err, "'scarce reconcile' says since which event; it can put rows right, too, see --repair")?;
        return Ok(Exit::Broken);
    }
    if !rows.left_out.is_empty() {
        writeln!(
            err,
            "see with 'scarce projection status' whether the tables are behind, and repeat this once they are not"
        )?;
        return Ok(Exit::Failed);
    }
    writeln!(err, "{} rows are as log and state make them, and all sums agree", rows.compared.rows)?;
    Ok(Exit::Done)
}

/// Which log no longer reaches back to its first event.
fn trimmed(frozen: &Frozen, server: &Info) -> Option<String> {
    let first = |partition| server.partitions.get(partition).map_or(1, |Extent { first, .. }| *first);
    let its = frozen.positions().iter().find(|its| first(&its.partition) > 1)?;
    let begins_at = first(&its.partition);
    Some(format!("the log of partition {} begins at sequence {begins_at}", its.partition))
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
