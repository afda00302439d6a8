//! `serve --mirror`, `scarce mirror` and `scarce reconcile --mirror` with a real Redis.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{Server, fill, redis_server, said, scarce};
use tempfile::TempDir;

/// The timeout of every wait.
const PATIENCE: Duration = Duration::from_secs(120);

/// How the rows of `accounts` begin.
const ACCOUNTS: &str = "shop:{p0-0}:accounts";

fn rows(words: &[&str]) -> (Option<i32>, Vec<Value>, String) {
    let (code, out, err) = said(scarce().args(words).arg("--json"));
    (code, out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(), err)
}

#[test]
fn a_mirror_is_shown_compared_put_right_and_written_anew() {
    let (data, redis) = (TempDir::new().unwrap(), redis_server(&[]));
    let url = redis.url();
    let mirror = ["--mirror", url.as_str(), "--mirror-prefix", "shop:"];
    let words = ["--mirror", &url, "--mirror-prefix", "shop:", "--partitions", "1"];
    let server = Server::start(data.path(), &words);
    fill(&server);
    let target = ["--resp", server.address.as_str()];
    let command = |verb| [&["mirror", verb][..], &mirror, &target].concat();

    let (code, status, err) = rows(&command("status"));
    assert_eq!((code, status.len()), (Some(0), 1), "{status:?} {err}");
    assert_eq!(
        (&status[0]["lag_events"], status[0]["sequence"].as_u64() > Some(5)),
        (&json!(0), true),
        "{status:?}"
    );
    assert_eq!(redis.ask::<String>(&["HGET", ACCOUNTS, "u1"]).unwrap(), "EUR|380|0|0|open");
    let (code, equal, err) = rows(&command("verify"));
    assert_eq!((code, &equal[0]["equal"]), (Some(0), &json!(true)), "{equal:?} {err}");

    redis.ask::<u64>(&["HSET", ACCOUNTS, "u1", "EUR|381|0|0|open"]).unwrap();
    let (code, other, err) = rows(&command("verify"));
    assert_eq!((code, &other[0]["equal"]), (Some(5), &json!(false)), "{other:?} {err}");
    let reconcile = [&["reconcile", "--data", data.path().to_str().unwrap()][..], &mirror, &target].concat();
    let (code, report, err) = rows(&reconcile);
    let finding = &report[0]["findings"][0];
    assert_eq!(
        (
            code,
            &finding["check"],
            &finding["resource"],
            &finding["expected"],
            &finding["first_event"]["event"]
        ),
        (Some(5), &json!("mirror"), &json!("u1"), &json!("EUR|380|0|0|open"), &json!("account.debited")),
        "{report:?} {err}"
    );
    let (code, tried, err) = rows(&[&reconcile[..], &["--repair", "--dry-run"]].concat());
    assert_eq!((code, &tried[0]["repair"]["changed"]), (Some(5), &json!(1)), "{tried:?} {err}");
    let (code, mended, err) = rows(&[&reconcile[..], &["--repair", "--yes"]].concat());
    assert_eq!((code, &mended[0]["repair"]["done"]), (Some(0), &json!(true)), "{mended:?} {err}");
    assert_eq!(redis.ask::<String>(&["HGET", ACCOUNTS, "u1"]).unwrap(), "EUR|380|0|0|open");

    redis.ask::<u64>(&["HDEL", ACCOUNTS, "u1"]).unwrap();
    let (code, _, err) = rows(&command("rebuild"));
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(redis.ask::<String>(&["HGET", ACCOUNTS, "u1"]).unwrap(), "EUR|380|0|0|open");
    // Who serves a mirror as if it were an engine is told what it is.
    let (code, _, err) = said(scarce().args([
        "serve",
        "--engine",
        "redis",
        "--redis-url",
        &url,
        "--redis-prefix",
        "shop:",
        "--partitions",
        "1",
        "--resp",
        "127.0.0.1:0",
        "--http",
        "127.0.0.1:0",
        "--data",
        TempDir::new().unwrap().path().to_str().unwrap(),
    ]));
    assert!(code != Some(0) && err.contains("belongs to a mirror"), "{code:?} {err}");
}

#[test]
fn a_redis_that_is_away_is_told_like_that_of_any_other_consumer() {
    let (data, mut redis) = (TempDir::new().unwrap(), redis_server(&[]));
    let url = redis.url();
    redis.kill().unwrap();
    let server = Server::start(data.path(), &["--mirror", &url, "--partitions", "1"]);
    let mut http = server.http();
    http.post("/v1/accounts", &json!({ "account": "u1", "asset": "EUR" }));
    let begun = Instant::now();
    let told = loop {
        let answer = http.get("/readyz?verbose");
        let text = answer.text();
        if text.contains("mirror") && text.contains("cannot be reached") || begun.elapsed() > PATIENCE {
            break text;
        }
        std::thread::park_timeout(Duration::from_millis(20));
    };
    assert!(told.contains("cannot be reached"), "{told}");
    let metrics = http.get("/metrics").text();
    assert!(metrics.contains("mirror"), "{metrics}");
    redis.restart().unwrap();
    server.wait_until_drained();
    assert_eq!(redis.ask::<String>(&["HGET", "scarce:{p0-0}:accounts", "u1"]).unwrap(), "EUR|0|0|0|open");
}
