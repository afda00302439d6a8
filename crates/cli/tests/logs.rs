//! What `scarce serve` logs: its start and end, what its consumers and servers do, and no secret.

#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use serde_json::Value;
use support::{Server, redis_server, scarce, wait_until};
use tempfile::TempDir;

/// The lines of a log in JSON.
fn lines(log: &str) -> Vec<Value> {
    let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    log.lines().map(parse).collect()
}

/// The first event with a message.
fn event<'a>(lines: &'a [Value], message: &str) -> &'a Value {
    let found = lines.iter().find(|line| line["message"] == message);
    found.unwrap_or_else(|| panic!("no '{message}' in {lines:#?}"))
}

#[test]
fn a_log_in_json_tells_the_start_trouble_and_the_end_without_secrets() {
    let data = TempDir::new().unwrap();
    let password = data.path().join("password");
    std::fs::write(&password, "hunter2-of-the-server").unwrap();
    // Nothing listens on port 1.
    let options = [
        "--log-format",
        "json",
        "--password-file",
        password.to_str().unwrap(),
        "--sql",
        "postgres://shop:hunter2-of-the-database@127.0.0.1:1/shop",
    ];
    let server = Server::overheard(&options);
    wait_until("the projection's trouble is logged", || {
        server.overhead().contains("a consumer cannot go on; it retries")
    });
    let log = server.stop_overheard();
    assert!(!log.contains("hunter2-of"), "{log}");
    let lines = lines(&log);
    for line in &lines {
        let time = line["timestamp"].as_str().unwrap();
        assert_eq!((time.len(), &time[10..11], &time[19..20], &time[23..]), (24, "T", ".", "Z"), "{time}");
    }
    let start = event(&lines, "the server starts");
    assert!(
        start["settings"].as_str().unwrap().contains("sql=postgres://shop:…@127.0.0.1:1/shop"),
        "{start}"
    );
    assert_eq!(start["level"], "INFO");
    assert_eq!(event(&lines, "the partition was recovered")["sequence"], 0);
    assert!(event(&lines, "the server is ready")["resp"].as_str().unwrap().starts_with("127.0.0.1:"));
    let trouble = event(&lines, "a consumer cannot go on; it retries");
    assert_eq!((&trouble["level"], &trouble["consumer"]), (&"WARN".into(), &"sql".into()));
    assert!(!trouble["reason"].as_str().unwrap().is_empty());
    assert_eq!(
        event(&lines, "the server was asked to stop; a second signal ends it at once")["signal"],
        "SIGTERM"
    );
    assert_eq!(lines.last().unwrap()["message"], "the server has stopped");
}

#[test]
fn the_level_decides_what_is_logged() {
    let server = Server::overheard(&["--log-level", "off"]);
    assert_eq!(server.stop_overheard(), "");
    let server = Server::overheard(&["--log-level", "warn,scarce_engine_embedded=info"]);
    let log = server.stop_overheard();
    assert!(log.contains("the partition was recovered") && !log.contains("the server is ready"), "{log}");
}

fn metrics(server: &Server) -> String {
    String::from_utf8(server.http().get("/metrics").body).unwrap()
}

#[test]
fn a_snapshot_and_the_damage_of_one_are_logged() {
    let data = TempDir::new().unwrap();
    let server = Server::overheard_at(data.path(), &[]);
    server.connect().call(&["STOCK.CREATE", "sku", "5"]).unwrap();
    server.connect().call(&["SNAPSHOT"]).unwrap();
    assert!(
        server.overhead().contains("a snapshot was made partition=0 sequence=1"),
        "{}",
        server.overhead()
    );
    let metrics = metrics(&server);
    for name in
        ["scarce_snapshot_timestamp_seconds", "scarce_snapshot_bytes", "scarce_snapshot_duration_seconds"]
    {
        assert!(metrics.contains(&format!("\n{name}{{partition=\"0\"}} ")), "{name} in {metrics}");
    }
    assert!(metrics.contains("scarce_snapshot_failures_total{partition=\"0\"} 0\n"), "{metrics}");
    server.stop();
    let verify = || scarce().args(["journal", "verify", "--data"]).arg(data.path()).output().unwrap();
    assert!(verify().status.success(), "{:?}", verify());
    let partition = data.path().join("partition-0000");
    let files = std::fs::read_dir(&partition).unwrap().map(|file| file.unwrap().path());
    let snapshot = files.into_iter().find(|path| path.extension().is_some_and(|its| its == "snap")).unwrap();
    let mut bytes = std::fs::read(&snapshot).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&snapshot, bytes).unwrap();

    let found = verify();
    let told = String::from_utf8(found.stderr).unwrap();
    assert_eq!((found.status.code(), told.contains("is corrupt at offset")), (Some(5), true), "{told}");
    let server = Server::overheard_at(data.path(), &[]);
    assert!(self::metrics(&server).contains("scarce_snapshots_damaged{partition=\"0\"} 1\n"));
    let log = server.stop_overheard();
    let line =
        log.lines().find(|line| line.contains("a snapshot is damaged")).unwrap_or_else(|| panic!("{log}"));
    assert!(line.contains("ERROR") && line.contains(snapshot.to_str().unwrap()), "{line}");
}

#[test]
fn a_redis_that_is_slow_or_away_is_logged_and_so_is_its_return() {
    let mut redis = redis_server(&[]);
    let url = redis.url();
    let options = ["--engine", "redis", "--redis-url", &url, "--partitions", "1", "--slow-ms", "100"];
    let server = Server::overheard(&options);
    let says = |text: &str| wait_until(text, || server.overhead().contains(text));
    let _: () = redis.ask(&["CLIENT", "PAUSE", "300", "ALL"]).unwrap();
    server.http().post("/v1/stock", &serde_json::json!({ "sku": "sku-1", "quantity": 5 }));
    says("a call to Redis was slow partition=0");
    says("a command over HTTP was slow command=\"STOCK.CREATE\"");
    assert!(!server.overhead().contains("sku-1"), "no id of a caller is logged: {}", server.overhead());
    let mut socket = server.socket();
    let slowest = socket.call(&["SLOWLOG", "GET", "-1"]);
    assert!(slowest.contains("[STOCK.CREATE sku-1]"), "{slowest}");
    assert!(self::metrics(&server).contains("scarce_slow_commands_total{partition=\"0\"} "));
    assert_eq!(socket.call(&["SLOWLOG", "RESET"]), "OK");
    assert_eq!(socket.call(&["SLOWLOG", "LEN"]), "0");
    assert_eq!(socket.call(&["SLOWLOG", "GET", "some"]), "-ERR count must be a whole number, or -1 for all");

    redis.kill().unwrap();
    let mut client = server.connect();
    let mut is_served = || matches!(client.call(&["STOCK.GET", "sku-1"]), Ok(redis::Value::Array(_)));
    wait_until("calls fail", || !is_served());
    says("no connection to Redis server=127.0.0.1:");
    says("the partition takes no changes partition=0");
    redis.restart().unwrap();
    wait_until("calls succeed", is_served);
    says("connected to Redis again");
    says("the partition takes changes again partition=0");
}
