//! The content of one file: what programs see, and what would survive.

use std::collections::BTreeMap;

use super::SECTOR_BYTES;
use super::disk::SeededRandom;

type Sector = [u8; SECTOR_BYTES];

/// One file's bytes, as seen and as safe.
#[derive(Clone, Default)]
pub(super) struct Image {
    seen: Vec<u8>,
    safe: Vec<u8>,
    /// All contents that a sector has had since it was last synced; each may be the one that landed.
    dirty: BTreeMap<usize, Vec<Sector>>,
    length_dirty: bool,
}

fn position(offset: u64) -> usize {
    usize::try_from(offset).expect("a file in memory is shorter than the address space")
}

fn sector_of(bytes: &[u8], sector: usize) -> Sector {
    let mut content = [0; SECTOR_BYTES];
    let from = (sector * SECTOR_BYTES).min(bytes.len());
    let until = (from + SECTOR_BYTES).min(bytes.len());
    content[..until - from].copy_from_slice(&bytes[from..until]);
    content
}

fn put_sector(bytes: &mut [u8], sector: usize, content: &Sector) {
    let from = (sector * SECTOR_BYTES).min(bytes.len());
    let until = (from + SECTOR_BYTES).min(bytes.len());
    bytes[from..until].copy_from_slice(&content[..until - from]);
}

impl Image {
    pub(super) fn len(&self) -> u64 {
        self.seen.len() as u64
    }

    pub(super) fn seen(&self) -> &[u8] {
        &self.seen
    }

    pub(super) fn read(&self, offset: u64, buffer: &mut [u8]) -> usize {
        let from = position(offset).min(self.seen.len());
        let bytes = buffer.len().min(self.seen.len() - from);
        buffer[..bytes].copy_from_slice(&self.seen[from..from + bytes]);
        bytes
    }

    pub(super) fn grow(&mut self, length: u64) {
        if self.len() < length {
            self.seen.resize(position(length), 0);
            self.length_dirty = true;
        }
    }

    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.grow(offset + bytes.len() as u64);
        let from = position(offset);
        self.seen[from..from + bytes.len()].copy_from_slice(bytes);
        for sector in from / SECTOR_BYTES..=(from + bytes.len() - 1) / SECTOR_BYTES {
            let content = sector_of(&self.seen, sector);
            self.dirty.entry(sector).or_default().push(content);
        }
    }

    pub(super) fn sync(&mut self) {
        self.safe.resize(self.seen.len(), 0);
        for sector in std::mem::take(&mut self.dirty).into_keys() {
            let content = sector_of(&self.seen, sector);
            put_sector(&mut self.safe, sector, &content);
        }
        self.length_dirty = false;
    }

    /// A failed sync: the pages count as clean though the disk has the old ones.
    pub(super) fn lose(&mut self) {
        self.dirty.clear();
    }

    pub(super) fn crash(&mut self, random: &mut SeededRandom) {
        if self.length_dirty && random.coin() {
            self.safe.resize(self.seen.len(), 0);
        }
        for (sector, contents) in std::mem::take(&mut self.dirty) {
            let fate = random.below(contents.len() + 1);
            if let Some(content) = contents.get(fate) {
                put_sector(&mut self.safe, sector, content);
            }
        }
        self.length_dirty = false;
        self.seen.clone_from(&self.safe);
    }

    pub(super) fn flip_bit(&mut self, offset: u64, bit: u8) -> bool {
        let at = position(offset);
        let mut hit = false;
        for bytes in [&mut self.seen, &mut self.safe] {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << (bit % 8);
                hit = true;
            }
        }
        hit
    }
}
