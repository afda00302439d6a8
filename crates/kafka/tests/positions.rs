//! Where commands are read from after a restart: the engine keeps that, and not the consumer group.

mod support;

use std::time::Duration;

use rdkafka::admin::{AdminClient, AdminOptions};
use rdkafka::client::DefaultClientContext;
use rdkafka::error::RDKafkaErrorCode;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::{Offset, TopicPartitionList};
use scarce_engine::clock::{Clock, ManualClock, wall_ms};
use scarce_engine::{Engine, Log};
use scarce_engine_embedded::ClockChoice;
use scarce_kafka::{Commands, KafkaSettings};
use scarce_launch::{Kafka, KafkaOptions};
use serde_json::json;
use support::{PATIENCE, Read, Server, client, eventually, read_all, settings};

const PARTITIONS: u32 = 2;
const HOURS_30_MS: u64 = 30 * 3_600_000;

/// A broker, and an engine whose clock shows a time of thirty hours ago.
struct Bench {
    kafka: Kafka,
    server: Server,
    clock: ManualClock,
    settings: KafkaSettings,
    producer: BaseProducer,
}

impl Bench {
    fn new() -> Self {
        let kafka = Kafka::start(&KafkaOptions::new().in_memory()).expect("a broker");
        let settings = KafkaSettings { commit_interval_ms: 50, ..settings(&kafka) };
        kafka.create_topic(&settings.topics.commands, PARTITIONS).expect("a topic");
        let clock = ManualClock::default();
        clock.set(wall_ms() - HOURS_30_MS);
        let server = accounts_at(&clock);
        let producer = client(&kafka).create().expect("a producer");
        Self { kafka, server, clock, settings, producer }
    }

    async fn start(&self) -> Commands {
        Commands::start(&self.settings, self.server.engine.clone()).await.expect("it starts")
    }

    /// Sends credits of 1 with these ids, as of the time that the engine's clock shows.
    fn send(&self, ids: &[String]) {
        for (at, id) in ids.iter().enumerate() {
            let account = format!("u{}", at % 4);
            let arguments = json!({ "account": account, "amount": 1 });
            let value = json!({ "command": "ACCOUNT.CREDIT", "arguments": arguments, "id": id }).to_string();
            let timestamp = i64::try_from(self.clock.clone().now()).expect("a time");
            let record = BaseRecord::to(&self.settings.topics.commands).key(&account).payload(&value);
            self.producer.send(record.timestamp(timestamp)).expect("room");
        }
        self.producer.flush(PATIENCE).expect("all arrived");
    }

    /// Consumes until each of these ids has an outcome, and stops. Returns how many messages were received.
    async fn consume(&self, ids: &[String]) -> u64 {
        let commands = self.start().await;
        let figures = commands.figures().clone();
        tokio::task::block_in_place(|| {
            eventually("every outcome", || {
                let outcomes = self.read(&self.settings.topics.outcomes);
                let has = |id: &String| outcomes.iter().any(|its| its.header("ce_operation") == Some(id));
                ids.iter().all(has).then_some(())
            });
            commands.shut_down();
        });
        figures.received()
    }

    /// Consumes until the balances come to this; returns the last trouble.
    async fn consume_all(&self, sum: u64) -> Option<String> {
        let commands = self.start().await;
        let figures = commands.figures().clone();
        tokio::task::block_in_place(|| {
            eventually("every command", || (self.balances() == sum).then_some(()));
            commands.shut_down();
        });
        figures.trouble()
    }

    fn read(&self, topic: &str) -> Vec<Read> {
        read_all(&self.kafka, topic)
    }

    fn balances(&self) -> u64 {
        let balance =
            |account| self.server.ask(&format!("ACCOUNT.GET u{account}")).outcome.facts[2].to_string();
        (0..4).map(|account| balance(account).parse::<u64>().expect("a number")).sum()
    }

    fn administrator(&self) -> AdminClient<DefaultClientContext> {
        client(&self.kafka).create().expect("a client")
    }

    /// As the brokers do by themselves after some days without a member.
    async fn forget_group(&self) {
        let options = AdminOptions::new().operation_timeout(Some(PATIENCE));
        let deadline = std::time::Instant::now() + PATIENCE;
        loop {
            let deleted = self.administrator().delete_groups(&[&self.settings.group], &options).await;
            match &deleted.expect("an answer")[0] {
                Ok(_) => return,
                // The member that left is still known for a moment.
                Err((_, RDKafkaErrorCode::NonEmptyGroup)) if std::time::Instant::now() < deadline => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                Err((_, code)) => panic!("{code}"),
            }
        }
    }

    /// As the brokers do by themselves when messages are older than the topic keeps them.
    async fn remove_all(&self) {
        let options = AdminOptions::new().operation_timeout(Some(PATIENCE));
        let mut through = TopicPartitionList::new();
        for partition in 0..i32::try_from(PARTITIONS).expect("few") {
            through
                .add_partition_offset(&self.settings.topics.commands, partition, Offset::End)
                .expect("a partition");
        }
        self.administrator().delete_records(&through, &options).await.expect("an answer");
    }

    async fn create_topic_again(&self) {
        let topic = &self.settings.topics.commands;
        let options = AdminOptions::new().operation_timeout(Some(PATIENCE));
        self.administrator().delete_topics(&[topic], &options).await.expect("an answer");
        tokio::task::block_in_place(|| {
            eventually("a new topic", || self.kafka.create_topic(topic, PARTITIONS).ok());
        });
    }
}

/// An engine with the accounts.
fn accounts_at(clock: &ManualClock) -> Server {
    let server = Server::start_at(2, ClockChoice::Manual(clock.clone()));
    for account in 0..4 {
        server.ask(&format!("ACCOUNT.OPEN u{account} EUR"));
    }
    server
}

fn ids(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|id| format!("{prefix}-{id}")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_consumed_is_not_executed_again_when_the_group_forgot_its_offsets() {
    let bench = Bench::new();
    let (before, after) = (ids("before", 40), ids("after", 4));
    bench.send(&before);
    assert_eq!(bench.consume(&before).await, 40);
    bench.forget_group().await;
    // The engine forgets the ids, too.
    bench.clock.set(wall_ms());
    bench.send(&after);
    let received = bench.consume(&after).await;
    assert_eq!(bench.balances(), 44);
    assert_eq!(received, 4, "reading went on where it had ended");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_older_than_the_remembered_ids_is_a_dead_letter_unless_its_id_is_known() {
    let bench = Bench::new();
    let (before, after) = (ids("before", 40), ids("after", 4));
    bench.send(&before);
    bench.consume(&before).await;
    lose_positions(&bench);
    bench.forget_group().await;
    // All are known, so they are answered again.
    bench.consume(&before).await;
    assert_eq!(bench.balances(), 40);
    lose_positions(&bench);
    bench.forget_group().await;
    bench.clock.set(wall_ms());
    bench.send(&after);
    bench.consume(&after).await;
    assert_eq!(bench.balances(), 44);
    let letters = bench.read(&bench.settings.topics.dead_letters);
    assert_eq!(letters.len(), 40);
    for letter in &letters {
        assert_eq!(letter.json()["reason"]["code"], json!("ID_EXPIRED"), "{letter:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_that_were_removed_before_they_were_consumed_are_told_of() {
    let bench = Bench::new();
    let (before, missed, after) = (ids("before", 40), ids("missed", 40), ids("after", 40));
    bench.send(&before);
    bench.consume(&before).await;
    bench.send(&missed);
    bench.remove_all().await;
    bench.send(&after);
    let told = bench.consume_all(80).await.expect("it is told");
    assert!(told.contains("were removed before they were consumed"), "{told}");
}

/// The brokers hold their answers back for half a second, so that messages are removed while the server waits for them.
#[tokio::test(flavor = "multi_thread")]
async fn messages_that_are_removed_while_the_server_lags_are_told_of() {
    let mut bench = Bench::new();
    for (name, value) in [("fetch.min.bytes", "10000000"), ("fetch.wait.max.ms", "500")] {
        bench.settings.extra.push((name.to_owned(), value.to_owned()));
    }
    let commands = bench.start().await;
    let figures = commands.figures().clone();
    let mut sent = 0;
    while figures.removed() == 0 {
        let (seen, missed) = (ids(&format!("seen-{sent}"), 8), ids(&format!("missed-{sent}"), 40));
        bench.send(&seen);
        sent += 8;
        tokio::task::block_in_place(|| {
            eventually("what is there", || (figures.received() + figures.removed() == sent).then_some(()));
        });
        bench.send(&missed);
        bench.remove_all().await;
        sent += 40;
    }
    tokio::task::block_in_place(|| commands.shut_down());
    let told = figures.trouble().expect("it is told");
    assert!(told.contains("were removed before they were consumed, offsets "), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_that_were_removed_are_told_of_where_the_groups_offset_counts() {
    let mut bench = Bench::new();
    let (before, missed, after) = (ids("before", 40), ids("missed", 40), ids("after", 40));
    bench.send(&before);
    bench.consume(&before).await;
    bench.send(&missed);
    bench.remove_all().await;
    // An engine without positions, as after a restore that left effects out.
    bench.server = accounts_at(&bench.clock);
    bench.send(&after);
    let told = bench.consume_all(40).await.expect("it is told");
    assert!(told.contains("were removed before they were consumed"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_that_were_removed_and_whose_effects_were_lost_are_told_of() {
    let bench = Bench::new();
    let (before, after) = (ids("before", 40), ids("after", 40));
    bench.send(&before);
    bench.consume(&before).await;
    lose_positions(&bench);
    bench.remove_all().await;
    bench.send(&after);
    let told = bench.consume_all(80).await.expect("it is told");
    assert!(told.contains("lost effects of commands") && told.contains("were removed"), "{told}");
}

/// As a failover that lost the end of the log does.
fn lose_positions(bench: &Bench) {
    let engine = &bench.server.engine;
    for partition in 0..engine.partitions() {
        let mut kept = engine.inputs(partition).expect("positions");
        assert!(!kept.is_empty(), "the engine keeps positions");
        kept.iter_mut().for_each(|kept| kept.reached.sequence = u64::MAX);
        engine.keep_inputs(partition, &kept).expect("kept");
    }
}

/// The log has grown past the sequence again, in another history, and the group's offsets are behind the lost commands.
#[tokio::test(flavor = "multi_thread")]
async fn commands_whose_effects_another_history_had_are_not_skipped() {
    let bench = Bench::new();
    let (before, after) = (ids("before", 40), ids("after", 4));
    bench.send(&before);
    bench.consume(&before).await;
    let engine = &bench.server.engine;
    let mut kept = engine.inputs(1).expect("positions");
    assert!(kept.iter().all(|kept| kept.reached.epoch > 0), "{kept:?}");
    kept.iter_mut().for_each(|kept| kept.reached.epoch += 1);
    engine.keep_inputs(1, &kept).expect("kept");
    bench.send(&after);
    assert_eq!(bench.consume(&after).await, 44, "all are read again, and the ids tell which took effect");
    assert_eq!(bench.balances(), 44);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_that_was_created_again_is_read_from_its_beginning() {
    let bench = Bench::new();
    let (before, after) = (ids("before", 40), ids("after", 80));
    bench.send(&before);
    bench.consume(&before).await;
    bench.create_topic_again().await;
    bench.send(&after);
    assert_eq!(bench.consume(&after).await, 80);
    assert_eq!(bench.balances(), 120);
}

/// The client goes on in the new topic at its offset in the old one.
#[tokio::test(flavor = "multi_thread")]
async fn a_topic_that_is_created_again_while_it_is_read_is_read_from_its_beginning() {
    let bench = Bench::new();
    let (before, after) = (ids("before", 40), ids("after", 80));
    let commands = bench.start().await;
    let figures = commands.figures().clone();
    bench.send(&before);
    tokio::task::block_in_place(|| eventually("the first", || (bench.balances() == 40).then_some(())));
    bench.create_topic_again().await;
    bench.send(&after);
    tokio::task::block_in_place(|| {
        eventually("all of the new topic", || (bench.balances() == 120).then_some(()));
        commands.shut_down();
    });
    let told = figures.trouble().expect("it is told");
    assert!(told.contains("was created again"), "{told}");
}
