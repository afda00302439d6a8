//! The memory budget: what is served near it, and that nothing grows without end there.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use scarce_core::command::table::find;
use scarce_core::command::{Body, Command, Common, Envelope};
use scarce_engine::clock::ManualClock;
use scarce_engine::{Engine, Failure, Request};
use scarce_engine_embedded::storage::FaultyDisk;
use scarce_engine_embedded::{
    ClockChoice, DeploymentFiles, Embedded, EmbeddedSettings, MemoryBudget, MemoryMeter, Running, SilentPort,
    open_files,
};

const MAX: u64 = 1 << 20;

/// How many ids of what frees memory fit into a twentieth of that.
const IDS: usize = 297;

/// Says what a test wants it to say.
#[derive(Debug, Default)]
struct Dial(AtomicU64);

impl MemoryMeter for Dial {
    fn used_bytes(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Relaxed))
    }
}

struct Bench {
    clock: ManualClock,
    disk: FaultyDisk,
    dial: Arc<Dial>,
    engine: Arc<Embedded>,
    running: Option<Running>,
}

impl Bench {
    fn start() -> Self {
        let (root, disk) = (FaultyDisk::new(), FaultyDisk::new());
        let clock = ManualClock::default();
        clock.set(1_000);
        let dial = Arc::new(Dial::default());
        let settings = EmbeddedSettings {
            segment_bytes: 64 << 10,
            clock: ClockChoice::Manual(clock.clone()),
            memory: Some(MemoryBudget { max_bytes: MAX, meter: dial.clone() }),
            ..EmbeddedSettings::default()
        };
        let files = DeploymentFiles { root: root.storage(), partitions: vec![disk.storage()] };
        let recovered = open_files(&files, &settings, &mut |_| {}).expect("recovery");
        let (engine, running) = recovered.start(|_, _| Ok(Box::new(SilentPort::default()))).expect("a start");
        Self { clock, disk, dial, engine, running: Some(running) }
    }

    /// Sets what the process takes, and waits until that was measured.
    fn use_percent(&self, percent: u64) {
        let begun = Instant::now();
        // Once a second measurement shows, the first one is acted on.
        for used in [MAX / 100 * percent, MAX / 100 * percent + 1] {
            self.dial.0.store(used, Ordering::Relaxed);
            while self.engine.memory().expect("a budget").used_bytes != used {
                assert!(begun.elapsed() < Duration::from_mins(1), "nothing is measured");
                std::thread::yield_now();
            }
        }
    }

    fn ask(&self, lines: &[&str]) -> String {
        let mut parsed: Vec<(Command, Common)> = lines.iter().map(|line| parse(line)).collect();
        let common = parsed.last().expect("a line").1.clone();
        let body = match parsed.len() {
            1 => Body::Single(parsed.remove(0).0),
            _ => Body::Atomic(parsed.into_iter().map(|(command, _)| command).collect()),
        };
        let request = Request::Write(Envelope::new("", common, body, &[0; 32]).expect("an envelope"));
        match self.engine.call(0, vec![request]).remove(0) {
            Ok(receipt) => receipt.outcome.to_string(),
            Err(Failure::Overloaded { queue }) => format!("full: {queue}"),
            Err(failure) => panic!("{lines:?}: {failure}"),
        }
    }

    fn sequence(&self) -> u64 {
        let read = Request::Read(String::new(), parse("ACCOUNT.GET a").0);
        self.engine.call(0, vec![read]).remove(0).expect("a read").sequence_last
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.shut_down().expect("a clean end");
        }
    }
}

fn parse(line: &str) -> (Command, Common) {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    Command::parse(find(words[0]).expect("a command"), &words[1..]).expect("well-formed")
}

fn request(line: &str) -> Request {
    let (command, common) = parse(line);
    Request::Write(Envelope::new("", common, Body::Single(command), &[0; 32]).expect("an envelope"))
}

fn filled() -> Bench {
    let bench = Bench::start();
    for line in ["ACCOUNT.OPEN a EUR", "ACCOUNT.CREDIT a 100", "STOCK.CREATE s 10", "MARKET.CREATE m"] {
        assert!(bench.ask(&[line]).starts_with("APPLIED"), "{line}");
    }
    for n in 0..5 {
        for line in [format!("ACCOUNT.HOLD a h{n} 5"), format!("STOCK.RESERVE s r{n} 1 u 1000")] {
            assert!(bench.ask(&[&line]).starts_with("APPLIED"), "{line}");
        }
    }
    bench
}

const FULL: &str = "full: memory";

#[test]
fn near_the_budget_commands_that_end_nothing_leave_no_ids_behind() {
    let bench = filled();
    bench.use_percent(98);
    let before = bench.sequence();
    for n in 0..100 {
        for command in [
            "ORDER.CANCELALL m nobody",
            "ORDER.CANCEL m none x",
            "ACCOUNT.VOID a none",
            "ACCOUNT.CAPTURE a h0 AMOUNT 6",
            "STOCK.RELEASE s none",
            "STOCK.CONFIRM s none",
            "STOCK.AUDIT s",
            "ACCOUNT.FREEZE a",
        ] {
            assert_eq!(bench.ask(&[&format!("{command} ID none-{n}")]), FULL, "{command}");
        }
        let twice = ["ACCOUNT.VOID a h0", &format!("ACCOUNT.VOID a h0 ID none-{n}")];
        assert_eq!(bench.ask(&twice), FULL);
    }
    assert_eq!(bench.sequence(), before, "nothing was logged");
    // Without an id they leave nothing behind, and say what is.
    assert_eq!(bench.ask(&["ACCOUNT.VOID a none"]), "HOLD_NOT_FOUND none");
}

#[test]
fn near_the_budget_what_ends_a_record_or_needs_no_memory_is_served() {
    let bench = filled();
    bench.use_percent(98);
    assert_eq!(bench.ask(&["ACCOUNT.VOID a h0 ID v"]), "APPLIED 5 80");
    assert_eq!(bench.ask(&["ACCOUNT.VOID a h0 ID v"]), "APPLIED 5 80", "a duplicate");
    assert_eq!(bench.ask(&["STOCK.CONFIRM s r0 ID c"]), "APPLIED 1 1");
    assert_eq!(bench.ask(&["STOCK.RELEASE s r1", "ACCOUNT.VOID a h1 ID b"]), "APPLIED [1 1 6] [1 5 85]");
    assert_eq!(bench.ask(&["STOCK.AUDIT s"]), "APPLIED CONSISTENT 1 1");
    assert_eq!(bench.ask(&["MARKET.HALT m"]), "APPLIED halted");
    assert_eq!(bench.ask(&["ACCOUNT.OPEN b EUR"]), FULL);
    assert_eq!(bench.ask(&["ACCOUNT.CREDIT a 1"]), FULL);

    bench.use_percent(101);
    assert_eq!(bench.ask(&["ACCOUNT.VOID a h2 ID w"]), FULL, "no room for an id");
    assert_eq!(bench.ask(&["ACCOUNT.VOID a h0 ID v"]), "APPLIED 5 80", "a duplicate");
    assert_eq!(bench.ask(&["ACCOUNT.VOID a h2"]), "APPLIED 5 90");
    assert_eq!(bench.ask(&["STOCK.CONFIRM s r2"]), "APPLIED 2 1");

    bench.use_percent(10);
    assert_eq!(bench.ask(&["ACCOUNT.VOID a none ID n"]), "HOLD_NOT_FOUND none");
    assert_eq!(bench.ask(&["ACCOUNT.OPEN b EUR ID o"]), "APPLIED 0");
}

#[test]
fn ids_of_what_frees_memory_have_a_bounded_room() {
    let bench = filled();
    for n in 0..IDS + 10 {
        assert!(
            bench.ask(&["ACCOUNT.CREDIT a 5", &format!("ACCOUNT.HOLD a more-{n} 5")]).starts_with("APPLIED")
        );
    }
    bench.use_percent(98);
    for n in 0..IDS {
        let voided = bench.ask(&[&format!("ACCOUNT.VOID a more-{n} ID more-{n}")]);
        assert!(voided.starts_with("APPLIED 5 "), "{n}: {voided}");
    }
    let next = format!("ACCOUNT.VOID a more-{IDS}");
    assert_eq!(bench.ask(&[&format!("{next} ID next")]), FULL);
    assert!(bench.ask(&[&next]).starts_with("APPLIED 5 "), "without an id");
    // The room is there again once new records are taken.
    bench.use_percent(10);
    bench.use_percent(98);
    assert!(bench.ask(&["ACCOUNT.VOID a h0 ID last"]).starts_with("APPLIED 5 "));
}

#[test]
fn duplicates_use_up_none_of_the_room_for_ids() {
    let bench = filled();
    let paid = "ACCOUNT.CAPTURE a h0 AMOUNT 1 KEEPREST ID paid";
    let first = bench.ask(&[paid]);
    assert!(first.starts_with("APPLIED 1 "), "{first}");
    bench.use_percent(98);
    for _ in 0..IDS + 10 {
        assert_eq!(bench.ask(&[paid]), first);
    }
    assert_eq!(bench.ask(&["ACCOUNT.CAPTURE a h0 AMOUNT 2 KEEPREST ID paid"]), "ID_REUSED paid");
    assert!(bench.ask(&["ACCOUNT.VOID a h1 ID new"]).starts_with("APPLIED 5 "), "room is left for it");
}

#[test]
fn ids_that_are_over_let_in_nothing_that_forgets_none() {
    let bench = Bench::start();
    assert!(bench.ask(&["ACCOUNT.OPEN a EUR ID over"]).starts_with("APPLIED"));
    bench.clock.set(1_000 + 25 * 3_600_000);
    bench.use_percent(105);
    for n in 0..3 {
        assert_eq!(bench.ask(&[&format!("ACCOUNT.OPEN without-id-{n} EUR")]), "full: memory");
    }
    assert_eq!(bench.ask(&["ACCOUNT.OPEN b EUR", "ACCOUNT.OPEN c EUR ID batch"]), "full: memory");
    assert!(
        bench.ask(&["ACCOUNT.OPEN d EUR ID new"]).starts_with("APPLIED"),
        "its entry forgets the old one"
    );
    assert_eq!(bench.ask(&["ACCOUNT.OPEN e EUR ID newer"]), "full: memory");
}

/// More rows than a snapshot has before it waits for the disk, and than the memory for rows that change meanwhile.
const ACCOUNTS: u64 = 20_000;

#[test]
fn a_snapshot_for_which_too_much_changes_is_given_up_and_made_later() {
    let bench = Bench::start();
    let each = |accounts: std::ops::Range<u64>, line: &dyn Fn(u64) -> String| {
        let requests: Vec<_> = accounts.map(|n| request(&line(n))).collect();
        for batch in requests.chunks(1_000) {
            assert!(bench.engine.call(0, batch.to_vec()).iter().all(Result::is_ok));
        }
    };
    each(0..ACCOUNTS, &|n| format!("ACCOUNT.OPEN a{n} EUR"));
    bench.use_percent(50);
    bench.disk.block_creation("snapshot-");
    let failures = || bench.engine.metrics(0).expect("metrics").snapshots.failures();
    std::thread::scope(|scope| {
        let snapshot = scope.spawn(|| bench.engine.snapshot(0));
        bench.disk.wait_for_blocked_syncs(1);
        // The last rows, which are not written yet.
        each(ACCOUNTS - 5_000..ACCOUNTS, &|n| format!("ACCOUNT.CREDIT a{n} 1"));
        bench.disk.release_syncs();
        let failure = snapshot.join().expect("no panic").expect_err("it is given up").to_string();
        assert!(failure.contains("rows that changed before they were written took"), "{failure}");
        assert!(failure.contains("of 256 KiB that --memory-max leaves for them"), "{failure}");
    });
    assert_eq!(failures(), 1);
    let made = bench.engine.snapshot(0).expect("a snapshot");
    assert_eq!((made.sequence, failures()), (ACCOUNTS + 5_000, 1));
}
