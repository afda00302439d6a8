//! The state machine alone, as a target.

use scarce_core::command::Invalid;
use scarce_core::event::Entry;
use scarce_core::machine::{Machine, MachineAnswer, Replay};
use scarce_core::state::StateSettings;

use super::request::{self, Request, atomic, single};
use super::{BatchHead, Setup, Target};

/// The secret of every cut in tests.
const SECRET: [u8; 32] = [7; 32];

/// Two machines that receive the same commands. At a restart one is loaded from its snapshot and the
/// other is folded from its log; both must stay equal.
#[derive(Debug)]
pub struct CoreTarget {
    loaded: Lane,
    folded: Lane,
    clock: u64,
    /// The number of log bytes already read for events.
    events_read: usize,
}

/// A machine and its complete log.
#[derive(Debug)]
struct Lane {
    machine: Machine,
    log: Vec<u8>,
}

impl Default for CoreTarget {
    fn default() -> Self {
        Self::new()
    }
}

impl CoreTarget {
    /// Empty machines.
    #[must_use]
    pub fn new() -> Self {
        let lane = || Lane::new(StateSettings::default());
        Self { loaded: lane(), folded: lane(), clock: 0, events_read: 0 }
    }

    fn ask(&mut self, request: Result<Request, Invalid>) -> String {
        let request = match request {
            Ok(request) => request,
            Err(invalid) => return format!("INVALID {} {}", invalid.argument, invalid.reason),
        };
        let loaded = self.loaded.ask(&request, self.clock);
        let folded = self.folded.ask(&request, self.clock);
        if loaded == folded { loaded } else { format!("{loaded} (and after a fold of the log: {folded})") }
    }
}

impl Target for CoreTarget {
    fn supports(&self, feature: &str) -> bool {
        feature == "settings"
    }

    fn reset(&mut self, setup: &Setup) -> Result<(), String> {
        let lane = || Lane::new(setup.settings.clone());
        *self = Self { loaded: lane(), folded: lane(), clock: 0, events_read: 0 };
        Ok(())
    }

    fn set_clock(&mut self, now: u64) {
        self.clock = now;
    }

    fn command(&mut self, words: &[&str]) -> String {
        self.ask(single(words, &SECRET))
    }

    fn batch(&mut self, id: Option<&str>, deadline: Option<&str>, lines: &[Vec<&str>]) -> String {
        self.ask(atomic(id, deadline, lines, &SECRET))
    }

    fn dry_run(&mut self, batch: Option<BatchHead<'_>>, lines: &[Vec<&str>]) -> Option<String> {
        let request = request::of(batch, lines, &SECRET).ok()?;
        Some(self.loaded.dry_run(&request, self.clock))
    }

    fn expire(&mut self, limit: usize) -> usize {
        let ended = self.loaded.machine.expire(limit, self.clock, &mut self.loaded.log);
        self.folded.machine.expire(limit, self.clock, &mut self.folded.log);
        ended
    }

    fn restart(&mut self) -> Result<(), String> {
        let (loaded, folded) = (self.loaded.bytes(), self.folded.image());
        if self.loaded.log != self.folded.log {
            return Err("the logs differ".to_owned());
        }
        let settings = self.loaded.machine.state().settings.clone();
        self.folded.check_crashes(&settings)?;
        self.loaded.machine =
            Machine::load(settings.clone(), &loaded).map_err(|_| "the snapshot cannot be read".to_owned())?;
        self.folded.machine = fold(&settings, &self.folded.entries()?);
        if self.loaded.bytes() != loaded {
            return Err("the machine from the snapshot is another".to_owned());
        }
        if self.folded.machine.state().digest(None) != self.loaded.machine.state().digest(None) {
            return Err("the digest of the machine folded from the log is another".to_owned());
        }
        if self.folded.image() != folded {
            return Err("the machine folded from the log is another, though the digest is not".to_owned());
        }
        Ok(())
    }

    fn events(&mut self) -> Vec<String> {
        let fresh = Entry::read_all(&self.loaded.log[self.events_read..]).unwrap_or_default();
        self.events_read = self.loaded.log.len();
        fresh.iter().flat_map(|entry| &entry.events).map(|event| event.spec().name.to_owned()).collect()
    }

    fn digest(&mut self) -> String {
        format!("{:032x}", self.loaded.machine.state().digest(None))
    }

    fn image(&mut self) -> Option<Vec<u8>> {
        Some([self.loaded.image(), self.folded.image()].concat())
    }
}

impl Lane {
    fn new(settings: StateSettings) -> Self {
        Self { machine: Machine::new(settings, 0), log: Vec::new() }
    }

    fn ask(&mut self, request: &Request, clock: u64) -> String {
        let answer = match request {
            Request::Read(command) => self.machine.query("", command, clock),
            Request::Write(envelope) => self.machine.submit(envelope, clock, &mut self.log),
        };
        self.shown(answer)
    }

    fn shown(&self, answer: MachineAnswer) -> String {
        match answer {
            MachineAnswer::Receipt(receipt) => receipt.outcome.to_string(),
            MachineAnswer::Replay(replay) => self.read_back(replay),
        }
    }

    /// A dry run leaves the machine unchanged, byte for byte.
    fn dry_run(&mut self, request: &Request, clock: u64) -> String {
        let Request::Write(envelope) = request else { return self.ask(request, clock) };
        let (before, stamp, logged) = (self.image(), self.machine.now(), self.log.len());
        let answer = self.machine.dry_run(envelope, clock, &mut self.log);
        if self.image() != before || self.machine.now() != stamp || self.log.len() != logged {
            return "a dry run changed the machine".to_owned();
        }
        self.shown(answer)
    }

    /// The first receipt, from the log entry that ends where the replay says.
    fn read_back(&self, replay: Replay) -> String {
        let entries = self.entries().unwrap_or_default();
        match entries.iter().find(|entry| entry.sequence_last() == replay.sequence_last) {
            Some(entry) => self.machine.replayed(replay, entry).outcome.to_string(),
            None => format!("no entry of the log ends at {}", replay.sequence_last),
        }
    }

    fn entries(&self) -> Result<Vec<Entry>, String> {
        let entries = Entry::read_all(&self.log).map_err(|_| "the log cannot be read".to_owned())?;
        let mut next = 1;
        for entry in &entries {
            if entry.head.sequence_first != next {
                return Err(format!("sequence {} follows {}", entry.head.sequence_first, next - 1));
            }
            next += entry.events.len() as u64;
        }
        Ok(entries)
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.machine.put(&mut bytes);
        bytes
    }

    fn image(&self) -> Vec<u8> {
        image(&self.machine)
    }

    /// After a crash between any two entries of a command, the rest of the command produces the same bytes
    /// as without the crash.
    fn check_crashes(&self, settings: &StateSettings) -> Result<(), String> {
        let entries = self.entries()?;
        for (at, entry) in entries.iter().enumerate().filter(|(at, _)| goes_on(&entries[*at..])) {
            let mut machine = fold(settings, &entries[..=at]);
            let mut log = Vec::new();
            machine.finish(&mut log);
            let redone = Entry::read_all(&log).map_err(|_| "the log cannot be read".to_owned())?;
            if redone.is_empty() || !entries[at + 1..].starts_with(&redone) {
                let sequence = entry.sequence_last();
                return Err(format!("after a crash at sequence {sequence} the command ends otherwise"));
            }
        }
        Ok(())
    }
}

/// All that a machine holds: its bytes, and the deadlines, which snapshots leave out because records have them.
#[must_use]
pub fn image(machine: &Machine) -> Vec<u8> {
    let mut bytes = Vec::new();
    machine.put(&mut bytes);
    for due in machine.state().deadlines.due(u64::MAX) {
        bytes.extend_from_slice(format!("{due:?}").as_bytes());
    }
    bytes
}

/// Whether the first of these entries leaves something that a machine does by itself after a crash: further steps of a
/// command, or packets of a campaign that are missing.
#[must_use]
pub fn goes_on(entries: &[Entry]) -> bool {
    let [entry, behind @ ..] = entries else { return false };
    entry.head.more || behind.first().is_some_and(has_further_packets)
}

/// Whether an entry has packets of a campaign that was created by an entry before it.
#[must_use]
pub fn has_further_packets(entry: &Entry) -> bool {
    entry.events.first().is_some_and(|event| event.spec().name == "packets.filled")
}

fn fold(settings: &StateSettings, entries: &[Entry]) -> Machine {
    let mut machine = Machine::new(settings.clone(), 0);
    entries.iter().for_each(|entry| machine.apply(entry));
    machine
}
