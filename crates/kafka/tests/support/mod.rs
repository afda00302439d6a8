//! Shared parts of Kafka's tests: an engine, the contents of topics, and the schemas of messages.

#![allow(dead_code, reason = "each test uses some of it")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jsonschema::{Draft, Validator};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::message::Headers;
use rdkafka::{ClientConfig, Message as _, Offset, TopicPartitionList};
use scarce_api::message::schemas;
use scarce_core::command::{Body, Command, Common, Envelope, table};
use scarce_core::language::Language;
use scarce_core::outcome::Receipt;
use scarce_engine::engine::partition_of;
use scarce_engine::{Engine, Request};
use scarce_engine_embedded::{
    self as embedded, ClockChoice, Embedded, EmbeddedSettings, Running, SilentPort, SystemClock,
};
use scarce_kafka::KafkaSettings;
use scarce_launch::Kafka;
use serde_json::Value;
use tempfile::TempDir;

/// The timeout of every wait.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// An embedded engine with its files.
pub struct Server {
    pub engine: Arc<Embedded>,
    running: Option<Running>,
    folder: Option<TempDir>,
}

impl Server {
    pub fn start(partitions: u32) -> Self {
        Self::start_at(partitions, ClockChoice::System(SystemClock::default()))
    }

    /// Starts with a clock of the test's own.
    pub fn start_at(partitions: u32, clock: ClockChoice) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let settings = EmbeddedSettings { partitions, clock, ..EmbeddedSettings::default() };
        let mut server = Self::open(folder.path(), &settings);
        server.folder = Some(folder);
        server
    }

    /// Starts one partition on files that stay.
    pub fn start_in(folder: &Path) -> Self {
        Self::open(folder, &EmbeddedSettings { partitions: 1, ..EmbeddedSettings::default() })
    }

    fn open(folder: &Path, settings: &EmbeddedSettings) -> Self {
        let recovered = embedded::open(folder, settings, &mut |_| {}).expect("recovery");
        let (engine, running) = recovered.start(|_, _| Ok(Box::new(SilentPort::default()))).expect("started");
        Self { engine, running: Some(running), folder: None }
    }

    /// Sends a command line.
    pub fn ask(&self, line: &str) -> Receipt {
        ask(&*self.engine, line)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.shut_down().expect("a clean end");
        }
    }
}

pub fn ask(engine: &dyn Engine, line: &str) -> Receipt {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let spec = table::find(words[0]).expect("a command");
    let (command, common): (Command, Common) = Command::parse(spec, &words[1..]).expect("well-formed");
    let partition = partition_of(std::slice::from_ref(&command), engine.partitions()).expect("one partition");
    let request = match spec.effect {
        scarce_core::command::Effect::Read => Request::Read(String::new(), command),
        scarce_core::command::Effect::Write => {
            let envelope = Envelope::new("", common, Body::Single(command), engine.secret());
            Request::Write(envelope.expect("a cut"))
        }
    };
    engine.call(partition, vec![request]).remove(0).unwrap_or_else(|failure| panic!("{line}: {failure}"))
}

/// Waits for a condition that signals nothing; returns its result.
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "{what} did not happen");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// A message of a topic.
#[derive(Clone, Debug)]
pub struct Read {
    pub partition: i32,
    pub offset: i64,
    pub key: Option<String>,
    pub headers: Vec<(String, String)>,
    pub value: Vec<u8>,
}

impl Read {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(its, _)| its == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.value).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// The basic settings of a test's client.
pub fn client(kafka: &Kafka) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", kafka.brokers());
    config
}

pub fn settings(kafka: &Kafka) -> KafkaSettings {
    KafkaSettings { creates_topics: true, replication: Some(1), ..KafkaSettings::new(&kafka.brokers()) }
}

/// All messages of a topic, by partition and in order.
pub fn read_all(kafka: &Kafka, topic: &str) -> Vec<Read> {
    let mut config = client(kafka);
    config.set("enable.partition.eof", "true").set("group.id", "readers").set("enable.auto.commit", "false");
    let consumer: BaseConsumer = config.create().expect("a consumer");
    let metadata = consumer.fetch_metadata(Some(topic), PATIENCE).expect("metadata");
    let partitions = metadata.topics()[0].partitions().len();
    let mut found = Vec::new();
    for partition in 0..i32::try_from(partitions).expect("a few") {
        read_partition(&consumer, topic, partition, &mut found);
    }
    found
}

fn read_partition(consumer: &BaseConsumer, topic: &str, partition: i32, found: &mut Vec<Read>) {
    let (begin, end) = consumer.fetch_watermarks(topic, partition, PATIENCE).expect("bounds");
    let mut place = TopicPartitionList::new();
    place.add_partition_offset(topic, partition, Offset::Offset(begin)).expect("a place");
    consumer.assign(&place).expect("assigned");
    let deadline = Instant::now() + PATIENCE;
    let mut next = begin;
    while next < end {
        assert!(Instant::now() < deadline, "{topic} {partition} ends at {next} and not at {end}");
        let message = match consumer.poll(Duration::from_millis(100)) {
            Some(Ok(message)) if message.partition() == partition => message,
            Some(Err(KafkaError::PartitionEOF(its))) if its == partition => break,
            _ => continue,
        };
        next = message.offset() + 1;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let headers = message.headers().map(|headers| {
            let header = |header: rdkafka::message::Header<'_, &[u8]>| {
                (header.key.to_owned(), text(header.value.unwrap_or_default()))
            };
            headers.iter().map(header).collect()
        });
        found.push(Read {
            partition,
            offset: message.offset(),
            key: message.key().map(text),
            headers: headers.unwrap_or_default(),
            value: message.payload().unwrap_or_default().to_vec(),
        });
    }
}

/// The schemas of all messages.
pub struct Schemas(BTreeMap<String, Validator>);

impl Schemas {
    pub fn new() -> Self {
        let built = |(kind, schema): (String, Value)| {
            let built = jsonschema::options().with_draft(Draft::Draft202012).build(&schema);
            (kind, built.expect("a schema"))
        };
        Self(schemas::all(Language::English).into_iter().map(built).collect())
    }

    /// Checks a message by its type.
    pub fn check(&self, message: &Read) {
        let kind = message.header("ce_type").unwrap_or_else(|| panic!("no type: {message:?}"));
        self.check_value(kind, &message.json());
    }

    pub fn check_value(&self, kind: &str, value: &Value) {
        let schema = self.0.get(kind).unwrap_or_else(|| panic!("no schema of {kind}"));
        if let Err(error) = schema.validate(value) {
            panic!("{kind}: {error} at {} of {value}", error.instance_path);
        }
    }
}
