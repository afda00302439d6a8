//! Commands from a real broker to a real engine, and their outcomes.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use scarce_kafka::commands::{Choice, replay};
use scarce_kafka::{Commands, KafkaSettings};
use scarce_launch::{Kafka, KafkaOptions};
use serde_json::{Value, json};
use support::{PATIENCE, Read, Schemas, Server, client, eventually, read_all, settings};

/// A broker, an engine, and a producer of commands.
struct Bench {
    kafka: Kafka,
    server: Server,
    settings: KafkaSettings,
    producer: BaseProducer,
}

impl Bench {
    fn new(options: &KafkaOptions) -> Self {
        let kafka = Kafka::start(options).expect("a broker");
        let settings = KafkaSettings { commit_interval_ms: 50, ..settings(&kafka) };
        kafka.create_topic(&settings.topics.commands, 4).expect("a topic");
        let mut config = client(&kafka);
        config.set("enable.idempotence", "true").set("message.timeout.ms", "0");
        let producer = config.create().expect("a producer");
        Self { kafka, server: Server::start(2), settings, producer }
    }

    async fn start(&self) -> Commands {
        Commands::start(&self.settings, self.server.engine.clone()).await.expect("it starts")
    }

    fn send(&self, key: &str, value: &str, headers: &[(&str, &str)]) {
        let headers = headers
            .iter()
            .fold(OwnedHeaders::new(), |all, (key, value)| all.insert(Header { key, value: Some(*value) }));
        let mut record =
            BaseRecord::to(&self.settings.topics.commands).key(key).payload(value).headers(headers);
        while let Err((error, again)) = self.producer.send(record) {
            assert!(error.to_string().contains("QueueFull"), "{error}");
            self.producer.poll(Duration::from_millis(10));
            record = again;
        }
    }

    fn command(&self, key: &str, name: &str, arguments: &Value, id: &str) {
        let value = json!({ "command": name, "arguments": arguments, "id": id });
        self.send(key, &value.to_string(), &[]);
    }

    /// An account with some money.
    fn open(&self, account: &str) {
        self.server.ask(&format!("ACCOUNT.OPEN {account} EUR"));
    }

    fn credit(&self, account: &str, amount: u64, id: &str) {
        self.command(account, "ACCOUNT.CREDIT", &json!({ "account": account, "amount": amount }), id);
    }

    /// Ensures that everything sent is in the topic.
    fn flush(&self) {
        self.producer.flush(PATIENCE).expect("all arrived");
    }

    fn outcomes(&self) -> Vec<Read> {
        read_all(&self.kafka, &self.settings.topics.outcomes)
    }

    /// Waits until this many operations have an outcome; returns all outcomes.
    fn wait(&self, operations: usize) -> Vec<Read> {
        eventually("every outcome", || {
            let outcomes = self.outcomes();
            (ids(&outcomes).len() >= operations).then_some(outcomes)
        })
    }

    fn balance(&self, account: &str) -> String {
        self.server.ask(&format!("ACCOUNT.GET {account}")).outcome.facts[2].to_string()
    }
}

fn ids(outcomes: &[Read]) -> BTreeSet<String> {
    outcomes.iter().filter_map(|outcome| outcome.header("ce_operation").map(str::to_owned)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_command_takes_effect_once_and_is_answered_with_what_its_caller_needs() {
    let bench = Bench::new(&KafkaOptions::new().in_memory());
    let schemas = Schemas::new();
    for account in 0..10 {
        bench.open(&format!("u{account}"));
    }
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    for id in 0..300 {
        let account = format!("u{}", id % 10);
        let value = json!({ "command": "ACCOUNT.CREDIT", "arguments": { "account": account, "amount": 7 } });
        let id = format!("pay-{id}");
        let headers = [("ce_id", &*id), ("traceparent", trace), ("reply-to", "billing"), ("other", "x")];
        // As a sender does that did not get its acknowledgement.
        bench.send(&account, &value.to_string(), &headers);
        bench.send(&account, &value.to_string(), &headers);
    }
    bench.command("u0", "ACCOUNT.DEBIT", &json!({ "account": "u0", "amount": 1_000 }), "too-much");
    bench.flush();
    let commands = bench.start().await;
    let outcomes = tokio::task::block_in_place(|| {
        eventually("every outcome", || Some(bench.outcomes()).filter(|outcomes| outcomes.len() >= 601))
    });
    assert_eq!(outcomes.len(), 601);
    let mut replays = BTreeMap::new();
    for outcome in &outcomes {
        schemas.check(outcome);
        let (value, id) = (outcome.json(), outcome.header("ce_operation").expect("an id"));
        if id == "too-much" {
            assert_eq!((&value["code"], &value["applied"]), (&json!("INSUFFICIENT_FUNDS"), &json!(false)));
            continue;
        }
        assert_eq!(
            (outcome.header("traceparent"), outcome.header("reply-to")),
            (Some(trace), Some("billing"))
        );
        assert_eq!(outcome.header("other"), None);
        *replays.entry(id.to_owned()).or_insert(0) += i32::from(value["replayed"] == json!(true));
    }
    assert!(replays.len() == 300 && replays.values().all(|replays| *replays == 1), "{replays:?}");
    for account in 0..10 {
        assert_eq!(bench.balance(&format!("u{account}")), "210");
    }
    let figures = commands.figures().clone();
    tokio::task::block_in_place(|| commands.shut_down());
    assert_eq!((figures.received(), figures.applied(), figures.refused()), (601, 600, 1));
    assert_eq!((figures.replayed(), figures.dead(), figures.in_flight()), (300, 0, 0));
}

/// Messages that can never be commands, with the code of the reason.
const POISON: [(&str, &str); 6] = [
    ("not JSON", "NOT_JSON"),
    ("", "EMPTY"),
    (r#"{"command":"ACCOUNT.CREDIT","arguments":{"account":"u","amount":1}}"#, "ID_MISSING"),
    (r#"{"command":"ACCOUNT.STEAL","arguments":{},"id":"a"}"#, "INVALID"),
    (r#"{"command":"ACCOUNT.CREDIT","arguments":{"account":"u","amount":-1},"id":"b"}"#, "INVALID"),
    (r#"{"command":"ACCOUNT.CREDIT","arguments":{"account":"u","amount":1,"to":"v"},"id":"c"}"#, "INVALID"),
];

#[tokio::test(flavor = "multi_thread")]
async fn poison_is_set_aside_with_its_reason_and_sent_again_when_it_is_mended() {
    let bench = Bench::new(&KafkaOptions::new().in_memory());
    let schemas = Schemas::new();
    bench.open("u");
    for (value, _) in POISON {
        bench.send("u", value, &[("correlation-id", "c-1")]);
    }
    bench.credit("u", 5, "good");
    bench.flush();
    let commands = bench.start().await;
    let topic = bench.settings.topics.dead_letters.clone();
    tokio::task::block_in_place(|| {
        bench.wait(1);
        let letters = eventually("every dead letter", || {
            Some(read_all(&bench.kafka, &topic)).filter(|letters| letters.len() >= POISON.len())
        });
        for (letter, (value, code)) in letters.iter().zip(POISON) {
            schemas.check(letter);
            let letter = letter.json();
            assert_eq!(letter["reason"]["code"], json!(code), "{letter}");
            assert_eq!(letter["value"]["text"], json!(value));
            assert_eq!(letter["headers"][0]["name"], json!("correlation-id"));
        }
        assert_eq!(bench.balance("u"), "5");
        let mended = r#"{"command":"ACCOUNT.CREDIT","arguments":{"account":"u","amount":2},"id":"mended"}"#;
        let replayed = replay(&bench.settings, &mut |_, letter| {
            if letter.reason.code == "ID_MISSING" { Choice::ResendAs(mended.into()) } else { Choice::Leave }
        });
        let replayed = replayed.expect("replayed");
        assert_eq!((replayed.seen, replayed.sent, replayed.unreadable), (POISON.len() as u64, 1, 0));
        let outcomes = bench.wait(2);
        let mended = outcomes.iter().find(|outcome| outcome.header("ce_operation") == Some("mended"));
        assert_eq!(mended.and_then(|outcome| outcome.header("correlation-id")), Some("c-1"));
        assert_eq!(bench.balance("u"), "7");
        commands.shut_down();
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_broken_off_is_asked_again_and_counts_once() {
    let bench = Bench::new(&KafkaOptions::new());
    for account in 0..8 {
        bench.open(&format!("u{account}"));
    }
    const COMMANDS: usize = 4_000;
    for id in 0..COMMANDS {
        bench.credit(&format!("u{}", id % 8), 1, &format!("pay-{id}"));
    }
    bench.flush();
    let mut received = 0;
    for round in 1..=6 {
        let commands = bench.start().await;
        let figures = commands.figures().clone();
        tokio::task::block_in_place(|| {
            // In the middle of some batch, with outcomes in flight.
            eventually("some commands", || (figures.received() >= round * 150).then_some(()));
            drop(commands);
        });
        received += figures.received();
    }
    let commands = bench.start().await;
    let outcomes = tokio::task::block_in_place(|| bench.wait(COMMANDS));
    assert_eq!(ids(&outcomes).len(), COMMANDS);
    for account in 0..8 {
        assert_eq!(bench.balance(&format!("u{account}")), (COMMANDS / 8).to_string());
    }
    received += commands.figures().received();
    tokio::task::block_in_place(|| commands.shut_down());
    assert!(received > COMMANDS as u64, "nothing was asked twice, so nothing was shown");
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_share_the_partitions_and_take_over_from_one_that_leaves() {
    let bench = Bench::new(&KafkaOptions::new().in_memory());
    for account in 0..16 {
        bench.open(&format!("u{account}"));
    }
    let (first, second) = (bench.start().await, bench.start().await);
    let partitions = |commands: &Commands| commands.figures().partitions();
    tokio::task::block_in_place(|| {
        eventually("a share for both", || {
            (partitions(&first) == 2 && partitions(&second) == 2).then_some(())
        });
        for id in 0..800 {
            bench.credit(&format!("u{}", id % 16), 1, &format!("a-{id}"));
        }
        bench.flush();
        bench.wait(800);
        assert!(first.figures().applied() > 0 && second.figures().applied() > 0);
        first.shut_down();
        for id in 0..800 {
            bench.credit(&format!("u{}", id % 16), 1, &format!("b-{id}"));
        }
        bench.flush();
        bench.wait(1_600);
        assert_eq!(partitions(&second), 4);
        for account in 0..16 {
            assert_eq!(bench.balance(&format!("u{account}")), "100");
        }
        second.shut_down();
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_is_killed_again_and_again_costs_time_only() {
    let mut bench = Bench::new(&KafkaOptions::new());
    bench.settings.delivery_timeout_ms = 2_000;
    for account in 0..8 {
        bench.open(&format!("u{account}"));
    }
    const COMMANDS: usize = 3_000;
    for id in 0..COMMANDS {
        bench.credit(&format!("u{}", id % 8), 1, &format!("pay-{id}"));
    }
    bench.flush();
    let commands = bench.start().await;
    tokio::task::block_in_place(|| {
        for kill in 1..=4 {
            let figures = commands.figures();
            eventually("some commands", || (figures.received() >= kill * 100).then_some(()));
            bench.kafka.kill().expect("killed");
            bench.kafka.start_again().expect("started again");
        }
        bench.wait(COMMANDS);
        for account in 0..8 {
            assert_eq!(bench.balance(&format!("u{account}")), (COMMANDS / 8).to_string());
        }
        commands.shut_down();
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_all_or_nothing_and_one_across_partitions_is_answered_so() {
    let bench = Bench::new(&KafkaOptions::new().in_memory());
    ["{s}a", "{s}b", "x1", "x2", "x3"].iter().for_each(|account| bench.open(account));
    let line = |account: &str, amount| json!({ "command": "ACCOUNT.CREDIT", "arguments": { "account": account, "amount": amount } });
    let batch =
        |lines: &[Value], id: &str| json!({ "atomic": true, "operations": lines, "id": id }).to_string();
    let missing = line("{s}missing", 1);
    bench.send("s", &batch(&[line("{s}a", 3), line("{s}b", 4)], "both"), &[]);
    bench.send("s", &batch(&[line("{s}a", 3), missing], "neither"), &[]);
    let everywhere: Vec<Value> = ["x1", "x2", "x3", "{s}a"].iter().map(|its| line(its, 1)).collect();
    bench.send("s", &batch(&everywhere, "across"), &[]);
    bench.flush();
    let commands = bench.start().await;
    tokio::task::block_in_place(|| {
        let outcomes = bench.wait(3);
        let code = |id: &str| {
            let outcome = outcomes.iter().find(|its| its.header("ce_operation") == Some(id));
            outcome.expect("an outcome").json()["code"].clone()
        };
        assert_eq!(code("both"), json!("APPLIED"));
        assert_eq!(code("neither"), json!("BATCH_REFUSED"));
        assert_eq!(code("across"), json!("CROSS_PARTITION"));
        assert_eq!((bench.balance("{s}a"), bench.balance("{s}b")), ("3".to_owned(), "4".to_owned()));
        commands.shut_down();
    });
}
