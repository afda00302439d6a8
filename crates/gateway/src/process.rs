//! What the system says of this process.

/// The resident memory of the process, if the system reports it.
#[must_use]
pub fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1 << 10)
}

/// The room of a file system in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskRoom {
    /// What the process may still take.
    pub available: u64,
    /// All of it.
    pub size: u64,
}

/// The room on the file system of a directory, if the system reports it.
#[must_use]
pub fn disk_room(directory: &std::path::Path) -> Option<DiskRoom> {
    let found = rustix::fs::statvfs(directory).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
    Some(DiskRoom { available: bytes(found.f_bavail), size: bytes(found.f_blocks) })
}
