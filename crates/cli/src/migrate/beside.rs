//! A move beside the server that runs: a copy follows it, and takes its place.

use std::collections::BTreeMap;
use std::path::Path;

use scarce_core::state::StateSettings;
use scarce_engine_embedded::EmbeddedError;
use scarce_engine_embedded::deployment::Deployment;
use scarce_engine_embedded::relocation::{Moved, Standby};
use scarce_engine_embedded::storage::FileStorage;
use scarce_server::relocation::{Arrival, ArrivalCopy, ArrivalError, Arrived};

use super::report::{self, Part};
use super::{Migrate, check_apart};
use crate::files::{advance, progress_bar};
use crate::restore::{Making, Purpose, check_target};
use crate::{Ended, Exit, Failed};

/// Copies a served deployment into a directory that does not exist yet, and follows it there.
pub(crate) fn arrive(
    (from, partitions): (&Path, Option<u32>),
    to: &Path,
    purpose: Purpose,
    settings: &StateSettings,
) -> Result<Arrival, Failed> {
    check_target(to).map_err(|failed| Failed { exit: Exit::Refused, ..failed })?;
    check_apart(from, to)?;
    let making = Making::beside(to, purpose)?;
    let mut bars = BTreeMap::new();
    let copied = ArrivalCopy::make((from, partitions), making.path(), settings, &mut |partition, at| {
        advance(bars.entry(partition).or_insert_with(|| progress_bar("copying", partition)))(at);
    });
    bars.values().for_each(indicatif::ProgressBar::finish_and_clear);
    let copied = copied?;
    making.finish(to)?;
    let mut arrival = copied.open(&to.canonicalize()?)?;
    arrival.catch_up()?;
    Ok(arrival)
}

/// Whether a deployment is in its new directory already, so that a server which took it over is only started again. The old
/// directory may have been removed since.
pub(crate) fn has_arrived(from: &Path, to: &Path) -> Result<bool, Failed> {
    let load = |path: &Path| -> Result<Option<(Deployment, Option<Moved>)>, Failed> {
        if !path.is_dir() {
            return Ok(None);
        }
        let root = FileStorage::open_read_only(path).map_err(EmbeddedError::from)?;
        let moved = Moved::load(&root).map_err(EmbeddedError::from)?;
        let deployment = Deployment::load(&root).map_err(EmbeddedError::from)?;
        Ok(deployment.map(|deployment| (deployment, moved)))
    };
    Ok(match (load(from)?, load(to)?) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some((old, moved)), Some((new, _))) => moved.is_some() && old.deployment_id == new.deployment_id,
    })
}

/// Moves a deployment that is being served.
pub(super) fn run(options: &Migrate) -> Ended {
    let source = (&*options.from, options.partitions);
    let arrival = arrive(source, &options.to, Purpose::Migrate, &StateSettings::default())?;
    let there = options.to.canonicalize()?.display().to_string();
    let address = options.address.clone().unwrap_or(there);
    let Arrived { standbys, rested, lock: _lock } = arrival.hand_over(&address)?;
    let parts: Vec<_> = standbys.iter().map(Standby::machine).map(Part::of_standby).collect();
    let partitions = u32::try_from(parts.len()).unwrap_or(u32::MAX);
    report::print(options, partitions, &parts)?;
    report::print_rest(rested)?;
    Ok(Exit::Done)
}

impl From<ArrivalError> for Failed {
    fn from(error: ArrivalError) -> Self {
        match error {
            ArrivalError::Files(error) => error.into(),
            error @ (ArrivalError::Ended { .. }
            | ArrivalError::Unclear { .. }
            | ArrivalError::Belongings(_)
            | ArrivalError::Incomplete { .. }) => Self::new(Exit::Failed, &error),
            error => Self::new(Exit::Refused, &error),
        }
    }
}
