//! One moment, while others write: sums that every moment has are in what was read.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use scarce_launch::Server as Redis;

use crate::shop::{Desk, fill};
use crate::support::{PATIENCE, redis_server};

const ACCOUNTS: u64 = 3_000;

/// What all accounts have together, at every moment.
const TOTAL: u64 = ACCOUNTS * 1_000;

const MAP: &str = r#"
[[accounts]]
key = "balance:{user}"
type = "string"
account = "{user}"
asset = "EUR"
"#;

/// Moves something from one account to another, far from it in the keys.
const MOVE: &str = "redis.call('DECRBY', KEYS[1], 1) redis.call('INCRBY', KEYS[2], 1)";

fn transfer(redis: &Redis, stop: &AtomicBool, moved: &AtomicU64, seed: u64) {
    let (mut connection, mut random) = (redis.connection().unwrap(), fastrand::Rng::with_seed(seed));
    while !stop.load(Ordering::Relaxed) {
        let [from, to] = [0; 2].map(|_: u64| format!("balance:u{}", random.u64(0..ACCOUNTS)));
        let mut eval = redis::cmd("EVAL");
        eval.arg(MOVE).arg(2).arg(from).arg(to);
        // It waits while writers are paused.
        eval.query::<redis::Value>(&mut connection).unwrap();
        moved.fetch_add(1, Ordering::Relaxed);
    }
}

/// What an import says that the accounts have together.
fn sum(said: &serde_json::Value) -> u64 {
    said["makes"][0]["sums"]["balance"].as_u64().unwrap_or_else(|| panic!("{said}"))
}

#[test]
fn a_moment_is_one_moment_although_others_write() {
    let redis = redis_server(&[]);
    for account in 0..ACCOUNTS {
        fill(&redis, &format!("SET balance:u{account} 1000"));
    }
    let (desk, stop, moved) = (Desk::new(MAP), AtomicBool::new(false), AtomicU64::new(0));
    let url = redis.url();
    // Whether the load is enough for a reader without a moment to be wrong.
    let mut is_wrong_without = false;
    std::thread::scope(|scope| {
        for seed in 0..3 {
            let (redis, stop, moved) = (&redis, &stop, &moved);
            scope.spawn(move || transfer(redis, stop, moved, seed));
        }
        let begun = Instant::now();
        while !is_wrong_without && begun.elapsed() < PATIENCE {
            is_wrong_without = sum(&desk.json(&url, &["--dry-run"], 0)) != TOTAL;
        }
        let still = desk.run(&url, &["--dry-run", "--moment", "still"], 0);
        assert!(still.status.success(), "a dry run only looks");
        let refused = desk.run(&url, &["--run", "still", "--moment", "still"], 1);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(said.contains("was written to while it was read"), "{said}");
        for round in 0..5 {
            let before = moved.load(Ordering::Relaxed);
            let data = tempfile::tempdir().unwrap();
            let server = crate::support::Server::start(data.path(), &[]);
            let run = format!("round-{round}");
            let options = ["--resp", &server.address, "--run", &run, "--pause-ms", "60000"];
            let made = desk.json(&url, &options, 0);
            assert_eq!((sum(&made), &made["differences"]), (TOTAL, &serde_json::json!([])), "{made}");
            crate::support::wait_until("the writers go on", || moved.load(Ordering::Relaxed) > before);
        }
        // A pause that is too short is no moment, and nothing is imported.
        let short = desk.run(&url, &["--run", "short", "--pause-ms", "1"], 1);
        let said = String::from_utf8_lossy(&short.stderr).into_owned();
        assert!(said.contains("nothing was imported"), "{said}");
        stop.store(true, Ordering::Relaxed);
    });
    assert!(is_wrong_without, "the load proves nothing");
}

#[test]
fn a_replica_that_follows_no_more_is_one_moment() {
    let redis = redis_server(&[]);
    for account in 0..ACCOUNTS {
        fill(&redis, &format!("SET balance:u{account} 1000"));
    }
    let (stop, moved) = (AtomicBool::new(false), AtomicU64::new(0));
    let replica = redis.start_replica().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| transfer(&redis, &stop, &moved, 1));
        crate::support::wait_until("something moved", || moved.load(Ordering::Relaxed) > 100);
        replica.ask::<redis::Value>(&["REPLICAOF", "NO", "ONE"]).unwrap();
        let data = tempfile::tempdir().unwrap();
        let server = crate::support::Server::start(data.path(), &[]);
        let options = ["--resp", &server.address, "--run", "replica", "--moment", "still"];
        let made = Desk::new(MAP).json(&replica.url(), &options, 0);
        assert_eq!(sum(&made), TOTAL, "{made}");
        stop.store(true, Ordering::Relaxed);
    });
}
