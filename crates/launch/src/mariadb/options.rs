//! How to run a MariaDB server.

use crate::options::{ServerKind, ServerOptions};

/// How to run a MariaDB server; settings are system variables, such as `max-connections`, `20`.
pub type MariaDbOptions = ServerOptions<MariaDbKind>;

/// Options that only MariaDB has.
#[derive(Clone, Debug, Default)]
pub struct MariaDbKind {
    /// The password for all connections.
    pub(super) password: Option<String>,
}

impl ServerKind for MariaDbKind {
    const MEMORY_BYTES_MIN: u64 = 512 << 20;
}

impl MariaDbOptions {
    /// Little memory, and writing to the disk is left to the system: committed data survives a kill, but not
    /// a power failure. No password is required.
    #[must_use]
    pub fn new() -> Self {
        Self::bare()
            .with("innodb-buffer-pool-size", "64M")
            .with("innodb-log-file-size", "16M")
            .with("character-set-server", "utf8mb4")
            .with("debug-no-sync", "1")
            .with("innodb-flush-method", "nosync")
    }

    /// Acknowledges a commit once it is on disk, like a production server.
    #[must_use]
    pub fn synced(self) -> Self {
        self.with("debug-no-sync", "0").with("innodb-flush-method", "O_DIRECT")
    }

    /// Requires this password.
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
