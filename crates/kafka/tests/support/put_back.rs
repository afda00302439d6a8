//! An engine whose data is put back, with its log going out to a topic.

use std::path::Path;

use scarce_core::event::Position;
use scarce_engine::Log;
use scarce_engine::consumers::{ConsumerName, Consumption};
use scarce_kafka::{EventTopic, KafkaSettings, Topics};
use scarce_launch::Kafka;
use scarce_outflow::{Outflow, Plan, Start, run};
use tokio::runtime::Handle;

use super::support::{Read, Server, eventually, read_all, settings};

/// A data directory, and the topic.
struct Stage {
    settings: KafkaSettings,
    topic: EventTopic,
}

impl Stage {
    fn serve(&self, server: &Server) -> Outflow {
        let name = ConsumerName::parse("kafka").expect("a name");
        let plan = Plan { name, holder: "a".to_owned(), start: Start::Oldest, batch_bytes_max: 1 << 20 };
        run(&Handle::current(), server.engine.clone(), &plan, |partition| self.topic.writer(partition))
    }

    /// Sends the log until it is confirmed.
    async fn send_all(&self, server: &Server) {
        let outflow = self.serve(server);
        let end = server.engine.durable_through(0).expect("a sequence");
        tokio::task::block_in_place(|| {
            eventually("all that is in the log", || {
                known(server).filter(|its| its.confirmed.sequence == end).map(drop)
            });
        });
        outflow.stop().await;
    }
}

fn known(server: &Server) -> Option<Consumption> {
    let known = server.engine.consumers(0).expect("consumers");
    known.into_iter().next()
}

fn credit(server: &Server, count: u32) {
    (0..count).for_each(|_| drop(server.ask("ACCOUNT.CREDIT a 1")));
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("copied");
        }
    }
}

/// A copy was made when events waited for the topic, which got them and further ones before the copy was put back. After a
/// rebase, readers undo the further ones only, and get what the log has instead.
pub async fn the_topic_says_what_it_shares_with_the_log(kafka: &Kafka) {
    let mut settings = settings(kafka);
    settings.topics = Topics::with_prefix("put-back");
    let topic = EventTopic::open(&settings, 1).await.expect("a topic");
    let (home, stage) = (tempfile::tempdir().expect("a folder"), Stage { settings, topic });
    let (data, older) = (home.path().join("data"), home.path().join("older"));
    let server = Server::start_in(&data);
    server.ask("ACCOUNT.OPEN a EUR");
    credit(&server, 9);
    stage.send_all(&server).await;
    credit(&server, 10);
    drop(server);
    copy(&data, &older);
    let server = Server::start_in(&data);
    credit(&server, 5);
    stage.send_all(&server).await;
    drop(server);
    let server = Server::start_in(&older);
    credit(&server, 7);
    let outflow = stage.serve(&server);
    let held = tokio::task::block_in_place(|| eventually("it is noticed", || known(&server)?.diverged));
    outflow.stop().await;
    let its = known(&server).expect("it is registered");
    assert_eq!((its.confirmed.sequence, held.sequence), (10, 25));
    server.engine.rebase_consumer(0, &its.name, its.confirmed).expect("it is noted");
    stage.send_all(&server).await;
    check_topic(&read_all(kafka, &stage.settings.topics.events), held);
}

fn check_topic(messages: &[Read], held: Position) {
    let sequence = |message: &Read| message.header("ce_sequence").map(|text| text.parse().expect("a number"));
    let sequences: Vec<Option<u64>> = messages.iter().map(sequence).collect();
    let expected = (1..=25).map(Some).chain([None]).chain((21..=27).map(Some));
    assert_eq!(sequences, expected.collect::<Vec<_>>());
    let told = messages[25].json();
    assert_eq!([&told["after"]["sequence"], &told["left"]["sequence"]], [20, held.sequence]);
}
