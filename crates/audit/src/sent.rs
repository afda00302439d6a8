//! How far the log was sent on, in a file beside it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use super::folder::Folder;
use super::read::Position;

const FILE: &str = "sent";
const NEW: &str = "sent.new";

/// How far a log was sent on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// What the log is called there: one folder has one name, and no other folder has it.
    pub log: String,
    /// Behind the last record that arrived.
    pub through: Position,
}

impl Folder {
    /// How far it was sent on; nothing if it never was.
    ///
    /// # Errors
    /// When the file cannot be read, or says something else.
    pub fn sent(&self) -> io::Result<Option<Sent>> {
        let text = match std::fs::read_to_string(self.path().join(FILE)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text?,
        };
        let parts = text.trim().split_once(' ');
        let sent = parts.and_then(|(log, through)| Some((log.to_owned(), through.parse().ok()?)));
        let malformed =
            || io::Error::new(io::ErrorKind::InvalidData, format!("'{}' is no position", text.trim()));
        sent.map(|(log, through)| Some(Sent { log, through })).ok_or_else(malformed)
    }

    /// Keeps how far it was sent on.
    ///
    /// # Errors
    /// When the file cannot be written; then it says what it said before.
    pub fn keep_sent(&self, sent: &Sent) -> io::Result<()> {
        let (new, path) = (self.path().join(NEW), self.path().join(FILE));
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(format!("{} {}\n", sent.log, sent.through).as_bytes())?;
        file.sync_all()?;
        std::fs::rename(new, path)?;
        File::open(self.path())?.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_read_and_what_is_damaged_is_said() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(place.path().to_owned());
        assert_eq!(folder.sent().expect("nothing is there"), None);
        for through in ["0-0", "3-517"] {
            let sent = Sent { log: "0123abcd".to_owned(), through: through.parse().expect("a position") };
            folder.keep_sent(&sent).expect("kept");
            assert_eq!(folder.sent().expect("it is read"), Some(sent));
        }
        std::fs::write(place.path().join(FILE), "0123abcd").expect("written");
        assert!(folder.sent().is_err_and(|error| error.to_string().contains("0123abcd")));
    }
}
