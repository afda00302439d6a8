//! The embedded engine on machines whose clock is wrong: within a run, across restarts and across boots.

use std::sync::Arc;
use std::time::Duration;

use scarce_core::command::table::find;
use scarce_core::command::{Body, Command, Common, Effect, Envelope};
use scarce_core::outcome::Receipt;
use scarce_core::state::StateSettings;
use scarce_engine::clock::ManualTimeSource;
use scarce_engine::metrics::Levels;
use scarce_engine::{Engine, Log, Request};
use scarce_engine_embedded::deployment::Deployment;
use scarce_engine_embedded::storage::FaultyDisk;
use scarce_engine_embedded::{
    ClockChoice, DeploymentFiles, Embedded, EmbeddedSettings, PartitionFiles, Running, SilentPort,
    SystemClock, Until, open_files, restore_partition,
};

const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);
const BEGUN: Duration = Duration::from_hours(24 * 20_000);

struct Bench {
    root: FaultyDisk,
    disk: FaultyDisk,
    source: ManualTimeSource,
    accepts_wall: bool,
    engine: Option<(Arc<Embedded>, Running)>,
    notices: Vec<String>,
}

impl Bench {
    /// A machine whose kernel does not say that its clock is synchronised.
    fn new() -> Self {
        let source = ManualTimeSource::default();
        source.set(|reading| {
            (reading.wall, reading.boot, reading.boot_id) = (BEGUN, DAY, Some("first".to_owned()));
        });
        let (root, disk) = (FaultyDisk::new(), FaultyDisk::new());
        let mut bench = Self { root, disk, source, accepts_wall: false, engine: None, notices: Vec::new() };
        bench.start();
        bench
    }

    /// An account with 90 on it after a debit of 10 under the id `paid`, and 50 of it held for a quarter of an hour.
    fn with_a_hold() -> Self {
        let bench = Self::new();
        bench.check("ACCOUNT.OPEN a EUR", "APPLIED 0");
        bench.check("ACCOUNT.CREDIT a 100", "APPLIED 100 100");
        bench.check("ACCOUNT.DEBIT a 10 ID paid", "APPLIED 90 90");
        let deadline = ms(BEGUN + 15 * MINUTE);
        bench.check("ACCOUNT.HOLD a h 50 TTL 900000", &format!("APPLIED 40 {deadline}"));
        bench
    }

    fn start(&mut self) {
        let system = SystemClock {
            source: Arc::new(self.source.clone()),
            accepts_wall: self.accepts_wall,
            ..SystemClock::default()
        };
        let clock = ClockChoice::System(system);
        let settings = EmbeddedSettings { segment_bytes: 64 << 10, clock, ..EmbeddedSettings::default() };
        let files = DeploymentFiles { root: self.root.storage(), partitions: vec![self.disk.storage()] };
        let recovered = open_files(&files, &settings, &mut |_| {}).expect("recovery");
        self.notices = recovered.clock_notices();
        self.engine = Some(recovered.start(|_, _| Ok(Box::new(SilentPort::default()))).expect("start"));
    }

    fn stop(&mut self) {
        if let Some((_, running)) = self.engine.take() {
            running.shut_down().expect("a clean end");
        }
    }

    fn restart(&mut self, meanwhile: impl FnOnce(&ManualTimeSource)) {
        self.stop();
        meanwhile(&self.source);
        self.start();
    }

    fn engine(&self) -> &Arc<Embedded> {
        &self.engine.as_ref().expect("started").0
    }

    fn ask(&self, line: &str) -> Receipt {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let spec = find(words[0]).expect("a command");
        let (command, common): (Command, Common) = Command::parse(spec, &words[1..]).expect("well-formed");
        let request = match spec.effect {
            Effect::Read => Request::Read(String::new(), command),
            Effect::Write => Request::Write(
                Envelope::new("", common, Body::Single(command), &[0; 32]).expect("an envelope"),
            ),
        };
        self.engine().call(0, vec![request]).remove(0).unwrap_or_else(|failure| panic!("{line}: {failure}"))
    }

    fn check(&self, line: &str, expected: &str) -> Duration {
        let receipt = self.ask(line);
        assert_eq!(receipt.outcome.to_string(), expected, "{line}");
        Duration::from_millis(receipt.at)
    }

    fn levels(&self) -> Levels {
        self.engine().metrics(0).expect("metrics").levels()
    }

    /// Waits for levels, which are published after the answers.
    fn wait_for(&self, is_so: impl Fn(&Levels) -> bool) {
        let begun = std::time::Instant::now();
        while !is_so(&self.levels()) {
            assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", self.levels());
            std::thread::yield_now();
        }
    }

    /// The names of all events of the log.
    fn events(&self) -> Vec<&'static str> {
        let entries = self.engine().entries(0, 1, 1 << 20).expect("the log");
        entries.iter().flat_map(|entry| &entry.events).map(|event| event.spec().name).collect()
    }

    /// What must hold on a clock that is wrong: the hold is there, and a retry debits nothing.
    #[track_caller]
    fn assert_nothing_ended(&self) {
        self.check("ACCOUNT.DEBIT a 10 ID paid", "APPLIED 90 90");
        let deadline = ms(BEGUN + 15 * MINUTE);
        self.check("ACCOUNT.HOLDS a", &format!("APPLIED [[h 50 open {deadline}]]"));
    }
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).expect("milliseconds")
}

#[track_caller]
fn assert_about(stamp: Duration, expected: Duration) {
    assert!(stamp.abs_diff(expected) < Duration::from_secs(5), "{stamp:?} is not about {expected:?}");
}

#[test]
fn thirty_leaps_within_a_second_end_nothing_and_stop_nothing() {
    let mut bench = Bench::with_a_hold();
    for _ in 0..30 {
        bench.source.set(|reading| reading.wall += 55 * MINUTE);
        bench.source.pass(Duration::from_millis(30));
        let stamp = bench.check("ACCOUNT.FREEZE a", "APPLIED frozen");
        assert_about(stamp, BEGUN);
    }
    bench.assert_nothing_ended();
    bench.stop();
}

#[test]
fn restarts_on_a_clock_that_is_ahead_end_nothing() {
    let mut bench = Bench::with_a_hold();
    for restart in 1..=5_u32 {
        bench.restart(|source| {
            source.pass(MINUTE);
            source.set(|reading| reading.wall += 90 * DAY);
        });
        bench.assert_nothing_ended();
        let stamp = bench.check("ACCOUNT.FREEZE a", "APPLIED frozen");
        assert_about(stamp, BEGUN + MINUTE * restart);
    }
    assert!(bench.notices[0].contains("ahead of the time that has passed"), "{:?}", bench.notices);
    bench.wait_for(|levels| levels.clock_ahead_ms > ms(400 * DAY));
    // The clock is set right again, and no trace is left.
    bench.source.set(|reading| reading.wall = BEGUN + 5 * MINUTE);
    bench.restart(|_| ());
    assert_eq!(bench.notices, [""; 0]);
    bench.source.pass(11 * MINUTE);
    bench.check("ACCOUNT.CAPTURE a h", &format!("HOLD_EXPIRED h {}", ms(BEGUN + 15 * MINUTE)));
    bench.stop();
}

#[test]
fn a_restart_without_its_note_doubts_what_it_cannot_know() {
    for damage in [true, false] {
        let mut bench = Bench::with_a_hold();
        bench.restart(|_| ());
        bench.stop();
        if damage {
            let mut file = bench.root.storage().open("clock").expect("the note");
            file.write_at(3, b"!").expect("a write");
        } else {
            bench.root.storage().remove("clock").expect("the note");
        }
        bench.source.set(|reading| reading.wall += 30 * DAY);
        bench.start();
        bench.assert_nothing_ended();
        bench.stop();
    }
}

#[test]
fn a_week_off_is_doubted_until_the_kernel_confirms_the_clock() {
    let mut bench = Bench::with_a_hold();
    bench.restart(|source| {
        source.set(|reading| {
            (reading.wall, reading.boot) = (BEGUN + 7 * DAY, MINUTE);
            reading.boot_id = Some("second".to_owned());
        });
    });
    assert!(bench.notices[0].contains("while the server was off"), "{:?}", bench.notices);
    bench.assert_nothing_ended();
    let (now, deadline) = (BEGUN + 7 * DAY, ms(BEGUN + 7 * DAY + HOUR));
    assert_about(
        bench.check("ACCOUNT.HOLD a new 5 TTL 3600000 ID new", &format!("APPLIED 35 {deadline}")),
        now,
    );
    // The second that any wall clock may be ahead is not doubted.
    bench.wait_for(|levels| levels.clock_doubted_ms == ms(7 * DAY) - 1_000);
    // The doubt outlives a restart within the boot.
    bench.restart(|source| source.pass(MINUTE));
    bench.assert_nothing_ended_but("new");
    bench.source.pass(MINUTE);
    bench.source.set(|reading| reading.is_synchronised = true);
    // It ended a week ago, and its name is free again.
    bench.check("ACCOUNT.CAPTURE a h", "HOLD_NOT_FOUND h");
    bench.check("ACCOUNT.HOLD a new 5 TTL 3600000 ID new", &format!("APPLIED 35 {deadline}"));
    bench.wait_for(|levels| levels.clock_doubted_ms == 0);
    let events = bench.events();
    let place = |name| events.iter().position(|event| *event == name).unwrap_or_else(|| panic!("{events:?}"));
    assert!(place("clock.doubted") < place("clock.confirmed"));
    assert!(place("clock.confirmed") < place("hold.expired"));
    let before = bench.ask("DIGEST").outcome.to_string();
    bench.restart(|_| ());
    assert_eq!(bench.ask("DIGEST").outcome.to_string(), before);
    bench.stop();
}

impl Bench {
    #[track_caller]
    fn assert_nothing_ended_but(&self, hold: &str) {
        self.check("ACCOUNT.DEBIT a 10 ID paid", "APPLIED 90 90");
        let (first, second) = (ms(BEGUN + 15 * MINUTE), ms(BEGUN + 7 * DAY + HOUR));
        self.check("ACCOUNT.HOLDS a", &format!("APPLIED [[h 50 open {first}] [{hold} 5 open {second}]]"));
    }
}

#[test]
fn the_sweeper_ends_what_is_due_once_the_doubt_is_over_without_being_asked() {
    let mut bench = Bench::with_a_hold();
    bench.restart(|source| {
        source.set(|reading| {
            (reading.wall, reading.boot) = (BEGUN + 7 * DAY, MINUTE);
            reading.boot_id = Some("second".to_owned());
        });
    });
    bench.source.pass(MINUTE);
    bench.source.set(|reading| reading.is_synchronised = true);
    let (sender, receiver) = std::sync::mpsc::channel();
    let wake: scarce_engine::stop::Waker = Arc::new(move || {
        let _ = sender.send(());
    });
    let _watch = bench.engine().watch(0, wake).expect("a watch");
    while !bench.events().contains(&"hold.expired") {
        receiver.recv_timeout(Duration::from_secs(30)).expect("more events");
    }
    bench.stop();
}

#[test]
fn a_deployment_that_was_begun_ahead_is_put_back_by_the_operator() {
    let mut bench = Bench::new();
    bench.source.set(|reading| reading.wall += 90 * DAY);
    bench.root = FaultyDisk::new();
    bench.disk = FaultyDisk::new();
    bench.restart(|_| ());
    bench.check("ACCOUNT.OPEN a EUR", "APPLIED 0");
    bench.check("ACCOUNT.CREDIT a 100", "APPLIED 100 100");
    assert_about(bench.check("ACCOUNT.DEBIT a 10 ID paid", "APPLIED 90 90"), BEGUN + 90 * DAY);
    bench.restart(|source| source.set(|reading| reading.wall = BEGUN));
    assert!(bench.notices[0].contains("behind the last timestamp"), "{:?}", bench.notices);
    assert_about(bench.check("ACCOUNT.FREEZE a", "APPLIED frozen"), BEGUN + 90 * DAY);
    bench.accepts_wall = true;
    bench.restart(|_| ());
    assert_about(bench.check("ACCOUNT.UNFREEZE a", "APPLIED open"), BEGUN);
    bench.check("ACCOUNT.DEBIT a 10 ID paid", "APPLIED 90 90");
    bench.accepts_wall = false;
    bench.restart(|source| source.pass(HOUR));
    assert_about(bench.check("ACCOUNT.FREEZE a", "APPLIED frozen"), BEGUN + HOUR);
    bench.source.pass(22 * HOUR);
    bench.check("ACCOUNT.DEBIT a 10 ID paid", "APPLIED 90 90");
    assert!(bench.events().contains(&"clock.moved"));
    bench.stop();
}

/// Restores what a bench logged; gives the last sequence, or why not.
fn restored(bench: &Bench, until: Until) -> Result<u64, String> {
    let deployment = Deployment::load(&*bench.root.storage()).expect("it can be read").expect("a deployment");
    let source = PartitionFiles { storage: bench.disk.storage(), deployment: &deployment, partition: 0 };
    let target = PartitionFiles { storage: FaultyDisk::new().storage(), ..source.clone() };
    let settings = StateSettings::default();
    let restored = restore_partition(&source, &target, until, &settings, &mut |_| {});
    restored.map(|restored| restored.sequence).map_err(|error| explained(&error))
}

fn explained(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {}", explained(source)))
}

#[test]
fn a_time_leads_to_the_last_place_before_it_though_the_clock_was_ahead_once() {
    let mut bench = Bench::new();
    bench.root = FaultyDisk::new();
    bench.disk = FaultyDisk::new();
    bench.restart(|source| source.set(|reading| reading.wall += 90 * DAY));
    let ahead = ms(bench.check("ACCOUNT.OPEN a EUR", "APPLIED 0"));
    bench.check("ACCOUNT.CREDIT a 100", "APPLIED 100 100");
    bench.accepts_wall = true;
    bench.restart(|source| source.set(|reading| reading.wall = BEGUN));
    let right = ms(bench.check("ACCOUNT.CREDIT a 1", "APPLIED 101 101"));
    let last = u64::try_from(bench.events().len()).unwrap();
    bench.stop();
    assert_eq!(restored(&bench, Until::Time(right)), Ok(last), "what was ahead does not end it");
    assert_eq!(restored(&bench, Until::LastBefore(right)), Ok(last));
    assert_eq!(restored(&bench, Until::Time(ahead - 1)), Ok(last), "only the end comes before this time");
}

#[test]
fn a_time_that_is_passed_twice_is_refused_and_both_places_are_named() {
    let mut bench = Bench::new();
    bench.check("ACCOUNT.OPEN a EUR", "APPLIED 0");
    bench.accepts_wall = true;
    bench.restart(|source| source.set(|reading| reading.wall += 90 * DAY));
    bench.check("ACCOUNT.CREDIT a 100", "APPLIED 100 100");
    bench.restart(|source| source.set(|reading| reading.wall = BEGUN + HOUR));
    let right = ms(bench.check("ACCOUNT.CREDIT a 1", "APPLIED 101 101"));
    let last = u64::try_from(bench.events().len()).unwrap();
    bench.stop();
    let refused = restored(&bench, Until::Time(right)).unwrap_err();
    let places = ["after sequence 1 ", &format!("--through 0:{last}")];
    assert!(places.iter().all(|place| refused.contains(place)), "{refused}");
    assert_eq!(restored(&bench, Until::LastBefore(right)), Ok(last), "partitions are cut only at the end");
}
