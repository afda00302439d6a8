//! How to run a Redis server, and its configuration file.

use crate::folder::{CERTIFICATE, KEY};
use crate::options::{ServerKind, ServerOptions};

/// How to run a Redis server; settings are lines of `redis.conf`.
pub type Options = ServerOptions<RedisKind>;

/// Options that only Redis has.
#[derive(Clone, Debug, Default)]
pub struct RedisKind {
    /// A cluster node, which has a separate port for other nodes.
    pub(super) is_cluster: bool,
    /// A sentinel.
    pub(super) is_sentinel: bool,
}

impl ServerKind for RedisKind {
    const MEMORY_BYTES_MIN: u64 = 0;
}

impl Options {
    /// With an append-only file that the system writes out, and no snapshots.
    #[must_use]
    pub fn new() -> Self {
        Self::bare().with("save", "").with("appendonly", "yes").with("appendfsync", "no")
    }

    pub(super) fn text(&self, port: u16, bus_port: u16) -> String {
        let mut lines = vec![("daemonize", "no".to_owned()), ("bind", "127.0.0.1".to_owned())];
        match &self.certificates {
            None => lines.push(("port", port.to_string())),
            Some(folder) => {
                lines.push(("port", "0".to_owned()));
                lines.push(("tls-port", port.to_string()));
                let names = [("tls-cert-file", CERTIFICATE), ("tls-key-file", KEY)];
                for (option, name) in names.into_iter().chain([("tls-ca-cert-file", "ca.crt")]) {
                    lines.push((option, folder.join(name).display().to_string()));
                }
                lines.push(("tls-auth-clients", "no".to_owned()));
            }
        }
        if self.kind.is_cluster {
            lines.push(("cluster-enabled", "yes".to_owned()));
            lines.push(("cluster-port", bus_port.to_string()));
        }
        let own = self.settings.iter().map(|(name, value)| (name.as_str(), quoted(value)));
        lines.into_iter().chain(own).map(|(name, value)| format!("{name} {value}\n")).collect()
    }
}

/// With the defaults of Redis itself.
impl Default for Options {
    fn default() -> Self {
        Self::bare()
    }
}

/// Quotes a value for the configuration file.
fn quoted(value: &str) -> String {
    if value.is_empty() { "\"\"".to_owned() } else { value.to_owned() }
}
