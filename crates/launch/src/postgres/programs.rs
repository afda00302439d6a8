//! PostgreSQL's programs, and the file in which a server publishes its status.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Program;

/// The variable that names the folder with PostgreSQL's programs.
const FOLDER_VARIABLE: &str = "SCARCE_POSTGRES_PROGRAMS";

/// Debian's folder for them, with one folder per version; they are not on the search path.
const DEBIAN_FOLDER: &str = "/usr/lib/postgresql";

pub(super) const POSTGRES: Program = Program { name: "postgres", package: "postgresql" };
pub(super) const INITDB: Program = Program { name: "initdb", package: "postgresql" };
pub(super) const PSQL: Program = Program { name: "psql", package: "postgresql" };

/// The folders that may contain the programs, the newest version first.
pub(super) fn folders() -> Vec<PathBuf> {
    let named = std::env::var_os(FOLDER_VARIABLE).map(PathBuf::from);
    let listed = std::fs::read_dir(DEBIAN_FOLDER).into_iter().flatten().flatten();
    let mut versions: Vec<u32> =
        listed.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    versions.sort_unstable_by(|a, b| b.cmp(a));
    let debian = versions.into_iter().map(|version| Path::new(DEBIAN_FOLDER).join(version.to_string()));
    named.into_iter().chain(debian.map(|folder| folder.join("bin"))).collect()
}

/// Whether the process with this id has written that it accepts connections.
pub(super) fn says_ready(lock_file: &Path, number: &str) -> bool {
    let text = std::fs::read_to_string(lock_file).unwrap_or_default();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.first() == Some(&number) && lines.get(7) == Some(&"ready")
}

/// Frees the shared memory that a killed server can no longer free itself.
pub(super) fn forget_shared_memory(lock_file: &Path) {
    let text = std::fs::read_to_string(lock_file).unwrap_or_default();
    let Some(segment) = text.lines().nth(6).and_then(|line| line.split_whitespace().nth(1)) else { return };
    // A few bytes that nothing else uses; if the program is missing, they stay.
    let _ = Command::new("ipcrm").args(["-m", segment]).stderr(Stdio::null()).status();
}
