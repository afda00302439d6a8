//! Digests of much: they are made beside the owner's thread, and are those of one sequence.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use scarce_core::command::table::find;
use scarce_core::command::{Body, Command, Effect, Envelope};
use scarce_engine::clock::ManualClock;
use scarce_engine::{Engine, Request};
use scarce_engine_embedded::storage::FaultyDisk;
use scarce_engine_embedded::{
    ClockChoice, DeploymentFiles, Embedded, EmbeddedSettings, Running, SilentPort, open_files,
};

/// More entities than the owner looks at itself.
const SALES: u64 = 9_000;

struct Bench {
    disk: FaultyDisk,
    engine: Arc<Embedded>,
    running: Running,
}

impl Bench {
    fn start() -> Self {
        Self::on(FaultyDisk::new())
    }

    fn on(disk: FaultyDisk) -> Self {
        let root = FaultyDisk::new();
        let clock = ManualClock::default();
        clock.set(1_000);
        let clock = ClockChoice::Manual(clock);
        let settings = EmbeddedSettings { segment_bytes: 256 << 10, clock, ..EmbeddedSettings::default() };
        let files = DeploymentFiles { root: root.storage(), partitions: vec![disk.storage()] };
        let recovered = open_files(&files, &settings, &mut |_| {}).expect("recovery");
        let (engine, running) = recovered.start(|_, _| Ok(Box::new(SilentPort::default()))).expect("a start");
        Self { disk, engine, running }
    }

    fn ask(&self, line: &str) -> String {
        let receipt = self.engine.call(0, vec![request(line)]).remove(0).expect("an answer");
        receipt.outcome.to_string()
    }

    fn take(&self, sales: std::ops::Range<u64>) {
        let sales: Vec<_> = sales.map(|n| request(&format!("STOCK.TAKE s 1 owner-{n}"))).collect();
        for batch in sales.chunks(1_000) {
            assert!(self.engine.call(0, batch.to_vec()).iter().all(Result::is_ok));
        }
    }

    /// The digest that a snapshot of this moment has, as it is shown.
    fn digest_of_snapshot(&self) -> String {
        let done = self.engine.snapshot(0).expect("a snapshot");
        format!("APPLIED [[0 {} {:032x}]]", done.sequence, done.digest)
    }
}

fn request(line: &str) -> Request {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let spec = find(words[0]).expect("a command");
    let (command, common) = Command::parse(spec, &words[1..]).expect("well-formed");
    if spec.effect == Effect::Read {
        return Request::Read(String::new(), command);
    }
    Request::Write(Envelope::new("", common, Body::Single(command), &[0; 32]).expect("an envelope"))
}

#[test]
fn a_digest_of_much_is_that_of_the_state_with_all_that_came_before() {
    let bench = Bench::start();
    assert_eq!(bench.ask("STOCK.CREATE s 100000"), "APPLIED 100000");
    bench.take(0..SALES);
    // Nothing but the journal to fold, and then a snapshot with a journal.
    let digest = bench.ask("DIGEST");
    assert_eq!(digest, bench.ask("DIGEST s"), "there is no other resource");
    assert_eq!(digest, bench.digest_of_snapshot());
    bench.take(SALES..SALES + 10);
    let digest = bench.ask("DIGEST");
    assert!(digest.starts_with(&format!("APPLIED [[0 {} ", 1 + SALES + 10)), "{digest}");
    assert_eq!(digest, bench.digest_of_snapshot());
    assert!(bench.ask("DIGEST other").starts_with("APPLIED [[0 "));
    bench.running.shut_down().expect("a clean end");
}

#[test]
fn others_are_answered_while_a_digest_of_much_is_made() {
    let bench = Bench::start();
    assert_eq!(bench.ask("STOCK.CREATE s 100000"), "APPLIED 100000");
    bench.take(0..SALES);
    bench.disk.block_syncs();
    let (sender, receiver) = mpsc::channel();
    for line in ["STOCK.TAKE s 1 u", "DIGEST", "DIGEST s", "STOCK.TAKE s 1 v", "STOCK.GET s"] {
        let sender = sender.clone();
        let reply = move |answers: Vec<_>| sender.send((line, answers)).expect("a listener");
        bench.engine.submit(0, vec![request(line)], Box::new(reply));
    }
    bench.disk.wait_for_blocked_syncs(1);
    bench.disk.release_syncs();
    let order: Vec<_> = (0..5)
        .map(|_| {
            let (line, answers) = receiver.recv().expect("an answer");
            (line, answers[0].as_ref().expect("no failure").sequence_last)
        })
        .collect();
    let lines: Vec<_> = order.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, ["STOCK.TAKE s 1 u", "STOCK.TAKE s 1 v", "STOCK.GET s", "DIGEST", "DIGEST s"]);
    assert!(order[3].1 > order[0].1 - 1 && order[3].1 == order[4].1, "of one sequence: {order:?}");
    bench.running.shut_down().expect("a clean end");
}

#[test]
fn a_digest_of_much_leaves_room_to_the_journal_and_nothing_behind() {
    const FILE: &str = "snapshot-digest.tmp";
    let disk = FaultyDisk::new();
    // As after a kill.
    drop(disk.storage().create(FILE).expect("a file"));
    let bench = Bench::on(disk);
    assert_eq!(bench.ask("STOCK.CREATE s 100000"), "APPLIED 100000");
    let deadline = Instant::now() + Duration::from_mins(1);
    while bench.disk.content(FILE).is_some() {
        assert!(Instant::now() < deadline, "it is not removed");
        std::thread::yield_now();
    }
    bench.take(0..SALES);
    bench.disk.set_capacity(Some(16 << 20));
    let refused = bench.engine.call(0, vec![request("DIGEST")]).remove(0).expect_err("no room").to_string();
    assert!(refused.contains("has to leave 64 MiB to the journal"), "{refused}");
    assert_eq!(bench.disk.content(FILE), None);
    assert!(bench.ask("STOCK.TAKE s 1 u").starts_with("APPLIED"), "the journal goes on");
    bench.disk.set_capacity(None);
    assert_eq!(bench.ask("DIGEST"), bench.digest_of_snapshot());
    bench.running.shut_down().expect("a clean end");
}
