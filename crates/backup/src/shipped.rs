//! How far the log in a store was when that was last known, noted in the data directory: a server that starts while the store is
//! away knows by it what is missing there.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The file of a data directory.
const NAME: &str = "backup-shipped";

/// How far the log in a store was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    /// Where the store is.
    pub place: String,
    /// When it had everything that was durable then, in Unix milliseconds.
    pub at_ms: u64,
    /// The last sequence of each partition there.
    pub sequences: Vec<u64>,
}

impl Reached {
    /// Notes it. It is not made durable: an older note says that more is missing, never less.
    ///
    /// # Errors
    /// When the directory cannot be written.
    pub fn note(&self, data: &Path) -> io::Result<()> {
        let unfinished = data.join(format!("{NAME}.new"));
        fs::write(&unfinished, serde_json::to_vec(self)?)?;
        fs::rename(&unfinished, data.join(NAME))
    }

    /// What was noted of a store; nothing where that cannot be read.
    #[must_use]
    pub fn noted(data: &Path, place: &str) -> Option<Self> {
        let bytes = fs::read(data.join(NAME)).ok()?;
        serde_json::from_slice(&bytes).ok().filter(|noted: &Self| noted.place == place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_of_one_store_and_damage_says_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path();
        assert_eq!(Reached::noted(data, "here"), None);
        let reached = Reached { place: "here".to_owned(), at_ms: 7, sequences: vec![3, 0] };
        reached.note(data).unwrap();
        assert_eq!(Reached::noted(data, "here"), Some(reached));
        assert_eq!(Reached::noted(data, "there"), None);
        fs::write(data.join(NAME), "{").unwrap();
        assert_eq!(Reached::noted(data, "here"), None);
    }
}
