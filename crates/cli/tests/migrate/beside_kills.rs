//! Moves beside load, of which one side or the other is killed anywhere: the deployment is in one place, nothing that was
//! answered is lost, and nothing is done twice.

use std::time::{Duration, Instant};

use super::kills::wait;
use super::load::{self, Load};
use super::{Stage, has};
use crate::support::{refused_start, serve, wait_until};

/// What is left where a move was killed is not served, and can be removed.
fn clear(stage: &Stage, to: &str) {
    let new = stage.path(to);
    if !new.exists() {
        return;
    }
    let (code, text) = refused_start(&mut serve(&new, &["--partitions", "2"]));
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("was not finished"), "{text}");
    std::fs::remove_dir_all(&new).unwrap();
}

/// Whether a directory is made for the deployment.
fn is_copying(stage: &Stage) -> bool {
    let names = std::fs::read_dir(stage.folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    names.into_iter().any(|name| name.to_string_lossy().starts_with(".scarce-migrate-"))
}

/// Moves with a kill after the time that each round gives, until a move is done. Gives how many were killed, and how long
/// the last one took.
fn move_killed(
    stage: &Stage,
    load: &Load,
    (from, to): (&str, &str),
    patience: impl Fn(u32) -> Duration,
) -> (u32, Duration) {
    for round in 0.. {
        let begun = Instant::now();
        let mut child = stage.command(from, to, &["--address", "there:7379"]).spawn().unwrap();
        wait(&mut child, patience(round));
        let took = begun.elapsed();
        if has(&stage.path(from), "moved") {
            return (round, took);
        }
        // The server goes on.
        load.go_on();
        clear(stage, to);
    }
    unreachable!("rounds have no end");
}

#[test]
fn who_moves_is_killed_anywhere_under_load() {
    let stage = Stage::new();
    let first = stage.serve("first", 2);
    let load = Load::begin(&first, 3);
    let growing = |round: u32| Duration::from_millis(10).mul_f64(1.25_f64.powi(round.try_into().unwrap()));
    let (killed, took) = move_killed(&stage, &load, ("first", "second"), growing);
    let second = stage.serve("second", 2);
    load.go_to(&second);
    load.go_on();
    // Once more, with kills at even distances.
    let late = |round: u32| took.mul_f64(0.2 + 0.05 * f64::from(round));
    let (killed_late, _) = move_killed(&stage, &load, ("second", "third"), late);
    let third = stage.serve("third", 2);
    load.go_to(&third);
    load.go_on();
    let books = load.end();
    load::check(&third, &books);
    eprintln!("{killed} and {killed_late} moves were killed");
    assert!(killed >= 4, "only {killed} moves were killed");
    for server in [first, second, third] {
        server.stop();
    }
}

#[test]
fn the_server_that_is_left_is_killed_anywhere_under_load() {
    let stage = Stage::new();
    let mut old = stage.serve("old", 2);
    let load = Load::begin(&old, 3);
    let mut killed = 0;
    let new = loop {
        let mut child = stage.command("old", "new", &[]).spawn().unwrap();
        // Before that, it would find a directory that nobody serves.
        wait_until("it copies", || is_copying(&stage) || child.try_wait().unwrap().is_some());
        let patience = Duration::from_millis(5).mul_f64(1.3_f64.powi(killed));
        let begun = Instant::now();
        while begun.elapsed() < patience && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        old.kill();
        child.wait().unwrap();
        if has(&stage.path("old"), "moved") {
            break stage.serve("new", 2);
        }
        killed += 1;
        clear(&stage, "new");
        old = stage.serve("old", 2);
        load.go_to(&old);
        load.go_on();
    };
    load.go_to(&new);
    load.go_on();
    let books = load.end();
    load::check(&new, &books);
    eprintln!("{killed} servers were killed before their deployment had moved");
    assert!(killed >= 2, "only {killed} servers were killed");
    new.stop();
}
