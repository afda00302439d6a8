//! What a restored directory can take the place of: asked before the work, because it is renamed at the end.

use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};

/// Why a directory of this name cannot be replaced, as what it is. None where it can be, or is not there.
pub(super) fn irreplaceable(path: &Path) -> Option<&'static str> {
    if std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        return Some("a symbolic link");
    }
    let real = path.canonicalize().ok()?;
    if std::env::current_dir().and_then(|here| here.canonicalize()).is_ok_and(|here| here == real) {
        return Some("the current directory");
    }
    if is_mount_point(&real) { Some("a mount point") } else { None }
}

fn is_mount_point(path: &Path) -> bool {
    let found = statx(CWD, path, AtFlags::empty(), StatxFlags::empty());
    found.is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_renamed_over_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path(), &link).unwrap();
        assert_eq!(irreplaceable(&link), Some("a symbolic link"));
        assert_eq!(irreplaceable(Path::new(".")), Some("the current directory"));
        assert_eq!(irreplaceable(Path::new("/proc")), Some("a mount point"));
        assert_eq!(irreplaceable(folder.path()), None);
        assert_eq!(irreplaceable(&folder.path().join("new")), None);
    }
}
