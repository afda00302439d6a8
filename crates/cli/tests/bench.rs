//! `scarce bench` against a real server: its requests, its counts, and what it leaves untouched.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::collections::BTreeSet;
use std::process::Output;

use serde_json::{Value, json};
use support::{Server, scarce};

fn bench(server: &Server, options: &[&str]) -> Output {
    scarce().args(["bench", "--resp", &server.address, "--json"]).args(options).output().unwrap()
}

fn report(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

const LOADS: [&str; 8] = ["debit", "hot-row", "take", "sold-out", "claim", "coupon", "orders", "mixed"];

#[test]
fn every_load_is_answered_as_it_is_meant_and_touches_its_own_only() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Server::start(&data, &[]);
    server.connect().call(&["ACCOUNT.OPEN", "alice", "EUR"]).unwrap();
    for load in LOADS {
        for pipeline in ["1", "16"] {
            let options =
                ["--workload", load, "--operations", "601", "--connections", "3", "--pipeline", pipeline];
            let report = report(&bench(&server, &options));
            let expected = match load {
                "sold-out" => json!({"SOLD_OUT": 601}),
                "mixed" => json!({"APPLIED": 502, "SOLD_OUT": 99}),
                _ => json!({"APPLIED": 601}),
            };
            assert_eq!(report["outcomes"], expected, "{load}");
            let latency = |name: &str| report["latency_us"][name].as_f64().unwrap();
            assert!(latency("p50") > 1.0 && latency("p50") <= latency("p99.9"), "{report}");
            assert!(latency("p99.9") <= latency("max"), "{report}");
        }
    }
    server.stop();
    let output = scarce().args(["journal", "export", "--data"]).arg(&data).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for event in events[1..].iter().filter(|event| event["name"] != "operation.stepped") {
        let names = ["account", "sku", "campaign", "coupon", "market"].iter();
        let name = names.filter_map(|name| event["fields"][*name].as_str()).next();
        assert!(name.is_some_and(|name| name.starts_with("bench/")), "{event}");
        assert_eq!(event["operation"], Value::Null);
    }
    assert!(events.len() > 12 * 600);
}

#[test]
fn ids_are_all_different_and_rates_are_kept_by_count() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Server::start(&data, &["--partitions", "2"]);
    let options = ["--operations", "500", "--rate", "5000", "--connections", "4", "--ids"];
    for _ in 0..2 {
        let report = report(&bench(&server, &options));
        assert_eq!((&report["operations"], &report["rate"]), (&json!(500), &json!(5000)));
        // 500 commands at 5 000 a second take at least this long.
        assert!(report["seconds"].as_f64().unwrap() > 0.099, "{report}");
    }
    server.stop();
    let output = scarce().args(["journal", "export", "--data"]).arg(&data).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let ids: BTreeSet<String> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter_map(|event| event["operation"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(ids.len(), 1_000);
}

#[test]
fn a_server_with_a_password_and_none_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let password = folder.path().join("password");
    std::fs::write(&password, "open sesame\n").unwrap();
    let password = password.to_str().unwrap();
    let server = Server::start(&folder.path().join("data"), &["--password-file", password]);
    let report = report(&bench(&server, &["--operations", "10", "--password-file", password]));
    assert_eq!(report["outcomes"], json!({"APPLIED": 10}));
    let refused = bench(&server, &["--operations", "10"]);
    assert_ne!(refused.status.code(), Some(0), "{refused:?}");
    server.stop();
    let output = scarce().args(["bench", "--resp", "127.0.0.1:1", "--operations", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{output:?}");
}
