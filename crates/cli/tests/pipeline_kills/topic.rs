//! The topic of events: complete, in order, each event at least once.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::message::Message;
use redis::Value;
use scarce_client::{Client, integer};

/// How long to wait for a message.
const POLL: Duration = Duration::from_millis(200);

/// Each sequence of a partition must first appear after the one before it.
#[derive(Default)]
struct Seen {
    last: BTreeMap<i64, u64>,
    repeats: u64,
}

impl Seen {
    fn note(&mut self, event: &serde_json::Value) {
        let number = |name: &str| event[name].as_u64().unwrap_or_else(|| panic!("no {name} in {event}"));
        let partition = i64::try_from(number("partition")).expect("a partition");
        let (sequence, last) = (number("sequence"), self.last.entry(partition).or_default());
        assert!(sequence <= *last + 1, "{sequence} follows {last} in partition {partition}");
        self.repeats += u64::from(sequence <= *last);
        *last = sequence.max(*last);
    }
}

/// Reads the topic from its beginning, and compares it with the server's log.
pub fn check(brokers: &str, client: &mut Client) {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", brokers).set("group.id", "check");
    config.set("auto.offset.reset", "earliest").set("enable.auto.commit", "false");
    let consumer: BaseConsumer = config.create().expect("a consumer");
    consumer.subscribe(&["scarce.events.v1"]).expect("a subscription");
    let through = [last_sequence(client, 0), last_sequence(client, 1)];
    let (mut seen, begun) = (Seen::default(), Instant::now());
    let is_complete = |seen: &Seen| {
        (0..).zip(through).all(|(partition, last)| seen.last.get(&partition).copied().unwrap_or(0) >= last)
    };
    while !is_complete(&seen) {
        assert!(begun.elapsed() < crate::support::PATIENCE, "{:?} of {through:?}", seen.last);
        let Some(Ok(message)) = consumer.poll(POLL) else { continue };
        let payload = message.payload().expect("an event");
        let event: serde_json::Value = serde_json::from_slice(payload).expect("JSON");
        assert_eq!(event["partition"].as_i64(), Some(i64::from(message.partition())));
        seen.note(&event);
    }
    println!("{through:?} events in the topic, {} of them more than once", seen.repeats);
}

/// The last sequence of a partition, according to a consumer without lag.
fn last_sequence(client: &mut Client, partition: i64) -> u64 {
    let Ok(Value::Array(rows)) = client.call(&["CONSUMER", "LIST"]) else { panic!("no consumers") };
    let of = |row: &Value| match row {
        Value::Array(fields) if integer(&fields[1]) == Some(partition) => integer(&fields[3]),
        _ => None,
    };
    rows.iter().find_map(of).and_then(|last| u64::try_from(last).ok()).expect("a position")
}
