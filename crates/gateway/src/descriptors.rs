//! File descriptors: how many the process may have, and how many it has.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit of open files to the hard one, and answers the limit; `None` if there is none.
pub fn raise_limit() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    // If the system refuses, fewer connections are served at a time.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    open_max()
}

/// The number of descriptors that the process may have open; `None` if there is no limit.
#[must_use]
pub fn open_max() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// The number of descriptors that the process has open; `None` if the system does not tell.
#[must_use]
pub fn open_count() -> Option<u64> {
    match std::fs::read_dir("/proc/self/fd") {
        // The listing itself has one open.
        Ok(listed) => Some((listed.count() as u64).saturating_sub(1)),
        // Nothing else can be the reason for this error.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::MFILE.raw_os_error()) => open_max(),
        Err(_) => None,
    }
}
