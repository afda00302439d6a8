//! A copied partition as files of a backup: the state as in a snapshot, and lists of texts for what has no place there. A text is
//! its length in bytes, as four bytes from the lowest on, and its bytes. The state ends with its length, in eight such bytes.

use scarce_core::machine::Machine;
use scarce_core::state::StateSettings;

use super::{PartitionCopy, Rows};

/// The state.
pub const STATE: &str = "state";

/// What is remembered of operations: keys and rows by turns.
const OPERATIONS: &str = "operations";

/// The rows of hashes: how many of each there are, then fields and texts by turns.
const ROWS: &str = "rows";

/// A copy that is not what was written.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the file '{file}' of the backup is no copy of a partition that this release can read: {reason}")]
pub struct UnreadableCopy {
    /// Which file.
    pub file: &'static str,
    /// What is wrong with it.
    pub reason: &'static str,
}

fn put(out: &mut Vec<u8>, text: &str) {
    // A row of Redis has at most 512 MB.
    out.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

fn texts(file: &'static str, mut bytes: &[u8]) -> Result<Vec<String>, UnreadableCopy> {
    let unreadable = |reason| UnreadableCopy { file, reason };
    let mut found = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
        let length = u32::from_le_bytes(*length) as usize;
        let (text, rest) = rest.split_at_checked(length).ok_or_else(|| unreadable("it ends in a text"))?;
        let text = std::str::from_utf8(text).map_err(|_| unreadable("it has other bytes than text"))?;
        found.push(text.to_owned());
        bytes = rest;
    }
    if bytes.is_empty() { Ok(found) } else { Err(unreadable("it ends in the length of a text")) }
}

impl PartitionCopy {
    /// The files, with their names.
    #[must_use]
    pub fn files(&self) -> Vec<(&'static str, Vec<u8>)> {
        let (mut state, mut operations, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        self.machine.put(&mut state);
        // A state may end early, as those of earlier releases do.
        state.extend_from_slice(&(state.len() as u64).to_le_bytes());
        for (key, row) in &self.operations {
            put(&mut operations, key);
            put(&mut operations, row);
        }
        for its in [&self.meta, &self.histories, &self.consumers, &self.inputs] {
            put(&mut rows, &its.len().to_string());
            for (field, text) in its {
                put(&mut rows, field);
                put(&mut rows, text);
            }
        }
        vec![(STATE, state), (OPERATIONS, operations), (ROWS, rows)]
    }

    /// Reads the files, which `file` gives by their names.
    ///
    /// # Errors
    /// Those of `file`, and when a file is not what was written.
    pub fn read<E: From<UnreadableCopy>>(
        settings: StateSettings,
        mut file: impl FnMut(&str) -> Result<Vec<u8>, E>,
    ) -> Result<Self, E> {
        let machine = machine(settings, &file(STATE)?)?;
        let operations = texts(OPERATIONS, &file(OPERATIONS)?)?;
        if operations.len() % 2 != 0 {
            return Err(UnreadableCopy { file: OPERATIONS, reason: "a row is missing" }.into());
        }
        let operations = operations.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
        let mut rows = texts(ROWS, &file(ROWS)?)?.into_iter();
        let mut next = || take_rows(&mut rows);
        let (meta, histories, consumers, inputs) = (next()?, next()?, next()?, next()?);
        Ok(Self { machine, operations, meta, histories, consumers, inputs })
    }
}

fn machine(settings: StateSettings, file: &[u8]) -> Result<Machine, UnreadableCopy> {
    let unreadable = |reason| UnreadableCopy { file: STATE, reason };
    let whole = file.split_last_chunk::<8>();
    let whole = whole.filter(|(state, length)| u64::from_le_bytes(**length) == state.len() as u64);
    let (state, _) = whole.ok_or_else(|| unreadable("it does not end with its length"))?;
    Machine::load(settings, state).map_err(|_| unreadable("it is no state"))
}

fn take_rows(texts: &mut impl Iterator<Item = String>) -> Result<Rows, UnreadableCopy> {
    let unreadable = |reason| UnreadableCopy { file: ROWS, reason };
    let count = texts.next().ok_or_else(|| unreadable("a number of rows is missing"))?;
    let count: usize = count.parse().map_err(|_| unreadable("a number of rows is no number"))?;
    let mut rows = Rows::new();
    for _ in 0..count {
        let pair = texts.next().zip(texts.next()).ok_or_else(|| unreadable("a row is missing"))?;
        rows.insert(pair.0, pair.1);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy() -> PartitionCopy {
        let rows = |field: &str| Rows::from([(field.to_owned(), "1".to_owned())]);
        PartitionCopy {
            machine: Machine::new(StateSettings::default(), 3),
            operations: vec![("pay-1".to_owned(), "00|1|2|1|1|0|[\"é\"]".to_owned())],
            meta: rows("now"),
            histories: rows("1"),
            consumers: Rows::new(),
            inputs: rows("topic"),
        }
    }

    fn read(files: &[(&'static str, Vec<u8>)]) -> Result<PartitionCopy, UnreadableCopy> {
        let file = |name: &str| {
            Ok(files.iter().find(|its| its.0 == name).map(|its| its.1.clone()).unwrap_or_default())
        };
        PartitionCopy::read(StateSettings::default(), file)
    }

    #[test]
    fn a_copy_is_read_as_it_was_written() {
        let (copy, found) = (copy(), read(&copy().files()).expect("a copy"));
        assert_eq!(found.operations, copy.operations);
        assert_eq!((found.meta, found.histories), (copy.meta, copy.histories));
        assert_eq!((found.consumers, found.inputs), (copy.consumers, copy.inputs));
        assert_eq!(found.machine.partition(), 3);
    }

    #[test]
    fn a_copy_that_is_cut_off_anywhere_is_refused() {
        let files = copy().files();
        for at in 0..files.len() {
            for length in 0..files[at].1.len() {
                let mut cut = files.clone();
                cut[at].1.truncate(length);
                // An empty list of operations is one of a partition that remembers none.
                let is_whole = at == 1 && length == 0;
                assert_eq!(read(&cut).is_ok(), is_whole, "{} cut to {length}", files[at].0);
            }
        }
    }
}
