//! Outcomes that a partition remembers and does not keep in its state: they are read out of the runs, the files of receipts and the
//! logs of the partitions that they come from.

use std::collections::{BTreeMap, BTreeSet};

use scarce_core::codec::Wire;
use scarce_core::event::Entry;
use scarce_core::machine::regroup::{Origin, Regrouped};

use crate::EmbeddedError;
use crate::journal;
use crate::look::PartitionFiles;
use crate::partition::PartitionHome;
use crate::receipts::{each_moved, each_wanted};
use crate::recovery::look_at;
use crate::runs::FoundRuns;

/// Outcomes as they are encoded, by the last sequences that their operations have from now on.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    found: BTreeMap<u64, Vec<u8>>,
    missing: u64,
}

impl Outcomes {
    /// Reads what a new partition needs.
    pub(super) fn read(sources: &[PartitionFiles<'_>], made: &Regrouped) -> Result<Self, EmbeddedError> {
        let wanted: BTreeSet<u64> = made.machine.state().operations.sequences_in_log(0).collect();
        let mut outcomes = Self::default();
        for origin in &made.origins {
            let of_origin = wanted.range(origin.shift + 1..=origin.shift + origin.sequence);
            let of_origin: BTreeSet<u64> = of_origin.map(|sequence| sequence - origin.shift).collect();
            let files = sources.iter().find(|files| files.partition == origin.partition);
            if let Some(files) = files.filter(|_| !of_origin.is_empty()) {
                let home = look_at(&files.storage, files.deployment, files.partition);
                outcomes.read_of(&home, *origin, of_origin)?;
            }
        }
        Ok(outcomes)
    }

    fn read_of(
        &mut self,
        home: &PartitionHome,
        Origin { shift, .. }: Origin,
        mut wanted: BTreeSet<u64>,
    ) -> Result<(), EmbeddedError> {
        FoundRuns::open(home)?.each(|old| {
            if let Some(outcome) = old.outcome.filter(|_| wanted.remove(&old.sequence_last)) {
                self.found.insert(old.sequence_last + shift, outcome.into_vec());
            }
        })?;
        let wanted: Vec<u64> = wanted.into_iter().collect();
        let mut take = |sequence: u64, entry: &Entry| {
            let outcome = entry.outcome.as_ref().map(Wire::to_bytes);
            self.found.extend(outcome.map(|outcome| (sequence + shift, outcome)));
            Ok(())
        };
        let in_log = each_moved(home, &wanted, &mut take)?;
        self.missing += each_logged(home, &in_log, &mut take)?;
        Ok(())
    }

    /// The outcome of the operation that ends at a sequence.
    pub(super) fn of(&self, sequence_last: u64) -> Option<&[u8]> {
        self.found.get(&sequence_last).map(Vec::as_slice)
    }

    /// How many the sources do not have any more, which their own server could not answer either.
    pub(super) fn missing(&self) -> u64 {
        self.missing
    }
}

/// Gives the entries that end at these sequences to `take`, in their order; and how many the log does not have.
fn each_logged(
    home: &PartitionHome,
    sequences: &[u64],
    take: &mut dyn FnMut(u64, &Entry) -> Result<(), EmbeddedError>,
) -> Result<u64, EmbeddedError> {
    let first_logged = journal::oldest(&*home.storage)?.map_or(u64::MAX, |oldest| oldest.first_sequence);
    let begun = sequences.partition_point(|sequence| *sequence < first_logged);
    let mut wanted = sequences[begun..].iter().copied().peekable();
    let Some(first) = wanted.peek().copied() else { return Ok(begun as u64) };
    journal::read(
        &*home.storage,
        &home.journal_settings(),
        first,
        0,
        &mut |frame| Ok(each_wanted(frame.payload, &mut wanted, take)?),
        &mut |_| {},
    )?;
    Ok((begun + wanted.count()) as u64)
}
