//! What is fuzzed.

mod backup;
mod body;
mod commands;
mod files;
mod image;
#[cfg(feature = "ports")]
mod import;
mod log;
#[cfg(feature = "ports")]
mod request;

/// Something that reads bytes from outside.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name on the command line, and of its folder below `examples`.
    pub name: &'static str,
    /// What it reads.
    pub about: &'static str,
    /// Good input to begin with.
    pub examples: fn() -> Vec<Vec<u8>>,
    /// Checks one input, and panics if it finds a fault.
    pub check: fn(&[u8]),
    /// How many inputs are checked in the time that others take for a thousand.
    pub weight: usize,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    #[cfg(feature = "ports")]
    request::TARGET,
    backup::TARGET,
    body::TARGET,
    commands::TARGET,
    log::TARGET,
    image::TARGET,
    files::JOURNAL,
    files::SNAPSHOT,
    #[cfg(feature = "ports")]
    import::TARGET,
];
