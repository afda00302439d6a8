//! `scarce backup prune`: removes old backups.

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use scarce_backup::Keep;
use serde_json::json;

use super::{StoreOptions, none_there};
use crate::files::print_rows;
use crate::{Ended, Exit, Failed};

/// `scarce backup prune`. The newest backup always stays, and so does everything that a backup which stays needs.
#[derive(Debug, Args)]
pub struct Prune {
    /// Of which store.
    #[command(flatten)]
    pub place: StoreOptions,
    /// Keep so many of the newest.
    #[arg(long, value_name = "N", required_unless_present = "keep_days")]
    pub keep: Option<usize>,
    /// Keep those of so many days.
    #[arg(long, value_name = "DAYS")]
    pub keep_days: Option<u64>,
    /// Remove nothing, and say what would be removed.
    #[arg(long)]
    pub dry_run: bool,
    /// After how long a backup that was never finished counts as one whose process was killed.
    #[arg(long, value_name = "HOURS", default_value_t = 48)]
    pub abandoned_hours: u64,
}

const HOUR_MS: u64 = 3_600_000;

pub(super) fn run(options: &Prune) -> Ended {
    let vault = options.place.open()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now_ms = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
    let before = |hours: u64| now_ms.saturating_sub(hours.saturating_mul(HOUR_MS));
    let keep = Keep {
        newest: options.keep.unwrap_or(0),
        since_ms: options.keep_days.map_or(u64::MAX, |days| before(days.saturating_mul(24))),
        abandoned_before_ms: before(options.abandoned_hours),
        is_dry_run: options.dry_run,
    };
    let pruned = scarce_backup::prune(&vault, &keep).map_err(|error| {
        let mut failed = Failed::new(Exit::Failed, &error);
        failed.message.push_str("\nno object was removed that a backup may need");
        failed
    })?;
    let row = |id: &String, state: &str| json!({ "backup": id, "state": state });
    let removed = if options.dry_run { "would be removed" } else { "removed" };
    let rows: Vec<_> = pruned.removed.iter().map(|id| row(id, removed)).collect();
    let rows: Vec<_> = rows.into_iter().chain(pruned.kept.iter().map(|id| row(id, "kept"))).collect();
    print_rows(&rows, &["backup", "state"], options.place.json)?;
    let mut err = std::io::stderr().lock();
    writeln!(err, "{} objects with {} bytes that no backup needs {removed}", pruned.objects, pruned.bytes)?;
    for id in &pruned.other_histories {
        writeln!(err, "backup {id} stays: it is the newest of another history than the newest backup")?;
    }
    for id in &pruned.pending {
        writeln!(
            err,
            "backup {id} is being made and may need what others brought, so no object was removed; prune again later, or with --abandoned-hours 0 if its process was killed and no other is making one"
        )?;
    }
    if pruned.kept.is_empty() && pruned.removed.is_empty() {
        return Err(none_there(&vault));
    }
    if pruned.lacking.is_empty() {
        return Ok(Exit::Done);
    }
    let lacking = pruned.lacking.iter().map(|(id, reason)| format!("backup {id} cannot be used: {reason}"));
    let mut text = lacking.collect::<Vec<_>>().join("\n");
    text.push_str("\nit counts as none of those that are kept");
    Err(Failed::text(Exit::Broken, text))
}
