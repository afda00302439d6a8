//! The programs to start, and where they are.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::LaunchError;

/// Folders that are only on an administrator's search path.
const ADMINISTRATORS: [&str; 2] = ["/usr/sbin", "/usr/local/sbin"];

/// A program and where it comes from, for errors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    /// Its name.
    pub(crate) name: &'static str,
    /// The Debian package that contains it.
    pub(crate) package: &'static str,
}

impl Program {
    /// A command that runs it: from one of `folders`, or else from the search path.
    pub(crate) fn command(self, folders: &[PathBuf]) -> Command {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let searched = std::env::split_paths(&path).chain(ADMINISTRATORS.map(PathBuf::from));
        let mut places = folders.iter().cloned().chain(searched).map(|folder| folder.join(self.name));
        let found = places.find(|place| place.is_file());
        Command::new(found.as_deref().unwrap_or(Path::new(self.name)))
    }

    /// The error for a command that the system did not start.
    pub(crate) fn not_started(self, command: &Command, source: std::io::Error) -> LaunchError {
        let program = OsStr::to_string_lossy(command.get_program()).into_owned();
        LaunchError::Program { program, package: self.package, source }
    }
}
