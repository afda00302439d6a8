//! How to run a PostgreSQL server.

use crate::options::{ServerKind, ServerOptions};

/// How to run a PostgreSQL server; settings are lines of `postgresql.conf`, such as `max_connections`, `20`.
pub type PostgresOptions = ServerOptions<PostgresKind>;

/// Options that only PostgreSQL has.
#[derive(Clone, Debug, Default)]
pub struct PostgresKind {
    /// The password for all connections.
    pub(super) password: Option<String>,
}

impl ServerKind for PostgresKind {
    const MEMORY_BYTES_MIN: u64 = 512 << 20;
}

impl PostgresOptions {
    /// Writing to the disk is left to the system: committed data survives a kill, but not a power failure. No
    /// password is required.
    #[must_use]
    pub fn new() -> Self {
        Self::bare().with("fsync", "off").with("full_page_writes", "off")
    }

    /// Acknowledges a commit once it is on disk, like a production server.
    #[must_use]
    pub fn synced(self) -> Self {
        self.with("fsync", "on").with("full_page_writes", "on")
    }

    /// Requires this password (SCRAM-SHA-256).
    #[must_use]
    pub fn with_password(mut self, password: &str) -> Self {
        self.kind.password = Some(password.to_owned());
        self
    }
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self::new()
    }
}
