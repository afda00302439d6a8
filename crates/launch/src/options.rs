//! How a server is to run: what every kind of server takes, written once.

use std::path::{Path, PathBuf};

use crate::folder::Place;

/// How a server is to run. `K` is its kind, with what only that kind takes.
#[derive(Clone, Debug)]
pub struct ServerOptions<K> {
    /// Settings by their names, as the server's own file or command line has them.
    pub(crate) settings: Vec<(String, String)>,
    /// It takes TLS connections only, with certificates from this folder.
    pub(crate) certificates: Option<PathBuf>,
    /// Where its data is.
    pub(crate) place: Place,
    /// What only this kind of server takes.
    pub(crate) kind: K,
}

/// A kind of server.
pub trait ServerKind: Default {
    /// How much room its data may need, where it is in memory.
    const MEMORY_BYTES_MIN: u64;
}

impl<K: ServerKind> ServerOptions<K> {
    /// As the server itself would run.
    pub(crate) fn bare() -> Self {
        Self { settings: Vec::new(), certificates: None, place: Place::Temporary, kind: K::default() }
    }

    /// Sets a setting of the server's own; the last one given counts.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.settings.retain(|(known, _)| known != name);
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Takes TLS connections only, with `server.crt` and `server.key` (PEM, PKCS #8) of a folder, and for Redis
    /// `ca.crt`.
    #[must_use]
    pub fn with_tls(mut self, certificates: &Path) -> Self {
        self.certificates = Some(certificates.to_owned());
        self
    }

    /// Keeps its data in memory, where the system has room for that, so that syncing costs nothing.
    #[must_use]
    pub fn in_memory(mut self) -> Self {
        self.place = Place::Memory { bytes_min: K::MEMORY_BYTES_MIN };
        self
    }

    /// Keeps its data in a folder of its own inside this one, such as a small file system that is to become full. A
    /// database's log is elsewhere; where root starts a database, others must be allowed to pass through the folder.
    #[must_use]
    pub fn in_folder(mut self, folder: &Path) -> Self {
        self.place = Place::In(folder.to_owned());
        self
    }

    /// The setting of a name, where it was given.
    #[cfg(feature = "redis")]
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}
