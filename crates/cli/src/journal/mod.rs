//! `scarce journal`: what is in a journal.

mod export;

use clap::Subcommand;
use scarce_core::state;
use scarce_engine_embedded::journal;
use scarce_engine_embedded::verify_partition;
use serde_json::json;

use self::export::Export;
use super::files::{Files, advance, failed, print_rows, progress_bar};
use super::{Ended, Exit, Failed};

/// `scarce journal`.
#[derive(Debug, Subcommand)]
pub enum Journal {
    /// List the segments of each partition: frames, sequences, bytes, state.
    Inspect(Files),
    /// Read everything, fold it, and compare with every snapshot on the way.
    Verify(Files),
    /// Write every event as a line of JSON or CSV; what is never public is not in it.
    Export(Export),
}

pub(super) fn run(journal: &Journal) -> Ended {
    match journal {
        Journal::Inspect(options) => inspect(options),
        Journal::Verify(options) => verify(options),
        Journal::Export(options) => export::run(options),
    }
}

fn inspect(options: &Files) -> Ended {
    let opened = options.open()?;
    let mut rows = Vec::new();
    for files in opened.partitions() {
        for segment in opened.look(|| Ok(journal::inspect(&*files.storage)?)).map_err(failed)? {
            rows.push(json!({
                "partition": files.partition,
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

fn verify(options: &Files) -> Ended {
    let opened = options.open()?;
    let settings = state::StateSettings::default();
    let mut rows = Vec::new();
    for files in opened.partitions() {
        let bar = progress_bar("verifying", files.partition);
        let verified = opened.look(|| {
            verify_partition(&files.storage, files.deployment, files.partition, &settings, &mut advance(&bar))
        });
        bar.finish_and_clear();
        let (machine, _) = verified.map_err(|error| Failed::new(Exit::Broken, &error))?;
        rows.push(json!({
            "partition": files.partition,
            "sequence": machine.sequence(),
            "digest": format!("{:032x}", machine.state().digest(None)),
            "state": "consistent",
        }));
    }
    print_rows(&rows, &["partition", "sequence", "digest", "state"], options.json)?;
    Ok(Exit::Done)
}
