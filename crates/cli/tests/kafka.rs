//! Kafka with the binary alone: commands in, events out, from there into a database, dead letters and their
//! repair.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/consumers.rs"]
mod consumers;
#[path = "support/database.rs"]
mod database;
mod support;

use std::process::Output;
use std::time::Duration;

use consumers::{copy, wait_until_diverged};
use database::Database;
use rdkafka::admin::{AdminClient, AdminOptions};
use rdkafka::client::DefaultClientContext;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::message::{Header, Headers, Message, OwnedHeaders};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::{ClientConfig, Offset, TopicPartitionList};
use scarce_launch::{Kafka, KafkaOptions};
use support::{Server, json_lines, scarce, wait_until};

const PATIENCE: Duration = Duration::from_secs(120);

fn run(words: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = scarce().args(words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

/// Sends commands like any Kafka client.
fn send(kafka: &Kafka, commands: &[String]) {
    let producer: BaseProducer =
        ClientConfig::new().set("bootstrap.servers", kafka.brokers()).create().unwrap();
    for command in commands {
        let record: BaseRecord<'_, str, str> =
            BaseRecord::to("scarce.commands.v1").key("one").payload(command);
        producer.send(record).map_err(|(error, _)| error).unwrap();
    }
    producer.flush(PATIENCE).unwrap();
}

fn balance(server: &Server, account: &str) -> Option<i64> {
    server.http().get(&format!("/v1/accounts/{account}")).json()["balance"].as_i64()
}

#[test]
fn commands_come_from_kafka_and_events_go_through_it_into_a_database() {
    let kafka = Kafka::start(&KafkaOptions::new().in_memory()).unwrap();
    let brokers = kafka.brokers();
    let options = ["--kafka", &brokers, "--kafka-create-topics", "--kafka-commands", "--partitions", "2"];
    let server = Server::fresh(&options);
    let topics = || run(&["dead-letters", "list", "--kafka", &brokers]).0 == Some(0);
    wait_until("the topics are there", topics);
    let open = |account: &str| {
        format!(
            r#"{{"command":"ACCOUNT.OPEN","arguments":{{"account":"{account}","asset":"EUR"}},"id":"open-{account}"}}"#
        )
    };
    let credit = |id: u32| {
        let account = ["a", "b", "c"][id as usize % 3];
        format!(
            r#"{{"command":"ACCOUNT.CREDIT","arguments":{{"account":"{account}","amount":2}},"id":"credit-{id}"}}"#
        )
    };
    let mut commands: Vec<String> = ["a", "b", "c"].map(open).to_vec();
    commands.extend((0..300).map(credit));
    commands.push(
        r#"{"command":"ACCOUNT.CREDIT","arguments":{"account":"a","amount":"2"},"id":"typo"}"#.to_owned(),
    );
    commands.extend((0..300).map(credit));
    send(&kafka, &commands);
    wait_until("every command took effect", || {
        ["a", "b", "c"].iter().all(|its| balance(&server, its) == Some(200))
    });
    server.wait_until_drained();
    mend(&brokers, &server);
    server.wait_until_drained();
    // Another machine's database, into which no server writes.
    for database in [Database::sqlite(), Database::postgres()] {
        let follow = ["projection", "follow", "--once", "--kafka", &brokers, "--sql", database.url()];
        let (code, _, said) = run(&follow);
        assert!(code == Some(1) && said.contains("make them with --create"), "{said}");
        let follow = [&follow[..], &["--create"]].concat();
        let (code, _, said) = run(&follow);
        assert_eq!(code, Some(0), "{said}");
        let balances = database.figures("SELECT account_id, balance FROM accounts");
        let expected = [("a", 202), ("b", 200), ("c", 200)].map(|(name, sum)| (name.to_owned(), sum));
        assert_eq!(balances, expected.into());
        let summed = database.figures("SELECT account_id, SUM(amount) FROM entries GROUP BY account_id");
        assert_eq!(balances, summed);
        // A second run changes nothing: everything is there.
        assert_eq!(run(&follow).0, Some(0));
        assert_eq!(database.figures("SELECT 'all', COUNT(*) FROM entries")["all"], 301);
    }
    server.stop();
    end_where_the_beginning_is_gone(&brokers);
    begin_again_in_a_new_topic(&kafka);
    list_what_was_lost(&brokers);
}

/// The values and the ids of a topic's messages.
fn messages(brokers: &str, topic: &str) -> Vec<(String, String)> {
    let consumer: BaseConsumer =
        ClientConfig::new().set("bootstrap.servers", brokers).set("group.id", "audit").create().unwrap();
    let Ok((first, end)) = consumer.fetch_watermarks(topic, 0, PATIENCE) else { return Vec::new() };
    let mut from = TopicPartitionList::new();
    from.add_partition_offset(topic, 0, Offset::Offset(first)).unwrap();
    consumer.assign(&from).unwrap();
    let read = |_| {
        let message = consumer.poll(PATIENCE)?.ok()?;
        let id = message.headers()?.iter().find(|header| header.key == "ce_id")?.value?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Some((text(message.payload()?), text(id)))
    };
    (first..end).map_while(read).collect()
}

/// Also what is recorded while no broker can be reached, and beside the server; killed in between, it goes on where it was.
#[test]
fn the_audit_log_goes_to_a_topic_in_order_and_nothing_of_it_is_missing() {
    let data = tempfile::TempDir::new().unwrap();
    let act = |server: &Server, name: &str| {
        assert_eq!(server.socket().call(&["STOCK.CREATE", name, "1"]), "[1 1]");
    };
    let options = ["--kafka-audit", "--kafka-create-topics", "--kafka"];
    let server = Server::start(data.path(), &[&options[..], &["127.0.0.1:1"]].concat());
    (0..5).for_each(|n| act(&server, &format!("early-{n}")));
    server.stop();
    let kafka = Kafka::start(&KafkaOptions::new().in_memory()).unwrap();
    let brokers = kafka.brokers();
    let records = || {
        let (_, lines, _) = run(&["audit", "--json", "--last", "0", "--data", data.path().to_str().unwrap()]);
        json_lines(&lines)
    };
    for round in 0..3 {
        let mut server = Server::start(data.path(), &[&options[..], &[&brokers]].concat());
        (0..700).for_each(|n| act(&server, &format!("r{round}-{n}")));
        if round < 2 {
            server.kill();
            continue;
        }
        let folder = data.path().to_str().unwrap();
        assert_eq!(run(&["keys", "create", "--name", "x", "--scope", "read", "--data", folder]).0, Some(0));
        let mut sent = Vec::new();
        wait_until("all of it is in the topic", || {
            sent = messages(&brokers, "scarce.audit.v1");
            let ids: std::collections::BTreeSet<&String> = sent.iter().map(|(_, id)| id).collect();
            ids.len() == records().len() && ids.len() > 2_105
        });
        let mut seen = std::collections::BTreeSet::new();
        sent.retain(|(_, id)| seen.insert(id.clone()));
        let values: Vec<serde_json::Value> =
            sent.iter().map(|(value, _)| serde_json::from_str(value).unwrap()).collect();
        assert_eq!(values, records());
        server.stop();
    }
}

#[test]
fn the_trace_of_a_command_and_of_a_request_goes_on_to_the_events() {
    const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const OTHER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
    let kafka = Kafka::start(&KafkaOptions::new().in_memory()).unwrap();
    let brokers = kafka.brokers();
    let data = tempfile::tempdir().unwrap();
    let options = ["--kafka", &brokers, "--kafka-create-topics", "--kafka-commands"];
    let server = Server::start(data.path(), &options);
    let topics = || run(&["dead-letters", "list", "--kafka", &brokers]).0 == Some(0);
    wait_until("the topics are there", topics);
    let producer: BaseProducer = ClientConfig::new().set("bootstrap.servers", &brokers).create().unwrap();
    let open = r#"{"command":"ACCOUNT.OPEN","arguments":{"account":"a","asset":"EUR"},"id":"open"}"#;
    let headers = OwnedHeaders::new().insert(Header { key: "traceparent", value: Some(TRACE) });
    let record: BaseRecord<'_, str, str> =
        BaseRecord::to("scarce.commands.v1").key("a").payload(open).headers(headers);
    producer.send(record).map_err(|(error, _)| error).unwrap();
    producer.flush(PATIENCE).unwrap();
    wait_until("the account is open", || balance(&server, "a") == Some(0));
    let credit = serde_json::json!({ "amount": 1 });
    for headers in [&[("traceparent", OTHER)][..], &[]] {
        let answer = server.http().call("POST", "/v1/accounts/a/credit", headers, Some(&credit));
        assert_eq!(answer.status, 200);
    }
    server.wait_until_drained();
    let traces = headers_of(&brokers, "scarce.events.v1", "traceparent");
    let texts = [Some(TRACE), Some(OTHER), None].map(|trace| trace.map(str::to_owned));
    assert_eq!(traces, texts);
    let outcomes = headers_of(&brokers, "scarce.outcomes.v1", "traceparent");
    assert_eq!(outcomes, [Some(TRACE.to_owned())]);
    // The log has none, and the topic is as it should be all the same.
    let data = data.path().to_str().unwrap();
    let words = ["reconcile", "--data", data, "--resp", &server.address, "--kafka", &brokers];
    let (code, told, said) = run(&words);
    assert_eq!(code, Some(0), "{told}{said}");
}

#[test]
fn waiting_rooms_guard_against_commands_from_the_topic() {
    let kafka = Kafka::start(&KafkaOptions::new().in_memory()).unwrap();
    let (brokers, folder) = (kafka.brokers(), tempfile::TempDir::new().unwrap());
    let rooms = folder.path().join("rooms.toml");
    let sale = "[[room]]\nname = \"sale\"\nresources = [\"hot-*\"]\nrate = \"1/h\"\n";
    std::fs::write(&rooms, sale).unwrap();
    let guarded = ["--kafka-commands", "--waiting-rooms", rooms.to_str().unwrap()];
    let server = Server::fresh(&[&["--kafka", &brokers, "--kafka-create-topics"], &guarded[..]].concat());
    let topics = || run(&["dead-letters", "list", "--kafka", &brokers]).0 == Some(0);
    wait_until("the topics are there", topics);
    for sku in ["hot-1", "cold"] {
        assert_eq!(server.socket().call(&["STOCK.CREATE", sku, "9"]), "[1 9]");
    }
    let join = |user: &str| {
        let body = serde_json::json!({ "user": user });
        let joined = server.http().post("/v1/waiting-rooms/sale/tickets", &body).json();
        joined["ticket"].as_str().unwrap().to_owned()
    };
    let (admitted, waits) = (join("u1"), join("u2"));
    let producer: BaseProducer = ClientConfig::new().set("bootstrap.servers", &brokers).create().unwrap();
    let take = |id: &str, sku: &str, user: &str, ticket: Option<&str>| {
        let value = serde_json::json!({
            "command": "STOCK.TAKE", "arguments": { "sku": sku, "quantity": 1, "owner": user }, "id": id
        });
        let value = value.to_string();
        let header = |value| Header { key: "scarce-ticket", value: Some(value) };
        let headers =
            ticket.map_or_else(OwnedHeaders::new, |ticket| OwnedHeaders::new().insert(header(ticket)));
        let record = BaseRecord::to("scarce.commands.v1").key("one").payload(&value).headers(headers);
        producer.send(record).map_err(|(error, _)| error).unwrap();
    };
    take("none", "hot-1", "u1", None);
    take("early", "hot-1", "u2", Some(&waits));
    take("others", "hot-1", "u3", Some(&admitted));
    take("good", "hot-1", "u1", Some(&format!("{waits}, {admitted}")));
    take("free", "cold", "u3", None);
    producer.flush(PATIENCE).unwrap();
    let available = |sku: &str| server.http().get(&format!("/v1/stock/{sku}")).json()["available"].as_i64();
    wait_until("what is not guarded was taken", || available("cold") == Some(8));
    wait_until("so was what there is a ticket for", || available("hot-1") == Some(8));
    let mut letters = Vec::new();
    wait_until("the others are dead letters", || {
        letters = json_lines(&run(&["dead-letters", "list", "--json", "--kafka", &brokers]).1);
        letters.len() >= 3
    });
    let said = serde_json::to_string(&letters).unwrap();
    assert_eq!((letters.len(), said.matches("\"NOT_ADMITTED\"").count()), (3, 3), "{said}");
    assert!(said.contains("admits 'u2' in 3") && said.contains("wants a ticket of 'u3'"), "{said}");
    server.stop();
}

/// The topic is deleted and created again while the server writes to it.
fn begin_again_in_a_new_topic(kafka: &Kafka) {
    const TOPIC: &str = "again.events.v1";
    let brokers = kafka.brokers();
    let server = Server::fresh(&["--kafka", &brokers, "--kafka-create-topics", "--kafka-prefix", "again"]);
    let credit = || drop(server.socket().call(&["ACCOUNT.CREDIT", "a", "1"]));
    server.socket().call(&["ACCOUNT.OPEN", "a", "EUR"]);
    (0..4).for_each(|_| credit());
    server.wait_until_drained();
    let administrator: AdminClient<DefaultClientContext> =
        ClientConfig::new().set("bootstrap.servers", &brokers).create().unwrap();
    let deleted = async { administrator.delete_topics(&[TOPIC], &AdminOptions::new()).await };
    tokio::runtime::Runtime::new().unwrap().block_on(deleted).unwrap();
    wait_until("it is created again", || kafka.create_topic(TOPIC, 1).is_ok());
    credit();
    // What came before it was noticed stands in front of what is told.
    wait_until("the whole log is in it", || {
        let sequences = sequences(&brokers, TOPIC);
        let begun = sequences.iter().rposition(Option::is_none).map_or(0, |told| told + 1);
        sequences[begun..].iter().copied().eq((1..=6).map(Some))
    });
    server.stop();
}

/// The sequences of the messages of a topic's first partition; `None` for one that is no event.
fn sequences(brokers: &str, topic: &str) -> Vec<Option<u64>> {
    let sequence = |text: Option<String>| text.and_then(|text| text.parse().ok());
    headers_of(brokers, topic, "ce_sequence").into_iter().map(sequence).collect()
}

/// A header of each message of a topic's first partition.
fn headers_of(brokers: &str, topic: &str, name: &str) -> Vec<Option<String>> {
    let consumer: BaseConsumer =
        ClientConfig::new().set("bootstrap.servers", brokers).set("group.id", "sequences").create().unwrap();
    let Ok((first, end)) = consumer.fetch_watermarks(topic, 0, PATIENCE) else { return Vec::new() };
    let mut from = TopicPartitionList::new();
    from.add_partition_offset(topic, 0, Offset::Offset(first)).unwrap();
    consumer.assign(&from).unwrap();
    let read = |_| {
        let message = consumer.poll(PATIENCE)?.ok()?;
        let found = message.headers()?.iter().find(|header| header.key == name);
        Some(found.and_then(|header| Some(str::from_utf8(header.value?).ok()?.to_owned())))
    };
    (first..end).map_while(read).collect()
}

/// Messages are removed from the front, as brokers do after some days.
fn end_where_the_beginning_is_gone(brokers: &str) {
    let mut through = TopicPartitionList::new();
    for partition in 0..2 {
        through.add_partition_offset("scarce.events.v1", partition, Offset::Offset(1)).unwrap();
    }
    let administrator: AdminClient<DefaultClientContext> =
        ClientConfig::new().set("bootstrap.servers", brokers).create().unwrap();
    let removed = async { administrator.delete_records(&through, &AdminOptions::new()).await };
    tokio::runtime::Runtime::new().unwrap().block_on(removed).unwrap();
    let database = Database::sqlite();
    let follow = ["projection", "follow", "--once", "--create", "--kafka", brokers, "--sql", database.url()];
    let (code, _, said) = run(&follow);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("the topic has nothing before offset 1 of partition "), "{said}");
    assert!(said.contains("begin with the engine's own log"), "{said}");
}

/// An older copy of the data is put back: what the topic holds of the history that is gone is listed, and no more.
fn list_what_was_lost(brokers: &str) {
    let home = tempfile::tempdir().unwrap();
    let (data, older) = (home.path().join("data"), home.path().join("older"));
    let options = ["--kafka", brokers, "--kafka-create-topics", "--kafka-prefix", "lost"];
    let credit = |server: &Server, count: u32| {
        (0..count).for_each(|_| drop(server.socket().call(&["ACCOUNT.CREDIT", "a", "1"])));
    };
    let server = Server::start(&data, &options);
    server.socket().call(&["ACCOUNT.OPEN", "a", "EUR"]);
    credit(&server, 4);
    server.wait_until_drained();
    server.stop();
    copy(&data, &older);
    let server = Server::start(&data, &options);
    credit(&server, 3);
    server.wait_until_drained();
    server.stop();
    let server = Server::start(&older, &options);
    credit(&server, 6);
    let place = ["--resp", &server.address, "--kafka", brokers, "--kafka-prefix", "lost"];
    wait_until_diverged(&server, "kafka");
    let rebase = |words: &[&str]| run(&[&["consumers", "rebase", "kafka"][..], words, &place].concat());
    let (code, listed, advice) = rebase(&["--json"]);
    assert!(code == Some(2) && advice.contains("topic and log both have"), "{advice}");
    let rows = json_lines(&listed);
    assert_eq!(rows[0]["detail"], "sequences 6 to 8", "{listed}");
    let is_event = |row: &&serde_json::Value| row["holds"] == "event";
    let ids: Vec<&str> = rows.iter().filter(is_event).map(|row| row["id"].as_str().unwrap()).collect();
    assert!(ids.len() == 3 && ids[0].ends_with("-6") && ids[2].ends_with("-8"), "{listed}");
    let (code, _, said) = rebase(&["--yes"]);
    assert_eq!(code, Some(0), "{said}");
    server.wait_until_drained();
    server.stop();
}

/// Finds and repairs the one invalid command.
fn mend(brokers: &str, server: &Server) {
    let (code, listed, _) = run(&["dead-letters", "list", "--json", "--kafka", brokers]);
    assert_eq!(code, Some(0));
    let [letter] = &json_lines(&listed)[..] else { panic!("one dead letter: {listed}") };
    assert_eq!(
        (&letter["reason"]["code"], &letter["reason"]["stage"]),
        (&"INVALID".into(), &"command".into())
    );
    let at = letter["at"].as_str().unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    let mended = letter["value"]["text"].as_str().unwrap().replace("\"2\"", "2");
    std::fs::write(file.path(), mended).unwrap();
    let path = file.path().to_str().unwrap();
    let (code, told, _) = run(&["dead-letters", "replay", "--at", at, "--with", path, "--kafka", brokers]);
    assert_eq!((code, told.as_str()), (Some(0), "1 sent again\n"));
    wait_until("the mended command took effect", || balance(server, "a") == Some(202));
    let (code, _, said) = run(&["dead-letters", "replay", "--at", "0/999", "--kafka", brokers]);
    assert_eq!(code, Some(1));
    assert!(said.contains("there is no dead letter at 0/999"), "{said}");
}

#[test]
fn what_is_missing_is_said() {
    let (code, _, said) = run(&["dead-letters", "list"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("--kafka HOST:PORT"), "{said}");
    let (code, _, said) = run(&["dead-letters", "replay", "--kafka", "127.0.0.1:1"]);
    assert_eq!(code, Some(2), "{said}");
    let (code, _, said) = run(&["projection", "follow", "--kafka", "127.0.0.1:1"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("--sql"), "{said}");
}
