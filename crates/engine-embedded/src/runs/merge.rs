//! Runs that follow one another made into one, without the records that are forgotten, and what is read of a run in its order.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::ops::Range;

use scarce_core::codec::Input;
use scarce_core::operations::OldOperation;

use crate::journal::bytes::index;
use crate::snapshot::SnapshotOwner;
use crate::storage::Storage;

use super::RunError;
use super::file::{FRAME_BYTES, READ_BYTES, Run, RunHead, unframed};
use super::record::Base;
use super::writer::RunWriter;

/// Reads the records of a run in the order of their keys, and checks all blocks.
pub(super) struct RunRecords<'a> {
    run: &'a Run,
    /// The block that comes next, and the bytes that were read of the file.
    block: usize,
    bytes: Vec<u8>,
    /// Where the bytes begin in the file, and which of them are records that are left.
    offset: u64,
    left: Range<usize>,
    crc: u32,
}

impl<'a> RunRecords<'a> {
    pub(super) const fn new(run: &'a Run) -> Self {
        Self { run, block: 0, bytes: Vec::new(), offset: 0, left: 0..0, crc: 0 }
    }

    /// The next record.
    pub(super) fn next(&mut self) -> Result<Option<OldOperation>, RunError> {
        if self.left.is_empty() && !self.next_block()? {
            return Ok(None);
        }
        let mut input = Input::new(&self.bytes[self.left.clone()]);
        let old = self.run.head.base.get(&mut input).map_err(|_| self.run.damaged())?;
        self.left.start = self.left.end - input.len();
        Ok(Some(old))
    }

    fn next_block(&mut self) -> Result<bool, RunError> {
        let Some((_, offset)) = self.run.fences.get(self.block).copied() else {
            let is_whole = self.crc == self.run.head.blocks_crc;
            return if is_whole { Ok(false) } else { Err(self.run.damaged()) };
        };
        let end = self.run.block_end(self.block);
        if end > self.offset + self.bytes.len() as u64 || offset < self.offset {
            self.read_from(offset, end)?;
        }
        let (start, stop) = (index(offset - self.offset), index(end - self.offset));
        let framed = self.bytes.get(start..stop).ok_or_else(|| self.run.damaged())?;
        unframed(framed).ok_or_else(|| self.run.damaged())?;
        self.crc = crc32c::crc32c_append(self.crc, framed);
        self.left = start + FRAME_BYTES..stop;
        self.block += 1;
        Ok(true)
    }

    /// Reads a block, and what fits behind it.
    fn read_from(&mut self, offset: u64, end: u64) -> Result<(), RunError> {
        let last = (offset + READ_BYTES as u64).min(self.run.head.index_offset).max(end);
        if offset > end || end > self.run.head.index_offset {
            return Err(self.run.damaged());
        }
        self.bytes.resize(index(last - offset), 0);
        self.offset = offset;
        self.run.read_at(offset, &mut self.bytes)
    }
}

/// Writes what runs that follow one another hold of the records with these numbers into one run of these numbers; those before
/// `kept` are forgotten and left out.
pub(super) fn merge(
    storage: &dyn Storage,
    owner: &SnapshotOwner,
    runs: &[&Run],
    numbers: &Range<u64>,
    kept: u64,
    level: u32,
) -> Result<Run, RunError> {
    let heads = || runs.iter().map(|run| &run.head);
    let epochs: BTreeSet<u64> = heads().flat_map(|head| head.base.epochs.iter().copied()).collect();
    let head = RunHead {
        base: Base {
            start: numbers.start,
            at: heads().map(|head| head.base.at).min().unwrap_or(0),
            sequence: heads().map(|head| head.base.sequence).min().unwrap_or(0),
            epochs: epochs.into_iter().collect(),
        },
        end: numbers.end,
        level,
        ..RunHead::default()
    };
    let mut writer = RunWriter::create(storage, owner, head, heads().map(|head| head.records).sum())?;
    let mut sources: Vec<_> = runs.iter().map(|run| RunRecords::new(run)).collect();
    // Of records with the same key the latest comes first.
    let mut next = BinaryHeap::new();
    let mut held: Vec<Option<OldOperation>> = Vec::new();
    let is_kept = |number: u64| number >= kept && numbers.contains(&number);
    for (place, source) in sources.iter_mut().enumerate() {
        held.push(source.next()?);
        next.extend(held[place].as_ref().map(|old| Reverse((old.key, Reverse(old.number), place))));
    }
    while let Some(Reverse((.., place))) = next.pop() {
        if let Some(old) = held[place].take().filter(|old| is_kept(old.number)) {
            writer.add(&old)?;
        }
        held[place] = sources[place].next()?;
        next.extend(held[place].as_ref().map(|old| Reverse((old.key, Reverse(old.number), place))));
    }
    writer.finish(storage)
}

/// Gives the records of a run to `take`.
pub(super) fn each(run: &Run, take: &mut dyn FnMut(OldOperation)) -> Result<(), RunError> {
    let mut records = RunRecords::new(run);
    while let Some(old) = records.next()? {
        take(old);
    }
    Ok(())
}

/// Reads a run from its beginning to its end.
pub(super) fn check(run: &Run) -> Result<(), RunError> {
    let (mut records, mut count, mut last) = (RunRecords::new(run), 0, None);
    while let Some(old) = records.next()? {
        let is_here = (run.start()..run.end()).contains(&old.number) && run.may_have(old.key, None, 0);
        let place = (old.key, Reverse(old.number));
        if !is_here || last.is_some_and(|last| last >= place) {
            return Err(run.damaged());
        }
        (count, last) = (count + 1, Some(place));
    }
    if count == run.head.records { Ok(()) } else { Err(run.damaged()) }
}
