//! `scarce snapshot verify`: checks each snapshot.

use scarce_core::state;
use scarce_engine_embedded::{LogVerdict, SnapshotVerdict, verify_snapshots};
use serde_json::{Value, json};

use crate::files::{Files, advance, print_rows, progress_bar};
use crate::{Ended, Exit, Failed};

pub(super) fn run(options: &Files) -> Ended {
    let opened = options.open()?;
    let settings = state::StateSettings::default();
    let mut rows = Vec::new();
    let mut broken = Vec::new();
    for files in opened.partitions() {
        let bar = progress_bar("verifying", files.partition);
        let verified = opened.look(|| verify_snapshots(&files, &settings, &mut advance(&bar)));
        bar.finish_and_clear();
        for verdict in verified.map_err(|error| Failed::new(Exit::Broken, &error))? {
            if let Some(problem) = problem(&verdict) {
                broken.push(format!("partition {}, {}: {problem}", files.partition, verdict.name));
            }
            rows.push(row(files.partition, &verdict));
        }
    }
    print_rows(&rows, &["partition", "snapshot", "sequence", "digest", "content", "journal"], options.json)?;
    if broken.is_empty() {
        return Ok(Exit::Done);
    }
    let text = format!(
        "{}\na start passes over a snapshot that is not whole, and folds the journal from the one before; \
         make a new one with 'scarce snapshot create'",
        broken.join("\n")
    );
    Err(Failed::text(Exit::Broken, text))
}

fn problem(verdict: &SnapshotVerdict) -> Option<String> {
    match (&verdict.content, verdict.log) {
        (Err(error), _) => Some(Failed::new(Exit::Broken, error).message),
        (Ok(_), LogVerdict::Differs { since }) => Some(format!(
            "its state is not the one that the journal gives since sequence {since}; restore from a copy"
        )),
        _ => None,
    }
}

fn row(partition: u32, verdict: &SnapshotVerdict) -> Value {
    let journal = match verdict.log {
        LogVerdict::Agrees { since } => format!("agrees since {since}"),
        LogVerdict::Differs { since } => format!("differs since {since}"),
        LogVerdict::NotCovered => "not compared".to_owned(),
    };
    json!({
        "partition": partition,
        "snapshot": verdict.name,
        "sequence": verdict.sequence,
        "digest": verdict.content.as_ref().ok().map(|info| format!("{:032x}", info.digest)),
        "content": if verdict.content.is_ok() { "whole" } else { "damaged" },
        "journal": journal,
    })
}
