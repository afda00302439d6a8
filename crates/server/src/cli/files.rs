//! `scarce journal` and `scarce snapshot`: what is in a data directory.

use std::io::Write;
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressStyle};
use scarce_core::state;
use scarce_engine::deployment::Deployment;
use scarce_engine::embedded::{EmbeddedError, partition_directory, verify_partition};
use scarce_engine::journal;
use scarce_engine::snapshot::{self, Owner};
use scarce_engine::storage::{FileStorage, Storage};
use serde_json::{Value, json};

use super::args::{Files, SnapshotCreate};
use super::call::json as answer_json;
use super::{Ended, Exit, Failed};
use crate::client::Reply;

type Partitions = Vec<(u32, Arc<dyn Storage>)>;

fn open(options: &Files) -> Result<(Deployment, Partitions), Failed> {
    let missing = || {
        let text = format!(
            "{} holds no deployment; name the directory of 'scarce serve' with --data",
            options.data.display()
        );
        Failed::text(Exit::Failed, text)
    };
    if !options.data.is_dir() {
        return Err(missing());
    }
    let storage = |path| FileStorage::open(path).map_err(|error| Failed::new(Exit::Failed, &error));
    let root = storage(options.data.clone())?;
    let deployment =
        Deployment::load(&root).map_err(|error| Failed::new(Exit::Failed, &error))?.ok_or_else(missing)?;
    let wanted = (0..deployment.partitions)
        .filter(|partition| options.partition.is_none_or(|only| only == *partition));
    let partitions = wanted
        .map(|partition| {
            let path = options.data.join(partition_directory(partition));
            Ok((partition, Arc::new(storage(path)?) as Arc<dyn Storage>))
        })
        .collect::<Result<Partitions, Failed>>()?;
    if partitions.is_empty() {
        let text = format!("there is no such partition; the deployment has {}", deployment.partitions);
        return Err(Failed::text(Exit::Usage, text));
    }
    Ok((deployment, partitions))
}

fn failed(error: impl Into<EmbeddedError>) -> Failed {
    Failed::from(error.into())
}

pub(super) fn inspect(options: &Files) -> Ended {
    let (_, partitions) = open(options)?;
    let mut rows = Vec::new();
    for (partition, storage) in &partitions {
        for segment in journal::inspect(&**storage).map_err(failed)? {
            rows.push(json!({
                "partition": partition,
                "segment": segment.name,
                "frames": segment.frames,
                "first_sequence": segment.first_sequence,
                "last_sequence": segment.last_sequence,
                "bytes": segment.bytes,
                "state": format!("{:?}", segment.state),
            }));
        }
    }
    let columns = ["partition", "segment", "frames", "first_sequence", "last_sequence", "bytes", "state"];
    print_rows(&rows, &columns, options.json)?;
    Ok(Exit::Done)
}

pub(super) fn verify(options: &Files) -> Ended {
    let (deployment, partitions) = open(options)?;
    let settings = state::Settings::default();
    let mut rows = Vec::new();
    for (partition, storage) in &partitions {
        let bar = progress_bar(*partition);
        let verified = verify_partition(storage, &deployment, *partition, &settings, &mut |progress| {
            bar.set_length(progress.bytes_total);
            bar.set_position(progress.bytes_done);
        });
        bar.finish_and_clear();
        let (machine, _) = verified.map_err(|error| Failed::new(Exit::Broken, &error))?;
        rows.push(json!({
            "partition": partition,
            "sequence": machine.sequence(),
            "digest": format!("{:032x}", machine.state().digest(None)),
            "state": "consistent",
        }));
    }
    print_rows(&rows, &["partition", "sequence", "digest", "state"], options.json)?;
    Ok(Exit::Done)
}

fn progress_bar(partition: u32) -> ProgressBar {
    let bar = ProgressBar::new(0);
    let template = format!("verifying partition {partition} {{bar:40}} {{bytes}}/{{total_bytes}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}

pub(super) fn list_snapshots(options: &Files) -> Ended {
    let (deployment, partitions) = open(options)?;
    let mut rows = Vec::new();
    for (partition, storage) in &partitions {
        let owner = Owner { deployment_id: deployment.deployment_id, partition: *partition };
        for listed in snapshot::list(&**storage).map_err(failed)? {
            let reader = snapshot::load(&**storage, &listed.name, &owner).map_err(failed)?;
            let info = reader.info();
            rows.push(json!({
                "partition": partition,
                "snapshot": listed.name,
                "epoch": info.epoch,
                "sequence": info.sequence,
                "stamp_ms": info.stamp_ms,
                "bytes": info.payload_bytes,
                "digest": format!("{:032x}", info.digest),
            }));
        }
    }
    let columns = ["partition", "snapshot", "epoch", "sequence", "stamp_ms", "bytes", "digest"];
    print_rows(&rows, &columns, options.json)?;
    Ok(Exit::Done)
}

pub(super) fn create_snapshot(options: &SnapshotCreate) -> Ended {
    let value = options.target.connect()?.call(&["SNAPSHOT"])?;
    if let Reply::Error(message) = Reply::of(value.clone()) {
        return Err(Failed::text(Exit::Failed, message));
    }
    let columns = ["partition", "sequence", "digest", "bytes", "segments_retired"];
    let rows: Vec<Value> = answer_json(&value)
        .as_array()
        .into_iter()
        .flatten()
        .map(|row| {
            columns
                .iter()
                .zip(row.as_array().into_iter().flatten())
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect()
        })
        .collect();
    print_rows(&rows, &columns, options.json)?;
    Ok(Exit::Done)
}

/// Rows of JSON objects, as JSON lines or as a table with a head.
fn print_rows(rows: &[Value], columns: &[&str], as_json: bool) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    if as_json {
        return rows.iter().try_for_each(|row| writeln!(out, "{row}"));
    }
    let cell = |row: &Value, column: &str| match &row[column] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let widths: Vec<usize> = columns
        .iter()
        .map(|column| rows.iter().map(|row| cell(row, column).len()).chain([column.len()]).max().unwrap_or(0))
        .collect();
    let line = |cells: Vec<String>| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    writeln!(out, "{}", line(columns.iter().map(|column| (*column).to_owned()).collect()))?;
    rows.iter().try_for_each(|row| {
        writeln!(out, "{}", line(columns.iter().map(|column| cell(row, column)).collect()))
    })?;
    Ok(())
}
