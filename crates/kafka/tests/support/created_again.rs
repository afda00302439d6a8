//! A topic of events that is deleted and created again while it is written to.

use rdkafka::admin::{AdminClient, AdminOptions};
use rdkafka::client::DefaultClientContext;
use scarce_core::event::Position;
use scarce_engine::Log;
use scarce_engine::consumers::ConsumerName;
use scarce_kafka::{EventTopic, EventWriter, KafkaSettings, Topics};
use scarce_launch::Kafka;
use scarce_outflow::{Batch, Consumer, Plan, Start, run};
use tokio::runtime::Handle;

use super::log;
use super::support::{PATIENCE, Read, Server, client, eventually, read_all, settings};

/// What the log has behind a sequence.
fn batch_after(server: &Server, sequence: u64) -> Batch {
    let mut entries = log(&*server.engine, 0);
    entries.retain(|entry| entry.head.sequence_first > sequence);
    Batch { partition: 0, after: Position { epoch: 0, sequence }, entries }
}

fn credit(server: &Server) -> u64 {
    server.ask("ACCOUNT.CREDIT a 1");
    server.engine.durable_through(0).expect("a sequence")
}

async fn create_again(kafka: &Kafka, topic: &str) {
    let administrator: AdminClient<DefaultClientContext> = client(kafka).create().expect("a client");
    let options = AdminOptions::new().operation_timeout(Some(PATIENCE));
    administrator.delete_topics(&[topic], &options).await.expect("an answer");
    tokio::task::block_in_place(|| eventually("a new topic", || kafka.create_topic(topic, 1).ok()));
}

/// Writes further events, until it is noticed.
async fn write_until_it_is_told(server: &Server, writer: &mut EventWriter) {
    let deadline = std::time::Instant::now() + PATIENCE;
    loop {
        let last = credit(server);
        match writer.consume(&batch_after(server, last - 1)).await {
            Err(trouble) if trouble.reason.contains("was created again") => return,
            _ => assert!(std::time::Instant::now() < deadline, "it is never told"),
        }
    }
}

/// Whether readers of the messages have all events from the first to the last in the end.
fn is_whole(messages: &[Read], last: u64) -> bool {
    let sequence = |message: &Read| message.header("ce_sequence").map(|text| text.parse().expect("a number"));
    let sequences: Vec<Option<u64>> = messages.iter().map(sequence).collect();
    let begun = sequences.iter().rposition(Option::is_none).map_or(0, |told| told + 1);
    let is_told_of = begun == 0 || messages[begun - 1].json()["after"]["sequence"] == 0;
    is_told_of && sequences[begun..].iter().copied().eq((1..=last).map(Some))
}

/// What this process wrote into the new topic before it noticed is not its beginning.
pub async fn a_topic_that_is_created_again_is_told_of_and_written_from_its_beginning(kafka: &Kafka) {
    let settings = KafkaSettings { topics: Topics::with_prefix("again"), ..settings(kafka) };
    let (topic, server) = (EventTopic::open(&settings, 1).await.expect("a topic"), Server::start(1));
    server.ask("ACCOUNT.OPEN a EUR");
    credit(&server);
    let mut writer = topic.writer(0);
    assert_eq!(writer.position().await, Ok(None));
    writer.consume(&batch_after(&server, 0)).await.expect("the broker");
    create_again(kafka, &settings.topics.events).await;
    write_until_it_is_told(&server, &mut writer).await;
    let told = writer.position().await.expect_err("it is told");
    assert!(told.reason.contains("All that the log still has is written again"), "{}", told.reason);
    assert_eq!((writer.position().await, writer.starts_over()), (Ok(None), true));
    let last = credit(&server);
    writer.consume(&batch_after(&server, 0)).await.expect("the broker");
    assert!(!writer.starts_over() && is_whole(&read_all(kafka, &settings.topics.events), last));
    assert_eq!(writer.position().await.map(|its| its.map(|its| its.sequence)), Ok(Some(last)));
}

/// A process that was ended meanwhile knows nothing of the topic that was there before.
pub async fn a_topic_that_begins_in_the_middle_is_written_from_its_beginning_after_a_restart(kafka: &Kafka) {
    let settings = KafkaSettings { topics: Topics::with_prefix("middle"), ..settings(kafka) };
    let (topic, server) = (EventTopic::open(&settings, 1).await.expect("a topic"), Server::start(1));
    server.ask("ACCOUNT.OPEN a EUR");
    (0..8).for_each(|_| {
        credit(&server);
    });
    let last = credit(&server);
    topic.writer(0).consume(&batch_after(&server, 4)).await.expect("the broker");
    let name = ConsumerName::parse("kafka").expect("a name");
    let confirmed = Position { epoch: log(&*server.engine, 0)[0].head.epoch, sequence: last };
    server.engine.confirm(0, &name, "", confirmed).expect("it is noted");
    for _ in 0..2 {
        let (name, holder) = (name.clone(), "a".to_owned());
        let plan = Plan { name, holder, start: Start::Oldest, batch_bytes_max: 1 << 20 };
        let outflow =
            run(&Handle::current(), server.engine.clone(), &plan, |partition| topic.writer(partition));
        let last = credit(&server);
        let read = || read_all(kafka, &settings.topics.events);
        tokio::task::block_in_place(|| eventually("the whole log", || is_whole(&read(), last).then_some(())));
        outflow.stop().await;
    }
}
