//! Whether the process runs, and whether it accepts commands.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;
use std::time::{Duration, UNIX_EPOCH};

use axum::extract::State as Extracted;
use axum::response::Response;
use scarce_core::command::{Command, table};
use scarce_core::types::TimeMs;
use scarce_delivery::WorkerTrouble;
use scarce_engine::Request;
use scarce_engine::clock::{self, ClockApart};
use scarce_outflow::State;

use super::exchange::Exchange;
use super::{Context, HttpShared, reply, submit};

/// How long a partition may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// The process runs and can answer.
pub(super) async fn live() -> Response {
    reply::text(200, "ok\n".to_owned())
}

/// Ready when every partition answers and can accept commands. Consumers that wait are listed, and do not count.
pub(super) async fn ready(context: Context, exchange: Exchange) -> Response {
    tell(context, exchange, Ok(())).await
}

/// The same while all places for connections are taken: what comes next over another connection would be refused.
pub(super) async fn ready_without_place(context: Context, exchange: Exchange) -> Response {
    let reason = "all places are taken; raise the limit of open files, or close idle connections";
    tell(context, exchange, Err(reason.to_owned())).await
}

async fn tell(Extracted(shared): Context, exchange: Exchange, has_place: Result<(), String>) -> Response {
    let mut fields = exchange.query_fields();
    let verbose = match fields.take_text("verbose").and_then(|verbose| fields.check_none().map(|()| verbose))
    {
        Ok(verbose) => verbose.is_some(),
        Err(misshapen) => return reply::misshapen(&misshapen, exchange.speech),
    };
    let mut checks = check(&shared).await;
    checks.push(("there is a place for another connection".to_owned(), has_place));
    let all = checks.iter().all(|(_, result)| result.is_ok());
    let mut text = String::new();
    for (name, result) in checks.iter().filter(|(_, result)| verbose || result.is_err()) {
        // Writing to a string cannot fail.
        let _ = match result {
            Ok(()) => writeln!(text, "[+] {name} ok"),
            Err(reason) => writeln!(text, "[-] {name} failed: {reason}"),
        };
    }
    if verbose {
        tell_deployment(&shared, &mut text);
        tell_memory(&shared, &mut text);
        tell_ids(&shared, &mut text);
        tell_id_files(&shared, &mut text);
        tell_consumers(&shared, &mut text);
        tell_workers(&shared, &mut text);
        tell_reconciliation(&shared, &mut text);
        tell_backup(&shared, &mut text);
        clock_notices(&shared).iter().for_each(|notice| text.push_str(notice));
    }
    text.push_str(if all { "ready\n" } else { "not ready\n" });
    reply::text(if all { 200 } else { 503 }, text)
}

/// For so long a deployment counts as new, so that one that should have been there longer is noticed.
const DEPLOYMENT_NEW: Duration = Duration::from_hours(24);

/// Which deployment is served, and when it was created: before that it knows nothing.
fn tell_deployment(shared: &HttpShared, text: &mut String) {
    let id = shared.engine.deployment_id();
    let Some(created_at) = shared.engine.deployment_created_at() else { return };
    let created = UNIX_EPOCH.checked_add(Duration::from_millis(created_at));
    // It counts as new too where this machine's clock is behind the server's.
    let is_new = created.is_some_and(|at| at.elapsed().unwrap_or_default() < DEPLOYMENT_NEW);
    let (mark, note) = match is_new {
        true => ('!', "; it knows no earlier data and no earlier operation ids"),
        false => ('+', ""),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "[{mark}] deployment {id}, created {}{note}", utc(created_at));
}

/// From this share of the budget on, memory is marked, in percent.
const MEMORY_WARN_PERCENT: u64 = 80;

/// How much of the memory budget is used, before changes are refused for that.
fn tell_memory(shared: &HttpShared, text: &mut String) {
    let Some(levels) = shared.engine.memory() else { return };
    let mark = if levels.percent() >= MEMORY_WARN_PERCENT { '!' } else { '+' };
    let [used, reserved, reusable, max] =
        [levels.used_bytes, levels.reserved_bytes, levels.reusable_bytes, levels.max_bytes]
            .map(|bytes| bytes >> 20);
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "[{mark}] memory: {used} MiB used, of which {reusable} MiB can be reused; {reserved} MiB kept for a snapshot; {max} MiB allowed ({} %)",
        levels.percent()
    );
}

/// From this share of the room for operation ids on, that is marked, in percent.
const IDS_WARN_PERCENT: u64 = 80;

/// How much of the room for operation ids is taken by those that must not be forgotten yet, where that is most.
fn tell_ids(shared: &HttpShared, text: &mut String) {
    let of = |partition| {
        let levels = shared.engine.metrics(partition).ok()?.levels();
        Some((levels.operations_locked, partition))
    };
    let Some((locked, partition)) = (0..shared.engine.partitions()).filter_map(of).max() else { return };
    let settings = shared.engine.state_settings();
    let max = settings.operations_max as u64;
    let percent = locked.saturating_mul(100).checked_div(max).unwrap_or(100);
    let mark = if percent >= IDS_WARN_PERCENT { '!' } else { '+' };
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "[{mark}] operation ids: partition {partition} must keep {locked} of the last {} s, of {max} that it may remember ({percent} %)",
        settings.window_ms_min / 1_000
    );
}

/// Files of operation ids with which something is wrong. Changes are taken all the same, as long as there is memory for their ids.
fn tell_id_files(shared: &HttpShared, text: &mut String) {
    for partition in 0..shared.engine.partitions() {
        let Ok(metrics) = shared.engine.metrics(partition) else { continue };
        let troubles = [
            (metrics.runs.is_stuck(), "operation ids cannot be moved from memory to files; the log says why"),
            (metrics.runs.is_damaged(), "a file of operation ids is damaged; the log names it"),
        ];
        for (_, trouble) in troubles.iter().filter(|(is_so, _)| *is_so) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "[!] partition {partition}: {trouble}");
        }
    }
}

/// Consumers that do not advance. Commands are taken all the same, so they do not make the server unready.
fn tell_consumers(shared: &HttpShared, text: &mut String) {
    for status in shared.flows.statuses.iter() {
        let (name, partition) = (&status.name, status.partition);
        // Writing to a string cannot fail.
        let _ = match status.state() {
            State::Troubled { reason, since } => {
                writeln!(
                    text,
                    "[!] consumer {name} of partition {partition} in trouble since {}: {reason}",
                    utc(since)
                )
            }
            State::Starting => writeln!(text, "[!] consumer {name} of partition {partition} has not started"),
            State::Elsewhere { holder } => {
                writeln!(text, "[+] consumer {name} of partition {partition} runs in {holder}")
            }
            State::Running | State::Stopped => {
                writeln!(text, "[+] consumer {name} of partition {partition} ok")
            }
        };
    }
}

/// Workers of deliveries and settlements that cannot go on. Commands are taken all the same.
fn tell_workers(shared: &HttpShared, text: &mut String) {
    for status in shared.flows.workers.iter() {
        let Some(WorkerTrouble { reason, since }) = status.trouble() else { continue };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "[!] worker of {} in trouble since {}: {reason}", status.queue, utc(since));
    }
}

/// What the last reconciliation found. Who may look at health may not see whose values differ: the report has them.
fn tell_reconciliation(shared: &HttpShared, text: &mut String) {
    let figures = shared.flows.reconciliations.figures();
    // Writing to a string cannot fail.
    let _ = match figures.last {
        None => Ok(()),
        Some((_, at, 0, _)) => writeln!(text, "[+] reconciliation of {}: no difference", utc(at)),
        Some((id, at, count, _)) => writeln!(
            text,
            "[!] reconciliation of {}: {count} differences; GET /v1/reconciliations/{id} names them",
            utc(at)
        ),
    };
    if let Some((_, at, reason)) = figures.trouble {
        let _ = writeln!(text, "[!] reconciliation of {} could not compare: {reason}", utc(at));
    }
}

/// How far the store of backups is behind. Commands are taken all the same.
fn tell_backup(shared: &HttpShared, text: &mut String) {
    let Some(status) = &shared.flows.backup else { return };
    let levels = status.levels();
    let lag_of = |partition| {
        let sequence = shared.engine.metrics(partition).map_or(0, |metrics| metrics.levels().sequence);
        levels.lag_events(partition, sequence)
    };
    let events: u64 = (0..shared.engine.partitions()).map(lag_of).sum();
    let (store, lag_ms) = (&status.store, levels.lag(events > 0).as_millis());
    // Writing to a string cannot fail.
    let _ = match &levels.trouble {
        Some((reason, since)) => writeln!(
            text,
            "[!] backup to {store} in trouble since {}: {reason}; it lacks {events} events, {lag_ms} ms",
            utc(*since)
        ),
        None if levels.begun_at_ms == 0 => {
            writeln!(text, "[!] backup to {store}: a backup is being made, which the log then follows")
        }
        None => writeln!(text, "[+] backup to {store} ok; it lacks {events} events, {lag_ms} ms"),
    };
}

/// A time in Unix milliseconds as people read it.
fn utc(at_ms: TimeMs) -> String {
    let time = i64::try_from(at_ms).ok().and_then(|at_ms| jiff::Timestamp::from_millisecond(at_ms).ok());
    time.map_or_else(|| at_ms.to_string(), |time| format!("{time:.3}"))
}

/// What is to be known of each partition's clock; it does not keep the server from serving.
fn clock_notices(shared: &HttpShared) -> Vec<String> {
    let of = |partition| {
        let levels = shared.engine.metrics(partition).ok()?.levels();
        let apart =
            ClockApart { wall_ahead_ms: levels.clock_ahead_ms, wall_behind_ms: levels.clock_behind_ms };
        let notice = clock::notice(apart, levels.clock_doubted_ms)?;
        Some(format!("[!] partition {partition} clock: {notice}\n"))
    };
    (0..shared.engine.partitions()).filter_map(of).collect()
}

async fn check(shared: &HttpShared) -> Vec<(String, Result<(), String>)> {
    let mut checks = Vec::new();
    let ends =
        if shared.is_ending.load(Ordering::Acquire) { Err("it is shutting down".to_owned()) } else { Ok(()) };
    checks.push(("the server stays".to_owned(), ends));
    for partition in 0..shared.engine.partitions() {
        let takes = shared.engine.check_ready(partition).map_err(|failure| failure.to_string());
        checks.push((format!("partition {partition} takes commands"), takes));
        checks.push((format!("partition {partition} answers"), answers(shared, partition).await));
    }
    checks
}

/// An empty read takes the same path as a command, except for the disk.
async fn answers(shared: &HttpShared, partition: u32) -> Result<(), String> {
    let spec = table::find(b"OPERATION.GET").ok_or("the command table has no OPERATION.GET")?;
    let parsed = Command::parse(spec, &[b"readyz", b"ON", b"readyz"]);
    let (command, _) = parsed.map_err(|problem| problem.to_string())?;
    let asked = submit::ask(&shared.engine, partition, vec![Request::Read(String::new(), command)]);
    match tokio::time::timeout(ANSWER_TIMEOUT, asked).await {
        Err(_) => Err(format!("no answer within {} s", ANSWER_TIMEOUT.as_secs())),
        Ok(answers) => match answers.into_iter().next() {
            Some(Err(failure)) => Err(failure.to_string()),
            _ => Ok(()),
        },
    }
}
