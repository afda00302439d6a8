//! Events from a real topic, to consumers that store their own position.

mod support;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use scarce_core::event::{Entry, Event, Position};
use scarce_engine::Log;
use scarce_kafka::events::{Following, ends, follow, source};
use scarce_kafka::{EventTopic, KafkaSettings, Topics};
use scarce_launch::{Kafka, KafkaOptions};
use scarce_outflow::{Batch, Consumer, Trouble};
use support::{Server, eventually, settings};
use tokio::sync::watch;

const PARTITIONS: u32 = 2;

/// A consumer's data for its partition: position and events together, as in a database.
#[derive(Clone, Debug, Default, PartialEq)]
struct Kept {
    position: Position,
    events: Vec<(u64, Event)>,
}

type Store = Arc<Mutex<BTreeMap<u32, Kept>>>;

/// Stores events; every `fails_every`th batch fails.
struct Keeper {
    partition: u32,
    store: Store,
    batches: u32,
    fails_every: u32,
    /// How often its position is still unknown.
    refusals: Arc<AtomicU32>,
}

impl Consumer for Keeper {
    async fn position(&mut self) -> Result<Option<Position>, Trouble> {
        let refuses = |left: u32| left.checked_sub(1);
        if self.refusals.fetch_update(Ordering::Relaxed, Ordering::Relaxed, refuses).is_ok() {
            return Err(Trouble::new("the store does not answer yet"));
        }
        Ok(self.store.lock().expect("the store").get(&self.partition).map(|kept| kept.position))
    }

    async fn consume(&mut self, batch: &Batch) -> Result<(), Trouble> {
        self.batches += 1;
        if self.batches.is_multiple_of(self.fails_every) {
            return Err(Trouble::new("the store is not to be had just now"));
        }
        let mut store = self.store.lock().expect("the store");
        let kept = store.entry(self.partition).or_default();
        assert_eq!(kept.position, batch.after, "a gap or a repeat");
        kept.events.extend(batch.events().map(|(sequence, _, event)| (sequence, event.clone())));
        kept.position = batch.end();
        Ok(())
    }
}

/// A process that follows the topic.
struct Process {
    following: Arc<Following>,
    ending: watch::Sender<bool>,
    task: tokio::task::JoinHandle<()>,
}

impl Process {
    fn start(settings: &KafkaSettings, store: &Store, fails_every: u32) -> Self {
        Self::refused(settings, store, fails_every, 0)
    }

    /// A process whose store does not answer at first.
    fn refused(settings: &KafkaSettings, store: &Store, fails_every: u32, refusals: u32) -> Self {
        let refusals = Arc::new(AtomicU32::new(refusals));
        let (ending, ended) = watch::channel(false);
        let following = Arc::new(Following::default());
        let (settings, store, its) = (settings.clone(), store.clone(), following.clone());
        let task = tokio::spawn(async move {
            let make = |partition| {
                let (store, refusals) = (store.clone(), refusals.clone());
                Keeper { partition, store, batches: 0, fails_every, refusals }
            };
            follow(&settings, make, &its, ended).await.expect("a client");
        });
        Self { following, ending, task }
    }

    async fn stop(self) {
        self.ending.send(true).expect("it runs");
        self.task.await.expect("it ended");
    }
}

fn followed(kafka: &Kafka) -> KafkaSettings {
    KafkaSettings { group: "followers".to_owned(), commit_interval_ms: 50, ..settings(kafka) }
}

/// Commands in both partitions, up to a number of accounts.
fn live(server: &Server, accounts: std::ops::Range<u32>) {
    for account in accounts {
        server.ask(&format!("ACCOUNT.OPEN a{account} EUR ID open-{account}"));
        server.ask(&format!("ACCOUNT.CREDIT a{account} 100 ID credit-{account}"));
        server.ask(&format!("ACCOUNT.TRANSFER a{account} {{a{account}}}b 5"));
    }
}

fn log(server: &Server, partition: u32) -> Vec<Entry> {
    let (mut log, mut next) = (Vec::new(), 1);
    while next <= server.engine.durable_through(partition).expect("a partition") {
        log.extend(server.engine.entries(partition, next, 1 << 20).expect("the log"));
        next = log.last().map_or(0, Entry::sequence_last) + 1;
    }
    log
}

/// Writes all missing events to the topic.
async fn flow_out(server: &Server, topic: &EventTopic) {
    for partition in 0..PARTITIONS {
        let mut writer = topic.writer(partition);
        let after = writer.position().await.expect("a place").unwrap_or_default();
        let entries: Vec<Entry> = log(server, partition)
            .into_iter()
            .filter(|entry| entry.sequence_last() > after.sequence)
            .collect();
        writer.consume(&Batch { partition, after, entries }).await.expect("sent");
    }
}

/// The data that should be stored for the log.
fn expected(server: &Server) -> BTreeMap<u32, Kept> {
    let kept = |partition| {
        let log = log(server, partition);
        let position = log.last().map(Entry::end).unwrap_or_default();
        let whole = Batch { partition, after: Position::default(), entries: log };
        let events =
            whole.events().map(|(sequence, _, event)| (sequence, event.clone().redacted())).collect();
        (partition, Kept { position, events })
    };
    (0..PARTITIONS).map(kept).collect()
}

fn wait(store: &Store, server: &Server) {
    let expected = expected(server);
    tokio::task::block_in_place(|| {
        eventually("all that was in the topic", || {
            (*store.lock().expect("the store") == expected).then_some(())
        });
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn each_event_is_taken_once_through_troubles_restarts_and_restores() {
    let kafka = Kafka::start(&KafkaOptions::new().in_memory()).expect("a broker");
    let (server, settings, store) = (Server::start(PARTITIONS), followed(&kafka), Store::default());
    let topic = EventTopic::open(&settings, PARTITIONS).await.expect("a topic");
    live(&server, 0..60);
    flow_out(&server, &topic).await;
    let process = Process::start(&settings, &store, 3);
    wait(&store, &server);
    let old = store.lock().expect("the store").clone();
    live(&server, 60..120);
    flow_out(&server, &topic).await;
    wait(&store, &server);
    process.stop().await;
    // An older copy of the store, as after a restore; the group's committed offset is ahead of it.
    *store.lock().expect("the store") = old;
    live(&server, 120..130);
    flow_out(&server, &topic).await;
    let process = Process::start(&settings, &store, 1_000);
    wait(&store, &server);
    let positions: BTreeMap<u32, Position> =
        expected(&server).into_iter().map(|(partition, kept)| (partition, kept.position)).collect();
    tokio::task::block_in_place(|| {
        eventually("its places are told", || {
            let levels = process.following.levels();
            (levels.positions == positions && levels.trouble.is_none()).then_some(())
        });
    });
    assert_eq!(ends(&settings).expect("an end"), positions);
    process.stop().await;
    // An empty store, and nothing new in the topic.
    store.lock().expect("the store").clear();
    let process = Process::start(&settings, &store, 1_000);
    wait(&store, &server);
    live(&server, 130..150);
    flow_out(&server, &topic).await;
    wait(&store, &server);
    process.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_does_not_answer_at_first_holds_up_no_partition_for_good() {
    let kafka = Kafka::start(&KafkaOptions::new().in_memory()).expect("a broker");
    let (server, settings, store) = (Server::start(PARTITIONS), followed(&kafka), Store::default());
    let topic = EventTopic::open(&settings, PARTITIONS).await.expect("a topic");
    live(&server, 0..20);
    flow_out(&server, &topic).await;
    // More refusals than there are partitions, and nothing new arrives meanwhile.
    let process = Process::refused(&settings, &store, 1_000, 2 * PARTITIONS + 1);
    wait(&store, &server);
    tokio::task::block_in_place(|| {
        eventually("the trouble is over", || process.following.levels().trouble.is_none().then_some(()));
    });
    process.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_share_the_partitions() {
    let kafka = Kafka::start(&KafkaOptions::new().in_memory()).expect("a broker");
    let (server, settings, store) = (Server::start(PARTITIONS), followed(&kafka), Store::default());
    let topic = EventTopic::open(&settings, PARTITIONS).await.expect("a topic");
    assert_eq!(source(&settings).expect("a broker"), None);
    live(&server, 0..20);
    flow_out(&server, &topic).await;
    assert_eq!(source(&settings).expect("a broker").as_deref(), Some("scarce"));
    let (first, second) =
        (Process::start(&settings, &store, 1_000), Process::start(&settings, &store, 1_000));
    tokio::task::block_in_place(|| {
        eventually("a share for both", || {
            let shares = [&first, &second].map(|its| its.following.levels().positions.len());
            (shares == [1, 1]).then_some(())
        });
    });
    live(&server, 20..40);
    flow_out(&server, &topic).await;
    wait(&store, &server);
    first.stop().await;
    live(&server, 40..60);
    flow_out(&server, &topic).await;
    wait(&store, &server);
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_whole_or_not_ours_is_not_taken() {
    let kafka = Kafka::start(&KafkaOptions::new().in_memory()).expect("a broker");
    let (server, ours, store) = (Server::start(PARTITIONS), followed(&kafka), Store::default());
    live(&server, 0..10);
    let told = async |settings: &KafkaSettings| {
        let process = Process::start(settings, &store, 1_000);
        let trouble =
            tokio::task::block_in_place(|| eventually("a trouble", || process.following.levels().trouble));
        process.stop().await;
        trouble
    };
    flow_out(&server, &EventTopic::open(&ours, PARTITIONS).await.expect("a topic")).await;
    let theirs = KafkaSettings { source: "/scarce/another".to_owned(), ..ours.clone() };
    let trouble = told(&theirs).await;
    assert!(trouble.contains("'scarce'") && trouble.contains("'/scarce/another'"), "{trouble}");
    // A topic whose beginning was removed.
    let late = KafkaSettings { topics: Topics::with_prefix("late"), ..ours };
    let topic = EventTopic::open(&late, PARTITIONS).await.expect("a topic");
    for partition in 0..PARTITIONS {
        let entries = log(&server, partition).split_off(1);
        let after = Position { sequence: entries[0].head.sequence_first - 1, ..entries[0].end() };
        topic.writer(partition).consume(&Batch { partition, after, entries }).await.expect("sent");
    }
    let trouble = told(&late).await;
    assert!(trouble.contains("begin with the engine's own log"), "{trouble}");
    assert!(store.lock().expect("the store").is_empty());
}
