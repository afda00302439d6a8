//! Receipts that a partition remembers and does not keep in its state: they are copied out of the logs, and the files of
//! receipts, of the partitions that they come from.

use std::collections::BTreeSet;

use scarce_core::event::Entry;
use scarce_core::machine::regroup::Regrouped;

use crate::EmbeddedError;
use crate::journal;
use crate::look::PartitionFiles;
use crate::partition::PartitionHome;
use crate::receipts::{ArrivingReceipts, each_moved, each_wanted};
use crate::recovery::look_at;

/// Copies them into a file in the new partition's directory. Gives how many the sources do not have any more, which their
/// own server could not answer either.
pub(super) fn copy(
    sources: &[PartitionFiles<'_>],
    target: &PartitionHome,
    made: &Regrouped,
) -> Result<u64, EmbeddedError> {
    let wanted: BTreeSet<u64> = made.machine.state().operations.sequences_in_log(0).collect();
    let mut arriving = ArrivingReceipts::new(target);
    let mut missing = 0;
    for origin in &made.origins {
        let of_origin = wanted.range(origin.shift + 1..=origin.shift + origin.sequence);
        let of_origin: Vec<u64> = of_origin.map(|sequence| sequence - origin.shift).collect();
        let files = sources.iter().find(|files| files.partition == origin.partition);
        let Some(files) = files.filter(|_| !of_origin.is_empty()) else { continue };
        let home = look_at(&files.storage, files.deployment, files.partition);
        let mut take = |sequence: u64, entry: &Entry| arriving.add(sequence + origin.shift, entry);
        let in_log = each_moved(&home, &of_origin, &mut take)?;
        missing += each_logged(&home, &in_log, &mut take)?;
    }
    arriving.finish()?;
    Ok(missing)
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
