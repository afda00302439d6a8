//! When snapshots are made, and what the metrics say of them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use scarce_core::command::table::find;
use scarce_core::command::{Body, Command, Envelope};
use scarce_engine::clock::wall_ms;
use scarce_engine::metrics::SnapshotMetrics;
use scarce_engine::{Engine, Request};
use scarce_engine_embedded::storage::FaultyDisk;
use scarce_engine_embedded::{DeploymentFiles, Embedded, EmbeddedSettings, Running, SilentPort, open_files};

/// A snapshot is due after so much journal.
const SNAPSHOT_BYTES: u64 = 96 << 10;

struct Bench {
    root: FaultyDisk,
    disk: FaultyDisk,
    engine: Arc<Embedded>,
    running: Option<Running>,
}

impl Bench {
    fn new() -> Self {
        let (root, disk) = (FaultyDisk::new(), FaultyDisk::new());
        let (engine, running) = Self::open(&root, &disk);
        Self { root, disk, engine, running: Some(running) }
    }

    fn open(root: &FaultyDisk, disk: &FaultyDisk) -> (Arc<Embedded>, Running) {
        let settings = EmbeddedSettings {
            segment_bytes: 64 << 10,
            snapshot_bytes: SNAPSHOT_BYTES,
            ..EmbeddedSettings::default()
        };
        let files = DeploymentFiles { root: root.storage(), partitions: vec![disk.storage()] };
        let recovered = open_files(&files, &settings, &mut |_| {}).expect("recovery");
        recovered.start(|_, _| Ok(Box::new(SilentPort::default()))).expect("start")
    }

    fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.shut_down().expect("a clean end");
        }
    }

    fn restart(&mut self) {
        self.stop();
        let (engine, running) = Self::open(&self.root, &self.disk);
        (self.engine, self.running) = (engine, Some(running));
    }

    fn run(&self, words: &[&str]) {
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        let (command, common) =
            Command::parse(find(words[0]).expect("a command"), &words[1..]).expect("read");
        let envelope = Envelope::new("", common, Body::Single(command), &[0; 32]).expect("an envelope");
        let receipt = self.engine.call(0, vec![Request::Write(envelope)]).remove(0).expect("no failure");
        assert!(receipt.outcome.is_applied(), "{}", receipt.outcome);
    }

    /// Writes about half of what makes a snapshot due, and less than all of it.
    fn write_half(&self) {
        let reason = "r".repeat(200);
        (0..220).for_each(|_| self.run(&["STOCK.ADJUST", "s", "1", "REASON", &reason]));
    }

    fn snapshots(&self) -> &SnapshotMetrics {
        &self.engine.metrics(0).expect("metrics").snapshots
    }
}

#[track_caller]
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < deadline, "never came: {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

#[test]
fn a_server_that_is_restarted_before_a_snapshot_is_due_makes_one_all_the_same() {
    let mut bench = Bench::new();
    bench.run(&["STOCK.CREATE", "s", "1"]);
    bench.write_half();
    assert_eq!(bench.snapshots().made_at_ms(), 0, "it is not due yet");
    bench.restart();
    bench.write_half();
    wait_until("a snapshot of what both runs wrote", || bench.snapshots().made_at_ms() > 0);
    bench.stop();
}

#[test]
fn asking_for_a_snapshot_when_nothing_has_changed_makes_none_and_tells_of_none() {
    let mut bench = Bench::new();
    bench.run(&["STOCK.CREATE", "s", "1"]);
    let first = bench.engine.snapshot(0).expect("a snapshot");
    let made_at_ms = bench.snapshots().made_at_ms();
    assert!(made_at_ms > 0 && first.payload_bytes > 0);
    wait_until("the next millisecond", || wall_ms() > made_at_ms);
    let again = bench.engine.snapshot(0).expect("the same");
    assert_eq!((again.sequence, again.payload_bytes), (first.sequence, first.payload_bytes));
    assert_eq!(bench.snapshots().made_at_ms(), made_at_ms, "its age is that of the file");
    bench.stop();
}
