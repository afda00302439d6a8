//! `scarce backup verify`: reads backups, and restores them on trial.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use indicatif::ProgressBar;
use scarce_backup::{Manifest, Point, Vault, Verified, choose, list};
use scarce_engine_embedded::Until;
use serde_json::{Value, json};

use super::{StoreOptions, check_any, of_backup, redis};
use crate::files::print_rows;
use crate::restore::{Making, Origin, Purpose, explain_cut, fetch_log};
use crate::{Ended, Exit, Failed};

/// `scarce backup verify`.
#[derive(Debug, Args)]
pub struct Verify {
    /// Of which store.
    #[command(flatten)]
    pub place: StoreOptions,
    /// The backup; otherwise the newest.
    #[arg(value_name = "ID")]
    pub backup: Option<String>,
    /// Verify all of them.
    #[arg(long, conflicts_with = "backup")]
    pub all: bool,
    /// Also restore it into a temporary folder, fold all of it, compare its digests, and remove it again.
    #[arg(long)]
    pub restore: bool,
    /// Where to make the temporary folder; it takes as much room as the data directory.
    #[arg(long = "in", value_name = "DIR", requires = "restore")]
    pub folder: Option<PathBuf>,
}

const COLUMNS: [&str; 7] = ["backup", "partition", "sequence", "log_parts", "bytes", "content", "digest"];

pub(super) fn run(options: &Verify) -> Ended {
    let vault = Arc::new(options.place.open()?);
    let (mut rows, mut broken) = (Vec::new(), Vec::new());
    for manifest in chosen(options, &vault, &mut broken)? {
        let bar = ProgressBar::new(manifest.bytes());
        let verified = scarce_backup::verify(&vault, &manifest, &mut |done, _| bar.set_position(done));
        bar.finish_and_clear();
        let verified = verified.map_err(|error| Failed::new(Exit::Failed, &error))?;
        let is_whole = verified.damages.is_empty();
        broken.extend(
            verified.damages.iter().map(|damage| {
                format!("backup {}, {}: {}", manifest.id, damage.files.join(", "), damage.error)
            }),
        );
        let drilled =
            if options.restore && is_whole { drill(options, &vault, &manifest) } else { Ok(vec![]) };
        let digests = drilled.unwrap_or_else(|failed| {
            broken.push(format!("backup {} cannot be restored: {}", manifest.id, failed.message));
            Vec::new()
        });
        rows.extend(rows_of(&manifest, &verified, is_whole, &digests));
    }
    print_rows(&rows, &COLUMNS, options.place.json)?;
    if broken.is_empty() {
        return Ok(Exit::Done);
    }
    Err(Failed::text(Exit::Broken, broken.join("\n")))
}

fn chosen(options: &Verify, vault: &Vault, broken: &mut Vec<String>) -> Result<Vec<Manifest>, Failed> {
    let failed = |error| Failed::new(Exit::Failed, &error);
    if !options.all {
        let point = options.backup.clone().map_or(Point::NewestAsItIs, Point::Backup);
        let chosen = choose(vault, &point).map_err(|error| of_backup(&error))?;
        broken.extend(chosen.passed_over);
        return Ok(vec![chosen.manifest]);
    }
    let mut manifests = Vec::new();
    let listed = list(vault).map_err(failed)?;
    check_any(vault, &listed)?;
    for listed in listed {
        match listed.manifest {
            Ok(manifest) => manifests.push(manifest),
            Err(error) => {
                broken.push(format!("backup {}: {}", listed.id, Failed::new(Exit::Broken, &error).message));
            }
        }
    }
    Ok(manifests)
}

fn rows_of(
    manifest: &Manifest,
    verified: &Verified,
    is_whole: bool,
    digests: &[(u32, String)],
) -> Vec<Value> {
    let digest = |partition| digests.iter().find(|(its, _)| *its == partition).map(|(_, digest)| digest);
    let row = |part: &scarce_backup::PartitionPart| {
        let last = verified.log_sequences.get(&part.partition).copied().unwrap_or(0);
        json!({
            "backup": manifest.id,
            "partition": part.partition,
            "sequence": part.last_sequence.max(last),
            "log_parts": verified.log_parts,
            "bytes": verified.bytes,
            "content": if is_whole { "whole" } else { "damaged" },
            "digest": digest(part.partition),
        })
    };
    manifest.partitions.iter().map(row).collect()
}

/// Restores a backup on trial; gives the digest of each partition, which a recovery of the copy gave too.
fn drill(options: &Verify, vault: &Arc<Vault>, manifest: &Manifest) -> Result<Vec<(u32, String)>, Failed> {
    if manifest.engine.is_some() {
        return redis::drill(vault, manifest);
    }
    let folder = options.folder.clone().unwrap_or_else(std::env::temp_dir);
    let making = Making::begin(&folder, Purpose::Drill)?;
    let log = fetch_log(vault, manifest, &folder)?;
    let origin = Origin::of(vault, manifest.clone(), Some(&log))?;
    // As a restore does where nothing else is asked for.
    let common = origin.common_time_ms;
    let restored = origin.restore(making.path(), &|_| common.map_or(Until::End, Until::LastBefore));
    let restored = restored.map_err(|failed| explain_cut(failed, common, &origin))?;
    let mut digests = Vec::new();
    for (partition, restored) in restored {
        let mut ends = origin.ends.iter();
        let is_at_end = ends.any(|end| *end == (partition, restored.sequence + restored.events_left_out));
        if !is_at_end || (common.is_none() && restored.events_left_out > 0) {
            let text = format!("partition {partition} ends at sequence {}", restored.sequence);
            return Err(Failed::text(Exit::Broken, text));
        }
        digests.push((partition, format!("{:032x}", restored.digest)));
    }
    Ok(digests)
}
