//! Events of a real engine to a real broker.

#[path = "support/created_again.rs"]
mod created_again;
#[path = "support/flow.rs"]
mod flow;
#[path = "support/put_back.rs"]
mod put_back;
mod support;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use flow::{FlowProgress, flow};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use scarce_api::event::{Entries, Received};
use scarce_core::event::{Entry, Event, Position};
use scarce_core::machine::Machine;
use scarce_core::state::StateSettings;
use scarce_engine::{Engine, Log};
use scarce_kafka::{Compression, EventTopic, KafkaSettings};
use scarce_launch::{Kafka, KafkaOptions};
use scarce_outflow::{Batch, Consumer};
use serde_json::json;
use support::{PATIENCE, Read, Schemas, Server, read_all, settings};

fn broker() -> Kafka {
    Kafka::start(&KafkaOptions::new().in_memory()).expect("a broker")
}

/// Some commands of every kind, in all partitions.
fn live_a_day(server: &Server) {
    for account in 0..40 {
        server.ask(&format!("ACCOUNT.OPEN a{account} EUR ID open-{account}"));
        server.ask(&format!("ACCOUNT.CREDIT a{account} 100 ID credit-{account}"));
        server.ask(&format!("ACCOUNT.DEBIT a{account} 500 ID too-much-{account}"));
        server.ask(&format!("ACCOUNT.HOLD a{account} h 10 ID hold-{account}"));
        server.ask(&format!("ACCOUNT.CAPTURE a{account} h AMOUNT 3 KEEPREST"));
        server.ask(&format!("ACCOUNT.TRANSFER {{a{account}}}x {{a{account}}}x 5 ID same-{account}"));
    }
    for sku in 0..10 {
        server.ask(&format!("STOCK.CREATE s{sku} 3 PEROWNER 2"));
        server.ask(&format!("STOCK.TAKE s{sku} 1 owner"));
        server.ask(&format!("STOCK.RESERVE s{sku} r 2 other 60000"));
        server.ask(&format!("STOCK.RELEASE s{sku} r"));
        server.ask(&format!("STOCK.ADJUST s{sku} -1 REASON \"lost\",数错了"));
    }
    for campaign in 0..4 {
        server.ask(&format!("PACKET.CREATE p{campaign} EUR PLAN 100000 3000 DOUBLE_MEAN ID plan-{campaign}"));
        server.ask(&format!("PACKET.CLAIM p{campaign} u"));
        server.ask(&format!("PACKET.CLOSE p{campaign}"));
    }
    for coupon in 0..6 {
        let limits = "LIMIT all 100 PER - WINDOW NONE LIMIT daily 1 PER user WINDOW DAY OFFSET 480";
        server.ask(&format!("COUPON.CREATE c{coupon} {limits}"));
        server.ask(&format!("COUPON.CLAIM c{coupon} USER u device d-1"));
        server.ask(&format!("COUPON.REVOKE c{coupon} 1 GIVEBACK"));
    }
    server.ask("MARKET.CREATE m");
    for order in 0..300 {
        server.ask(&format!("ORDER.PLACE m s{order} seller SELL LIMIT 5 1"));
    }
    server.ask("ORDER.PLACE m b buyer BUY LIMIT 5 300 ID sweep");
    server.ask("OPERATION.RESOLVE never ON a1");
}

/// The whole log of a partition.
fn log(engine: &dyn Engine, partition: u32) -> Vec<Entry> {
    let (mut log, mut next) = (Vec::new(), 1);
    while next <= engine.durable_through(partition).expect("a partition") {
        log.extend(engine.entries(partition, next, 1 << 20).expect("the log"));
        next = log.last().map_or(0, Entry::sequence_last) + 1;
    }
    log
}

/// The public part of an entry.
fn told(mut entry: Entry) -> Entry {
    entry.events = entry.events.into_iter().map(Event::redacted).collect();
    if let Some(operation) = &mut entry.head.operation {
        operation.fingerprint = 0;
    }
    entry
}

/// The events of a partition as they are in the topic. A message that the log goes on elsewhere is no event.
fn received(messages: &[Read], partition: u32) -> Vec<Received> {
    let its = messages.iter().filter(|message| {
        message.partition == i32::try_from(partition).expect("small")
            && message.header("ce_type") != Some("scarce.log.resumed.v1")
    });
    its.map(|message| scarce_api::event::read(&message.value).expect("an event")).collect()
}

/// Checks the guarantee for readers: each event at least once, none before one that it follows. Returns how
/// many are duplicated.
fn check_order(received: &[Received], through: u64) -> usize {
    let mut last = 0;
    for received in received {
        assert!(received.sequence <= last + 1, "{} comes behind {last}", received.sequence);
        last = last.max(received.sequence);
    }
    assert_eq!(last, through, "the topic ends early");
    received.len() - usize::try_from(through).expect("a test")
}

/// Writes the whole log to the topic.
async fn flow_out(server: &Server, topic: &EventTopic) {
    let progress = FlowProgress::default();
    for partition in 0..server.engine.partitions() {
        let through = server.engine.durable_through(partition).expect("a partition");
        let from = Position::default();
        let troubles =
            flow(server.engine.clone(), partition, topic.writer(partition), from, through, &progress).await;
        assert_eq!(troubles, []);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_arrives_whole_and_says_all_that_it_says() {
    let (kafka, server, schemas) = (broker(), Server::start(4), Schemas::new());
    live_a_day(&server);
    for compression in Compression::ALL {
        let settings = KafkaSettings {
            topics: scarce_kafka::Topics::with_prefix(compression.word()),
            compression,
            ..settings(&kafka)
        };
        let topic = EventTopic::open(&settings, 4).await.expect("a topic");
        flow_out(&server, &topic).await;
        let messages = read_all(&kafka, &settings.topics.events);
        messages.iter().for_each(|message| check_message(message, &schemas));
        for partition in 0..4 {
            let received = received(&messages, partition);
            let log = log(&*server.engine, partition);
            let mut entries = Entries::default();
            let found: Vec<Entry> =
                received.into_iter().filter_map(|event| entries.push(event).expect("no gap")).collect();
            assert!(found.len() > 20, "{partition}");
            assert_eq!(found, log.into_iter().map(told).collect::<Vec<_>>());
        }
    }
}

/// Checks that headers and key agree with the value.
fn check_message(message: &Read, schemas: &Schemas) {
    schemas.check(message);
    let value = message.json();
    let text = |member: &str| value[member].to_string();
    let (partition, epoch, sequence) = (text("partition"), text("epoch"), text("sequence"));
    for (name, expected) in [
        ("ce_specversion", "1.0".to_owned()),
        ("ce_id", format!("{partition}-{epoch}-{sequence}")),
        ("ce_source", "scarce".to_owned()),
        ("ce_type", format!("scarce.{}.v1", value["name"].as_str().expect("a name"))),
        ("ce_sequence", format!("{sequence:0>16}")),
        ("ce_epoch", epoch),
        ("ce_partition", partition.clone()),
        ("content-type", "application/json".to_owned()),
    ] {
        assert_eq!(message.header(name), Some(expected.as_str()), "{name}");
    }
    assert_eq!(message.partition.to_string(), partition);
    let at: jiff::Timestamp = message.header("ce_time").expect("a time").parse().expect("RFC 3339");
    assert_eq!(Some(at.as_millisecond()), value["at"].as_i64());
    let fields = &value["fields"];
    let resources = ["account", "from", "sku", "campaign", "coupon", "market"];
    let resource = resources.iter().find_map(|name| fields.get(name)).and_then(serde_json::Value::as_str);
    assert_eq!(message.header("ce_subject"), resource);
    let key = resource.or(value["operation"].as_str());
    assert_eq!(message.key.as_deref(), key);
    let secret = ["amounts", "cut", "min", "max", "progress"];
    let is_close = value["name"] == "packets.closed";
    assert!(is_close || secret.iter().all(|name| fields.get(name).is_none()), "{value}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fold_of_the_topic_is_the_state() {
    let (kafka, server) = (broker(), Server::start(1));
    for account in 0..20 {
        server.ask(&format!("ACCOUNT.OPEN a{account} EUR"));
        server.ask(&format!("ACCOUNT.CREDIT a{account} 100 ID credit-{account}"));
        server.ask(&format!("ACCOUNT.DEBIT a{account} {} ID debit-{account}", account + 1));
    }
    server.ask("STOCK.CREATE s 5");
    server.ask("STOCK.TAKE s 2 owner");
    server.ask("COUPON.CREATE c LIMIT all 9 PER user WINDOW DAY");
    server.ask("COUPON.CLAIM c USER u");
    server.ask("MARKET.CREATE m");
    server.ask("ORDER.PLACE m o owner SELL LIMIT 5 1");
    let settings = settings(&kafka);
    let topic = EventTopic::open(&settings, 1).await.expect("a topic");
    flow_out(&server, &topic).await;
    let mut entries = Entries::default();
    let mut machine = Machine::new(StateSettings::default(), 0);
    for event in received(&read_all(&kafka, &settings.topics.events), 0) {
        if let Some(entry) = entries.push(event).expect("no gap") {
            machine.apply(&entry);
        }
    }
    let digest = server.ask("DIGEST").outcome.to_string();
    assert!(digest.contains(&format!("{:032x}", machine.state().digest(None))), "{digest}");
}

/// The log of another history: the same entries behind a sequence, in a later epoch.
fn other_history(log: &[Entry], after: u64) -> Batch {
    let mut entries: Vec<Entry> =
        log.iter().filter(|entry| entry.head.sequence_first > after).cloned().collect();
    let position = log.iter().rfind(|entry| entry.sequence_last() <= after).map(Entry::end);
    entries.iter_mut().for_each(|entry| entry.head.epoch += 1);
    Batch { partition: 0, after: position.expect("an entry before"), entries }
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_are_told_where_the_log_goes_on_after_another_history() {
    let (kafka, server, schemas) = (broker(), Server::start(1), Schemas::new());
    server.ask("ACCOUNT.OPEN a EUR");
    (0..9).for_each(|_| drop(server.ask("ACCOUNT.CREDIT a 1")));
    let settings = settings(&kafka);
    let topic = EventTopic::open(&settings, 1).await.expect("a topic");
    flow_out(&server, &topic).await;
    let log = log(&*server.engine, 0);
    let last = log.last().map(Entry::end).expect("an entry");
    // What a rebased consumer does: it finds its own position, and is given what follows the confirmed one.
    let mut writer = topic.writer(0);
    assert_eq!(writer.position().await, Ok(Some(last)));
    let batch = other_history(&log, 6);
    writer.consume(&batch).await.expect("the broker");
    assert_eq!(writer.position().await, Ok(Some(batch.end())), "the message itself is no event");
    let more = Batch { after: batch.end(), entries: vec![log[9].clone()], ..batch.clone() };
    writer.consume(&more).await.expect("the broker");
    let messages = read_all(&kafka, &settings.topics.events);
    messages.iter().for_each(|message| schemas.check(message));
    let is_resumed = |message: &&Read| message.header("ce_type") == Some("scarce.log.resumed.v1");
    let told: Vec<&Read> = messages.iter().filter(is_resumed).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    let place = |position: Position| json!({ "epoch": position.epoch, "sequence": position.sequence });
    let value = json!({ "partition": 0, "after": place(batch.after), "left": place(last) });
    assert_eq!(told[0].json(), value);
    let at = messages.iter().position(|message| is_resumed(&message)).expect("it is there");
    assert_eq!(u64::try_from(at), Ok(last.sequence), "it is behind what was there");
    assert_eq!(
        messages[at + 1].json()["sequence"],
        batch.after.sequence + 1,
        "and what follows it follows that"
    );
    put_back::the_topic_says_what_it_shares_with_the_log(&kafka).await;
    created_again::a_topic_that_is_created_again_is_told_of_and_written_from_its_beginning(&kafka).await;
    created_again::a_topic_that_begins_in_the_middle_is_written_from_its_beginning_after_a_restart(&kafka)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_are_told_that_the_topic_begins_later_than_the_log_did() {
    let (kafka, server) = (broker(), Server::start(1));
    (0..5).for_each(|account| drop(server.ask(&format!("ACCOUNT.OPEN a{account} EUR"))));
    let settings = settings(&kafka);
    let topic = EventTopic::open(&settings, 1).await.expect("a topic");
    let mut writer = topic.writer(0);
    assert_eq!(writer.position().await, Ok(None));
    // The oldest event that is left, as a new consumer gets it.
    let entries = log(&*server.engine, 0).split_off(3);
    let count = entries.len();
    let batch = Batch { partition: 0, after: Position { epoch: 0, sequence: 3 }, entries };
    writer.consume(&batch).await.expect("the broker");
    let messages = read_all(&kafka, &settings.topics.events);
    assert_eq!(messages[0].json()["left"], json!(null));
    assert_eq!(messages[0].json()["after"]["sequence"], 3);
    assert_eq!((messages.len(), messages[1].json()["sequence"].as_u64()), (1 + count, Some(4)));
}

/// Makes many events while others are sent.
fn flood(server: &Arc<Server>, events: u64) -> std::thread::JoinHandle<()> {
    server.ask("ACCOUNT.OPEN a EUR");
    let server = server.clone();
    std::thread::spawn(move || {
        for event in 1..events {
            server.ask(&format!("ACCOUNT.CREDIT a 1 ID credit-{event}"));
        }
    })
}

/// Kills the broker again and again while events are written.
async fn kill_loop(
    settings: KafkaSettings,
    mut kafka: Kafka,
    kills: u64,
    pauses: Option<u64>,
    events: u64,
) -> (Vec<Received>, u64) {
    let server = Arc::new(Server::start(1));
    let topic = EventTopic::open(&settings, 1).await.expect("a topic");
    let (writer, progress) = (topic.writer(0), Arc::new(FlowProgress::default()));
    let flooding = flood(&server, events);
    let flowing = {
        let (engine, progress) = (server.engine.clone(), progress.clone());
        tokio::spawn(async move { flow(engine, 0, writer, Position::default(), events, &progress).await })
    };
    let confirmed = || progress.confirmed.load(Ordering::Acquire);
    let kafka = tokio::task::block_in_place(|| {
        for kill in 1..=kills {
            // Somewhere in the middle, as soon as some more were sent.
            let goal = events * kill / (kills + 1);
            support::eventually("some more", || (confirmed() >= goal).then_some(()));
            if let Some(pauses) = pauses {
                // It reads the messages sent before the pause after other deliveries have begun.
                kafka.pause().expect("paused");
                let before = progress.troubles.load(Ordering::Relaxed);
                let failed = || progress.troubles.load(Ordering::Relaxed) - before;
                support::eventually("a failure", || (failed() >= pauses).then_some(()));
                kafka.resume().expect("resumed");
            }
            kafka.kill().expect("killed");
            kafka.start_again().expect("started again");
        }
        kafka
    });
    let troubles = flowing.await.expect("all flowed out");
    flooding.join().expect("all was asked");
    for trouble in &troubles {
        assert!(
            trouble.reason.contains("partition 0") && trouble.reason.contains("scarce.events.v1"),
            "{trouble}"
        );
    }
    let received = received(&read_all(&kafka, &settings.topics.events), 0);
    (received, troubles.len() as u64)
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_missing_and_nothing_comes_early_however_often_the_broker_is_killed() {
    let kafka = Kafka::start(&KafkaOptions::new()).expect("a broker");
    // Gives up soon, so that every kill ends a producer, and another one begins.
    let settings = KafkaSettings { delivery_timeout_ms: 700, ..settings(&kafka) };
    let (received, troubles) = kill_loop(settings, kafka, 5, None, 20_000).await;
    let repeats = check_order(&received, 20_000);
    assert!(troubles >= 5, "only {troubles} kills were felt");
    eprintln!("5 kills: {troubles} batches failed, {repeats} events came more than once");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_arrives_late_of_a_former_producer_comes_too_late_to_harm() {
    let mut repeats = 0;
    // Whether anything is on its way when the broker is paused is chance.
    for _ in 0..5 {
        let kafka = Kafka::start(&KafkaOptions::new()).expect("a broker");
        let settings = KafkaSettings { delivery_timeout_ms: 700, ..settings(&kafka) };
        let (received, troubles) = kill_loop(settings, kafka, 4, Some(2), 16_000).await;
        repeats = check_order(&received, 16_000);
        eprintln!("4 pauses and kills: {troubles} batches failed, {repeats} events came more than once");
        if repeats > 0 {
            break;
        }
    }
    assert!(repeats > 0, "nothing arrived late");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_producer_that_waits_for_the_broker_repeats_nothing() {
    let kafka = Kafka::start(&KafkaOptions::new()).expect("a broker");
    let settings = KafkaSettings { delivery_timeout_ms: 120_000, ..settings(&kafka) };
    let (received, troubles) = kill_loop(settings, kafka, 2, None, 8_000).await;
    assert_eq!((check_order(&received, 8_000), troubles), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resume_from_an_old_place_repeats_only() {
    let (kafka, server) = (broker(), Arc::new(Server::start(1)));
    flood(&server, 5_000).join().expect("all was asked");
    let settings = settings(&kafka);
    let topic = EventTopic::open(&settings, 1).await.expect("a topic");
    let mut writer = topic.writer(0);
    assert_eq!(writer.position().await, Ok(None), "an empty topic");
    let progress = FlowProgress::default();
    let engine: Arc<dyn Engine> = server.engine.clone();
    flow(engine.clone(), 0, writer, Position::default(), 3_000, &progress).await;
    let mut writer = topic.writer(0);
    let place = writer.position().await.expect("a place").expect("an event");
    assert!(place.epoch > 0 && place.sequence >= 3_000, "{place}");
    // From a position that lags behind, as after a crash.
    flow(engine.clone(), 0, writer, Position { sequence: 1_000, ..place }, 4_000, &progress).await;
    // From the position that is found in the topic itself, by another process.
    let again = EventTopic::open(&settings, 1).await.expect("a topic");
    let mut writer = again.writer(0);
    let place = writer.position().await.expect("a place").expect("an event");
    flow(engine, 0, writer, place, 5_000, &progress).await;
    let received = received(&read_all(&kafka, &settings.topics.events), 0);
    let repeats = check_order(&received, 5_000);
    let lagged = usize::try_from(place.sequence).expect("small");
    assert!((2_000..=lagged).contains(&repeats), "{repeats} repeats, and none from {place} on");
    assert!(
        received.iter().rev().take(5_000 - lagged).map(|event| event.sequence).is_sorted_by(|a, b| a > b)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_event_is_found_behind_what_is_none() {
    let (kafka, server) = (broker(), Arc::new(Server::start(1)));
    flood(&server, 300).join().expect("all was asked");
    let settings = settings(&kafka);
    let topic = EventTopic::open(&settings, 1).await.expect("a topic");
    flow_out(&server, &topic).await;
    // Transactions of another producer: one committed, one aborted, one unfinished.
    let mut config = support::client(&kafka);
    let producer: BaseProducer = config.set("transactional.id", "somebody").create().expect("a producer");
    producer.init_transactions(PATIENCE).expect("transactions");
    let send = || {
        let record: BaseRecord<'_, str, str> =
            BaseRecord::to(&settings.topics.events).partition(0).key("k").payload("not an event");
        producer.send(record).map_err(|(error, _)| error).expect("sent");
        producer.flush(PATIENCE).expect("arrived");
    };
    for ends_well in [true, false] {
        producer.begin_transaction().expect("begun");
        (0..20).for_each(|_| send());
        let ended = if ends_well {
            producer.commit_transaction(PATIENCE)
        } else {
            producer.abort_transaction(PATIENCE)
        };
        ended.expect("ended");
    }
    producer.begin_transaction().expect("begun");
    send();
    let place = topic.writer(0).position().await.expect("a place");
    assert_eq!(place.map(|place| place.sequence), Some(300));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_of_another_deployment_is_refused() {
    let (kafka, server) = (broker(), Arc::new(Server::start(1)));
    flood(&server, 3).join().expect("all was asked");
    let ours = settings(&kafka);
    flow_out(&server, &EventTopic::open(&ours, 1).await.expect("a topic")).await;
    let theirs = KafkaSettings { source: "other".to_owned(), ..ours };
    let topic = EventTopic::open(&theirs, 1).await.expect("a topic");
    let trouble = topic.writer(0).position().await.expect_err("trouble");
    assert!(trouble.reason.contains("'scarce'") && trouble.reason.contains("'other'"), "{trouble}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_no_broker_takes_holds_up_those_behind_it() {
    let kafka = Kafka::start(&KafkaOptions::new().with("message.max.bytes", "2000")).expect("a broker");
    let server = Server::start(1);
    let settings = KafkaSettings { compression: Compression::None, ..settings(&kafka) };
    let topic = EventTopic::open(&settings, 1).await.expect("a topic");
    server.ask("ACCOUNT.OPEN a EUR");
    let limits: String = (0..16)
        .map(|limit| {
            format!(
                " LIMIT limit-{limit}-{} 9 PER user,device,store,country WINDOW DAY OFFSET 480",
                "x".repeat(40)
            )
        })
        .collect();
    server.ask(&format!("COUPON.CREATE c{limits}"));
    server.ask("ACCOUNT.CREDIT a 1");
    let mut writer = topic.writer(0);
    let entries = log(&*server.engine, 0);
    let mut after = Position::default();
    let first = Batch { partition: 0, after, entries: entries[..1].to_vec() };
    writer.consume(&first).await.expect("a small one");
    after = first.end();
    for _ in 0..2 {
        let batch = Batch { partition: 0, after, entries: entries[1..].to_vec() };
        let trouble = writer.consume(&batch).await.expect_err("trouble");
        assert!(trouble.reason.contains("max.message.bytes"), "{trouble}");
    }
    let received = received(&read_all(&kafka, &settings.topics.events), 0);
    assert_eq!(received.len(), 1, "something came before what it follows");
}
