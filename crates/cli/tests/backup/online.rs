//! Backups beside a running server.

use std::sync::atomic::{AtomicBool, Ordering};

use scarce_engine_embedded::lock::Hold;
use serde_json::json;

use super::{Stage, credit, ended, open_account, said, verified};
use crate::support::{Server, scarce, wait_until};

/// The sequence of each partition in the answer of `SNAPSHOT`.
fn sequences(answer: &redis::Value) -> Vec<i64> {
    let redis::Value::Array(rows) = answer else { panic!("{answer:?}") };
    let sequence = |row: &redis::Value| match row {
        redis::Value::Array(values) => match values[1] {
            redis::Value::Int(sequence) => sequence,
            _ => panic!("{answer:?}"),
        },
        _ => panic!("{answer:?}"),
    };
    rows.iter().map(sequence).collect()
}

#[test]
fn a_backup_beside_a_busy_server_has_all_that_was_acknowledged_and_is_served_again() {
    let stage = Stage::new();
    let server = stage.serve(&["--segment-mib", "1", "--partitions", "2"]);
    open_account(&mut server.connect());
    let is_over = AtomicBool::new(false);
    let mut rows = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut client = server.connect();
            while !is_over.load(Ordering::Relaxed) {
                credit(&mut client, 200);
            }
        });
        let mut client = server.connect();
        for round in 0..4 {
            credit(&mut client, 5_000);
            // Snapshots remove segments meanwhile.
            let durable = sequences(&client.call(&["SNAPSHOT"]).unwrap());
            let made = stage.create(if round == 3 { &["--full"] } else { &[] });
            assert_eq!(made.len(), 2, "a row for each partition");
            for (row, durable) in made.iter().zip(durable) {
                assert!(row["sequence"].as_i64().unwrap() >= durable, "{row}");
            }
            rows.push(made);
        }
        is_over.store(true, Ordering::Relaxed);
    });
    server.stop();
    assert_eq!(rows[0][0]["builds_on"], json!(null));
    assert_eq!(rows[1][0]["builds_on"], rows[0][0]["backup"]);
    assert_eq!(rows[3][0]["builds_on"], json!(null), "a full one");
    assert_eq!(ended(&stage.backup(&["list"]), 0).len(), 8);
    for verdict in ended(&stage.backup(&["verify", "--all", "--restore"]), 0) {
        assert!(verdict["content"] == "whole" && verdict["digest"].is_string(), "{verdict}");
    }
    let (new, output) = stage.restore("new", &[]);
    let restored = ended(&output, 0);
    let pairs = verified(&new);
    for (row, (sequence, digest)) in restored.iter().zip(&pairs) {
        assert_eq!((row["sequence"].as_u64(), row["digest"].as_str()), (Some(*sequence), Some(&**digest)));
        let made = &rows[3][usize::try_from(row["partition"].as_u64().unwrap()).unwrap()];
        // Cut at the moment when it was begun.
        assert!(made["sequence"].as_u64() >= Some(*sequence), "{made} and {row}");
        assert!(row["at"].as_u64() <= made["begun_at_ms"].as_u64(), "{made} and {row}");
    }
    let (_, again) = stage.restore("new", &[]);
    assert!(again.status.code() == Some(1) && said(&again).contains("not empty"), "{again:?}");
    let server = Server::start(&new, &["--partitions", "2"]);
    let repeated = server.connect().call(&["ACCOUNT.OPEN", "alice", "EUR", "ID", "open-alice"]).unwrap();
    assert_eq!(repeated, redis::Value::Array(vec![redis::Value::Int(1), redis::Value::Int(0)]));
    server.stop();
}

#[test]
fn an_idle_server_is_backed_up_to_its_last_event_and_nothing_is_put_twice() {
    let stage = Stage::new();
    let server = stage.serve(&["--segment-mib", "1"]);
    let mut client = server.connect();
    open_account(&mut client);
    credit(&mut client, 20_000);
    let words = ["CONSUMER", "CONFIRM", "books", "me", "0", "0", "7"];
    client.call(&words).unwrap();
    stage.create(&[]);
    // The log says so by itself a moment after the last event, and changes no more then.
    wait_until("all of it is there, and only a manifest and what changed is put again", || {
        let before = stage.objects().len();
        let row = stage.create(&[]).remove(0);
        let is_little = row["new_bytes"].as_u64().unwrap() < 8_192 && stage.objects().len() < before + 4;
        row["sequence"] == 20_001 && is_little
    });
    drop(client);
    server.stop();
    let row = stage.create(&[]).remove(0);
    assert_eq!(row["sequence"], 20_001, "also when no server runs: {row}");
    let (new, output) = stage.restore("new", &[]);
    ended(&output, 0);
    assert_eq!(verified(&new), verified(&stage.data));
    let server = Server::start(&new, &[]);
    let listed = server.http().get("/v1/consumers").json();
    assert_eq!(listed["consumers"][0]["name"], "books", "{listed}");
    server.stop();
}

#[test]
fn files_are_not_removed_while_they_are_copied() {
    let stage = Stage::new();
    let server = stage.serve(&["--segment-mib", "1"]);
    let mut client = server.connect();
    open_account(&mut client);
    let first = stage.data.join("partition-0000/journal-00000001-0000000000000001.seg");
    let mut rounds = |count| {
        for _ in 0..count {
            credit(&mut client, 60_000);
            client.call(&["SNAPSHOT"]).unwrap();
        }
    };
    let content = std::fs::read(&first).unwrap();
    let hold = Hold::take(stage.data.join("partition-0000")).unwrap().unwrap();
    rounds(3);
    let held = std::fs::read(&first).unwrap();
    assert_eq!(held[..64], content[..64], "neither removed nor used for another segment");
    drop(hold);
    rounds(1);
    assert!(!first.exists(), "what nobody copies is removed again");
    server.stop();
}

#[test]
fn a_store_of_another_deployment_and_a_missing_directory_are_refused() {
    let stage = Stage::new();
    let missing = stage.backup(&["create", "--data", stage.data.to_str().unwrap()]);
    assert!(missing.status.code() == Some(1), "{missing:?}");
    stage.serve(&[]).stop();
    stage.create(&[]);
    let other = stage.folder.path().join("other");
    Server::start(&other, &[]).stop();
    let refused = stage.backup(&["create", "--data", other.to_str().unwrap()]);
    assert!(refused.status.code() == Some(1) && said(&refused).contains("of its own"), "{refused:?}");
    let output = scarce().args(["backup", "list", "--store", "ftp://x/y"]).output().unwrap();
    assert!(output.status.code() == Some(2) && said(&output).contains("names no store"), "{output:?}");
    let empty = stage.folder.path().join("nothing");
    let output = scarce().args(["backup", "verify", "--store"]).arg(&empty).output().unwrap();
    assert!(output.status.code() == Some(1) && said(&output).contains("no backup"), "{output:?}");
}

/// Nothing is written behind the last answer that would say that it is durable.
#[test]
fn a_backup_beside_an_idle_server_has_all_that_was_answered() {
    let stage = Stage::new();
    let server = stage.serve(&[]);
    let mut client = server.connect();
    open_account(&mut client);
    credit(&mut client, 1_000);
    let row = stage.create(&[]).remove(0);
    assert_eq!(row["sequence"], 1_001, "{row}");
    let (new, output) = stage.restore("new", &[]);
    ended(&output, 0);
    assert_eq!(verified(&new)[0].0, 1_001);
    drop(client);
    server.stop();
}
