//! The paths of directories and programs.

use std::io;
use std::path::{Path, PathBuf};

/// The top of the repository.
pub fn root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let manifest = manifest.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
    manifest.parent().map_or(manifest.clone(), Path::to_path_buf)
}

/// The directory of cargo's output: this program runs from `<target>/release/`, its tests from `deps` below
/// that.
pub fn target() -> PathBuf {
    let own = std::env::current_exe().ok();
    let folder = own.as_deref().and_then(Path::parent);
    let folder = folder
        .map(|folder| if folder.ends_with("deps") { folder.parent().unwrap_or(folder) } else { folder });
    folder.and_then(Path::parent).map_or_else(|| root().join("target"), Path::to_path_buf)
}

/// The directory for the files that tasks install and write; created if it is missing.
pub fn work(name: &str) -> io::Result<PathBuf> {
    let path = target().join("xtask").join(name);
    std::fs::create_dir_all(&path)?;
    Ok(path)
}

/// An empty directory for a server's data.
pub fn fresh(name: &str) -> io::Result<PathBuf> {
    let path = target().join("xtask").join(format!("{name}-{}", std::process::id()));
    if path.exists() {
        std::fs::remove_dir_all(&path)?;
    }
    std::fs::create_dir_all(&path)?;
    Ok(path)
}

/// This program. A build that runs meanwhile may replace its file, so that its own path would no longer lead to it.
pub fn xtask() -> PathBuf {
    target().join("release").join("xtask")
}

/// The server's binary.
pub fn scarce() -> PathBuf {
    target().join("release").join("scarce")
}

/// Whether a program of this name is on the search path.
pub fn has_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(name).is_file())
}
