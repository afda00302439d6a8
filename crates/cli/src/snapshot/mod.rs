//! `scarce snapshot`: creates, lists and verifies snapshots.

mod verify;

use clap::{Args, Subcommand};
use scarce_engine_embedded::snapshot::{self, SnapshotOwner};
use serde_json::{Value, json};

use super::args::Target;
use super::call::json as answer_json;
use super::files::{Files, failed, print_rows};
use super::{Ended, Exit, Failed};
use scarce_client::Reply;

/// `scarce snapshot`.
#[derive(Debug, Subcommand)]
pub enum Snapshot {
    /// Ask a running server for a snapshot of every partition.
    Create(Create),
    /// List the snapshots in a data directory.
    List(Files),
    /// Read each snapshot, compare its digest with its content, and with the journal folded since the one before.
    Verify(Files),
}

/// `scarce snapshot create`.
#[derive(Debug, Args)]
pub struct Create {
    /// Which server.
    #[command(flatten)]
    pub target: Target,
    /// Print JSON, an object on each line.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(snapshot: &Snapshot) -> Ended {
    match snapshot {
        Snapshot::Create(options) => create(options),
        Snapshot::List(options) => list(options),
        Snapshot::Verify(options) => verify::run(options),
    }
}

fn list(options: &Files) -> Ended {
    let opened = options.open()?;
    let mut rows = Vec::new();
    for files in opened.partitions() {
        let owner =
            SnapshotOwner { deployment_id: opened.deployment.deployment_id, partition: files.partition };
        for listed in snapshot::list(&*files.storage).map_err(failed)? {
            let reader = snapshot::load(&*files.storage, &listed.name, &owner).map_err(failed)?;
            let info = reader.info();
            rows.push(json!({
                "partition": files.partition,
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

fn create(options: &Create) -> Ended {
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
