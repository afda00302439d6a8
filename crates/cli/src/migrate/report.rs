//! What a move says of itself.

use std::io::Write;
use std::time::Duration;

use scarce_core::machine::Machine;
use scarce_engine_embedded::Restored;
use serde_json::json;

use super::Migrate;
use super::into_redis::address_of;
use crate::Failed;
use crate::files::print_rows;
use crate::restore::is_long_ago;

/// A new partition.
pub(super) struct Part {
    partition: u32,
    sequence: u64,
    at: u64,
    epoch: u64,
    digest: u128,
    /// Records, and remembered operation ids, if they were counted.
    counts: Option<(usize, usize)>,
    problems: Vec<String>,
}

impl Part {
    /// One that is as it was, with its log.
    pub(super) fn of_copy((partition, restored): &(u32, Restored)) -> Self {
        Self {
            partition: *partition,
            sequence: restored.sequence,
            at: restored.at,
            epoch: restored.epoch,
            digest: restored.digest,
            counts: None,
            problems: restored.problems.clone(),
        }
    }

    /// One that followed a running server.
    pub(super) fn of_standby(machine: &Machine) -> Self {
        Self { counts: None, ..Self::of_new(machine, 0) }
    }

    /// One that others went into.
    pub(super) fn of_new(machine: &Machine, missing: u64) -> Self {
        let state = machine.state();
        let ids = state.operations.len();
        let lost = format!(
            "{missing} remembered operations have a receipt that neither the old log nor its files of receipts have; duplicates of them are answered UNAVAILABLE, as they were"
        );
        Self {
            partition: machine.partition(),
            sequence: machine.sequence(),
            at: state.at,
            epoch: machine.epoch(),
            digest: state.digest(None),
            counts: Some((state.resource_record_count(), ids)),
            problems: if missing > 0 { vec![lost] } else { Vec::new() },
        }
    }
}

/// Says how long the server took no changes.
pub(super) fn print_rest(rested: Duration) -> Result<(), Failed> {
    let rested_ms = rested.as_millis();
    Ok(writeln!(std::io::stderr(), "changes were not taken for {rested_ms} ms until then")?)
}

pub(super) fn print(options: &Migrate, partitions: u32, parts: &[Part]) -> Result<(), Failed> {
    let rows: Vec<_> = parts
        .iter()
        .map(|part| {
            json!({
                "partition": part.partition,
                "sequence": part.sequence,
                "at": part.at,
                "epoch": part.epoch,
                "digest": format!("{:032x}", part.digest),
                "records": part.counts.map(|(records, _)| records),
                "operations": part.counts.map(|(_, operations)| operations),
                "problems": part.problems,
            })
        })
        .collect();
    let counted = ["partition", "sequence", "at", "epoch", "digest", "records", "operations"];
    let columns = if parts.iter().all(|part| part.counts.is_some()) { &counted[..] } else { &counted[..5] };
    print_rows(&rows, columns, options.json)?;
    let mut err = std::io::stderr().lock();
    for part in parts {
        for problem in &part.problems {
            writeln!(err, "partition {}: {problem}", part.partition)?;
        }
    }
    let (from, to) = (options.from.display(), options.to.display());
    if options.dry_run {
        writeln!(err, "it can be done; nothing was changed. Without --dry-run, {from} moves to {to}")?;
        return Ok(());
    }
    writeln!(
        err,
        "{from} has moved to {to} and is not served any more; keep it until you have a backup of {to}"
    )?;
    if let Some(url) = address_of(&options.to) {
        writeln!(err, "next: scarce serve --engine redis --redis-url {url} --partitions {partitions}")?;
        return Ok(());
    }
    let accept = if parts.iter().any(|part| is_long_ago(part.at)) { " --accept-clock" } else { "" };
    writeln!(err, "next: scarce serve --data {to} --partitions {partitions}{accept}")?;
    Ok(())
}
