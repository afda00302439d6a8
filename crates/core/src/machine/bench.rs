//! A machine that takes commands in the words of the RESP port, for tests.

use crate::command::table::find;
use crate::command::{Body, Command, Common, Effect, Envelope};
use crate::deadlines::Due;
use crate::event::{Entry, Event};
use crate::machine::{Machine, MachineAnswer};
use crate::state::StateSettings;

/// A machine with its log and its clock.
pub(crate) struct Bench {
    pub(crate) machine: Machine,
    pub(crate) log: Vec<u8>,
    pub(crate) clock: u64,
    settings: StateSettings,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(StateSettings::default())
    }

    pub(crate) fn with(settings: StateSettings) -> Self {
        Self { machine: Machine::new(settings.clone(), 0), log: Vec::new(), clock: 1_000, settings }
    }

    fn parse(line: &str) -> (Command, Common) {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let spec = find(words[0]).expect("a command");
        Command::parse(spec, &words[1..]).expect("well-formed")
    }

    pub(crate) fn envelope(lines: &[&str]) -> Result<Envelope, crate::command::Invalid> {
        let mut parsed: Vec<_> = lines.iter().map(|line| Self::parse(line)).collect();
        let common = parsed.last().expect("a line").1.clone();
        let body = match parsed.len() {
            1 => Body::Single(parsed.remove(0).0),
            _ => Body::Atomic(parsed.into_iter().map(|(command, _)| command).collect()),
        };
        Envelope::new("", common, body, &[0; 32])
    }

    /// Submits lines (several as an atomic batch), or queries a line that only reads.
    pub(crate) fn run(&mut self, lines: &[&str]) -> String {
        let envelope = Self::envelope(lines).expect("a cut");
        let answer = match envelope.commands() {
            [command] if command.spec().effect == Effect::Read => self.machine.query("", command, self.clock),
            _ => self.machine.submit(&envelope, self.clock, &mut self.log),
        };
        shown(answer)
    }

    /// What a line would be answered.
    pub(crate) fn foretell(&mut self, line: &str) -> String {
        self.foretell_all(&[line])
    }

    /// What a line would be answered, or several as an atomic batch.
    pub(crate) fn foretell_all(&mut self, lines: &[&str]) -> String {
        let envelope = Self::envelope(lines).expect("a cut");
        match envelope.commands() {
            [command] if command.spec().effect == Effect::Read => self.ask(lines[0]),
            _ => shown(self.machine.dry_run(&envelope, self.clock, &mut self.log)),
        }
    }

    /// Queries a line that only reads.
    pub(crate) fn ask(&self, line: &str) -> String {
        let answer = shown(self.machine.query("", &Self::parse(line).0, self.clock));
        // The sequence that a depth is of; what expects a book does not know it.
        match answer.rsplit_once(' ') {
            Some((depth, _)) if line.starts_with("MARKET.DEPTH") && answer.starts_with("APPLIED") => {
                depth.to_owned()
            }
            _ => answer,
        }
    }

    #[track_caller]
    pub(crate) fn check(&mut self, line: &str, expected: &str) {
        assert_eq!(self.run(&[line]), expected, "{line} at {}", self.clock);
    }

    #[track_caller]
    pub(crate) fn see(&self, line: &str, expected: &str) {
        assert_eq!(self.ask(line), expected, "{line} at {}", self.clock);
    }

    pub(crate) fn digest(&self) -> u128 {
        self.machine.state().digest(None)
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        Entry::read_all(&self.log).expect("the log")
    }

    /// Every event in the log.
    pub(crate) fn events(&self) -> Vec<Event> {
        self.entries().into_iter().flat_map(|entry| entry.events).collect()
    }

    /// The names of the events after the first `count`.
    pub(crate) fn names_since(&self, count: usize) -> Vec<&'static str> {
        self.events()[count..].iter().map(|event| event.spec().name).collect()
    }

    pub(crate) fn snapshot(&self) -> Vec<u8> {
        snapshot(&self.machine)
    }

    /// All that the machine holds: its bytes, and the deadlines, which snapshots leave out because records have them.
    pub(crate) fn image(&self) -> (Vec<u8>, Vec<Due>) {
        (self.snapshot(), self.machine.state().deadlines.due(u64::MAX).collect())
    }

    /// Another machine in the same state, with an empty log.
    pub(crate) fn copy(&self) -> Self {
        let settings = self.settings.clone();
        let machine = Machine::load(settings.clone(), &self.snapshot()).expect("the snapshot");
        Self { machine, log: Vec::new(), clock: self.clock, settings }
    }

    /// A machine that folded this one's log entries.
    pub(crate) fn fold(&self, entries: &[Entry]) -> Machine {
        let mut machine = Machine::new(self.settings.clone(), 0);
        entries.iter().for_each(|entry| machine.apply(entry));
        machine
    }

    /// Checks that folding the log gives this machine, and that its snapshot can be read back.
    #[track_caller]
    pub(crate) fn check_fold(&self) {
        for event in self.events() {
            let values = event.values();
            assert_eq!(Event::from_values(event.spec().number, &values).as_ref(), Ok(&event));
        }
        let again = self.fold(&self.entries());
        assert_eq!(again.state().digest(None), self.digest());
        assert_eq!(snapshot(&again), snapshot(&self.machine));
        let loaded = Machine::load(self.settings.clone(), &snapshot(&again)).expect("the snapshot");
        assert_eq!(snapshot(&loaded), snapshot(&again));
        assert_eq!(loaded.state().digest(None), self.digest());
    }
}

fn shown(answer: MachineAnswer) -> String {
    match answer {
        MachineAnswer::Receipt(receipt) => receipt.outcome.to_string(),
        MachineAnswer::Replay(_) => "REPLAY".to_owned(),
    }
}

pub(crate) fn snapshot(machine: &Machine) -> Vec<u8> {
    let mut out = Vec::new();
    machine.put(&mut out);
    out
}
