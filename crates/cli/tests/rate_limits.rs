//! Limits of rate: who sends too much is refused with the wait, on both ports together, and nothing of it is done.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde_json::json;
use support::{Server, redis_server, refused_start, serve, wait_until};
use tempfile::TempDir;

/// Writes limits of which none comes back while a test runs.
fn write(folder: &Path, limits: &str) -> PathBuf {
    let path = folder.join("limits.toml");
    std::fs::write(&path, limits.replace("@once", "rate = \"1/d\"")).unwrap();
    path
}

fn limited(folder: &TempDir, limits: &str, more: &[&str]) -> Server {
    let file = write(folder.path(), limits);
    let options = ["--rate-limits", file.to_str().unwrap()];
    Server::fresh(&[&options, more].concat())
}

const TAKES: &str = "[[limit]]\nname = \"takes\"\nper = \"address\"\nverbs = [\"take\"]\n@once\nburst = 5\n";

#[test]
fn both_ports_count_together_and_what_is_refused_is_not_done() {
    let folder = TempDir::new().unwrap();
    let server = limited(&folder, TAKES, &[]);
    let (mut socket, mut http) = (server.socket(), server.http());
    assert_eq!(socket.call(&["STOCK.CREATE", "sku", "9"]), "[1 9]");
    assert_eq!(socket.call(&["ACCOUNT.OPEN", "a", "coins"]), "[1 0]");
    assert_eq!(socket.call(&["ACCOUNT.CREDIT", "a", "9"]), "[1 9 9]");
    assert_eq!(socket.call(&["STOCK.TAKE", "sku", "1", "u"]), "[1 1 8]");
    assert_eq!(socket.call(&["ACCOUNT.DEBIT", "a", "1"]), "[1 8 8]");
    assert!(socket.call(&["DRYRUN", "STOCK.TAKE", "sku", "1", "u"]).starts_with("[1 "));
    let take = json!({ "quantity": 1, "owner": "u" });
    let taken = http.post("/v1/stock/sku/take", &take);
    assert_eq!(taken.status, 200);
    assert_eq!(taken.header("ratelimit-policy"), Some("\"takes\";q=5;w=432000"));
    assert_eq!(taken.header("ratelimit"), Some("\"takes\";r=1"));
    assert_eq!(socket.call(&["MULTI"]), "OK");
    assert_eq!(socket.call(&["STOCK.TAKE", "sku", "1", "u"]), "QUEUED");
    let refused = socket.call(&["ACCOUNT.DEBIT", "a", "1"]);
    assert!(refused.starts_with("-OVERLOADED the limit 'takes' of this address"), "{refused}");
    let wait_ms: u64 = refused.rsplit_once("retry_after_ms=").unwrap().1.trim().parse().unwrap();
    assert!((80_000_000..=86_400_000).contains(&wait_ms), "{refused}");
    assert!(socket.call(&["EXEC"]).starts_with("-EXECABORT"));
    let refused = http.post("/v1/stock/sku/take", &take);
    assert_eq!((refused.status, refused.code().as_str()), (429, "TOO_MANY_REQUESTS"));
    let facts = &refused.json()["facts"];
    assert_eq!((&facts["limit"], &facts["per"]), (&"takes".into(), &"address".into()));
    assert_eq!(refused.json()["retryable"], true);
    let wait_s = facts["retry_after_ms"].as_u64().unwrap().div_ceil(1_000).to_string();
    assert_eq!(refused.header("retry-after"), Some(wait_s.as_str()));
    assert_eq!(refused.header("ratelimit"), Some("\"takes\";r=0"));
    let lines =
        json!([{ "command": "STOCK.TAKE", "arguments": { "sku": "sku", "quantity": 1, "owner": "u" } }]);
    assert_eq!(http.post("/v1/batch", &json!({ "operations": lines })).status, 429);
    let stock = http.get("/v1/stock/sku");
    assert_eq!((&stock.json()["available"], stock.header("ratelimit")), (&7.into(), None));
    let metrics = http.get("/metrics").text();
    assert!(metrics.contains("scarce_rate_limited_total{limit=\"takes\",per=\"address\"} 3"), "{metrics}");
}

#[test]
fn a_resource_has_its_own_limit_however_many_ask() {
    let folder = TempDir::new().unwrap();
    let limits = "[[limit]]\nname = \"hot\"\nper = \"resource\"\nresources = [\"a-*\"]\n@once\nburst = 2\n";
    let server = limited(&folder, limits, &["--partitions", "2"]);
    let (mut one, mut other) = (server.socket(), server.socket());
    for account in ["a-1", "a-2", "b"] {
        assert_eq!(one.call(&["ACCOUNT.OPEN", account, "coins"]), "[1 0]");
    }
    assert_eq!(other.call(&["ACCOUNT.CREDIT", "a-1", "5"]), "[1 5 5]");
    assert!(
        one.call(&["ACCOUNT.DEBIT", "a-1", "1"]).starts_with("-OVERLOADED the limit 'hot' of this resource")
    );
    assert!(other.call(&["ACCOUNT.GET", "a-1"]).starts_with("-OVERLOADED"));
    assert_eq!(other.call(&["ACCOUNT.CREDIT", "a-2", "5"]), "[1 5 5]");
    for balance in 1..9 {
        assert_eq!(one.call(&["ACCOUNT.CREDIT", "b", "1"]), format!("[1 {balance} {balance}]"));
    }
}

#[test]
fn what_is_in_progress_is_counted_until_it_ends() {
    let folder = TempDir::new().unwrap();
    let limits = "[[limit]]\nname = \"streams\"\nper = \"address\"\nverbs = [\"operate\"]\nconcurrent = 1\n";
    let server = limited(&folder, limits, &[]);
    let (mut socket, mut http) = (server.socket(), server.http());
    assert_eq!(socket.call(&["STOCK.CREATE", "sku", "9"]), "[1 9]");
    for _ in 0..3 {
        assert!(!socket.call(&["EVENTS", "0", "0", "0"]).starts_with('-'), "one after the other is allowed");
        let page = http.get("/v1/events");
        let policy = page.header("ratelimit-policy").map(str::to_owned);
        assert_eq!(
            (page.status, policy.as_deref()),
            (200, Some("\"streams\";q=1;qu=\"concurrent-requests\""))
        );
    }
    let mut stream = std::net::TcpStream::connect(&server.http).unwrap();
    let request = "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    let refused = http.get("/v1/events");
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("1")));
    let refused = socket.call(&["EVENTS", "0", "0", "0"]);
    assert!(refused.starts_with("-OVERLOADED the limit 'streams' of this address"), "{refused}");
    assert!(refused.contains("retry_after_ms=100"), "{refused}");
    assert!(socket.call(&["STOCK.TAKE", "sku", "1", "u"]).starts_with("[1 "), "others are not counted");
    drop(stream);
    wait_until("the stream has ended", || !socket.call(&["EVENTS", "0", "0", "0"]).starts_with('-'));
}

#[test]
fn limits_are_read_again_and_a_mistake_changes_nothing() {
    let folder = TempDir::new().unwrap();
    let file = write(folder.path(), &TAKES.replace("burst = 5", "burst = 1"));
    let server = Server::overheard(&["--rate-limits", file.to_str().unwrap()]);
    let mut socket = server.socket();
    let take = ["STOCK.TAKE", "sku", "1", "u"];
    assert_eq!(socket.call(&["STOCK.CREATE", "sku", "9"]), "[1 9]");
    assert_eq!(socket.call(&take), "[1 1 8]");
    assert!(socket.call(&take).starts_with("-OVERLOADED"));
    write(folder.path(), "[[limit]]\nname = \"takes\"\nper = \"user\"\n@once\n");
    server.signal("HUP");
    wait_until("the mistake is named", || server.overhead().contains("unknown variant `user`"));
    assert!(socket.call(&take).starts_with("-OVERLOADED"), "the former limits stay");
    write(folder.path(), &TAKES.replace("burst = 5", "burst = 2"));
    server.signal("HUP");
    wait_until("there are other limits", || socket.call(&take).starts_with("[1 "));
    write(folder.path(), "");
    server.signal("HUP");
    wait_until("there are none", || (0..3).all(|_| socket.call(&take).starts_with("[1 ")));
}

#[test]
fn a_server_with_a_mistake_in_its_limits_does_not_start() {
    let folder = TempDir::new().unwrap();
    let file = write(folder.path(), "[[limit]]\nname = \"takes\"\nper = \"address\"\nrate = \"50\"\n");
    let data = folder.path().join("data");
    let (code, said) = refused_start(&mut serve(&data, &["--rate-limits", file.to_str().unwrap()]));
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("limits.toml") && said.contains("line 4") && said.contains("'50' is no rate"),
        "{said}"
    );
    let (code, said) = refused_start(&mut serve(&data, &["--rate-limits", "/nonexistent/limits.toml"]));
    assert!(code == Some(1) && said.contains("/nonexistent/limits.toml"), "{said}");
}

#[test]
fn a_server_before_redis_limits_alike() {
    let (folder, redis) = (TempDir::new().unwrap(), redis_server(&[]));
    let limits = TAKES.replace("burst = 5", "burst = 2");
    let url = redis.url();
    let server = limited(&folder, &limits, &["--engine", "redis", "--redis-url", &url]);
    let mut socket = server.socket();
    assert_eq!(socket.call(&["STOCK.CREATE", "sku", "9"]), "[1 9]");
    assert_eq!(socket.call(&["STOCK.TAKE", "sku", "1", "u"]), "[1 1 8]");
    assert_eq!(server.http().post("/v1/stock/sku/take", &json!({ "quantity": 1, "owner": "u" })).status, 200);
    assert!(socket.call(&["STOCK.TAKE", "sku", "1", "u"]).starts_with("-OVERLOADED"));
    assert!(socket.call(&["STOCK.GET", "sku"]).contains("available 7"));
}
