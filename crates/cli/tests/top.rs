//! `scarce top` against a real server.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Output, Stdio};

use serde_json::Value;
use support::{Server, scarce};

fn top(address: &str, options: &[&str]) -> Output {
    scarce().args(["top", "--resp", address, "--interval", "20ms"]).args(options).output().unwrap()
}

fn figure(look: &Value, name: &str) -> i64 {
    let figures = look["figures"].as_array().unwrap();
    let found =
        figures.iter().find(|figure| figure["name"] == name).unwrap_or_else(|| panic!("{name}: {look}"));
    found["value"].as_i64().unwrap()
}

#[test]
fn one_look_shows_what_the_server_has_done() {
    let server = Server::fresh(&["--partitions", "2"]);
    let mut client = server.connect();
    let _idle = server.connect();
    for account in ["a", "b", "c", "d"] {
        client.call(&["ACCOUNT.OPEN", account, "EUR"]).unwrap();
    }
    let output = top(&server.address, &["--once", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let look: Value = serde_json::from_slice(&output.stdout).unwrap();
    let events: i64 = ["partition_0.durable_sequence", "partition_1.durable_sequence"]
        .iter()
        .map(|name| figure(&look, name))
        .sum();
    assert_eq!(events, 4);
    // The two of the test, and the one of the command.
    assert_eq!(figure(&look, "connected_clients"), 3);
    let rss = figure(&look, "used_memory_rss");
    assert!(u64::try_from(rss).unwrap() > server.resident_kib() * 512, "{rss}");
    assert!(figure(&look, "partition_0.journal_bytes") > 0);
    assert_eq!(look["texts"]["scarce_version"], env!("CARGO_PKG_VERSION"));
    assert!(look["figures"].as_array().unwrap().iter().all(|figure| figure["per_second"].is_number()));
    let output = top(&server.address, &["--once"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("events/s") && text.contains("partition_1.durable_sequence"), "{text}");
}

#[test]
fn rates_follow_the_load_and_the_end_of_the_server_ends_it() {
    let mut server = Server::fresh(&[]);
    let mut watching = scarce()
        .args(["top", "--resp", &server.address, "--interval", "10ms", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut looks = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut client = server.connect();
    client.call(&["ACCOUNT.OPEN", "a", "EUR"]).unwrap();
    let has_rate = |look: &Value| {
        let mut figures = look["figures"].as_array().unwrap().iter();
        let sequence = figures.find(|figure| figure["name"] == "partition_0.durable_sequence");
        sequence.and_then(|figure| figure["per_second"].as_f64()).is_some_and(|rate| rate > 0.0)
    };
    let is_seen = (0..10_000).any(|_| {
        client.call(&["ACCOUNT.CREDIT", "a", "1"]).unwrap();
        has_rate(&serde_json::from_str(&looks.next().unwrap().unwrap()).unwrap())
    });
    assert!(is_seen);
    server.kill();
    let output = watching.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    for (options, code) in [(&["--once"][..], 4), (&["--interval", "never"], 2)] {
        let mut command = scarce();
        let status = command.args(["top", "--resp", "127.0.0.1:1"]).args(options).output().unwrap().status;
        assert_eq!(status.code(), Some(code));
    }
}
