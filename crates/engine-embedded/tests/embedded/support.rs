//! An engine in process on a disk in memory.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use scarce_core::command::table::find;
use scarce_core::command::{Body, Command, Common, Envelope};
use scarce_core::outcome::Receipt;
use scarce_engine::clock::ManualClock;
use scarce_engine::{Engine, Failure, Request};
use scarce_engine_embedded::storage::FaultyDisk;
use scarce_engine_embedded::{
    ClockChoice, DeploymentFiles, Embedded, EmbeddedSettings, Port, Running, SilentPort, open_files,
};

/// What takes longer is slow.
pub(crate) const SLOW: Duration = Duration::from_millis(20);

pub(crate) struct Bench {
    pub(crate) root: FaultyDisk,
    pub(crate) disk: FaultyDisk,
    pub(crate) clock: ManualClock,
    pub(crate) outflow_lag_max: u64,
    pub(crate) operations_in_memory_max: usize,
    pub(crate) engine: Option<(Arc<Embedded>, Running)>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let clock = ManualClock::default();
        clock.set(1_000);
        let mut bench = Self::on(FaultyDisk::new(), FaultyDisk::new(), clock);
        bench.start();
        bench
    }

    pub(crate) fn on(root: FaultyDisk, disk: FaultyDisk, clock: ManualClock) -> Self {
        let outflow_lag_max = EmbeddedSettings::default().outflow_lag_max;
        let operations_in_memory_max = EmbeddedSettings::default().operations_in_memory_max;
        Self { root, disk, clock, outflow_lag_max, operations_in_memory_max, engine: None }
    }

    pub(crate) fn settings(&self) -> EmbeddedSettings {
        let clock = ClockChoice::Manual(self.clock.clone());
        let outflow_lag_max = self.outflow_lag_max;
        EmbeddedSettings {
            segment_bytes: 64 << 10,
            clock,
            outflow_lag_max,
            operations_in_memory_max: self.operations_in_memory_max,
            slow: Some(SLOW),
            ..EmbeddedSettings::default()
        }
    }

    pub(crate) fn start(&mut self) {
        self.start_with(|| Box::new(SilentPort::default()));
    }

    /// Starts, or says why it does not.
    pub(crate) fn try_start(&mut self) -> Result<(), String> {
        let settings = self.settings();
        let files = DeploymentFiles { root: self.root.storage(), partitions: vec![self.disk.storage()] };
        let recovered = open_files(&files, &settings, &mut |_| {}).map_err(|error| error.to_string())?;
        let started = recovered.start(|_, _| Ok(Box::new(SilentPort::default())));
        self.engine = Some(started.map_err(|error| error.to_string())?);
        Ok(())
    }

    pub(crate) fn start_with(&mut self, port: impl Fn() -> Box<dyn Port>) {
        let settings = self.settings();
        let files = DeploymentFiles { root: self.root.storage(), partitions: vec![self.disk.storage()] };
        let recovered = open_files(&files, &settings, &mut |_| {}).expect("recovery");
        self.engine = Some(recovered.start(|_, _| Ok(port())).expect("start"));
    }

    pub(crate) fn stop(&mut self) {
        if let Some((_, running)) = self.engine.take() {
            running.shut_down().expect("a clean end");
        }
    }

    pub(crate) fn engine(&self) -> &Arc<Embedded> {
        &self.engine.as_ref().expect("started").0
    }

    pub(crate) fn request(line: &str) -> Request {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let spec = find(words[0]).expect("a command");
        let (command, common): (Command, Common) = Command::parse(spec, &words[1..]).expect("well-formed");
        if spec.effect == scarce_core::command::Effect::Read {
            return Request::Read(String::new(), command);
        }
        Request::Write(Envelope::new("", common, Body::Single(command), &[0; 32]).expect("an envelope"))
    }

    pub(crate) fn ask(&self, line: &str) -> Result<Receipt, Failure> {
        self.engine().call(0, vec![Self::request(line)]).remove(0)
    }

    pub(crate) fn check(&self, line: &str, expected: &str) {
        let receipt = self.ask(line).unwrap_or_else(|failure| panic!("{line}: {failure}"));
        assert_eq!(receipt.outcome.to_string(), expected, "{line}");
    }

    /// Leaves the disk no room, and sells units of item `s` until one is refused: a batch then waits for room, unanswered,
    /// because the segment in use and the spare one are full. Returns where the answers come that wait for it.
    pub(crate) fn fill_disk(&self) -> Vec<mpsc::Receiver<Vec<Result<Receipt, Failure>>>> {
        self.disk.set_capacity(Some(0));
        let mut unanswered = Vec::new();
        for unit in 0..5_000 {
            let (sender, receiver) = mpsc::channel();
            let take = Self::request(&format!("STOCK.TAKE s 1 {unit:0>64} ID {unit}"));
            self.engine().submit(0, vec![take], Box::new(move |answers| drop(sender.send(answers))));
            match receiver.recv_timeout(Duration::from_millis(200)) {
                Ok(answers) if answers[0].is_err() => return unanswered,
                Ok(_) => {}
                Err(_) => unanswered.push(receiver),
            }
        }
        panic!("the disk is never full");
    }

    pub(crate) fn digest(&self) -> String {
        self.ask("DIGEST").expect("a digest").outcome.to_string()
    }
}
