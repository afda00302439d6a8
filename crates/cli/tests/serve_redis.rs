//! `scarce serve --engine redis`: the same answers on the same ports, with all state in a Redis that several
//! servers may share.

#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::path::Path;

use redis::Value;
use scarce_launch::Server as RedisServer;
use support::{Http, Server, redis_server, refused_start, said, scarce, serve as serving, wait_until};
use tempfile::TempDir;

/// A server on that Redis.
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
    let kept = std::fs::read_dir(data.path()).unwrap();
    let mut kept: Vec<_> = kept.map(|entry| entry.unwrap().file_name()).collect();
    kept.retain(|name| name != "audit");
    assert_eq!(kept, ["redis-deployment-scarce%3A"], "nothing else is kept beside Redis");
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

/// Credits an account and stops; gives the deployment's id.
fn serve_once(redis: &RedisServer, data: &Path, options: &[&str]) -> String {
    let url = redis.url();
    let words = [&["--engine", "redis", "--redis-url", &url], options].concat();
    let server = Server::start(data, &words);
    let mut client = server.connect();
    client.call(&["ACCOUNT.OPEN", "alice", "EUR"]).unwrap();
    assert_eq!(client.call(&["ACCOUNT.CREDIT", "alice", "5", "ID", "pay-1"]).unwrap(), integers(&[1, 5, 5]));
    if options.contains(&"--sql") {
        server.wait_until_drained();
    }
    server.stop();
    redis.ask::<String>(&["HGET", "scarce:deployment", "deployment_id"]).unwrap()
}

#[test]
fn an_emptied_or_other_redis_is_refused_by_a_server_that_remembers_its_deployment() {
    let (redis, data, elsewhere) = (redis_server(&[]), TempDir::new().unwrap(), TempDir::new().unwrap());
    let url = redis.url();
    let engine = ["--engine", "redis", "--redis-url", &url];
    let id = serve_once(&redis, data.path(), &[]);
    redis.ask::<()>(&["FLUSHALL"]).unwrap();
    let (code, message) = refused_start(&mut serving(data.path(), &engine));
    assert_eq!(code, Some(1), "{message}");
    for said in ["nothing behind 'scarce:'", id.as_str(), "redis-deployment-scarce%3A", "--accept-deployment"]
    {
        assert!(message.contains(said), "{said}: {message}");
    }
    let named = [&engine[..], &["--redis-deployment", &id]].concat();
    let (code, message) = refused_start(&mut serving(elsewhere.path(), &named));
    assert_eq!(code, Some(1), "{message}");
    assert!(message.contains("the setting redis_deployment names") && message.contains(&id), "{message}");
    let mut doctor = scarce();
    doctor.args(["doctor", "--http", "off", "--resp", "127.0.0.1:0"]).args(engine);
    let (code, found, _) = said(doctor.arg("--data").arg(data.path()));
    assert_eq!(code, Some(1), "{found}");
    assert!(found.contains("fail  redis deployment") && found.contains("--accept-deployment"), "{found}");
    assert_eq!(redis.ask::<u64>(&["DBSIZE"]).unwrap(), 0, "nothing was begun");

    let accepting = [&engine[..], &["--accept-deployment"]].concat();
    let server = Server::start(data.path(), &accepting);
    let readiness = server.http().get("/readyz?verbose").text();
    assert!(readiness.contains("[!] deployment ") && !readiness.contains(&id), "{readiness}");
    let metrics = server.http().get("/metrics").text();
    assert!(metrics.contains("scarce_deployment_created_seconds{deployment="), "{metrics}");
    server.stop();
    Server::start(data.path(), &engine).stop();

    let other = redis_server(&[]);
    let others = serve_once(&other, elsewhere.path(), &[]);
    let url = other.url();
    let (code, message) =
        refused_start(&mut serving(data.path(), &["--engine", "redis", "--redis-url", &url]));
    assert_eq!(code, Some(1), "{message}");
    assert!(message.contains(&format!("has the deployment {others}")), "{message}");
}

#[test]
fn consumers_of_a_lost_deployment_stop_and_say_so() {
    let (redis, data) = (redis_server(&[]), TempDir::new().unwrap());
    let tables = format!("sqlite://{}", data.path().join("tables.db").display());
    let flows = ["--sql", &tables, "--webhooks", "--settlement", "engine"];
    let id = serve_once(&redis, data.path(), &flows);
    redis.ask::<()>(&["FLUSHALL"]).unwrap();
    let url = redis.url();
    let engine = ["--engine", "redis", "--redis-url", &url, "--accept-deployment"];
    let server = Server::start(data.path(), &[&engine, &flows[..]].concat());
    let mut client = server.connect();
    client.call(&["ACCOUNT.OPEN", "alice", "EUR"]).unwrap();
    client.call(&["ACCOUNT.CREDIT", "alice", "7", "ID", "pay-2"]).unwrap();
    wait_until("every consumer names the lost deployment", || {
        let text = server.http().get("/readyz?verbose").text();
        let told = text.lines().filter(|line| line.starts_with("[!] consumer ") && line.contains(&id));
        let rows = server.http().get("/v1/consumers").json();
        let rows = rows["consumers"].as_array().unwrap().clone();
        told.count() >= 3 && rows.len() >= 3 && rows.iter().all(|row| row["state"] == "troubled")
    });
    server.stop();
}
