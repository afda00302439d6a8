//! The text files that the rules check: those that git tracks, and those that it will track.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use crate::{console, place, process, reference};

/// A text file of the project.
pub struct File {
    /// Relative to the top of the repository, with `/`.
    pub path: String,
    pub text: String,
}

impl File {
    pub fn has_extension(&self, extensions: &[&str]) -> bool {
        let own = Path::new(&self.path).extension().and_then(|extension| extension.to_str());
        own.is_some_and(|own| extensions.contains(&own))
    }

    /// Whether people write it. Generated files come from others, which are checked.
    pub fn is_written(&self) -> bool {
        !generated().any(|path| self.path.starts_with(&path))
    }
}

/// The paths of generated files, or their prefixes.
pub fn generated() -> impl Iterator<Item = String> {
    reference::generated().chain(console::generated()).chain(["Cargo.lock".to_owned()])
}

/// All text files of the project.
pub struct Files(pub Vec<File>);

impl Files {
    /// Reads them.
    pub fn read() -> Result<Self, Box<dyn Error>> {
        let listed =
            process::must(git(&["ls-files", "--cached", "--others", "--exclude-standard"]).arg("-z"))?;
        let read = |path: &str| {
            // Files that were removed without a commit, and binary files, have nothing to check.
            let text = std::fs::read_to_string(place::root().join(path)).ok()?;
            Some(File { path: path.to_owned(), text })
        };
        Ok(Self(listed.split('\0').filter(|path| !path.is_empty()).filter_map(read).collect()))
    }
}

/// A command of git in this repository, whatever user owns the folder.
pub fn git(words: &[&str]) -> Command {
    let mut command = Command::new("git");
    command
        .args(["-c", "safe.directory=*", "-c", "core.quotePath=false"])
        .args(words)
        .current_dir(place::root());
    command
}
