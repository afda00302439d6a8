//! A move into a Redis that is killed anywhere: the deployment is in one place, whole, and only there.

use std::time::{Duration, Instant};

use super::kills::{fill, is_served, wait};
use super::load::{self, Load};
use super::{Stage, call, ended, has};
use crate::support::{Server, redis_server, refused_start, scarce};

/// The fields of the deployment's hash.
fn fields(url: &str) -> Vec<String> {
    let mut asked = redis::Client::open(url).unwrap().get_connection().unwrap();
    redis::cmd("HKEYS").arg("scarce:deployment").query(&mut asked).unwrap()
}

/// Whether the deployment may be served from the Redis.
fn is_open(url: &str) -> bool {
    fields(url).iter().any(|field| field == "deployment_id")
}

/// Whether a server starts in front of the Redis; then everything is there, and nothing happens twice.
fn is_served_there(url: &str) -> bool {
    let data = tempfile::tempdir().unwrap();
    let mut probe = scarce();
    probe.args([
        "serve",
        "--resp",
        "127.0.0.1:0",
        "--http",
        "127.0.0.1:0",
        "--engine",
        "redis",
        "--partitions",
        "3",
    ]);
    probe.args(["--redis-url", url, "--data"]).arg(data.path());
    if !is_open(url) {
        if !fields(url).is_empty() {
            let (code, text) = refused_start(&mut probe);
            assert_eq!(code, Some(1), "{text}");
            assert!(text.contains("was not finished"), "{text}");
        }
        return false;
    }
    let server = Server::spawn(probe);
    let mut client = server.connect();
    for n in (0..2_000).step_by(97) {
        let again = call(&mut client, &format!("ACCOUNT.CREDIT a{n} 7 ID credit{n}"));
        assert_eq!(again, redis::Value::Array([1, 7, 7].map(redis::Value::Int).to_vec()), "a{n}");
    }
    server.stop();
    true
}

#[test]
fn a_move_into_a_redis_that_is_killed_anywhere_leaves_the_deployment_in_one_place() {
    let (stage, redis) = (Stage::new(), redis_server(&[]));
    let server = stage.serve("old", 2);
    fill(&server);
    server.stop();
    let (old, url) = (stage.path("old"), redis.url());
    let begun = Instant::now();
    ended(&stage.migrate_to("old", &url, &["--partitions", "3", "--dry-run"]), 0);
    let usual = begun.elapsed();
    let mut killed = 0;
    for round in 0.. {
        let mut child = stage.command_to("old", &url, &["--partitions", "3"]).spawn().unwrap();
        // A little later each time, until one is not killed any more.
        let ended_by_itself = wait(&mut child, usual.mul_f64(f64::from(round) / 6.0));
        killed += u32::from(!ended_by_itself);
        if has(&old, "moved") {
            // The same command lets the new place be served, if that is left to do.
            if !is_served_there(&url) {
                ended(&stage.migrate_to("old", &url, &["--partitions", "3"]), 0);
            }
            assert!(is_served_there(&url) && !is_served(&old, 2), "round {round}");
            break;
        }
        assert!(is_served(&old, 2) && !is_served_there(&url), "round {round}");
    }
    assert!(killed >= 5, "only {killed} were killed");
}

/// Lets a server start in front of the Redis.
fn serve_there(url: &str) -> Server {
    Server::fresh(&["--engine", "redis", "--redis-url", url, "--partitions", "2"])
}

#[test]
fn nothing_that_was_answered_is_lost_or_done_twice_on_the_way_into_a_redis() {
    let (stage, mut redis) = (Stage::new(), redis_server(&[("appendfsync", "always")]));
    let url = redis.url();
    let mut old = stage.serve("old", 2);
    let load = Load::begin(&old, 3);
    let mut killed = 0;
    loop {
        old.kill();
        let mut child = stage.command_to("old", &url, &[]).spawn().unwrap();
        wait(&mut child, Duration::from_millis(20).mul_f64(1.4_f64.powi(killed)));
        if has(&stage.path("old"), "moved") {
            break;
        }
        killed += 1;
        old = stage.serve("old", 2);
        load.go_to(&old);
        load.go_on();
    }
    if !is_open(&url) {
        ended(&stage.migrate_to("old", &url, &[]), 0);
    }
    let mut new = serve_there(&url);
    load.go_to(&new);
    load.go_on();
    redis.kill().unwrap();
    redis.restart().unwrap();
    load.go_on();
    new.kill();
    let new = serve_there(&url);
    load.go_to(&new);
    load.go_on();
    let books = load.end();
    load::check_duplicates(&new, &books);
    eprintln!("{killed} moves were killed");
    assert!(killed >= 2, "only {killed} moves were killed");
    new.stop();
}
