//! The settings of Kafka: addresses, names of topics, how messages are sent.

use std::fmt;
use std::time::Duration;

use rdkafka::ClientConfig;
use rdkafka::config::RDKafkaLogLevel;

use crate::KafkaError;

/// The names of the topics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topics {
    /// The engine's log, with a partition for each of the engine's.
    pub events: String,
    /// The commands.
    pub commands: String,
    /// The outcomes of commands, with a partition for each of the engine's.
    pub outcomes: String,
    /// Messages that are not valid commands, with the reason.
    pub dead_letters: String,
    /// The audit log.
    pub audit: String,
}

impl Topics {
    /// Names with a prefix: `shop` gives `shop.events.v1` and so on.
    #[must_use]
    pub fn with_prefix(prefix: &str) -> Self {
        let topic = |name: &str| format!("{prefix}.{name}.v1");
        Self {
            events: topic("events"),
            commands: topic("commands"),
            outcomes: topic("outcomes"),
            dead_letters: topic("dead-letters"),
            audit: topic("audit"),
        }
    }
}

impl Default for Topics {
    fn default() -> Self {
        Self::with_prefix("scarce")
    }
}

/// How messages are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// They are not.
    None,
    /// With gzip.
    Gzip,
    /// With Snappy.
    Snappy,
    /// With LZ4: half the size for little work.
    #[default]
    Lz4,
    /// With Zstandard: the smallest, for more work.
    Zstd,
}

impl Compression {
    /// All variants.
    pub const ALL: [Self; 5] = [Self::None, Self::Gzip, Self::Snappy, Self::Lz4, Self::Zstd];

    /// The word for librdkafka and in settings.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Snappy => "snappy",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }
}

/// The settings of Kafka. Debug output hides `extra`, because it may contain passwords.
#[derive(Clone, PartialEq, Eq)]
pub struct KafkaSettings {
    /// The first brokers to contact: `host:port`, several separated by commas.
    pub brokers: String,
    /// The `source` of the messages' CloudEvents, which identifies the deployment.
    pub source: String,
    /// The names of the topics.
    pub topics: Topics,
    /// How messages are compressed.
    pub compression: Compression,
    /// How long a message waits for others to be sent with.
    pub linger_ms: u64,
    /// How many bytes may be in flight to the brokers; at least 4 MiB.
    pub buffer_bytes_max: u64,
    /// After this time without an acknowledgement a delivery is given up, and retried with a new producer.
    pub delivery_timeout_ms: u64,
    /// Whether missing topics are created.
    pub creates_topics: bool,
    /// The replication factor of created topics; the brokers' default if it is `None`.
    pub replication: Option<u16>,
    /// The consumer group that shares the commands among processes.
    pub group: String,
    /// How many commands may be in progress in this process before it pauses reading.
    pub commands_in_flight_max: usize,
    /// How often offsets of finished commands are committed; after a crash, commands finished since then come
    /// again.
    pub commit_interval_ms: u64,
    /// Further settings of librdkafka by name, such as `security.protocol`, `sasl.mechanism`,
    /// `sasl.username`, `sasl.password` or `ssl.ca.location`.
    pub extra: Vec<(String, String)>,
}

impl KafkaSettings {
    /// The default settings.
    #[must_use]
    pub fn new(brokers: &str) -> Self {
        Self {
            brokers: brokers.to_owned(),
            source: "scarce".to_owned(),
            topics: Topics::default(),
            compression: Compression::default(),
            linger_ms: 2,
            buffer_bytes_max: 64 << 20,
            delivery_timeout_ms: 30_000,
            creates_topics: false,
            replication: None,
            group: "scarce-commands".to_owned(),
            commands_in_flight_max: 16_384,
            commit_interval_ms: 1_000,
            extra: Vec::new(),
        }
    }

    pub(crate) fn delivery_timeout(&self) -> Duration {
        Duration::from_millis(self.delivery_timeout_ms.max(1))
    }

    /// The settings of every client.
    fn client(&self) -> Result<ClientConfig, KafkaError> {
        let mut config = ClientConfig::new();
        for (name, value) in &self.extra {
            check_extra(name)?;
            check_tls(name, value)?;
            config.set(name, value);
        }
        config.set("bootstrap.servers", &self.brokers).set("client.id", "scarce");
        config.set_log_level(RDKafkaLogLevel::Info);
        Ok(config)
    }

    /// The settings of a producer. It keeps the order and writes no duplicates: a message that cannot be
    /// delivered ends the producer rather than be skipped, and none expires by itself.
    pub(crate) fn producer(&self) -> Result<ClientConfig, KafkaError> {
        let mut config = self.client()?;
        config.set("acks", "all").set("enable.idempotence", "true").set("enable.gapless.guarantee", "true");
        config.set("message.timeout.ms", "0");
        config.set("compression.type", self.compression.word());
        config.set("linger.ms", self.linger_ms.to_string());
        config.set("queue.buffering.max.messages", "0");
        config.set("queue.buffering.max.kbytes", (self.buffer_bytes_max / 1024).max(4_096).to_string());
        Ok(config)
    }

    /// The settings of the consumer of commands. It commits only the offsets that it is given.
    pub(crate) fn group_member(&self) -> Result<ClientConfig, KafkaError> {
        let mut config = self.client()?;
        config.set("group.id", &self.group).set("auto.offset.reset", "earliest");
        config.set("enable.auto.offset.store", "false").set("enable.auto.commit", "true");
        config.set("auto.commit.interval.ms", self.commit_interval_ms.max(1).to_string());
        for (name, value) in [
            ("partition.assignment.strategy", "cooperative-sticky"),
            ("queued.min.messages", "10000"),
            ("queued.max.messages.kbytes", "16384"),
            ("fetch.queue.backoff.ms", "20"),
        ] {
            if config.get(name).is_none() {
                config.set(name, value);
            }
        }
        Ok(config)
    }

    /// The settings of a consumer that belongs to no group and reads up to the end.
    pub(crate) fn reader(&self) -> Result<ClientConfig, KafkaError> {
        let mut config = self.client()?;
        // A group id is required although it never joins.
        config.set("group.id", &self.group).set("enable.auto.commit", "false");
        config.set("enable.partition.eof", "true");
        config.set("auto.offset.reset", "earliest").set("allow.auto.create.topics", "false");
        // An unfinished transaction of another producer would hide what comes after its beginning.
        config.set("isolation.level", "read_uncommitted");
        if config.get("queued.max.messages.kbytes").is_none() {
            config.set("queued.max.messages.kbytes", "16384");
        }
        Ok(config)
    }

    /// The settings of a client that creates topics.
    pub(crate) fn administrator(&self) -> Result<ClientConfig, KafkaError> {
        self.client()
    }
}

impl fmt::Debug for KafkaSettings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.extra.iter().map(|(name, _)| name.as_str()).collect();
        out.debug_struct("KafkaSettings")
            .field("brokers", &self.brokers)
            .field("source", &self.source)
            .field("topics", &self.topics)
            .field("compression", &self.compression)
            .field("linger_ms", &self.linger_ms)
            .field("buffer_bytes_max", &self.buffer_bytes_max)
            .field("delivery_timeout_ms", &self.delivery_timeout_ms)
            .field("creates_topics", &self.creates_topics)
            .field("replication", &self.replication)
            .field("group", &self.group)
            .field("commands_in_flight_max", &self.commands_in_flight_max)
            .field("commit_interval_ms", &self.commit_interval_ms)
            .field("extra", &names)
            .finish()
    }
}

/// Settings that this crate's guarantees depend on, or that have a field of their own.
const OWN: &[&str] = &[
    "acks",
    "allow.auto.create.topics",
    "auto.commit.interval.ms",
    "auto.offset.reset",
    "bootstrap.servers",
    "compression.codec",
    "compression.type",
    "delivery.timeout.ms",
    "enable.auto.commit",
    "enable.auto.offset.store",
    "enable.gapless.guarantee",
    "enable.idempotence",
    "enable.partition.eof",
    "group.id",
    "isolation.level",
    "linger.ms",
    "message.timeout.ms",
    "metadata.broker.list",
    "queue.buffering.max.kbytes",
    "queue.buffering.max.messages",
    "queue.buffering.max.ms",
    "request.required.acks",
    "transactional.id",
];

fn check_extra(name: &str) -> Result<(), KafkaError> {
    if OWN.contains(&name) { Err(KafkaError::OwnSetting { name: name.to_owned() }) } else { Ok(()) }
}

/// A librdkafka without TLS would only report an unknown value.
fn check_tls(name: &str, value: &str) -> Result<(), KafkaError> {
    let wants_tls = match name {
        "security.protocol" => ["ssl", "sasl_ssl"].iter().any(|word| value.eq_ignore_ascii_case(word)),
        "sasl.mechanism" | "sasl.mechanisms" => {
            !["PLAIN", "GSSAPI"].iter().any(|word| value.eq_ignore_ascii_case(word))
        }
        _ => name.starts_with("ssl."),
    };
    if wants_tls && !cfg!(feature = "tls") {
        return Err(KafkaError::WithoutTls { name: name.to_owned(), value: value.to_owned() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_extra(name: &str, value: &str) -> KafkaSettings {
        let mut settings = KafkaSettings::new("localhost:9092");
        settings.extra.push((name.to_owned(), value.to_owned()));
        settings
    }

    #[test]
    fn what_needs_tls_is_taken_with_it_and_told_without() {
        for (name, value) in [("security.protocol", "sasl_ssl"), ("sasl.mechanism", "SCRAM-SHA-512")] {
            let told = with_extra(name, value).reader().map_err(|error| error.to_string());
            assert_eq!(told.is_ok(), cfg!(feature = "tls"), "{name}={value}");
            if let Err(text) = told {
                assert!(text.contains("--features kafka-tls"), "{text}");
            }
        }
        assert!(with_extra("sasl.mechanism", "PLAIN").reader().is_ok());
    }

    fn secretive() -> KafkaSettings {
        let mut settings = KafkaSettings::new("localhost:9092");
        settings.extra.push(("sasl.password".to_owned(), "hunter2".to_owned()));
        settings
    }

    #[test]
    fn no_secret_is_shown() {
        let shown = format!("{:?}", secretive());
        assert!(shown.contains("sasl.password") && !shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn what_is_passed_through_reaches_every_client() {
        let settings = secretive();
        for config in
            [settings.producer(), settings.group_member(), settings.reader(), settings.administrator()]
        {
            assert_eq!(config.expect("a configuration").get("sasl.password"), Some("hunter2"));
        }
    }

    #[test]
    fn promises_cannot_be_broken_by_settings() {
        for name in OWN {
            let mut settings = KafkaSettings::new("localhost:9092");
            settings.extra.push(((*name).to_owned(), "0".to_owned()));
            let error = settings.producer().expect_err("a refusal").to_string();
            assert!(error.contains(name), "{error}");
        }
    }

    #[test]
    fn topics_are_named_after_their_prefix() {
        assert_eq!(Topics::default().events, "scarce.events.v1");
        assert_eq!(Topics::with_prefix("shop").dead_letters, "shop.dead-letters.v1");
    }
}
