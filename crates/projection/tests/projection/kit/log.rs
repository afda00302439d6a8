//! Real logs: those that the state machine writes for random commands.

use std::collections::BTreeMap;

use scarce_core::command::table::find;
use scarce_core::command::{Body, Command, Effect};
use scarce_core::event::{Entry, Position};
use scarce_core::machine::{ClockChange, Machine, MachineAnswer};
use scarce_core::outcome::{Outcome, Value};
use scarce_core::state::StateSettings;
use scarce_core::types::OperationId;
use scarce_outflow::Batch;
use scarce_sim::compare::envelope;
use scarce_sim::random::{Random, Sequence, Step};

/// A state machine with its whole log.
pub struct Log {
    pub machine: Machine,
    pub entries: Vec<Entry>,
    /// What was sent under each id that was remembered, by the last sequence of its operation.
    pub sent: BTreeMap<u64, Body>,
    /// The same of operations that have not finished their steps.
    begun: BTreeMap<OperationId, Body>,
    clock: u64,
}

impl Log {
    pub fn new(settings: StateSettings, partition: u32) -> Self {
        Self {
            machine: Machine::new(settings, partition),
            entries: Vec::new(),
            sent: BTreeMap::new(),
            begun: BTreeMap::new(),
            clock: 1_700_000_000_000,
        }
    }

    /// The log of a random sequence.
    pub fn random(seed: u64, steps: usize) -> Self {
        let sequence = Sequence::random(seed, steps);
        let mut log = Self::new(sequence.settings.clone(), 0);
        for step in &sequence.steps {
            match step {
                Step::Submit { clock, namespace, options, lines } => {
                    log.clock = *clock;
                    log.submit(namespace, options, lines);
                }
                Step::Expire { clock, limit } => {
                    let mut bytes = Vec::new();
                    log.machine.expire(*limit, *clock, &mut bytes);
                    log.keep(&bytes);
                }
                // A start raises the epoch.
                Step::Reload | Step::Fold => log.machine.set_epoch(log.machine.epoch() + 1),
            }
        }
        log
    }

    pub fn submit(&mut self, namespace: &str, options: &str, lines: &[String]) {
        let Ok(envelope) = envelope(namespace, options, lines) else { return };
        if let Body::Single(command) = &envelope.body
            && command.spec().effect == Effect::Read
        {
            return;
        }
        let mut bytes = Vec::new();
        self.machine.submit(&envelope, self.clock, &mut bytes);
        let before = self.entries.len();
        self.keep(&bytes);
        for entry in &self.entries[before..] {
            let Some(mark) = &entry.head.operation else { continue };
            if envelope.common.operation.as_ref() == Some(&mark.id) {
                self.begun.insert(mark.id.clone(), envelope.body.clone());
            }
            if let (Some(body), true) = (self.begun.get(&mark.id), entry.outcome.is_some()) {
                self.sent.insert(entry.sequence_last(), body.clone());
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.entries.extend(Entry::read_all(bytes).expect("the log"));
    }

    /// Runs a command at the next millisecond.
    pub fn run(&mut self, line: &str) {
        self.clock += 1;
        self.submit("", "", &[line.to_owned()]);
    }

    /// Puts a clock that was ahead right.
    pub fn put_back(&mut self, by_ms: u64) {
        let from_ms = self.machine.now();
        self.clock = from_ms - by_ms;
        let mut bytes = Vec::new();
        self.machine.change_clock(ClockChange::Moved { from_ms, to_ms: self.clock }, &mut bytes);
        self.keep(&bytes);
    }

    /// The machine's answer to a query now; `None` if it is refused.
    pub fn ask(&self, line: &str) -> Option<Vec<String>> {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let spec = find(words[0]).expect("a command");
        let (command, _): (Command, _) = Command::parse(spec, &words[1..]).expect("well-formed");
        match self.machine.query("", &command, self.machine.now()) {
            MachineAnswer::Receipt(receipt) => figures(&receipt.outcome),
            MachineAnswer::Replay(_) => panic!("{line} is answered from the log"),
        }
    }

    /// The whole log in one batch.
    pub fn all(&self) -> Batch {
        Batch { partition: self.machine.partition(), ..batch(&self.entries, Position::default()) }
    }

    /// The log in pieces of a few entries.
    pub fn pieces(&self, size: usize) -> Vec<Batch> {
        let mut after = Position::default();
        let cut = |entries: &[Entry]| {
            let piece = Batch { partition: self.machine.partition(), ..batch(entries, after) };
            after = piece.end();
            piece
        };
        self.entries.chunks(size).map(cut).collect()
    }
}

fn figures(outcome: &Outcome) -> Option<Vec<String>> {
    outcome.is_applied().then(|| outcome.facts.iter().map(Value::to_string).collect())
}

/// A batch of partition 0.
pub fn batch(entries: &[Entry], after: Position) -> Batch {
    Batch { partition: 0, after, entries: entries.to_vec() }
}

/// An entry in two pieces, as a stream may deliver it; whole if it has only one event.
pub fn split(entry: &Entry, random: &mut Random) -> Vec<Entry> {
    let count = entry.events.len() as u64;
    if count < 2 {
        return vec![entry.clone()];
    }
    let cut = 1 + random.below(count - 1);
    let at = usize::try_from(cut).expect("a place");
    let (mut first, mut second) = (entry.clone(), entry.clone());
    first.events.truncate(at);
    first.outcome = None;
    first.head.more = true;
    second.events.drain(..at);
    second.head.sequence_first += cut;
    vec![first, second]
}
