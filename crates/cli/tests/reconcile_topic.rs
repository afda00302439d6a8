//! `scarce reconcile` against the topic of events: complete, in order, equal.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/consumers.rs"]
mod consumers;
mod support;

use std::time::Duration;

use consumers::{copy, wait_until_diverged};
use rdkafka::admin::{AdminClient, AdminOptions};
use rdkafka::client::DefaultClientContext;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::message::{Header, Headers, OwnedHeaders, OwnedMessage};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::{ClientConfig, Message, Offset, TopicPartitionList};
use scarce_launch::{Kafka, KafkaOptions};
use serde_json::{Value, json};
use support::{Server, said, scarce, wait_until};
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(120);

/// Exit code, the check of the topic, and the whole report.
fn reconcile(words: &[&str]) -> (Option<i32>, Value, Value) {
    let (code, out, err) = said(scarce().args(["reconcile", "--json", "--wait", "0"]).args(words));
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out} {err}"));
    let checks = report["checks"].as_array().unwrap();
    let check = checks.iter().find(|its| its["check"] == "topic").cloned().unwrap_or_default();
    (code, check, report)
}

/// What a finding says: its field, whether there are an expected and a found value, and the event.
fn told(report: &Value) -> Vec<(String, bool, bool, Option<u64>)> {
    let told = |its: &Value| {
        let field = its["field"].as_str().unwrap().to_owned();
        let sequence = its["first_event"]["sequence"].as_u64();
        (field, its["expected"].is_string(), its["found"].is_string(), sequence)
    };
    report["findings"].as_array().unwrap().iter().map(told).collect()
}

/// A finding as `told` has it.
fn finding(field: &str, expected: bool, found: bool, sequence: u64) -> (String, bool, bool, Option<u64>) {
    (field.to_owned(), expected, found, Some(sequence))
}

/// All messages of partition 0 of a topic, one after another.
fn messages(brokers: &str, topic: &str) -> Vec<OwnedMessage> {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", brokers).set("group.id", "test").set("enable.partition.eof", "true");
    let consumer: BaseConsumer = config.create().unwrap();
    let mut place = TopicPartitionList::new();
    place.add_partition_offset(topic, 0, Offset::Beginning).unwrap();
    consumer.assign(&place).unwrap();
    let mut all = Vec::new();
    while let Some(read) = consumer.poll(PATIENCE) {
        match read {
            Ok(message) => all.push(message.detach()),
            Err(rdkafka::error::KafkaError::PartitionEOF(_)) => break,
            Err(error) => panic!("{error}"),
        }
    }
    all
}

/// Writes messages as they are.
fn write(brokers: &str, topic: &str, messages: &[OwnedMessage]) {
    let producer: BaseProducer = ClientConfig::new().set("bootstrap.servers", brokers).create().unwrap();
    for message in messages {
        let mut record: BaseRecord<'_, [u8], [u8]> =
            BaseRecord::to(topic).partition(0).payload(message.payload().unwrap_or_default());
        record.key = message.key();
        record.headers = message.headers().cloned();
        producer.send(record).map_err(|(error, _)| error).unwrap();
    }
    producer.flush(PATIENCE).unwrap();
}

fn foreign() -> OwnedMessage {
    let of = (Some(b"by hand".to_vec()), Some(b"k".to_vec()));
    OwnedMessage::new(
        of.0,
        of.1,
        String::new(),
        rdkafka::Timestamp::NotAvailable,
        0,
        0,
        Some(OwnedHeaders::new()),
    )
}

/// A message of this deployment at a sequence that no log has.
fn forged(message: &OwnedMessage, sequence: &str) -> OwnedMessage {
    let headers = message.headers().unwrap();
    let headers = headers.iter().fold(OwnedHeaders::new(), |made, its| {
        let value = if its.key == "ce_sequence" { Some(sequence.as_bytes()) } else { its.value };
        made.insert(Header { key: its.key, value })
    });
    let (key, value) = (message.key().map(<[u8]>::to_vec), message.payload().map(<[u8]>::to_vec));
    OwnedMessage::new(value, key, String::new(), message.timestamp(), 0, 0, Some(headers))
}

/// A message with another value, and the same position.
fn changed(message: &OwnedMessage) -> OwnedMessage {
    let value = String::from_utf8(message.payload().unwrap().to_vec())
        .unwrap()
        .replace("\"amount\":7", "\"amount\":8");
    let (key, headers) = (message.key().map(<[u8]>::to_vec), message.headers().cloned());
    OwnedMessage::new(Some(value.into_bytes()), key, String::new(), message.timestamp(), 0, 0, headers)
}

/// Ten events in one partition of a topic, and the server, stopped.
fn topic_of_ten(kafka: &Kafka, data: &TempDir) -> Vec<OwnedMessage> {
    let brokers = kafka.brokers();
    let server = Server::start(data.path(), &["--kafka", &brokers, "--kafka-create-topics"]);
    server.socket().call(&["ACCOUNT.OPEN", "a", "EUR"]);
    for _ in 0..9 {
        server.socket().call(&["ACCOUNT.CREDIT", "a", "7"]);
    }
    server.wait_until_drained();
    let words = ["--data", data.path().to_str().unwrap(), "--resp", &server.address, "--kafka", &brokers];
    let (code, check, report) = reconcile(&words);
    let place = (&check["state"], &check["compared"], &report["partitions"][0]["topic_sequence"]);
    assert_eq!((code, place), (Some(0), (&json!("equal"), &json!(10), &json!(10))), "{report:#}");
    server.stop();
    let all = messages(&brokers, "scarce.events.v1");
    assert_eq!(all.len(), 10);
    all
}

#[test]
fn what_is_wrong_in_a_topic_is_named_with_its_offset_and_what_is_right_is_not() {
    let kafka = Kafka::start(&KafkaOptions::new().in_memory()).unwrap();
    let (brokers, data) = (kafka.brokers(), TempDir::new().unwrap());
    let all = topic_of_ten(&kafka, &data);
    let of = |ranges: &[std::ops::Range<usize>]| -> Vec<OwnedMessage> {
        ranges.iter().flat_map(|range| all[range.clone()].to_vec()).collect()
    };
    let with = |at: usize, message: OwnedMessage, mut all: Vec<OwnedMessage>| {
        all.splice(at..at, [message]);
        all
    };
    let mut swapped = all.clone();
    swapped.swap(4, 5);
    let mut different = all.clone();
    different[6] = changed(&all[6]);
    for (name, messages, code, expected) in [
        ("again", of(&[0..8, 2..10]), 0, vec![]),
        (
            "missing",
            of(&[0..4, 6..10]),
            5,
            vec![
                finding("event before offset 4", true, false, 5),
                finding("event before offset 4", true, false, 6),
            ],
        ),
        ("beginning", all[1..10].to_vec(), 5, vec![finding("event before offset 0", true, false, 1)]),
        ("foreign", with(3, foreign(), all.clone()), 5, vec![finding("message at offset 3", false, true, 3)]),
        ("only", vec![foreign()], 5, vec![("message at offset 0".to_owned(), false, true, None)]),
        (
            "forged",
            with(3, forged(&all[3], "0"), with(5, forged(&all[3], "18446744073709551615"), all.clone())),
            5,
            vec![
                ("event at offset 3".to_owned(), false, true, None),
                finding("event at offset 6", false, true, 10),
            ],
        ),
        ("different", different, 5, vec![finding("value at offset 6", true, true, 7)]),
        ("swapped", swapped, 5, vec![finding("place of the event at offset 5", true, true, 5)]),
        ("behind", all[0..8].to_vec(), 0, vec![]),
    ] {
        let topic = format!("{name}.events.v1");
        kafka.create_topic(&topic, 1).unwrap();
        write(&brokers, &topic, &messages);
        let words = ["--data", data.path().to_str().unwrap(), "--kafka", &brokers, "--kafka-prefix", name];
        let (its_code, check, report) = reconcile(&words);
        assert_eq!((its_code, told(&report)), (Some(code), expected), "{name}: {report:#}");
        let count = report["findings"].as_array().unwrap().len();
        assert_eq!(check["differences"], json!(count), "{name}: {report:#}");
        let note = check["notes"][0].as_str().unwrap_or_default();
        let noted = [
            ("again", "6 messages are repeated events"),
            ("behind", "2 events behind the log"),
            ("only", "10 events behind the log"),
        ];
        let wanted = noted.iter().find(|(its, _)| *its == name).map_or("", |(_, text)| text);
        assert!(note.contains(wanted), "{name}: {report:#}");
    }
    let words = ["--data", data.path().to_str().unwrap(), "--kafka", &brokers];
    let (code, table, _) = said(scarce().arg("reconcile").args(words).args(["--kafka-prefix", "foreign"]));
    assert!(code == Some(5) && table.contains("message at offset 3") && table.contains("by hand"), "{table}");
    let (code, _, err) = said(scarce().arg("reconcile").args(words).args(["--kafka-prefix", "none"]));
    assert!(code == Some(1) && err.contains("'none.events.v1' does not exist"), "{err}");
    what_retention_removed_is_not_missing(&kafka, &data);
    events_of_a_lost_history_count_until_the_topic_says_that_they_do_not(&kafka);
}

fn what_retention_removed_is_not_missing(kafka: &Kafka, data: &TempDir) {
    let brokers = kafka.brokers();
    let admin: AdminClient<DefaultClientContext> =
        ClientConfig::new().set("bootstrap.servers", &brokers).create().unwrap();
    let mut before = TopicPartitionList::new();
    before.add_partition_offset("scarce.events.v1", 0, Offset::Offset(6)).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(admin.delete_records(&before, &AdminOptions::new())).unwrap();
    let words = ["--data", data.path().to_str().unwrap(), "--kafka", &brokers];
    let (code, check, report) = reconcile(&words);
    assert_eq!(
        (code, &check["state"], &check["compared"]),
        (Some(0), &json!("equal"), &json!(4)),
        "{report:#}"
    );
    assert!(check["notes"][0].as_str().unwrap().contains("begins at offset 6"), "{report:#}");
    // A topic that only another deployment writes is not this one's.
    let other = TempDir::new().unwrap();
    let server = Server::start(other.path(), &[]);
    let words = ["--data", other.path().to_str().unwrap(), "--resp", &server.address, "--kafka", &brokers];
    let (code, _, err) = said(scarce().arg("reconcile").args(words));
    assert!(code == Some(2) && err.contains("the topic 'scarce.events.v1' holds deployment"), "{err}");
}

fn events_of_a_lost_history_count_until_the_topic_says_that_they_do_not(kafka: &Kafka) {
    let (brokers, home) = (kafka.brokers(), TempDir::new().unwrap());
    let (data, older) = (home.path().join("data"), home.path().join("older"));
    let options = ["--kafka", &brokers, "--kafka-create-topics", "--kafka-prefix", "lost"];
    let credit = |server: &Server| {
        (0..3).for_each(|_| drop(server.socket().call(&["ACCOUNT.CREDIT", "a", "7"])));
    };
    let server = Server::start(&data, &options);
    server.socket().call(&["ACCOUNT.OPEN", "a", "EUR"]);
    server.wait_until_drained();
    server.stop();
    copy(&data, &older);
    let server = Server::start(&data, &options);
    credit(&server);
    server.wait_until_drained();
    server.stop();
    let server = Server::start(&older, &options);
    credit(&server);
    wait_until_diverged(&server, "kafka");
    let address = server.address.clone();
    let words = ["--data", older.to_str().unwrap(), "--resp", &address, "--kafka", &brokers];
    let words = [&words[..], &options[3..]].concat();
    let (code, check, report) = reconcile(&words);
    assert_eq!((code, &check["state"]), (Some(5), &json!("different")), "{report:#}");
    let first = &report["findings"][0];
    assert!(first["expected"].is_string() && first["found"].is_string(), "{report:#}");
    let place = ["--resp", &address, "--kafka", &brokers, "--yes", "--kafka-prefix", "lost"];
    let (code, _, err) = said(scarce().args(["consumers", "rebase", "kafka"]).args(place));
    assert_eq!(code, Some(0), "{err}");
    wait_until("the topic goes on", || reconcile(&words).1["state"] == "equal");
    let (code, _, report) = reconcile(&words);
    assert_eq!(code, Some(0), "{report:#}");
}
