//! The Redis engine behind sentinels and on a cluster, while slots move and primaries fail: every caller gets
//! one true answer, what is not known is said to be unknown, and the log is the state.

#[path = "redis/load.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod load;
#[path = "redis/servers.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod servers;

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use load::{Told, ask, insist, read, told};
use scarce_core::event::{Entry, epoch};
use scarce_core::machine::Machine;
use scarce_core::outcome::Durability;
use scarce_core::placement;
use scarce_core::state;
use scarce_core::types::Id;
use scarce_engine::{Engine, Failure, Log, Request};
use scarce_engine_redis::address::Login;
use scarce_engine_redis::keys::Keys;
use scarce_engine_redis::{RedisEngine, RedisSettings};
use scarce_launch::{Cluster, Options, Sentinels, Server};

/// How many callers send at a time.
const CALLERS: usize = 8;

fn open(settings: RedisSettings) -> RedisEngine {
    RedisEngine::open(settings).expect("the engine")
}

fn opened_account(engine: &RedisEngine, partition: u32) {
    assert_eq!(told(engine, partition, "ACCOUNT.OPEN hot EUR ID open"), Ok("APPLIED 0".to_owned()));
}

/// Opens the account so that it is there after a failover too.
fn opened_for_good(engine: &RedisEngine, partition: u32) {
    let opened = told(engine, partition, "ACCOUNT.OPEN hot EUR ID open DURABILITY replicated");
    assert_eq!(opened, Ok("APPLIED 0".to_owned()));
}

/// The partition of the account that everybody wants.
fn hot(partitions: u32) -> u32 {
    placement::partition(&Id::parse(b"hot", "id").expect("an id"), partitions)
}

fn balance(engine: &RedisEngine, partition: u32) -> u64 {
    let receipt = insist(engine, partition, "ACCOUNT.GET hot");
    let text = receipt.outcome.to_string();
    let figures = text.split(' ').filter_map(|word| word.trim_matches(['[', ']']).parse().ok());
    figures.max().expect("a balance")
}

/// All entries of a partition; they follow each other without a gap.
fn entries(engine: &RedisEngine, partition: u32) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    loop {
        let known = entries.last().map_or(0, Entry::sequence_last);
        let more = engine.entries(partition, known + 1, 1 << 20).expect("the log");
        if more.is_empty() {
            return entries;
        }
        for entry in more {
            let known = entries.last().map_or(0, Entry::sequence_last);
            assert_eq!(entry.head.sequence_first, known + 1, "the log has a gap");
            entries.push(entry);
        }
    }
}

/// The log folds to what the keys hold.
fn check_fold(engine: &RedisEngine, partition: u32) {
    let mut machine = Machine::new(state::StateSettings::default(), partition);
    entries(engine, partition).iter().for_each(|entry| machine.apply(entry));
    let folded = format!("{:032x}", machine.state().digest(None));
    let kept = insist(engine, partition, "DIGEST").outcome.to_string();
    assert!(kept.contains(&folded), "the log folds to {folded}, the keys hold {kept}");
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(180), "{what}");
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

#[test]
fn a_slot_that_moves_under_load_loses_and_repeats_nothing() {
    let cluster = Cluster::start(&Options::new(), 3, 0).expect("a cluster");
    let partitions = 8;
    let engine = open(RedisSettings { url: cluster.url(), partitions, ..RedisSettings::default() });
    let partition = hot(partitions);
    opened_account(&engine, partition);
    let slot = Keys::new("scarce:", partition, partitions).slot();
    let from = cluster.owner(0, slot).expect("an owner");
    let (told, steps) = Told::during(&engine, partition, CALLERS, || {
        let mut steps = 0;
        for (from, to) in [(from, (from + 1) % 3), ((from + 1) % 3, from)] {
            // Between the keys, so that some are here and some are there while callers go on.
            cluster
                .move_slot(slot, from, to, 3, || {
                    steps += 1;
                    std::thread::park_timeout(Duration::from_millis(30));
                })
                .expect("moved");
        }
        steps
    });
    assert!(steps > 4, "the keys moved piece by piece");
    assert_eq!(told.failures.load(Ordering::Relaxed), 0, "{told:?}");
    assert_eq!(balance(&engine, partition), told.applied(), "{told:?}");
    check_fold(&engine, partition);
}

#[test]
fn a_failover_of_a_cluster_is_followed_and_raises_the_epoch() {
    let mut cluster = Cluster::start(&Options::new(), 3, 1).expect("a cluster");
    let partitions = 4;
    let engine = open(RedisSettings { url: cluster.url(), partitions, ..RedisSettings::default() });
    let partition = hot(partitions);
    opened_for_good(&engine, partition);
    let slot = Keys::new("scarce:", partition, partitions).slot();
    let former = cluster.owner(0, slot).expect("an owner");
    let asked = (former + 1) % 3;
    let (told, ()) = Told::during(&engine, partition, CALLERS, || {
        wait_until("nobody takes over", || {
            // Killed once there is load.
            if cluster.nodes[former].ask::<()>(&["PING"]).is_ok() {
                cluster.nodes[former].kill().expect("killed");
            }
            cluster.owner(asked, slot).is_ok_and(|owner| owner != former)
        });
        insist(&engine, partition, "ACCOUNT.GET hot");
    });
    assert!(told.failures.load(Ordering::Relaxed) > 0, "nobody noticed: {told:?}");
    let receipt = ask(&engine, partition, "ACCOUNT.CREDIT hot 1 ID after").expect("an answer");
    assert_eq!(epoch::count(receipt.epoch), 2);
    check_fold(&engine, partition);
    // Replication is asynchronous: what the former one answered last may be lost, and never more is there.
    assert!(balance(&engine, partition) <= told.applied() + 1 + told.unknown.load(Ordering::Relaxed));
}

#[test]
fn a_sentinel_failover_is_followed_and_raises_the_epoch() {
    let mut group = Sentinels::start(&Options::new(), 1, Some("secret")).expect("sentinels");
    let login = Login { password: Some("secret".to_owned()), ..Login::default() };
    let engine = open(RedisSettings { url: group.url(), login, partitions: 1, ..RedisSettings::default() });
    opened_for_good(&engine, 0);
    let former = group.primary().expect("a primary");
    let (told, ()) = Told::during(&engine, 0, CALLERS, || {
        group.servers[former].kill().expect("killed");
        group.wait_for_failover(former).expect("another primary");
        insist(&engine, 0, "ACCOUNT.GET hot");
    });
    assert!(told.failures.load(Ordering::Relaxed) > 0, "nobody noticed: {told:?}");
    let receipt = ask(&engine, 0, "ACCOUNT.CREDIT hot 1 ID after").expect("an answer");
    assert_eq!(epoch::count(receipt.epoch), 2);
    check_fold(&engine, 0);
}

#[test]
fn a_primary_that_stood_still_acknowledges_nothing_without_its_replicas() {
    let group = Sentinels::start(&Options::new(), 1, None).expect("sentinels");
    let engine = open(RedisSettings {
        url: group.url(),
        partitions: 1,
        durability: Durability::Replicated,
        response_timeout: Duration::from_secs(1),
        ..RedisSettings::default()
    });
    opened_account(&engine, 0);
    let former = group.primary().expect("a primary");
    group.servers[former].pause().expect("paused");
    let next = group.wait_for_failover(former).expect("another primary");
    group.servers[former].resume().expect("resumed");
    let receipt = insist(&engine, 0, "ACCOUNT.CREDIT hot 7 ID 1");
    assert_eq!(
        (epoch::count(receipt.epoch), receipt.durability),
        (2, Durability::Replicated),
        "the promoted one has decided"
    );
    // The former one follows the promoted one in the end, and what it knew alone is gone.
    wait_until("the former primary does not follow", || {
        let role: Option<String> = group.servers[former].ask(&["INFO", "replication"]).ok();
        role.is_some_and(|role| role.contains("role:slave"))
    });
    assert_eq!(group.primary().expect("a primary"), next);
    assert_eq!(balance(&engine, 0), 7);
}

#[test]
fn a_connection_that_was_closed_while_it_was_idle_makes_no_answer_unknown() {
    let cluster = Cluster::start(&Options::new(), 1, 1).expect("a cluster");
    let engine = open(RedisSettings { url: cluster.url(), partitions: 1, ..RedisSettings::default() });
    opened_for_good(&engine, 0);
    let primary = &cluster.nodes[0];
    primary.ask::<()>(&["CONFIG", "SET", "timeout", "1"]).expect("set");
    wait_until("the connection is not closed", || {
        let listed: String = primary.ask(&["CLIENT", "LIST", "TYPE", "normal"]).expect("the list");
        !listed.lines().any(|line| line.contains(" cmd=wait "))
    });
    let credited = told(&engine, 0, "ACCOUNT.CREDIT hot 5 ID 1 DURABILITY replicated");
    assert_eq!(credited, Ok("APPLIED 5 5".to_owned()));
}

#[test]
fn what_no_replica_has_is_unknown_until_one_has_it() {
    let cluster = Cluster::start(&Options::new(), 1, 1).expect("a cluster");
    let engine = open(RedisSettings {
        url: cluster.url(),
        partitions: 1,
        durability: Durability::Replicated,
        response_timeout: Duration::from_secs(2),
        ..RedisSettings::default()
    });
    opened_account(&engine, 0);
    let replica = &cluster.nodes[1];
    replica.pause().expect("paused");
    let failure = ask(&engine, 0, "ACCOUNT.CREDIT hot 5 ID 1").expect_err("no replica has it");
    assert!(
        matches!(&failure, Failure::Unknown { reason } if reason.contains("0 of 1 replicas")),
        "{failure}"
    );
    let seen = ask(&engine, 0, "ACCOUNT.GET hot");
    assert!(matches!(seen, Err(Failure::Unknown { .. })), "nobody learns of it either: {seen:?}");
    // Whoever is content with less is answered meanwhile, and at once.
    let mut less = read(&engine, "ACCOUNT.CREDIT hot 2 ID 2");
    if let Request::Write(envelope) = &mut less {
        envelope.common.durability = Some(Durability::Memory);
    }
    let receipt = engine.call(0, vec![less]).remove(0).expect("an answer");
    assert_eq!(receipt.durability, Durability::Memory);
    replica.resume().expect("resumed");
    let receipt = insist(&engine, 0, "ACCOUNT.CREDIT hot 5 ID 1");
    assert!(receipt.replayed && receipt.durability == Durability::Replicated, "{receipt:?}");
    assert_eq!(balance(&engine, 0), 7);
}

#[test]
fn what_is_promised_is_asked_of_the_servers_at_the_start() {
    let server = servers::server();
    let refused = |durability| {
        let settings =
            RedisSettings { url: server.url(), partitions: 1, durability, ..RedisSettings::default() };
        RedisEngine::open(settings).err().expect("refused").to_string()
    };
    assert!(refused(Durability::Replicated).contains("followed by 0 replicas"));
    assert!(refused(Durability::Synced).contains("appendfsync always"));
    server.ask::<()>(&["CONFIG", "SET", "appendfsync", "always"]).expect("set");
    let settings = RedisSettings {
        url: server.url(),
        partitions: 1,
        durability: Durability::Synced,
        ..RedisSettings::default()
    };
    let engine = open(settings);
    opened_account(&engine, 0);
    let receipt = ask(&engine, 0, "ACCOUNT.CREDIT hot 5 ID 1").expect("an answer");
    assert_eq!(receipt.durability, Durability::Synced);
}

#[test]
fn a_level_that_cannot_be_had_is_refused_before_anything_is_done() {
    let server = servers::server();
    let engine = open(RedisSettings { url: server.url(), partitions: 1, ..RedisSettings::default() });
    opened_account(&engine, 0);
    let wanting = |level: &str| read(&engine, &format!("ACCOUNT.CREDIT hot 5 ID 1 DURABILITY {level}"));
    let plain = read(&engine, "ACCOUNT.CREDIT hot 2 ID 2");
    let batch = vec![wanting("replicated"), plain, wanting("synced"), wanting("memory")];
    let answers = engine.call(0, batch);
    let refused = |at: usize, text: &str| {
        let failure = answers[at].as_ref().expect_err("it cannot be had");
        matches!(failure, Failure::Unavailable { reason } if reason.contains(text))
    };
    assert!(refused(0, "0 replicas") && refused(2, "appendfsync"), "{answers:?}");
    assert!(answers[1].is_ok() && answers[3].as_ref().is_ok_and(|receipt| !receipt.replayed), "{answers:?}");
    assert_eq!(balance(&engine, 0), 7);
    // Now it is known. That it is safe cannot be said, but neither that nothing was done.
    let doubted = engine.call(0, vec![wanting("replicated")]).remove(0).expect_err("it cannot be had");
    assert!(matches!(&doubted, Failure::Unknown { reason } if reason.contains("0 replicas")), "{doubted}");
    // What the server has learned since is asked for anew.
    server.ask::<()>(&["CONFIG", "SET", "appendfsync", "always"]).expect("set");
    let receipt = engine.call(0, vec![wanting("synced")]).remove(0).expect("an answer");
    assert!(receipt.replayed && receipt.durability == Durability::Synced, "{receipt:?}");
}

#[test]
fn the_disk_is_waited_for_where_the_server_can_say() {
    let server = Server::start(Options::new().with("appendfsync", "everysec")).expect("a server");
    let settings = RedisSettings {
        url: server.url(),
        partitions: 1,
        durability: Durability::Synced,
        ..RedisSettings::default()
    };
    let help: Vec<redis::Value> = server.ask(&["COMMAND", "INFO", "WAITAOF"]).expect("an answer");
    let opened = RedisEngine::open(settings);
    if matches!(help.as_slice(), [redis::Value::Nil]) {
        let refused = opened.err().expect("nobody could say when it is on disk").to_string();
        return assert!(refused.contains("once a second"), "{refused}");
    }
    let engine = opened.expect("the engine");
    opened_account(&engine, 0);
    let (told, ()) = Told::during(&engine, 0, CALLERS, || {
        // Many rounds, since one may meet the disk by chance.
        wait_until("callers are not answered", || balance(&engine, 0) >= 10 * CALLERS as u64);
    });
    assert_eq!(told.durable.load(Ordering::Relaxed), told.applied(), "{told:?}");
    assert_eq!(told.failures.load(Ordering::Relaxed), 0, "{told:?}");
}
