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

/// A position that the log never had is not shown as one without a lag.
fn check_other_history(
    redis: &scarce_launch::Server,
    epoch: &Value,
    status: impl Fn() -> (Option<i32>, Vec<Value>, String),
) {
    let put = |epoch: &str| redis.ask::<u64>(&["HSET", "shop:{p0-0}:meta", "epoch", epoch]).unwrap();
    put("7");
    let (code, other, err) = status();
    assert_eq!(
        (code, &other[0]["history"], &other[0]["lag_events"]),
        (Some(0), &json!("other"), &json!(null))
    );
    assert!(err.contains("never had"), "{err}");
    put(&epoch.to_string());
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
    assert_eq!(status[0]["history"], "same");
    check_other_history(&redis, &status[0]["epoch"], || rows(&command("status")));
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

/// What the server says of itself, once a check says something.
fn wait_for_check(server: &Server, check: &str, text: &str) -> String {
    let (begun, mut http) = (Instant::now(), server.http());
    loop {
        let told = http.get("/readyz?verbose").text();
        if told.contains(check) && told.contains(text) || begun.elapsed() > PATIENCE {
            return told;
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

#[test]
fn a_redis_that_is_away_is_told_like_that_of_any_other_consumer() {
    let (data, mut redis) = (TempDir::new().unwrap(), redis_server(&[]));
    let url = redis.url();
    redis.kill().unwrap();
    let server = Server::start(data.path(), &["--mirror", &url, "--partitions", "1"]);
    let mut http = server.http();
    http.post("/v1/accounts", &json!({ "account": "u1", "asset": "EUR" }));
    let told = wait_for_check(&server, "mirror", "cannot be reached");
    assert!(told.contains("cannot be reached"), "{told}");
    let metrics = http.get("/metrics").text();
    assert!(metrics.contains("mirror"), "{metrics}");
    redis.restart().unwrap();
    server.wait_until_drained();
    assert_eq!(redis.ask::<String>(&["HGET", "scarce:{p0-0}:accounts", "u1"]).unwrap(), "EUR|0|0|0|open");
}

#[test]
fn a_mirror_follows_its_deployment_among_another_number_of_partitions() {
    let (folder, redis) = (TempDir::new().unwrap(), redis_server(&[]));
    let url = redis.url();
    let path = |name: &str| folder.path().join(name);
    let serve = |name: &str, partitions: &str| {
        Server::start(&path(name), &["--mirror", &url, "--partitions", partitions])
    };
    let migrate = |from: &str, to: &str, partitions: &str| {
        let mut command = scarce();
        command
            .args(["migrate", "--partitions", partitions, "--from"])
            .arg(path(from))
            .arg("--to")
            .arg(path(to));
        let (code, _, err) = said(&mut command);
        assert_eq!(code, Some(0), "{err}");
    };
    let server = serve("one", "4");
    let mut http = server.http();
    for n in 0..20 {
        http.post("/v1/accounts", &json!({ "account": format!("u{n}"), "asset": "EUR" }));
    }
    server.wait_until_drained();
    server.stop();
    let copied = std::process::Command::new("cp").arg("-a").arg(path("one")).arg(path("copy")).status();
    assert!(copied.unwrap().success());
    // Fewer, more, and one that keys of the former number are named like.
    for (from, to, partitions) in [("one", "two", "2"), ("two", "three", "3"), ("three", "four", "1")] {
        migrate(from, to, partitions);
        let server = serve(to, partitions);
        server.wait_until_drained();
        let verify = ["mirror", "verify", "--mirror", &url, "--resp", server.address.as_str()];
        let (code, rows, err) = rows(&verify);
        assert_eq!((code, rows.len().to_string().as_str()), (Some(0), partitions), "{rows:?} {err}");
        let marked: Vec<String> = redis.ask(&["KEYS", "*:meta"]).unwrap();
        assert_eq!(marked.len().to_string(), partitions, "{marked:?}");
        let accounts: Vec<String> = redis.ask(&["KEYS", "*:accounts"]).unwrap();
        let names = |key: &String| redis.ask::<Vec<String>>(&["HKEYS", key]).unwrap();
        // Beside those of the world.
        let count = accounts.iter().flat_map(names).filter(|name| name.starts_with('u')).count();
        assert_eq!(count, 20, "{accounts:?}");
        assert_eq!(redis.ask::<String>(&["HGET", "scarce:deployment", "partitions"]).unwrap(), partitions);
        server.stop();
    }
    // A copy from before the moves does not take it back.
    let server = serve("copy", "4");
    let told = wait_for_check(&server, "mirror", "before the deployment was moved");
    assert!(told.contains("before the deployment was moved"), "{told}");
    assert_eq!(redis.ask::<String>(&["HGET", "scarce:deployment", "partitions"]).unwrap(), "1");
    let status = ["mirror", "status", "--mirror", &url, "--resp", server.address.as_str()];
    let (code, _, err) = rows(&status);
    assert!(code == Some(1) && err.contains("has 1 partitions and the deployment has 4"), "{code:?} {err}");
}

#[test]
fn the_doctor_says_whether_a_mirror_can_be_written() {
    let (data, redis) = (TempDir::new().unwrap(), redis_server(&[]));
    let url = redis.url();
    let words = ["doctor", "--data", data.path().to_str().unwrap(), "--mirror", &url];
    let mirror = || {
        let (_, found, err) = rows(&words);
        let of_mirror = found.into_iter().find(|row| row["check"] == "mirror");
        of_mirror.unwrap_or_else(|| panic!("{err}"))
    };
    let found = mirror();
    assert_eq!(found["status"], "ok", "{found}");
    redis.ask::<()>(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]).unwrap();
    let found = mirror();
    assert!(found["status"] == "fail" && found["found"].to_string().contains("noeviction"), "{found}");
    redis.ask::<()>(&["CONFIG", "SET", "maxmemory-policy", "noeviction"]).unwrap();
    redis.ask::<u64>(&["HSET", "scarce:deployment", "deployment_id", "another"]).unwrap();
    let found = mirror();
    assert!(
        found["status"] == "fail" && found["found"].to_string().contains("which is no mirror"),
        "{found}"
    );
}
