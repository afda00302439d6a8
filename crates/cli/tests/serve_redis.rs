//! `scarce serve --engine redis`: the same answers on the same ports, with all state in a Redis that several
//! servers may share.

#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::path::Path;

use redis::Value;
use scarce_launch::Server as RedisServer;
use support::{Http, Server, redis_server, refused_start, scarce};
use tempfile::TempDir;

/// A server on that Redis; its data directory must stay empty.
fn serve(redis: &RedisServer, data: &Path) -> Server {
    Server::start(data, &["--engine", "redis", "--redis-url", &redis.url(), "--partitions", "4"])
}

fn integers(values: &[i64]) -> Value {
    Value::Array(values.iter().map(|value| Value::Int(*value)).collect())
}

#[test]
fn what_one_server_acknowledged_another_knows_also_after_a_kill() {
    let redis = redis_server(&[]);
    let data = TempDir::new().unwrap();
    let mut first = serve(&redis, data.path());
    let second = serve(&redis, data.path());
    let mut client = first.connect();
    assert_eq!(client.call(&["ACCOUNT.OPEN", "alice", "EUR"]).unwrap(), integers(&[1, 0]));
    let credit = ["ACCOUNT.CREDIT", "alice", "1000", "ID", "pay-1"];
    assert_eq!(client.call(&credit).unwrap(), integers(&[1, 1000, 1000]));
    first.kill();

    let mut other = second.connect();
    assert_eq!(other.call(&credit).unwrap(), integers(&[1, 1000, 1000]), "the first answer again");
    assert_eq!(other.call(&["ACCOUNT.DEBIT", "alice", "300"]).unwrap(), integers(&[1, 700, 700]));
    let mut http = Http::connect(&second.http);
    assert_eq!(http.get("/v1/accounts/alice").json()["balance"], 700);
    let events = http.get("/v1/events?limit=1000").json();
    let names: Vec<&str> =
        events["events"].as_array().unwrap().iter().map(|event| event["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["account.opened", "account.credited", "account.debited"]);
    assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0, "nothing is kept beside Redis");
    second.stop();
}

#[test]
fn a_pipeline_is_answered_in_its_order_across_partitions() {
    let redis = redis_server(&[]);
    let data = TempDir::new().unwrap();
    let server = serve(&redis, data.path());
    let mut client = server.connect();
    let skus: Vec<String> = (0..200).map(|number| format!("sku-{number}")).collect();
    let lines: Vec<Vec<&str>> = skus.iter().map(|sku| vec!["STOCK.CREATE", sku.as_str(), "7"]).collect();
    let answers = client.pipeline(&lines).unwrap();
    assert!(answers.iter().all(|answer| *answer == integers(&[1, 7])));
    let lines: Vec<Vec<&str>> = skus.iter().map(|sku| vec!["STOCK.TAKE", sku.as_str(), "2", "u"]).collect();
    let answers = client.pipeline(&lines).unwrap();
    assert!(answers.iter().all(|answer| *answer == integers(&[1, 1, 5])));
    server.stop();
}

#[test]
fn a_redis_that_cannot_be_trusted_or_reached_is_refused_with_what_to_do() {
    let data = TempDir::new().unwrap();
    let start = |url: &str| {
        let mut command = scarce();
        command.args([
            "serve",
            "--resp",
            "127.0.0.1:0",
            "--http",
            "off",
            "--engine",
            "redis",
            "--redis-url",
            url,
        ]);
        refused_start(command.arg("--data").arg(data.path()))
    };
    let evicting = redis_server(&[("maxmemory-policy", "allkeys-lru")]);
    let (code, message) = start(&evicting.url());
    assert_eq!(code, Some(1));
    assert!(message.contains("allkeys-lru") && message.contains("noeviction"), "{message}");
    let (code, message) = start("redis+unix:///nowhere/redis.sock");
    assert_eq!(code, Some(4), "{message}");
    let (code, message) = start("http://127.0.0.1:1");
    assert_eq!(code, Some(2));
    assert!(message.contains("redis://"), "{message}");
}
