//! How a PostgreSQL server is to run.

use crate::options::{ServerKind, ServerOptions};

/// How a PostgreSQL server is to run; settings are lines of `postgresql.conf`, such as `max_connections`, `20`.
pub type PostgresOptions = ServerOptions<PostgresKind>;

/// What only PostgreSQL takes.
#[derive(Clone, Debug, Default)]
pub struct PostgresKind {
    /// Who connects must know it.
    pub(super) password: Option<String>,
}

impl ServerKind for PostgresKind {
    const MEMORY_BYTES_MIN: u64 = 512 << 20;
}

impl PostgresOptions {
    /// Writing to the disk is left to the system: what was committed outlives a kill, but not a power cut.
    /// Nobody is asked for a password.
    #[must_use]
    pub fn new() -> Self {
        Self::bare().with("fsync", "off").with("full_page_writes", "off")
    }

    /// Acknowledges what is committed when the disk has it, as a server does that is not for tests.
    #[must_use]
    pub fn synced(self) -> Self {
        self.with("fsync", "on").with("full_page_writes", "on")
    }

    /// Lets in only who knows this password (SCRAM-SHA-256).
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
