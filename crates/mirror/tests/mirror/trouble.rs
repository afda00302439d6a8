//! A Redis that is away, slow, full, emptied, put back, or someone else's.

use scarce_core::state::StateSettings;
use scarce_engine_redis::keys::slot;
use scarce_engine_redis::{RedisEngine, RedisSettings};
use scarce_launch::{Cluster, Options, Server};

use super::bench::{Bench, server};

fn bench() -> Bench {
    Bench::new(&StateSettings::default())
}

#[test]
fn a_redis_that_was_away_is_brought_up_to_date() {
    let (bench, mut server) = (bench(), server());
    let mirrored = bench.start(&server.url());
    bench.credit("ann", 50);
    mirrored.check(&bench);
    server.kill().expect("it is killed");
    bench.credit("ben", 50);
    mirrored.trouble("cannot be reached");
    server.restart().expect("it is back");
    mirrored.check(&bench);
    mirrored.stop(&bench);
}

#[test]
fn a_primary_of_a_cluster_that_is_lost_is_followed() {
    let mut cluster = Cluster::start(&Options::new(), 3, 1).expect("a cluster");
    let bench = bench();
    let mirrored = bench.start(&cluster.url());
    bench.credit("ann", 20);
    mirrored.check(&bench);
    let owner = |slot| cluster.owner(0, slot).expect("an owner");
    let (former, other) = (owner(mirrored.mirror.keys(0).slot()), owner(slot(b"scarce:deployment")));
    assert_ne!(former, other, "what is asked of the deployment must not show that the primary is gone");
    cluster.nodes[former].kill().expect("it is killed");
    bench.credit("ben", 20);
    // Not by the connections of the mirror that is written: they would learn of it.
    mirrored.wait_until_written(&bench);
    mirrored.check(&bench);
    mirrored.stop(&bench);
}

#[test]
fn a_redis_that_stands_still_is_told_and_nothing_is_written_twice() {
    let (bench, server) = (bench(), server());
    let mirrored = bench.start(&server.url());
    bench.credit("ann", 20);
    mirrored.check(&bench);
    server.pause().expect("it stands still");
    bench.credit("ben", 20);
    mirrored.trouble("Redis");
    server.resume().expect("it goes on");
    mirrored.check(&bench);
    mirrored.stop(&bench);
}

#[test]
fn a_full_redis_is_told_and_goes_on_once_it_has_room() {
    let (bench, server) = (bench(), server());
    let mirrored = bench.start(&server.url());
    bench.credit("ann", 20);
    let before = mirrored.check(&bench);
    server.ask::<()>(&["CONFIG", "SET", "maxmemory", "1mb"]).expect("it is full");
    bench.credit("ben", 20);
    mirrored.trouble("maxmemory");
    let marks = bench.runtime.block_on(mirrored.mirror.marks()).expect("marks");
    assert_eq!(marks[0].position, before, "a batch is written as a whole or not at all");
    server.ask::<()>(&["CONFIG", "SET", "maxmemory", "0"]).expect("it has room");
    mirrored.check(&bench);
    mirrored.stop(&bench);
}

#[test]
fn an_emptied_redis_is_filled_again() {
    let (bench, server) = (bench(), server());
    let mirrored = bench.start(&server.url());
    bench.credit("ann", 20);
    mirrored.check(&bench);
    server.ask::<()>(&["FLUSHALL"]).expect("it is emptied");
    bench.credit("ben", 20);
    mirrored.check(&bench);
    // Also where nothing happens that would be written.
    server.ask::<()>(&["FLUSHALL"]).expect("it is emptied");
    mirrored.check(&bench);
    mirrored.stop(&bench);
}

#[test]
fn older_keys_that_were_put_back_are_brought_up_to_date() {
    let (bench, mut server) =
        (bench(), Server::start(Options::new().with("appendonly", "no")).expect("a server"));
    let mirrored = bench.start(&server.url());
    bench.credit("ann", 20);
    mirrored.check(&bench);
    server.ask::<()>(&["SAVE"]).expect("it is saved");
    bench.credit("ben", 200);
    mirrored.check(&bench);
    server.ask::<()>(&["CONFIG", "SET", "save", ""]).expect("it saves no more");
    server.kill().expect("it is killed");
    server.restart().expect("it has what was saved");
    mirrored.check(&bench);
    mirrored.stop(&bench);
}

#[test]
fn rows_that_were_changed_by_hand_are_put_right_with_the_next_start_and_on_demand() {
    let (mut bench, server) = (bench(), server());
    let mirrored = bench.start(&server.url());
    bench.credit("ann", 20);
    mirrored.check(&bench);
    mirrored.stop(&bench);
    server.ask::<()>(&["HSET", "scarce:{p0-0}:accounts", "ann", "EUR|1|0|0|open"]).expect("a change");
    server.ask::<()>(&["HSET", "scarce:{p0-0}:accounts", "eve", "EUR|1|0|0|open"]).expect("a change");
    bench = bench.restart();
    let mirrored = bench.start(&server.url());
    bench.credit("ben", 1);
    mirrored.check(&bench);
    server.ask::<()>(&["HDEL", "scarce:{p0-0}:accounts", "ann"]).expect("a change");
    bench.runtime.block_on(mirrored.mirror.begin_anew(0)).expect("it is asked for");
    mirrored.check(&bench);
    mirrored.stop(&bench);
}

#[test]
fn keys_of_others_are_not_touched() {
    let (bench, server) = (bench(), server());
    server.ask::<()>(&["HSET", "scarce:{p0-0}:accounts", "ann", "mine"]).expect("a row");
    bench.credit("ann", 1);
    let mirrored = bench.start(&server.url());
    mirrored.trouble("someone else's");
    assert_eq!(server.ask::<u64>(&["DBSIZE"]).expect("a number"), 1);
    server.ask::<()>(&["FLUSHALL"]).expect("it is emptied");
    mirrored.check(&bench);
    let other = self::bench();
    other.credit("eve", 1);
    let second = other.start(&server.url());
    second.trouble("a mirror of the deployment");
    mirrored.check(&bench);
    second.stop(&other);
    mirrored.stop(&bench);
}

#[test]
fn no_engine_decides_by_a_mirror_and_no_mirror_is_written_over_an_engine() {
    let (bench, server) = (bench(), server());
    let mirrored = bench.start(&server.url());
    bench.credit("ann", 1);
    mirrored.check(&bench);
    let settings = || RedisSettings { url: server.url(), partitions: 1, ..RedisSettings::default() };
    let refused = RedisEngine::open(settings()).err().expect("a refusal").to_string();
    assert!(
        refused.contains("belongs to a mirror") && refused.contains(bench.engine.deployment_id()),
        "{refused}"
    );
    mirrored.check(&bench);
    mirrored.stop(&bench);
    server.ask::<()>(&["FLUSHALL"]).expect("it is emptied");
    let engine = RedisEngine::open(settings()).expect("an engine");
    let before: u64 = server.ask(&["DBSIZE"]).expect("a number");
    let mirrored = bench.start(&server.url());
    mirrored.trouble("which is no mirror");
    assert_eq!(server.ask::<u64>(&["DBSIZE"]).expect("a number"), before);
    drop(engine);
    mirrored.stop(&bench);
}

#[test]
fn two_servers_on_copies_of_the_data_notice_each_other() {
    let server = server();
    let one = bench();
    one.credit("ann", 5);
    let (one, other) = one.copy();
    let first = one.start_as(&server.url(), "first");
    one.credit("ben", 5);
    first.check(&one);
    other.credit("eve", 50);
    let second = other.start_as(&server.url(), "second");
    second.trouble("rebase");
    first.check(&one);
    second.stop(&other);
    first.stop(&one);
}
