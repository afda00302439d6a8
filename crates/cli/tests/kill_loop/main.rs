//! Kills the real server with SIGKILL under load, again and again, and compares its answers afterwards with
//! an external journal of acknowledgements.
//!
//! `SCARCE_KILLS` sets the number of kills (20 by default), `SCARCE_SEED` the load.

#![allow(clippy::print_stdout, reason = "what repeats a run belongs to its output")]

mod audit;
mod load;
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use load::{Acknowledged, Asked, Script, Worker};
use scarce_client::Client;
use support::Server;

const WORKERS: u64 = 4;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Every request, and its first answer if one came.
#[derive(Default)]
struct Outside {
    acknowledged: BTreeMap<String, Acknowledged>,
    in_doubt: Vec<Asked>,
}

#[test]
fn nothing_acknowledged_is_lost_or_applied_twice_however_often_the_server_is_killed() {
    kill_again_and_again(setting("SCARCE_KILLS", 20), &["--snapshot-mib", "1"]);
}

#[test]
fn nor_where_nearly_all_operation_ids_are_on_disk() {
    let options = ["--snapshot-mib", "1", "--operations-in-memory-max", "800"];
    kill_again_and_again(setting("SCARCE_KILLS", 10), &options);
}

fn kill_again_and_again(kills: u64, options: &[&str]) {
    let seed = setting("SCARCE_SEED", 1);
    println!("SCARCE_KILLS={kills} SCARCE_SEED={seed} repeats this run");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut server = Server::start(folder.path(), options);
    load::prepare(&mut server.connect());
    let mut outside = Outside::default();
    let mut auditor = audit::Auditor::default();
    let (mut in_flight, mut in_doubt_applied) = (0, 0);
    for round in 0..kills {
        run_until_killed(&mut server, &mut outside, seed, round);
        server = Server::start(folder.path(), options);
        let mut client = server.connect();
        in_flight += outside.in_doubt.len();
        in_doubt_applied += settle_doubts(&mut client, &mut outside);
        audit::check_answers(&mut client, &outside.acknowledged, seed.wrapping_add(round));
        auditor.read_log(&mut client);
        auditor.check_log(&outside.acknowledged);
        audit::check_conservation(&mut client);
        let digest = audit::settled_digest(&mut client);
        server.kill();
        server = Server::start(folder.path(), options);
        assert_eq!(
            audit::settled_digest(&mut server.connect()),
            digest,
            "round {round}: the digest after another kill"
        );
    }
    server.stop();
    assert!(outside.acknowledged.len() as u64 > kills * 50, "too little was asked to show anything");
    println!(
        "{kills} kills: {} operations acknowledged, {in_flight} in flight at a kill of which {in_doubt_applied} had been applied, none lost, none twice",
        outside.acknowledged.len(),
    );
}

/// Workers send requests until the server is gone; it is killed after a random number of answers.
fn run_until_killed(server: &mut Server, outside: &mut Outside, seed: u64, round: u64) {
    let answers = Arc::new(AtomicUsize::new(0));
    let is_over = Arc::new(AtomicBool::new(false));
    let threads: Vec<_> = (0..WORKERS)
        .map(|number| {
            let script = Script::new(seed, round, number);
            let worker = Worker::new(server.connect(), script, answers.clone());
            let is_over = is_over.clone();
            std::thread::spawn(move || worker.run(&is_over))
        })
        .collect();
    let until = usize::try_from(500 + load::mix(seed ^ round) % 4_000).expect("a small number");
    while answers.load(Ordering::Relaxed) < until {
        std::thread::yield_now();
    }
    server.kill();
    is_over.store(true, Ordering::Relaxed);
    for thread in threads {
        let (acknowledged, in_doubt) = thread.join().expect("a worker");
        outside.acknowledged.extend(acknowledged);
        outside.in_doubt.extend(in_doubt);
    }
}

/// Retries, with the same ids, what was in flight at the kill. Returns how many had been applied.
fn settle_doubts(client: &mut Client, outside: &mut Outside) -> usize {
    let mut applied = 0;
    for asked in outside.in_doubt.drain(..) {
        let found = client.call(&["OPERATION.GET", &asked.id, "ON", load::TAG]).expect("an answer");
        applied += usize::from(audit::is_found(&found));
        let answer = client.call(&asked.words).expect("an answer");
        outside.acknowledged.insert(asked.id.clone(), Acknowledged { words: asked.words, answer });
    }
    applied
}
