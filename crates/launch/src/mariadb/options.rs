//! How a MariaDB server is to run.

use crate::options::{ServerKind, ServerOptions};

/// How a MariaDB server is to run; settings are system variables, such as `max-connections`, `20`.
pub type MariaDbOptions = ServerOptions<MariaDbKind>;

/// What only MariaDB takes.
#[derive(Clone, Debug, Default)]
pub struct MariaDbKind {
    /// Who connects must know it.
    pub(super) password: Option<String>,
}

impl ServerKind for MariaDbKind {
    const MEMORY_BYTES_MIN: u64 = 512 << 20;
}

impl MariaDbOptions {
    /// Little memory, and writing to the disk is left to the system: what was committed outlives a kill, but
    /// not a power cut. Nobody is asked for a password.
    #[must_use]
    pub fn new() -> Self {
        Self::bare()
            .with("innodb-buffer-pool-size", "64M")
            .with("innodb-log-file-size", "16M")
            .with("character-set-server", "utf8mb4")
            .with("debug-no-sync", "1")
            .with("innodb-flush-method", "nosync")
    }

    /// Acknowledges what is committed when the disk has it, as a server does that is not for tests.
    #[must_use]
    pub fn synced(self) -> Self {
        self.with("debug-no-sync", "0").with("innodb-flush-method", "O_DIRECT")
    }

    /// Lets in only who knows this password.
    #[must_use]
    pub fn with_password(mut self, password: &str) -> Self {
        self.kind.password = Some(password.to_owned());
        self
    }

    pub(super) fn words(&self) -> impl Iterator<Item = String> {
        self.settings.iter().map(|(name, value)| format!("--{name}={value}"))
    }
}

impl Default for MariaDbOptions {
    fn default() -> Self {
        Self::new()
    }
}
