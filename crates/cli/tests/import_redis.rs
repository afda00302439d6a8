//! `scarce import --engine redis`: directly into a Redis, with the same result as through a server.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/importing.rs"]
mod importing;
mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use importing::{figure, outcomes, summary};
use scarce_launch::{Options, Server as Redis};
use support::{Server, scarce_in};
use tempfile::TempDir;

/// Two thousand operations on four partitions, and a few that are refused for good.
fn operations() -> String {
    let line = |id: String, command: &[&str]| serde_json::json!({ "id": id, "command": command }).to_string();
    let mut lines = Vec::new();
    for account in 0..200 {
        let name = format!("account-{account}");
        lines.push(line(format!("open-{account}"), &["ACCOUNT.OPEN", &name, "EUR"]));
        for part in 0..9 {
            lines.push(line(format!("credit-{account}-{part}"), &["ACCOUNT.CREDIT", &name, "100"]));
        }
        lines.push(line(format!("debit-{account}"), &["ACCOUNT.DEBIT", &name, "901"]));
    }
    lines.join("\n")
}

/// `scarce import` with all state in a Redis.
fn import(redis: &Redis, words: &[&str]) -> Command {
    let mut all =
        vec!["import", "--json", "--engine", "redis", "--partitions", "4", "--redis-prefix", "day:"];
    let url = redis.url();
    all.extend(["--redis-url", &url]);
    all.extend(words);
    // Options after a subcommand's name belong to the subcommand.
    if let Some(at) = words.iter().position(|word| ["balances", "stock"].contains(word)) {
        let name = all.remove(all.len() - words.len() + at);
        all.insert(1, name);
    }
    scarce_in(Path::new("/"), &all)
}

fn run(command: &mut Command, exit: i32) -> Output {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(exit), "{output:?}");
    output
}

fn write(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn the_second_run_is_told_what_the_first_was() {
    let (redis, folder) = (Redis::start(Options::new()).unwrap(), TempDir::new().unwrap());
    let file = write(&folder, "operations.ndjson", &operations());
    let results = ["first", "second"].map(|name| folder.path().join(name));
    let before = |redis: &Redis| -> u64 { redis.ask(&["XLEN", &log_key(redis)]).unwrap() };
    let mut lengths = Vec::new();
    for result in &results {
        let words = ["--outcomes", result.to_str().unwrap(), file.to_str().unwrap()];
        let output = run(&mut import(&redis, &words), 3);
        let summary = summary(&output);
        assert_eq!(summary["applied"], 2_000, "{summary}");
        assert_eq!(summary["refused_by_code"]["INSUFFICIENT_FUNDS"], 200, "{summary}");
        lengths.push(before(&redis));
    }
    assert_eq!(outcomes(&results[0]), outcomes(&results[1]));
    assert_eq!(lengths[0], lengths[1], "the second run has logged nothing");
    // A server on the same Redis shows the imported data.
    let url = redis.url();
    let options = ["--engine", "redis", "--redis-url", &url, "--redis-prefix", "day:", "--partitions", "4"];
    let server = Server::start(folder.path(), &options);
    let balance = figure(&mut server.connect(), &["ACCOUNT.GET", "account-7"], "balance");
    assert_eq!(balance, Some(900));
}

/// The log of the first partition.
fn log_key(redis: &Redis) -> String {
    let keys: Vec<String> = redis.ask(&["KEYS", "day:{p0-*}:log"]).unwrap();
    keys.into_iter().next().unwrap()
}

#[test]
fn balances_come_in_once_behind_a_password() {
    let redis = Redis::start(Options::new().with("requirepass", "secret")).unwrap();
    let folder = TempDir::new().unwrap();
    let password = write(&folder, "password", "secret\n");
    let file = write(&folder, "balances.csv", "account,asset,amount\nalice,EUR,12.21\nbob,EUR,7.00\n");
    let words = ["balances", "--scale", "EUR=2", "--redis-password-file", password.to_str().unwrap()];
    let words = [&words[..], &[file.to_str().unwrap()]].concat();
    let first = summary(&run(&mut import(&redis, &words), 0));
    assert_eq!((&first["applied"], &first["existing"]), (&2.into(), &0.into()), "{first}");
    // The ids derive from the rows and are known: the original answers come again.
    let again = summary(&run(&mut import(&redis, &words), 0));
    assert_eq!((&again["applied"], &again["existing"]), (&2.into(), &0.into()), "{again}");
    let url = redis.url();
    let mut options = vec!["--engine", "redis", "--redis-url", &url, "--redis-prefix", "day:"];
    options.extend(["--partitions", "4", "--redis-password-file", password.to_str().unwrap()]);
    let server = Server::start(folder.path(), &options);
    let balance = figure(&mut server.connect(), &["ACCOUNT.GET", "alice"], "balance");
    assert_eq!(balance, Some(1221));
    let said = run(&mut import(&redis, &["balances", file.to_str().unwrap()]), 4).stderr;
    assert!(String::from_utf8_lossy(&said).contains("redis_password_file"), "without a password");
}

#[test]
fn what_cannot_be_is_said() {
    let folder = TempDir::new().unwrap();
    let file = write(&folder, "operations.ndjson", "");
    let file = file.to_str().unwrap();
    let said = |words: &[&str], exit: i32| {
        let output = run(&mut scarce_in(Path::new("/"), &[&["import"], words, &[file]].concat()), exit);
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(said(&["--redis-url", "redis://127.0.0.1:1"], 2).contains("--engine redis"));
    let away = said(&["--engine", "redis", "--redis-url", "redis://127.0.0.1:1"], 4);
    assert!(away.contains("cannot be reached"), "{away}");
    assert!(said(&["--engine", "redis", "--redis-url", "there"], 2).contains("must be redis://"));
}
