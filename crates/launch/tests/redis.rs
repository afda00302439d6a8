//! Whether the Redis servers behave as documented.

use scarce_launch::{Cluster, Options, Sentinels, Server};

#[test]
fn a_server_keeps_its_data_over_a_crash() {
    let mut server = Server::start(Options::new().with("appendfsync", "always")).expect("a server");
    server.ask::<()>(&["SET", "a", "1"]).expect("written");
    server.restart().expect("restarted");
    // It listens before it has loaded its data.
    while server.ask::<()>(&["PING"]).is_err() {}
    assert_eq!(server.ask::<String>(&["GET", "a"]).expect("read"), "1");
}

#[test]
fn a_replica_takes_over_from_a_killed_primary() {
    let mut group = Sentinels::start(&Options::new(), 1, Some("secret")).expect("sentinels");
    let former = group.primary().expect("a primary");
    group.servers[former].kill().expect("killed");
    let next = group.wait_for_failover(former).expect("another primary");
    assert_ne!(former, next);
}

#[test]
fn a_slot_moves_with_its_keys() {
    let cluster = Cluster::start(&Options::new(), 2, 1).expect("a cluster");
    // CRC16("foo") mod 16384.
    let slot = 12_182;
    let from = cluster.owner(0, slot).expect("an owner");
    let to = 1 - from;
    cluster.nodes[from].ask::<()>(&["SET", "foo", "1"]).expect("written");
    cluster.move_slot(slot, from, to, 10, || {}).expect("moved");
    assert_eq!(cluster.owner(from, slot).expect("an owner"), to);
    assert_eq!(cluster.nodes[to].ask::<String>(&["GET", "foo"]).expect("read"), "1");
}

#[test]
fn what_does_not_start_says_why() {
    let error = Server::start(Options::new().with("maxmemory", "plenty")).expect_err("it cannot start");
    assert!(error.to_string().contains("maxmemory"), "{error}");
}

#[test]
fn a_killed_primary_comes_back_as_a_replica_and_its_folder_stays_if_wanted() {
    let mut first = Server::start(Options::new()).expect("a server");
    let mut second = first.start_replica().expect("a replica");
    first.ask::<()>(&["SET", "a", "1"]).expect("written");
    assert_eq!(first.ask::<u32>(&["WAIT", "1", "10000"]).expect("asked"), 1);
    first.kill().expect("killed");
    second.ask::<()>(&["REPLICAOF", "NO", "ONE"]).expect("promoted");
    second.ask::<()>(&["SET", "a", "2"]).expect("written");
    first.restart_as_replica(&second).expect("restarted");
    while !matches!(first.ask::<String>(&["GET", "a"]).as_deref(), Ok("2")) {
        std::thread::yield_now();
    }
    second.keep();
    let folder = second.folder().to_owned();
    drop(second);
    assert!(folder.join("redis.conf").is_file());
    std::fs::remove_dir_all(folder).expect("removed");
}
