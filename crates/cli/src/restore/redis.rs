//! `scarce restore --redis-url`: a deployment inside Redis from a backup of it.

use std::io::Write;

use scarce_backup::{Chosen, Manifest, Point, choose};
use scarce_mirror::{RestoreError, RestoreTarget};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::Restore;
use super::origin::is_store;
use crate::backup::redis::{ENGINE, Saved, settings};
use crate::backup::{of_backup, open_vault};
use crate::files::print_rows;
use crate::{Ended, Exit, Failed};

pub(super) fn run(options: &Restore) -> Ended {
    if !is_store(&options.from) {
        let text =
            format!("{} is no store of backups; 'scarce backup create --redis-url' makes one", options.from);
        return Err(Failed::text(Exit::Usage, text));
    }
    let vault = open_vault(&options.from, &options.key)?;
    let point = match &options.backup {
        Some(id) => Point::Backup(id.clone()),
        None if options.skip_damaged => Point::NewestUsable,
        None => Point::Newest,
    };
    let Chosen { manifest, passed_over, other_histories, .. } =
        choose(&vault, &point).map_err(|error| of_backup(&error))?;
    check_engine(&manifest)?;
    let saved = Saved { vault: &vault, manifest: &manifest };
    let shared = saved.shared()?;
    let state = Saved::state_settings(&shared);
    let redis = settings(&options.redis)?;
    let count = u32::try_from(manifest.partitions.len()).unwrap_or(u32::MAX);
    let target = RestoreTarget::new(&redis, count, state.clone())?;
    let runtime = Runtime::new()?;
    runtime.block_on(target.begin(&manifest.deployment))?;
    let mut rows: Vec<Value> = Vec::new();
    for copy in saved.partitions(&state) {
        let copy = copy?;
        let (partition, sequence, epoch) =
            (copy.machine.partition(), copy.machine.sequence(), copy.machine.epoch());
        let operations = copy.operations.len();
        let (digest, written) = runtime.block_on(target.write(copy, &manifest.deployment))?;
        rows.push(json!({
            "partition": partition,
            "sequence": sequence,
            "epoch": epoch,
            "digest": digest,
            "operations": operations,
            "rows": written,
        }));
    }
    runtime.block_on(target.finish(&shared))?;
    print_rows(&rows, &["partition", "sequence", "epoch", "digest", "operations", "rows"], options.json)?;
    let mut err = std::io::stderr().lock();
    for problem in passed_over.iter().chain(&other_histories) {
        writeln!(err, "{problem}")?;
    }
    writeln!(err, "restored from backup {}", manifest.id)?;
    writeln!(
        err,
        "next: scarce serve --engine redis --partitions {count}, with the same --redis-url and --redis-prefix"
    )?;
    Ok(Exit::Done)
}

impl From<RestoreError> for Failed {
    fn from(error: RestoreError) -> Self {
        Self::new(Exit::Failed, &error)
    }
}

fn check_engine(manifest: &Manifest) -> Result<(), Failed> {
    if manifest.engine.as_deref() == Some(ENGINE) {
        return Ok(());
    }
    let text = format!(
        "backup {} is of a data directory and cannot be restored into Redis; restore it with --data",
        manifest.id
    );
    Err(Failed::text(Exit::Usage, text))
}
