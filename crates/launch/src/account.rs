//! The account for servers that refuse to run as root.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::LaunchError;

/// An unprivileged account; unless we are root, everything stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Account(Option<Ids>);

/// The ids of a user and its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ids {
    user: u32,
    group: u32,
}

impl Account {
    /// The user of this name if we are root, or `nobody` if there is none.
    pub(crate) fn instead_of_root(name: &str) -> Result<Self, LaunchError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self(None));
        }
        let users = std::fs::read_to_string("/etc/passwd")?;
        let found = find(&users, name).or_else(|| find(&users, "nobody"));
        let missing = || std::io::Error::other(format!("there is no user '{name}' and none 'nobody'"));
        Ok(Self(Some(found.ok_or_else(missing)?)))
    }

    /// Makes it the owner of a file or a folder.
    pub(crate) fn own(self, path: &Path) -> Result<(), LaunchError> {
        if let Some(Ids { user, group }) = self.0 {
            chown(path, Some(user), Some(group))?;
        }
        Ok(())
    }

    /// Copies a file into a folder, readable only by this account.
    pub(crate) fn copy(self, name: &str, from: &Path, to: &Path) -> Result<PathBuf, LaunchError> {
        self.write(&to.join(name), &std::fs::read(from.join(name))?)
    }

    /// Writes a file that only this account can read.
    pub(crate) fn write(self, path: &Path, bytes: &[u8]) -> Result<PathBuf, LaunchError> {
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(bytes)?;
        self.own(path)?;
        Ok(path.to_owned())
    }

    /// Runs a command under this account.
    pub(crate) fn run(self, command: &mut Command) -> &mut Command {
        match self.0 {
            Some(Ids { user, group }) => command.uid(user).gid(group),
            None => command,
        }
    }
}

/// Searches the text of `/etc/passwd`.
fn find(users: &str, name: &str) -> Option<Ids> {
    users.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let [found, _, user, group, ..] = fields[..] else { return None };
        let is_it = found == name;
        is_it.then_some(Ids { user: user.parse().ok()?, group: group.parse().ok()? })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_the_whole_name() {
        let users = "root:x:0:0:root:/root:/bin/bash\nnobody2:x:7:7::/:/bin/sh\nnobody:x:65534:65533:::\n";
        assert_eq!(find(users, "nobody"), Some(Ids { user: 65_534, group: 65_533 }));
        assert_eq!(find(users, "some"), None);
    }
}
