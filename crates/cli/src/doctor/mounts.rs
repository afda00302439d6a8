//! The file system of a directory.

use std::path::{Path, PathBuf};

/// A mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    /// Where it is mounted.
    pub(super) point: PathBuf,
    /// Its type, such as `ext4`.
    pub(super) kind: String,
    /// Whether it is read-only.
    pub(super) is_read_only: bool,
}

/// The mount that contains a directory, if the system tells.
pub(super) fn of(directory: &Path) -> Option<Mount> {
    let directory = directory.canonicalize().ok()?;
    find(&std::fs::read_to_string("/proc/self/mountinfo").ok()?, &directory)
}

/// The innermost mount; the last of several on one mount point hides the others.
fn find(mountinfo: &str, directory: &Path) -> Option<Mount> {
    let mounts = mountinfo.lines().filter_map(parse);
    mounts
        .filter(|mount| directory.starts_with(&mount.point))
        .max_by_key(|mount| mount.point.as_os_str().len())
}

/// `36 35 98:0 /root /point rw,noatime master:1 - ext4 /dev/sda1 rw,errors=continue`
fn parse(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(4);
    let (point, options) = (unescape(left.next()?), left.next()?);
    let mut right = right.split(' ');
    let (kind, own_options) = (right.next()?.to_owned(), right.nth(1)?);
    let is_read_only = [options, own_options].iter().any(|list| list.split(',').any(|word| word == "ro"));
    Some(Mount { point: point.into(), kind, is_read_only })
}

/// Spaces and similar characters are encoded as `\040`.
fn unescape(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.get(..3).and_then(|code| u8::from_str_radix(code, 8).ok()) {
            Some(byte) => {
                plain.push(char::from(byte));
                plain.push_str(&part[3..]);
            }
            None => {
                plain.push('\\');
                plain.push_str(part);
            }
        }
    }
    plain
}

/// Why a journal should not be kept on this type of file system, and what to do.
pub(super) fn objection(kind: &str) -> Option<(&'static str, &'static str)> {
    match kind {
        "tmpfs" | "ramfs" => Some((
            "what it holds is gone with the machine's power, however it was synced",
            "choose a directory on a disk with --data",
        )),
        "overlay" | "aufs" => Some((
            "a container's own layer, which is removed with the container",
            "mount a volume and name it with --data",
        )),
        "nfs" | "nfs4" | "cifs" | "smb3" | "9p" | "ceph" | "glusterfs" => Some((
            "syncs cross the network, and locks and errors of syncs are not as on a local disk",
            "use a disk of this machine",
        )),
        kind if kind.starts_with("fuse") => {
            Some(("a sync means what its program makes of it", "use a disk of this machine"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTINFO: &str = "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n\
        23 22 0:21 / /tmp rw,nosuid shared:5 - tmpfs tmpfs rw\n\
        24 22 8:1 /sub /srv/big\\040disk ro,relatime master:2 - xfs /dev/sda1 rw\n";

    #[test]
    fn the_innermost_mount_counts() {
        let kind = |path: &str| find(MOUNTINFO, Path::new(path)).map(|mount| mount.kind);
        assert_eq!(kind("/var/lib"), Some("ext4".to_owned()));
        assert_eq!(kind("/tmp/data"), Some("tmpfs".to_owned()));
        assert_eq!(kind("/tmpfs"), Some("ext4".to_owned()), "a name that only begins so is elsewhere");
        assert_eq!(
            find(MOUNTINFO, Path::new("/srv/big disk/data")),
            Some(Mount { point: "/srv/big disk".into(), kind: "xfs".to_owned(), is_read_only: true })
        );
        assert_eq!(find("", Path::new("/")), None);
    }

    #[test]
    fn memory_containers_and_networks_are_objected_to() {
        for kind in ["tmpfs", "overlay", "nfs4", "fuse.sshfs"] {
            assert!(objection(kind).is_some(), "{kind}");
        }
        assert!(["ext4", "xfs", "btrfs", "zfs"].iter().all(|kind| objection(kind).is_none()));
    }
}
