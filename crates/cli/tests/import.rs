//! `scarce import` as users see it: messages about bad lines, how it ends, how it resumes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/importing.rs"]
mod importing;
mod support;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use importing::{figure, import, outcomes, summary};
use serde_json::json;
use support::{Server, wait_until};

fn write(folder: &Path, lines: &[&str]) -> PathBuf {
    let path = folder.join("operations.ndjson");
    std::fs::write(&path, lines.join("\n")).unwrap();
    path
}

const CREATE: &str = r#"{"id":"c","command":["STOCK.CREATE","s","5"]}"#;

fn sold(serving: &Server) -> Option<i64> {
    figure(&mut serving.connect(), &["STOCK.GET", "s"], "sold")
}

#[test]
fn bad_lines_are_named_and_the_good_ones_done() {
    let folder = tempfile::tempdir().unwrap();
    let serving = Server::start(&folder.path().join("data"), &[]);
    let long = format!(r#"{{"id":"{}"}}"#, "x".repeat(600 << 10));
    let file = write(
        folder.path(),
        &[
            CREATE,
            "not json",
            "",
            r#"{"id":"t","command":["STOCK.TAKE","s","2","o"]}"#,
            r#"{"id":"u","command":["STOCK.TAKE","s",2,"o"]}"#,
            r#"{"id":"v","command":["STOCK.TOOK","s","2","o"]}"#,
            &long,
            r#"{"id":"w","command":["STOCK.TAKE","s","1","o"],"when":"now"}"#,
            r#"{"command":["STOCK.TAKE","s","1","o"]}"#,
            r#"{"id":"z","command":["STOCK.TAKE","s","1","o"]}"#,
        ],
    );
    let results = folder.path().join("outcomes");
    let output =
        import(&serving.address, &file, &["--outcomes", results.to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    let lines: Vec<&str> = said.lines().filter_map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(lines, ["2", "5", "6", "7", "8", "9"], "{said}");
    assert_eq!((&summary(&output)["applied"], &summary(&output)["bad_lines"]), (&json!(3), &json!(6)));
    let expected = [
        json!({"line": 1, "id": "c", "outcome": "APPLIED", "values": [5]}),
        json!({"line": 4, "id": "t", "outcome": "APPLIED", "values": [1, 3]}),
        json!({"line": 10, "id": "z", "outcome": "APPLIED", "values": [3, 2]}),
    ];
    assert_eq!(outcomes(&results), expected);
}

#[test]
fn the_exit_code_says_how_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    let serving = Server::start(&folder.path().join("data"), &[]);
    let take = r#"{"id":"t","command":["STOCK.TAKE","s","9","o"]}"#;
    let late = r#"{"id":"l","atomic":[["STOCK.TAKE","s","1","o"]],"deadline":1}"#;
    let other = r#"{"id":"c","command":["STOCK.CREATE","s","6"]}"#;
    let file = write(folder.path(), &[CREATE, take, late, other]);
    let output = import(&serving.address, &file, &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let codes = json!({"INSUFFICIENT_STOCK": 1, "DEADLINE_PASSED": 1, "ID_REUSED": 1});
    assert_eq!(summary(&output)["refused_by_code"], codes);
    let output = import(&serving.address, &file, &["--refusals-ok"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let output = import("127.0.0.1:1", &file, &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let output = import(&serving.address, &folder.path().join("none"), &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn lines_without_ids_and_lines_before_the_first_are_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    let serving = Server::start(&folder.path().join("data"), &[]);
    let take = r#"{"command":["STOCK.TAKE","s","1","o"]}"#;
    let file = write(folder.path(), &[CREATE, take, take]);
    assert_eq!(import(&serving.address, &file, &["--allow-no-id"]).status().unwrap().code(), Some(0));
    assert_eq!(sold(&serving), Some(2));
    let options = ["--allow-no-id", "--from-line", "3"];
    assert_eq!(import(&serving.address, &file, &options).status().unwrap().code(), Some(0));
    assert_eq!(sold(&serving), Some(3));
}

#[test]
fn standard_input_is_imported_while_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let serving = Server::start(&folder.path().join("data"), &[]);
    let mut importing = import(&serving.address, Path::new("-"), &[]).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = importing.stdin.take().unwrap();
    writeln!(input, "{CREATE}").unwrap();
    wait_until("the first line was done", || sold(&serving) == Some(0));
    write!(input, r#"{{"id":"t","command":["STOCK.TAKE","s","1","o"]}}"#).unwrap();
    drop(input);
    let output = importing.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(sold(&serving), Some(1));
}

#[test]
fn a_server_that_stays_away_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let mut serving = Server::start(&folder.path().join("data"), &[]);
    let options = ["--retry-for", "1"];
    let mut importing =
        import(&serving.address, Path::new("-"), &options).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = importing.stdin.take().unwrap();
    writeln!(input, "{CREATE}").unwrap();
    wait_until("the first line was done", || sold(&serving) == Some(0));
    serving.kill();
    writeln!(input, r#"{{"id":"t","command":["STOCK.TAKE","s","1","o"]}}"#).unwrap();
    let output = importing.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    // The server may have ended between the first line and its answer.
    assert!(["--from-line 1", "--from-line 2"].iter().any(|line| said.contains(line)), "{said}");
}
