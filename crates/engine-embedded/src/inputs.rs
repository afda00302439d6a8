//! How far inputs of commands were consumed: in memory, and in a file beside the journal of one partition.
//!
//! The file may be behind what is in memory: then some commands come again, and the engine knows their ids.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use scarce_engine::inputs::InputPosition;

use crate::consumers::RegistryError;
use crate::storage::{Storage, StorageError, read_small, replace, sealed, unsealed};

const FORMAT_VERSION: u32 = 1;
const FILE_NAME: &str = "inputs";
const TEMPORARY_NAME: &str = "inputs.tmp";
const FILE_BYTES_MAX: u64 = 16 << 20;

/// The file with its largest size, for those who copy it.
pub(crate) const FILE: (&str, u64) = (FILE_NAME, FILE_BYTES_MAX);

/// How far each input of commands was consumed, by name.
pub(crate) struct Inputs {
    positions: Mutex<BTreeMap<String, InputPosition>>,
    is_changed: AtomicBool,
}

impl Inputs {
    /// Loads what the file of a partition says.
    ///
    /// # Errors
    /// When it cannot be read or is not such a file.
    pub(crate) fn load(storage: &dyn Storage) -> Result<Self, RegistryError> {
        let positions = match read_small(storage, FILE_NAME, FILE_BYTES_MAX)? {
            None => BTreeMap::new(),
            Some(bytes) => std::str::from_utf8(&bytes)
                .ok()
                .and_then(parse)
                .ok_or_else(|| RegistryError::DamagedInputs { path: storage.locate(FILE_NAME) })?,
        };
        Ok(Self { positions: Mutex::new(positions), is_changed: false.into() })
    }

    fn positions(&self) -> MutexGuard<'_, BTreeMap<String, InputPosition>> {
        self.positions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of them, in the order of their names.
    pub(crate) fn list(&self) -> Vec<InputPosition> {
        self.positions().values().cloned().collect()
    }

    /// Keeps positions, each in place of the earlier one with its name.
    pub(crate) fn keep(&self, kept: &[InputPosition]) {
        let mut positions = self.positions();
        for position in kept.iter().filter(|position| position.has_valid_name()) {
            positions.insert(position.input.clone(), position.clone());
        }
        self.is_changed.store(true, Ordering::Release);
    }

    /// Forgets positions that were kept at a later sequence, and has the rest written.
    pub(crate) fn forget_behind(&self, sequence: u64) {
        let mut positions = self.positions();
        positions.retain(|_, position| position.reached.sequence <= sequence);
        self.is_changed.store(!positions.is_empty(), Ordering::Release);
    }

    /// Writes the file if it is behind.
    ///
    /// # Errors
    /// When the disk fails; it stays behind then.
    pub(crate) fn save(&self, storage: &dyn Storage) -> Result<(), StorageError> {
        if !self.is_changed.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let text = text_of(&self.positions());
        let written = replace(storage, TEMPORARY_NAME, FILE_NAME, text.as_bytes());
        if written.is_err() {
            self.is_changed.store(true, Ordering::Release);
        }
        written
    }
}

/// A head, a line for each input, and a checksum over all that.
fn text_of(positions: &BTreeMap<String, InputPosition>) -> String {
    let mut text = format!(
        "# How far inputs of commands were consumed. Written by the server.\nformat_version = {FORMAT_VERSION}\n"
    );
    for position in positions.values() {
        text.push_str(&format!("{} {}\n", position.input, position.values()));
    }
    sealed(&text)
}

fn parse(text: &str) -> Option<BTreeMap<String, InputPosition>> {
    let mut lines = unsealed(text)?.lines().skip(1);
    (lines.next()? == format!("format_version = {FORMAT_VERSION}")).then_some(())?;
    let mut positions = BTreeMap::new();
    for line in lines {
        let (input, values) = line.split_once(' ')?;
        positions.insert(input.to_owned(), InputPosition::read(input, values)?);
    }
    // Written again it must be the same.
    (text_of(&positions) == text).then_some(positions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::FaultyDisk;
    use scarce_core::event::Position;

    fn position(input: &str, next: u64) -> InputPosition {
        InputPosition { input: input.to_owned(), next, last: 7, reached: Position { epoch: 1, sequence: 3 } }
    }

    #[test]
    fn positions_survive_a_restart_once_they_are_written() {
        let disk = FaultyDisk::new();
        let inputs = Inputs::load(&disk).expect("no file");
        inputs.keep(&[position("kafka/t/0", 5), position("kafka/t/1", 9), position("no name", 1)]);
        assert!(Inputs::load(&disk).expect("no file").list().is_empty());
        inputs.save(&disk).expect("written");
        // Also back: a topic that was created again begins anew.
        inputs.keep(&[position("kafka/t/1", 2)]);
        inputs.save(&disk).expect("written");
        let again = Inputs::load(&disk).expect("read");
        assert_eq!(again.list(), [position("kafka/t/0", 5), position("kafka/t/1", 2)]);
    }

    #[test]
    fn a_changed_file_is_not_believed() {
        let disk = FaultyDisk::new();
        let inputs = Inputs::load(&disk).expect("no file");
        inputs.keep(&[position("kafka/t/0", 5)]);
        inputs.save(&disk).expect("written");
        let good = read_small(&disk, FILE_NAME, FILE_BYTES_MAX).expect("read").expect("there");
        for place in 0..good.len() {
            let mut bad = good.clone();
            bad[place] ^= 1;
            replace(&disk, TEMPORARY_NAME, FILE_NAME, &bad).expect("written");
            assert!(Inputs::load(&disk).is_err(), "byte {place}");
        }
    }
}
