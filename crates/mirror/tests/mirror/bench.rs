//! An embedded engine whose log is mirrored into a Redis.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use scarce_core::command::{Body, Command, Effect, Envelope};
use scarce_core::event::Position;
use scarce_core::outcome::Receipt;
use scarce_core::state::StateSettings;
use scarce_engine::clock::ManualClock;
use scarce_engine::consumers::ConsumerName;
use scarce_engine::{Engine, Log, Request};
use scarce_engine_embedded::{self as embedded, ClockChoice, EmbeddedSettings, Running, SilentPort};
use scarce_engine_redis::RedisSettings;
use scarce_launch::{Options, Server};
use scarce_mirror::{Mirror, MirrorError, Tracker};
use scarce_outflow::{Image, Outflow, Plan, Start, State, run};
use scarce_sim::compare::envelope;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// The timeout of every wait.
const PATIENCE: Duration = Duration::from_secs(120);

/// How many rows a mirror has at most in a test.
pub const CONSUMER: &str = "mirror";

/// A Redis that keeps nothing on disk unless it is asked to.
pub fn server() -> Server {
    Server::start(Options::new()).expect("redis-server must be installed (cargo xtask test does it)")
}

/// An engine of one partition.
pub struct Bench {
    pub engine: Arc<dyn Engine>,
    pub clock: ManualClock,
    pub runtime: Runtime,
    state: StateSettings,
    running: Option<Running>,
    folder: Arc<TempDir>,
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.shut_down().expect("a clean end");
        }
    }
}

/// A mirror that is being written.
pub struct Mirrored {
    pub mirror: Mirror,
    pub outflow: Outflow,
}

impl Bench {
    pub fn new(state: &StateSettings) -> Self {
        Self::at(&Arc::new(tempfile::tempdir().expect("a folder")), state)
    }

    fn at(folder: &Arc<TempDir>, state: &StateSettings) -> Self {
        let clock = ManualClock::default();
        clock.set(1_000);
        Self::open(folder.path(), folder, state, clock)
    }

    fn open(path: &Path, folder: &Arc<TempDir>, state: &StateSettings, clock: ManualClock) -> Self {
        let settings = EmbeddedSettings {
            partitions: 1,
            state: state.clone(),
            segment_bytes: 64 << 10,
            clock: ClockChoice::Manual(clock.clone()),
            ..EmbeddedSettings::default()
        };
        let recovered = embedded::open(path, &settings, &mut |_| {}).expect("an engine");
        let (engine, running) =
            recovered.start(|_, _| Ok(Box::new(SilentPort::default()))).expect("its threads");
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("threads");
        Self {
            engine,
            clock,
            runtime,
            state: state.clone(),
            running: Some(running),
            folder: Arc::clone(folder),
        }
    }

    /// Stops the engine and starts it on the same data.
    pub fn restart(self) -> Self {
        let Self { clock, state, folder, .. } = &self;
        let (clock, state, folder) = (clock.clone(), state.clone(), Arc::clone(folder));
        drop(self);
        Self::open(folder.path(), &folder, &state, clock)
    }

    /// The same data as it is now, in another folder.
    pub fn copy(self) -> (Self, Self) {
        let Self { clock, state, folder, .. } = &self;
        let (clock, state, folder) = (clock.clone(), state.clone(), Arc::clone(folder));
        drop(self);
        let other = Arc::new(tempfile::tempdir().expect("a folder"));
        let copied = std::process::Command::new("cp")
            .arg("-a")
            .arg(format!("{}/.", folder.path().display()))
            .arg(other.path())
            .status();
        assert!(copied.expect("cp").success(), "a copy");
        let open = |folder: &Arc<TempDir>| Self::open(folder.path(), folder, &state, clock.clone());
        (open(&folder), open(&other))
    }

    pub fn mirror(&self, url: &str) -> Mirror {
        let settings = RedisSettings {
            url: url.to_owned(),
            response_timeout: Duration::from_millis(500),
            ..RedisSettings::default()
        };
        Mirror::new(&settings, 1, self.engine.deployment_id()).expect("a mirror")
    }

    /// Begins to mirror.
    pub fn start(&self, url: &str) -> Mirrored {
        self.start_as(url, "one")
    }

    pub fn start_as(&self, url: &str, writer: &str) -> Mirrored {
        let (mirror, log) = (self.mirror(url), self.log());
        let plan = Plan {
            name: ConsumerName::parse(CONSUMER).expect("a name"),
            holder: writer.to_owned(),
            start: Start::Beginning,
            batch_bytes_max: 4 << 10,
        };
        let outflow = run(self.runtime.handle(), self.log(), &plan, |partition| {
            mirror.consumer(&log, partition, writer)
        });
        Mirrored { mirror, outflow }
    }

    pub fn log(&self) -> Arc<dyn Log> {
        self.engine.clone()
    }

    /// Sends a command.
    pub fn send(&self, line: &str) -> Receipt {
        let lines = [line.to_owned()];
        let envelope = envelope("", "", &lines).expect("a command");
        self.submit(&envelope).expect("an answer")
    }

    pub fn submit(&self, envelope: &Envelope) -> Option<Receipt> {
        let request = match &envelope.body {
            Body::Single(command) if command.spec().effect == Effect::Read => {
                Request::Read(envelope.namespace.to_string(), command.clone())
            }
            _ => Request::Write(envelope.clone()),
        };
        self.engine.call(0, vec![request]).pop()?.ok()
    }

    /// Opens an account and credits it so many times.
    pub fn credit(&self, account: &str, times: u64) {
        self.send(&format!("ACCOUNT.OPEN {account} EUR"));
        for _ in 0..times {
            self.send(&format!("ACCOUNT.CREDIT {account} 1"));
        }
    }

    /// The last sequence of the log.
    pub fn end(&self) -> u64 {
        self.engine.durable_through(0).expect("a sequence")
    }

    /// The engine's own digest.
    pub fn digest(&self) -> String {
        let envelope = envelope("", "", &["DIGEST".to_owned()]).expect("a command");
        let Body::Single(Command::Digest(digest)) = envelope.body else { panic!("a digest") };
        let request = Request::Read(String::new(), Command::Digest(digest));
        self.engine.call(0, vec![request]).remove(0).expect("a digest").outcome.to_string()
    }

    /// A state at the end of the log.
    pub fn tracker(&self) -> Tracker {
        let mut tracker = Tracker::new(self.engine.image(0).and_then(Image::into_machine).expect("a state"));
        let _ = advance(&*self.engine, &mut tracker, self.end());
        tracker
    }
}

/// Brings a tracker up to a sequence.
pub fn advance(log: &dyn Log, tracker: &mut Tracker, through: u64) -> Result<(), MirrorError> {
    while tracker.position().sequence < through {
        let from = tracker.position().sequence + 1;
        for entry in log.entries(0, from, 1).expect("the log") {
            tracker.follow(&entry);
        }
    }
    Ok(())
}

impl Mirrored {
    /// Waits until the mirror shows the end of the log, and compares digests.
    pub fn check(&self, bench: &Bench) -> Position {
        let begun = Instant::now();
        loop {
            let end = bench.end();
            let found = bench.runtime.block_on(self.mirror.digest(0, &bench.state));
            if let Ok(Some((position, digest))) = &found
                && position.sequence == end
            {
                let expected = bench.digest();
                assert!(expected.contains(&format!("{digest:032x}")), "{digest:032x} is not {expected}");
                return *position;
            }
            let state = self.outflow.statuses()[0].state();
            assert!(begun.elapsed() < PATIENCE, "the mirror is not at {end}: {found:?}, {state:?}");
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    /// Waits until the consumer says that it has written the end of the log; the mirror is not asked.
    pub fn wait_until_written(&self, bench: &Bench) {
        let (begun, end) = (Instant::now(), bench.end());
        let status = &self.outflow.statuses()[0];
        while status.position().sequence < end {
            assert!(begun.elapsed() < PATIENCE, "it is not at {end}: {:?}", status.state());
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    /// Waits for trouble that says something.
    pub fn trouble(&self, text: &str) {
        self.wait_for(
            &format!("no trouble says '{text}'"),
            |state| matches!(state, State::Troubled { reason, .. } if reason.contains(text)),
        );
    }

    fn wait_for(&self, what: &str, is_so: impl Fn(&State) -> bool) {
        let begun = Instant::now();
        loop {
            let state = self.outflow.statuses()[0].state();
            if is_so(&state) {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "{what}: {state:?}");
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    pub fn stop(self, bench: &Bench) {
        bench.runtime.block_on(self.outflow.stop());
    }
}
