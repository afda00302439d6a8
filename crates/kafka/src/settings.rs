//! What Kafka is told: where it is, what its topics are called, how messages are sent.

use std::fmt;
use std::time::Duration;

use rdkafka::ClientConfig;
use rdkafka::config::RDKafkaLogLevel;

use crate::KafkaError;

/// The names of the topics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topics {
    /// What the log of the engine goes to: a partition for each of the engine's.
    pub events: String,
    /// Where commands come from.
    pub commands: String,
    /// What the commands were answered: a partition for each of the engine's.
    pub outcomes: String,
    /// Commands that nobody could read, with the reason.
    pub dead_letters: String,
}

impl Topics {
    /// The names that begin with a prefix: `shop` gives `shop.events.v1` and so on.
    #[must_use]
    pub fn with_prefix(prefix: &str) -> Self {
        let topic = |name: &str| format!("{prefix}.{name}.v1");
        Self {
            events: topic("events"),
            commands: topic("commands"),
            outcomes: topic("outcomes"),
            dead_letters: topic("dead-letters"),
        }
    }
}

impl Default for Topics {
    fn default() -> Self {
        Self::with_prefix("scarce")
    }
}

/// How messages are made smaller on their way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// By gzip.
    Gzip,
    /// By Snappy.
    Snappy,
    /// By LZ4: half the size for little work.
    #[default]
    Lz4,
    /// By Zstandard: the smallest, for more work.
    Zstd,
}

impl Compression {
    /// Every way.
    pub const ALL: [Self; 5] = [Self::None, Self::Gzip, Self::Snappy, Self::Lz4, Self::Zstd];

    /// The word, as librdkafka and settings have it.
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

/// What Kafka is told. What is in `extra` is never shown, for passwords are among it.
#[derive(Clone, PartialEq, Eq)]
pub struct KafkaSettings {
    /// Where to connect first: `host:port`, several with commas between them.
    pub brokers: String,
    /// Whose messages these are: the `source` of their CloudEvents. It tells deployments apart.
    pub source: String,
    /// The names of the topics.
    pub topics: Topics,
    /// How messages are made smaller on their way.
    pub compression: Compression,
    /// How long a message waits for others to travel with.
    pub linger_ms: u64,
    /// How many bytes may be on their way to the brokers; 4 MiB at least.
    pub buffer_bytes_max: u64,
    /// After so long without an acknowledgement a delivery is given up, and tried anew with a producer of its own.
    pub delivery_timeout_ms: u64,
    /// Whether topics that are missing are created.
    pub creates_topics: bool,
    /// How many copies of a topic that is created; as the brokers say where it is not said.
    pub replication: Option<u16>,
    /// The consumer group that shares the commands among processes.
    pub group: String,
    /// How many commands may be under way in this process before it reads no further.
    pub commands_in_flight_max: usize,
    /// How often the place up to which commands are done is noted in Kafka; after a crash what was done since
    /// then comes again.
    pub commit_interval_ms: u64,
    /// Settings of librdkafka by their names, such as `security.protocol`, `sasl.mechanism`, `sasl.username`,
    /// `sasl.password` or `ssl.ca.location`.
    pub extra: Vec<(String, String)>,
}

impl KafkaSettings {
    /// All as it is unless said otherwise.
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

    /// What every client is told.
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

    /// What a producer is told. It keeps the order and repeats nothing: a message that cannot be delivered ends
    /// it rather than be left out, and none is given up by itself.
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

    /// What the consumer of commands is told. Its place moves on only as far as it is told to.
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

    /// What a consumer is told that belongs to no group and reads up to the end.
    pub(crate) fn reader(&self) -> Result<ClientConfig, KafkaError> {
        let mut config = self.client()?;
        // It needs a name though it never joins.
        config.set("group.id", &self.group).set("enable.auto.commit", "false");
        config.set("enable.partition.eof", "true");
        config.set("auto.offset.reset", "earliest").set("allow.auto.create.topics", "false");
        // Somebody else's transaction that is not over would hide what stands behind its beginning.
        config.set("isolation.level", "read_uncommitted");
        Ok(config)
    }

    /// What a client is told that makes topics.
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

/// Settings that the promises of this crate rest on, or that have a field of their own.
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

/// A library without TLS would only say that it does not know the value.
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
