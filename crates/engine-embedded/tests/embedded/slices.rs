//! Snapshots that cannot become whole end, and hold nothing up.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use scarce_engine::engine::SnapshotDone;
use scarce_engine::{Engine, Failure};
use scarce_engine_embedded::storage::Storage;
use scarce_engine_embedded::storage::faulty::Fault;
use scarce_engine_embedded::{Owner, Port, SilentPort};

use crate::support::Bench;

/// What never comes is not waited for without end.
const LONG: Duration = Duration::from_mins(1);

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LONG, "{what}");
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

fn has_file(bench: &Bench, is_it: impl Fn(&str) -> bool) -> bool {
    bench.disk.list().expect("a listing").iter().any(|name| is_it(name))
}

fn is_temporary(name: &str) -> bool {
    name.starts_with("snapshot-") && name.ends_with(".tmp")
}

fn ask_snapshot(bench: &Bench) -> Receiver<Result<SnapshotDone, Failure>> {
    let (sender, receiver) = mpsc::channel();
    let engine = Arc::clone(bench.engine());
    std::thread::spawn(move || drop(sender.send(engine.snapshot(0))));
    receiver
}

/// The disk has so much room more than is in use.
fn leave_room(bench: &Bench, bytes: u64) {
    bench.disk.set_capacity(None);
    let used = u64::MAX - bench.disk.available_bytes().expect("a disk");
    bench.disk.set_capacity(Some(used + bytes));
}

#[test]
fn a_snapshot_does_not_wait_for_a_batch_that_waits_for_room() {
    let mut bench = Bench::new();
    bench.check("STOCK.CREATE s 5000", "APPLIED 5000");
    wait_until("no spare segment", || {
        has_file(&bench, |name| name.starts_with("spare-") && name.ends_with(".seg"))
    });
    leave_room(&bench, 16 << 10);
    bench.disk.block_syncs();
    let (sender, receiver) = mpsc::channel();
    // More than the segment and the spare have room for.
    let takes = (0..2_000).map(|unit| Bench::request(&format!("STOCK.TAKE s 1 {unit:0>64}"))).collect();
    bench.engine().submit(0, takes, Box::new(move |answers| drop(sender.send(answers))));
    bench.disk.wait_for_blocked_syncs(1);
    // Begun while the batch only waits for its sync, and asked for while it waits for room.
    let begun = ask_snapshot(&bench);
    wait_until("no snapshot is begun", || has_file(&bench, is_temporary));
    bench.disk.release_syncs();
    for asked in [begun, ask_snapshot(&bench)] {
        let refused = asked.recv_timeout(LONG).expect("it waits without end").expect_err("it is not whole");
        assert!(refused.to_string().contains("waits for room"), "{refused}");
        assert!(!has_file(&bench, is_temporary), "its room is given back");
    }
    bench.disk.set_capacity(None);
    let answers = receiver.recv_timeout(LONG).expect("answers");
    assert!(answers.iter().all(Result::is_ok));
    bench.engine().snapshot(0).expect("there is room again");
    bench.stop();
}

/// A snapshot of more than what the disk takes at a time, of which it holds the first write.
fn held_snapshot(bench: &Bench) -> Receiver<Result<SnapshotDone, Failure>> {
    for first in (0..20_000).step_by(1_000) {
        let open = |n| Bench::request(&format!("ACCOUNT.OPEN {n:0>64} EUR"));
        assert!(bench.engine().call(0, (first..first + 1_000).map(open).collect()).iter().all(Result::is_ok));
    }
    bench.disk.block_writes("snapshot-");
    let asked = ask_snapshot(bench);
    bench.disk.wait_for_blocked_writes(1);
    asked
}

fn check_that_it_was_given_up(bench: &Bench, asked: &Receiver<Result<SnapshotDone, Failure>>) {
    let refused = asked.recv_timeout(LONG).expect("an answer").expect_err("it was given up");
    assert!(refused.to_string().contains("the engine is ending"), "{refused}");
    assert!(!has_file(bench, |name| name.starts_with("snapshot-")));
}

/// A port without sockets that tells when it is closed.
struct ClosingPort {
    silent: SilentPort,
    closed: mpsc::Sender<()>,
}

impl Port for ClosingPort {
    fn turn(&mut self, owner: &mut Owner, timeout: Option<Duration>) -> std::io::Result<()> {
        self.silent.turn(owner, timeout)
    }

    fn send(&mut self, _owner: &mut Owner) {}

    fn close(&mut self, _owner: &mut Owner) {
        let _ = self.closed.send(());
    }

    fn waker(&self) -> scarce_engine::stop::Waker {
        self.silent.waker()
    }
}

/// An engine, and what tells that its sockets learn of the end.
fn with_closing_port() -> (Bench, Receiver<()>) {
    let (closed, receiver) = mpsc::channel();
    let mut bench = Bench::new();
    bench.stop();
    bench.start_with(|| Box::new(ClosingPort { silent: SilentPort::default(), closed: closed.clone() }));
    (bench, receiver)
}

#[test]
fn a_failed_journal_is_told_while_the_disk_holds_a_snapshot_up() {
    let (mut bench, closed) = with_closing_port();
    let asked = held_snapshot(&bench);
    bench.disk.inject(bench.disk.call_count(), Fault::SyncError);
    let told = bench.ask("STOCK.CREATE s 1");
    assert!(told.is_err(), "{told:?}");
    closed.recv_timeout(LONG).expect("sockets are told before the snapshot's disk goes on");
    bench.disk.release_writes();
    check_that_it_was_given_up(&bench, &asked);
    let (_, running) = bench.engine.take().expect("started");
    assert!(running.join().is_err());
}

#[test]
fn the_end_does_not_wait_for_the_rest_of_a_snapshot() {
    let (mut bench, closed) = with_closing_port();
    let asked = held_snapshot(&bench);
    let (_, running) = bench.engine.take().expect("started");
    let ending = std::thread::spawn(|| running.shut_down());
    closed.recv_timeout(LONG).expect("sockets are told before the snapshot's disk goes on");
    bench.disk.release_writes();
    check_that_it_was_given_up(&bench, &asked);
    ending.join().expect("no panic").expect("a clean end");
}
