//! Markets as callers see them: in the words of the RESP port, by outcomes, events and digests.

mod model;
mod orders;
mod random;
mod steps;

use crate::command::table::find;
use crate::command::{Body, Command, Common, Envelope};
use crate::event::{Entry, Event};
use crate::machine::{Answer, Machine};
use crate::state::Settings;
use crate::types::TimeMs;

/// A machine that is spoken to in the words of the RESP port.
pub(super) struct Bench {
    pub(super) machine: Machine,
    pub(super) log: Vec<u8>,
    pub(super) clock: TimeMs,
}

fn command(line: &str) -> (Command, Common) {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    Command::parse(find(words[0]).expect("a command"), &words[1..]).expect("well-formed")
}

impl Bench {
    pub(super) fn new(settings: Settings) -> Self {
        Self { machine: Machine::new(settings, 0), log: Vec::new(), clock: 1_000 }
    }

    pub(super) fn with_steps(step_max: usize) -> Self {
        Self::new(Settings { step_max, ..Settings::default() })
    }

    /// A bench with a market `m` of tick, lot and bounds 1.
    pub(super) fn open() -> Self {
        let mut bench = Self::with_steps(128);
        bench.check("MARKET.CREATE m", "APPLIED open");
        bench
    }

    pub(super) fn run(&mut self, lines: &[&str]) -> String {
        let mut commands = Vec::new();
        let mut common = Common::default();
        for line in lines {
            let (command, its) = command(line);
            commands.push(command);
            common = its;
        }
        let body = match commands.len() {
            1 => Body::Single(commands.remove(0)),
            _ => Body::Atomic(commands),
        };
        let envelope = Envelope::new("", common, body, &[0; 32]).expect("an envelope");
        match self.machine.submit(&envelope, self.clock, &mut self.log) {
            Answer::Receipt(receipt) => receipt.outcome.to_string(),
            Answer::Replay(_) => "REPLAY".to_owned(),
        }
    }

    pub(super) fn ask(&self, line: &str) -> String {
        match self.machine.query("", &command(line).0, self.clock) {
            Answer::Receipt(receipt) => receipt.outcome.to_string(),
            Answer::Replay(_) => "REPLAY".to_owned(),
        }
    }

    #[track_caller]
    pub(super) fn check(&mut self, line: &str, expected: &str) {
        assert_eq!(self.run(&[line]), expected, "{line}");
    }

    #[track_caller]
    pub(super) fn see(&self, line: &str, expected: &str) {
        assert_eq!(self.ask(line), expected, "{line}");
    }

    pub(super) fn digest(&self) -> u128 {
        self.machine.state().digest(None)
    }

    pub(super) fn snapshot(&self) -> Vec<u8> {
        snapshot(&self.machine)
    }

    /// Every event in the log.
    pub(super) fn events(&self) -> Vec<Event> {
        Entry::read_all(&self.log).expect("the log").into_iter().flat_map(|entry| entry.events).collect()
    }

    /// The names of the events since `count` of them were there.
    pub(super) fn names_since(&self, count: usize) -> Vec<&'static str> {
        self.events()[count..].iter().map(|event| event.spec().name).collect()
    }

    /// A machine that folds the log must be the same, and so must one that loads its snapshot.
    #[track_caller]
    pub(super) fn check_replay(&self) {
        let settings = self.machine.state().settings.clone();
        let mut again = Machine::new(settings.clone(), 0);
        for entry in Entry::read_all(&self.log).expect("the log") {
            again.apply(&entry);
        }
        assert_eq!(again.state().digest(None), self.digest());
        assert_eq!(snapshot(&again), self.snapshot());
        let loaded = Machine::load(settings, &self.snapshot()).expect("the snapshot");
        assert_eq!(snapshot(&loaded), self.snapshot());
        assert_eq!(loaded.state().digest(None), self.digest());
    }
}

pub(super) fn snapshot(machine: &Machine) -> Vec<u8> {
    let mut out = Vec::new();
    machine.put(&mut out);
    out
}

/// A small generator of numbers that look random, the same on every run.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    pub(super) fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[usize::try_from(self.below(words.len() as u64)).expect("an index")]
    }
}
