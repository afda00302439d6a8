//! Operation ids that are in files: they are in a backup, and duplicates get their first answers after a restore.

use scarce_client::Client;
use scarce_engine_embedded::partition_directory;
use serde_json::Value;

use super::{Stage, ended, open_account, verified};
use crate::support::{Server, wait_until};

const OPTIONS: [&str; 4] = ["--segment-mib", "1", "--operations-in-memory-max", "80"];

/// Credits of one cent, each with an id. The answer to each names the balance after it.
fn credit(client: &mut Client, numbers: std::ops::Range<u64>) {
    for number in numbers {
        let words = ["ACCOUNT.CREDIT", "alice", "1", "ID", &format!("credit-{number}")].map(str::to_owned);
        let answer = client.call(&words).unwrap();
        let expected = [1, 1, number as i64 + 1, number as i64 + 1].map(redis::Value::Int);
        let redis::Value::Array(values) = &answer else { panic!("{answer:?}") };
        assert!(values.len() >= 2 && values[0] == expected[0], "{number}: {answer:?}");
        assert!(values.contains(&expected[2]), "{number}: {answer:?}");
    }
}

fn balance(client: &mut Client) -> String {
    format!("{:?}", client.call(&["ACCOUNT.GET", "alice"]).unwrap())
}

/// How many files with ids there are.
fn files(stage: &Stage) -> usize {
    let names = std::fs::read_dir(stage.data.join(partition_directory(0))).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("ids-")).count()
}

/// What is asked again is answered as it was, and changes nothing.
fn check(data: &std::path::Path, count: u64) {
    let server = Server::start(data, &OPTIONS);
    let mut client = server.connect();
    let before = balance(&mut client);
    credit(&mut client, 0..count);
    assert_eq!(balance(&mut client), before);
    credit(&mut client, count..count + 1);
    assert_ne!(balance(&mut client), before);
    server.stop();
}

#[test]
fn duplicates_of_operations_on_disk_get_their_first_answers_after_a_restore() {
    let stage = Stage::new();
    let server = stage.serve(&OPTIONS);
    let mut client = server.connect();
    open_account(&mut client);
    credit(&mut client, 0..600);
    wait_until("operation ids are in files", || files(&stage) > 2);
    client.call(&["SNAPSHOT"]).unwrap();
    let first = stage.create(&[]).remove(0);
    credit(&mut client, 600..1_000);
    client.call(&["SNAPSHOT"]).unwrap();
    stage.create(&[]);
    drop(client);
    server.stop();
    for verdict in ended(&stage.backup(&["verify", "--all", "--restore"]), 0) {
        assert_eq!(verdict["content"], Value::from("whole"), "{verdict}");
    }
    let (newest, output) = stage.restore("newest", &[]);
    ended(&output, 0);
    verified(&newest);
    check(&newest, 1_000);
    let (by_name, output) = stage.restore("by-name", &["--backup", first["backup"].as_str().unwrap()]);
    ended(&output, 0);
    check(&by_name, 600);
    // The account was opened by the first event.
    let (by_sequence, output) = stage.restore("by-sequence", &["--sequence", "801"]);
    ended(&output, 0);
    verified(&by_sequence);
    check(&by_sequence, 800);
}
