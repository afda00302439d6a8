//! What `/readyz`, metrics and `scarce consumers` tell of a server whose parts do not work.

#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use redis::Value;
use support::{Server, json_lines, redis_server, scarce, wait_until};

/// The status and the text of `/readyz?verbose`.
fn ready(server: &Server) -> (u16, String) {
    let answer = server.http().get("/readyz?verbose");
    (answer.status, String::from_utf8(answer.body).unwrap())
}

#[test]
fn a_database_that_is_away_is_told_everywhere() {
    // Nothing listens on port 1.
    let server = Server::fresh(&["--sql", "postgres://shop@127.0.0.1:1/shop"]);
    server.connect().call(&["STOCK.CREATE", "sku-1", "5"]).unwrap();
    wait_until("the trouble is told", || ready(&server).1.contains("in trouble since"));
    let (status, text) = ready(&server);
    assert_eq!(status, 200, "commands are taken all the same: {text}");
    assert!(text.contains("[!] consumer sql of partition 0 in trouble since 20"), "{text}");
    let metrics = String::from_utf8(server.http().get("/metrics").body).unwrap();
    for line in [
        "scarce_projection_lag_events{sink=\"sql\",partition=\"0\"} 1\n",
        "scarce_consumer_troubled{sink=\"sql\",partition=\"0\"} 1\n",
    ] {
        assert!(metrics.contains(line), "no {line} in {metrics}");
    }
    let list = ["consumers", "list", "--json", "--resp", &server.address];
    let output = scarce().args(list).output().unwrap();
    let rows = json_lines(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(
        (&rows[0]["consumer"], &rows[0]["state"], &rows[0]["lag_events"]),
        (&"sql".into(), &"troubled".into(), &1.into())
    );
    assert!(rows[0]["troubled_since_ms"].as_u64().unwrap() > 1_700_000_000_000, "{rows:?}");
    assert!(!rows[0]["reason"].as_str().unwrap().is_empty());

    let doctor = ["doctor", "--json", "--sql", "postgres://shop@127.0.0.1:1/shop", "--data"];
    let folder = tempfile::TempDir::new().unwrap();
    let output = scarce().args(doctor).arg(folder.path().join("data")).output().unwrap();
    let findings = json_lines(&String::from_utf8(output.stdout).unwrap());
    let sql = findings.iter().find(|finding| finding["check"] == "sql").unwrap();
    assert_eq!((output.status.code(), &sql["status"]), (Some(1), &"fail".into()), "{sql}");
    assert!(sql["found"].as_str().unwrap().contains("127.0.0.1:1"), "{sql}");
}

#[test]
fn a_consumer_too_far_behind_makes_the_server_unready() {
    let server = Server::fresh(&["--outflow-lag-max", "3"]);
    let mut client = server.connect();
    client.call(&["CONSUMER", "CONFIRM", "slow", "me", "0", "0", "0"]).unwrap();
    for number in 0..5 {
        client.call(&["STOCK.CREATE", &format!("sku-{number}"), "1"]).unwrap();
    }
    wait_until("the server is not ready", || ready(&server).0 == 503);
    let (_, text) = ready(&server);
    assert!(text.contains("events wait for the slowest consumer of the log, and 3 may"), "{text}");
    client.call(&["CONSUMER", "FORGET", "slow"]).unwrap();
    wait_until("it is ready again", || ready(&server).0 == 200);
}

#[test]
fn a_redis_without_memory_or_away_makes_the_server_unready_also_without_callers() {
    let mut redis = redis_server(&[]);
    let url = redis.url();
    let server = Server::fresh(&["--engine", "redis", "--redis-url", &url, "--partitions", "1"]);
    let mut client = server.connect();
    let _: () = redis.ask(&["CONFIG", "SET", "maxmemory", "1"]).unwrap();
    wait_until("changes are refused", || {
        !matches!(client.call(&["STOCK.CREATE", "sku-1", "1"]), Ok(Value::Array(_)))
    });
    client.call(&["STOCK.GET", "sku-1"]).unwrap();
    wait_until("the server is not ready", || ready(&server).0 == 503);
    let _: () = redis.ask(&["CONFIG", "SET", "maxmemory", "0"]).unwrap();
    wait_until("it is ready again", || ready(&server).0 == 200);

    redis.kill().unwrap();
    wait_until("the server is not ready without its Redis", || ready(&server).0 == 503);
    redis.restart().unwrap();
    wait_until("it is ready with it", || ready(&server).0 == 200);
}

#[test]
fn operation_ids_that_do_not_leave_memory_are_told_and_make_the_server_unready_once_no_more_fit() {
    let folder = tempfile::TempDir::new().unwrap();
    let server = Server::start(folder.path(), &["--operations-in-memory-max", "1000"]);
    let mut socket = server.socket();
    assert_eq!(socket.call(&["ACCOUNT.OPEN", "a", "EUR"]), "[1 0]");
    let in_the_way = folder.path().join("partition-0000/ids.tmp");
    std::fs::create_dir(&in_the_way).unwrap();
    let credit = |number: u32| support::frame(&["ACCOUNT.CREDIT", "a", "1", "ID", &format!("i{number}")]);
    let mut refused = String::new();
    for first in (0..200_000).step_by(1_000) {
        socket.send(&(first..first + 1_000).flat_map(credit).collect::<Vec<u8>>());
        let replies: Vec<String> = (0..1_000).map(|_| socket.reply()).collect();
        if let Some(found) = replies.into_iter().find(|reply| !reply.starts_with("[1 ")) {
            refused = found;
            break;
        }
    }
    assert!(
        refused.starts_with("-OVERLOADED 'operation files' is full. Operation ids do not leave"),
        "{refused}"
    );
    let (status, text) = ready(&server);
    assert_eq!(status, 503, "{text}");
    assert!(text.contains("[!] partition 0: operation ids cannot be moved from memory to files"), "{text}");
    assert!(socket.call(&["ACCOUNT.CREDIT", "a", "1", "ID", "i7"]).starts_with("[1 "), "a duplicate");
    assert!(socket.call(&["ACCOUNT.CREDIT", "a", "1"]).starts_with("[1 "), "it leaves no id");
    std::fs::remove_dir(&in_the_way).unwrap();
    wait_until("it is ready again", || ready(&server).0 == 200);
    assert!(socket.call(&["ACCOUNT.CREDIT", "a", "1", "ID", "new"]).starts_with("[1 "));
}
