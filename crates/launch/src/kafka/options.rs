//! How to run a Kafka broker, and its configuration file.

use std::path::Path;

use crate::LaunchError;
use crate::folder::{CERTIFICATE, KEY};
use crate::options::{ServerKind, ServerOptions};

/// The settings that all brokers share: one node that is its own controller, small and quick to start.
const FIXED: &[(&str, &str)] = &[
    ("process.roles", "broker,controller"),
    ("node.id", "1"),
    ("controller.listener.names", "CONTROLLER"),
    ("inter.broker.listener.name", "INTERNAL"),
    ("sasl.enabled.mechanisms", "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"),
    ("auto.create.topics.enable", "false"),
    ("offsets.topic.replication.factor", "1"),
    ("offsets.topic.num.partitions", "1"),
    ("transaction.state.log.replication.factor", "1"),
    ("transaction.state.log.min.isr", "1"),
    ("transaction.state.log.num.partitions", "1"),
    ("share.coordinator.state.topic.replication.factor", "1"),
    ("share.coordinator.state.topic.min.isr", "1"),
    ("share.coordinator.state.topic.num.partitions", "1"),
    ("group.initial.rebalance.delay.ms", "0"),
    // Memory for the keys of a compaction; the default takes much of the heap.
    ("log.cleaner.dedupe.buffer.size", "4194304"),
    // A broker that was killed is admitted again when its session has expired.
    ("broker.session.timeout.ms", "2000"),
    ("broker.heartbeat.interval.ms", "250"),
];

/// How to run a Kafka broker; settings are lines of `server.properties`, such as `message.max.bytes`, `1000`.
pub type KafkaOptions = ServerOptions<KafkaKind>;

/// Options that only Kafka has.
#[derive(Clone, Debug, Default)]
pub struct KafkaKind {
    /// The user that clients must authenticate as.
    user: Option<User>,
}

impl ServerKind for KafkaKind {
    const MEMORY_BYTES_MIN: u64 = 512 << 20;
}

/// A user with a password.
#[derive(Clone, Debug)]
struct User {
    name: String,
    password: String,
}

impl KafkaOptions {
    /// No authentication and no encryption; creates no topics automatically; leaves writing to the disk to
    /// the system, as Kafka does by default: acknowledged messages survive a kill, but not a power failure.
    #[must_use]
    pub fn new() -> Self {
        Self::bare()
    }

    /// Admits only this user: SASL with `PLAIN`, `SCRAM-SHA-256` or `SCRAM-SHA-512`.
    #[must_use]
    pub fn with_user(mut self, name: &str, password: &str) -> Self {
        self.kind.user = Some(User { name: name.to_owned(), password: password.to_owned() });
        self
    }

    /// The arguments about the user for the tool that formats the data folder.
    pub(super) fn scram_words(&self) -> Vec<String> {
        let Some(User { name, password }) = &self.kind.user else { return Vec::new() };
        let word = |mechanism| format!("--add-scram={mechanism}=[name=\"{name}\",password=\"{password}\"]");
        ["SCRAM-SHA-256", "SCRAM-SHA-512"].map(word).to_vec()
    }

    /// The configuration file: ports for clients, for the broker itself, and for the controller.
    pub(super) fn text(&self, data: &Path, ports: [u16; 3]) -> Result<String, LaunchError> {
        let [clients, internal, controller] = ports.map(|port| format!("127.0.0.1:{port}"));
        let protocol = match (&self.kind.user, &self.certificates) {
            (None, None) => "PLAINTEXT",
            (Some(_), None) => "SASL_PLAINTEXT",
            (None, Some(_)) => "SSL",
            (Some(_), Some(_)) => "SASL_SSL",
        };
        let known = format!("CLIENTS://{clients},INTERNAL://{internal}");
        let mut lines: Vec<(String, String)> =
            FIXED.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut line = |name: &str, value: String| lines.push((name.to_owned(), value));
        line("log.dirs", data.display().to_string());
        line("listeners", format!("{known},CONTROLLER://{controller}"));
        line("advertised.listeners", known);
        line("controller.quorum.voters", format!("1@{controller}"));
        let plain = "INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT";
        line("listener.security.protocol.map", format!("CLIENTS:{protocol},{plain}"));
        if let Some(user) = &self.kind.user {
            user.write(&mut line);
        }
        if let Some(folder) = &self.certificates {
            line("ssl.keystore.type", "PEM".to_owned());
            for (name, file) in [("certificate.chain", CERTIFICATE), ("key", KEY)] {
                let text = std::fs::read_to_string(folder.join(file))?;
                line(&format!("ssl.keystore.{name}"), text.trim_end().to_owned());
            }
        }
        // The last line of a name wins.
        lines.extend(self.settings.iter().cloned());
        Ok(lines.iter().map(|(name, value)| format!("{name}={}\n", escaped(value))).collect())
    }
}

impl Default for KafkaOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl User {
    fn write(&self, line: &mut impl FnMut(&str, String)) {
        let Self { name, password } = self;
        let modules = "org.apache.kafka.common.security";
        let plain = format!("{modules}.plain.PlainLoginModule required user_{name}=\"{password}\";");
        let scram = format!("{modules}.scram.ScramLoginModule required;");
        for (mechanism, module) in [("plain", &plain), ("scram-sha-256", &scram), ("scram-sha-512", &scram)] {
            line(&format!("listener.name.clients.{mechanism}.sasl.jaas.config"), module.clone());
        }
    }
}

/// Escapes a value for a Java properties file.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('\n', "\\n")
}
