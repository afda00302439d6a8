//! How a PostgreSQL server is to run.

use std::path::{Path, PathBuf};

use crate::folder::Place;

/// How much room its data may need, where it is in memory.
const MEMORY_BYTES_MIN: u64 = 512 << 20;

/// How a PostgreSQL server is to run.
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    /// Lines of `postgresql.conf`.
    pub(super) settings: Vec<(String, String)>,
    /// Who connects must know it.
    pub(super) password: Option<String>,
    /// It takes TLS connections only, with certificates from this folder.
    pub(super) certificates: Option<PathBuf>,
    /// Where its data is.
    pub(super) place: Place,
}

impl PostgresOptions {
    /// Writing to the disk is left to the system: what was committed outlives a kill, but not a power cut.
    /// Nobody is asked for a password.
    #[must_use]
    pub fn new() -> Self {
        Self { settings: Vec::new(), password: None, certificates: None, place: Place::Temporary }
            .with("fsync", "off")
            .with("full_page_writes", "off")
    }

    /// Acknowledges what is committed when the disk has it, as a server does that is not for tests.
    #[must_use]
    pub fn synced(self) -> Self {
        self.with("fsync", "on").with("full_page_writes", "on")
    }

    /// Sets a line of `postgresql.conf`, such as `max_connections`, `20`; the last one given counts.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.settings.retain(|(known, _)| known != name);
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Lets in only who knows this password (SCRAM-SHA-256).
    #[must_use]
    pub fn with_password(mut self, password: &str) -> Self {
        self.password = Some(password.to_owned());
        self
    }

    /// Takes TLS connections only, with `server.crt` and `server.key` of a folder.
    #[must_use]
    pub fn with_tls(mut self, certificates: &Path) -> Self {
        self.certificates = Some(certificates.to_owned());
        self
    }

    /// Keeps its data in memory, where the system has room for that.
    #[must_use]
    pub fn in_memory(mut self) -> Self {
        self.place = Place::Memory { bytes_min: MEMORY_BYTES_MIN };
        self
    }

    /// Keeps its data in a folder of its own inside this one, such as a small file system that is to become
    /// full. Its log is elsewhere. Where root starts it, others must be allowed to pass through the folder.
    #[must_use]
    pub fn in_folder(mut self, folder: &Path) -> Self {
        self.place = Place::In(folder.to_owned());
        self
    }
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self::new()
    }
}
