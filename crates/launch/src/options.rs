//! How to run a server: the options that all kinds of servers share.

use std::path::{Path, PathBuf};

use crate::folder::FolderPlace;

/// How to run a server. `K` is its kind, with the options that only that kind has.
#[derive(Clone, Debug)]
pub struct ServerOptions<K> {
    /// Settings by name, as in the server's own configuration file or command line.
    pub(crate) settings: Vec<(String, String)>,
    /// Accepts only TLS connections, with certificates from this folder.
    pub(crate) certificates: Option<PathBuf>,
    /// The place of its data.
    pub(crate) place: FolderPlace,
    /// Options that only this kind of server has.
    pub(crate) kind: K,
}

/// A kind of server.
pub trait ServerKind: Default {
    /// The minimum space for its data, if it is kept in memory.
    const MEMORY_BYTES_MIN: u64;
}

impl<K: ServerKind> ServerOptions<K> {
    /// The server's own defaults.
    pub(crate) fn bare() -> Self {
        Self { settings: Vec::new(), certificates: None, place: FolderPlace::Temporary, kind: K::default() }
    }

    /// Sets one of the server's own settings; the last value wins.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.settings.retain(|(known, _)| known != name);
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Accepts only TLS connections, with `server.crt` and `server.key` (PEM, PKCS #8) from a folder, and for
    /// Redis also `ca.crt`.
    #[must_use]
    pub fn with_tls(mut self, certificates: &Path) -> Self {
        self.certificates = Some(certificates.to_owned());
        self
    }

    /// Keeps its data in memory if the system has space for it, so that syncing costs nothing.
    #[must_use]
    pub fn in_memory(mut self) -> Self {
        self.place = FolderPlace::Memory { bytes_min: K::MEMORY_BYTES_MIN };
        self
    }

    /// Keeps its data in its own folder inside this one, such as a small file system for a disk-full test. A
    /// database's log is elsewhere. If root starts a database, other users must be able to enter the folder.
    #[must_use]
    pub fn in_folder(mut self, folder: &Path) -> Self {
        self.place = FolderPlace::In(folder.to_owned());
        self
    }

    /// The value of a setting, if it was given.
    #[cfg(feature = "redis")]
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}
