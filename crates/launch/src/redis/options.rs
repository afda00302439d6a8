//! How a server is to run, and its file of settings.

use std::path::{Path, PathBuf};

use crate::folder::{CERTIFICATE, KEY, Place};

/// How a server is to run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub(super) lines: Vec<(String, String)>,
    /// It keeps a port of its own for other nodes.
    pub(super) is_cluster: bool,
    /// It watches over others.
    pub(super) is_sentinel: bool,
    /// It takes TLS connections only, with certificates from this folder.
    pub(super) certificates: Option<PathBuf>,
    /// Where its files are.
    pub(super) place: Place,
}

impl Options {
    /// With an append-only file that is left to the system to write out, and no snapshots.
    #[must_use]
    pub fn new() -> Self {
        Self::default().with("save", "").with("appendonly", "yes").with("appendfsync", "no")
    }

    /// Sets an option of the configuration; the last one given counts.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.lines.retain(|(known, _)| known != name);
        self.lines.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Keeps its files in memory, where the system has a place for that, so that syncing costs nothing.
    #[must_use]
    pub fn in_memory(mut self) -> Self {
        self.place = Place::Memory { bytes_min: 0 };
        self
    }

    /// Keeps its files in a folder of its own inside this one.
    #[must_use]
    pub fn in_folder(mut self, folder: &Path) -> Self {
        self.place = Place::In(folder.to_owned());
        self
    }

    /// Takes TLS connections only, with `server.crt`, `server.key` and `ca.crt` of a folder.
    #[must_use]
    pub fn with_tls(mut self, certificates: &Path) -> Self {
        self.certificates = Some(certificates.to_owned());
        self
    }

    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.lines.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
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
        if self.is_cluster {
            lines.push(("cluster-enabled", "yes".to_owned()));
            lines.push(("cluster-port", bus_port.to_string()));
        }
        let own = self.lines.iter().map(|(name, value)| (name.as_str(), quoted(value)));
        lines.into_iter().chain(own).map(|(name, value)| format!("{name} {value}\n")).collect()
    }
}

/// A value as a file of settings has it.
fn quoted(value: &str) -> String {
    if value.is_empty() { "\"\"".to_owned() } else { value.to_owned() }
}
