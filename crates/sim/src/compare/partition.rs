//! The core with its log, which can be restarted and interrupted at any time.

use std::collections::BTreeMap;

use scarce_core::command::{Body, Command, Envelope};
use scarce_core::event::Entry;
use scarce_core::machine::{Machine, MachineAnswer};
use scarce_core::operations::OldOperation;
use scarce_core::outcome::{Outcome, Receipt, Value};
use scarce_core::state::StateSettings;
use scarce_core::types::{OperationId, TimeMs};

use crate::conformance::core_target::{goes_on, has_further_packets, image};
use crate::model::Reply;

/// The core with its whole log.
pub(super) struct Core {
    settings: StateSettings,
    pub(super) machine: Machine,
    entries: Vec<Entry>,
    /// The sequences of the events of each operation, from its receipt.
    pub(super) places: BTreeMap<(String, String), (u64, u64)>,
    /// How many operations stay in the machine, and those that have left it.
    in_memory_max: Option<u64>,
    outside: BTreeMap<[u64; 2], OldOperation>,
}

impl Core {
    /// A core whose operations leave its memory, all but so many.
    pub(super) fn new(settings: StateSettings, in_memory_max: Option<u64>) -> Self {
        Self {
            machine: Machine::new(settings.clone(), 0),
            settings,
            entries: Vec::new(),
            places: BTreeMap::new(),
            in_memory_max,
            outside: BTreeMap::new(),
        }
    }

    /// Lets the oldest operations leave the machine, as an engine does once it keeps them.
    fn let_go(&mut self) {
        let operations = &self.machine.state().operations;
        let Some(before) = self.in_memory_max.map(|max| operations.numbers().next.saturating_sub(max)) else {
            return;
        };
        let leaving = operations.from_number(0).take_while(|old| old.number < before);
        self.outside.extend(leaving.map(|old| (old.key, old)));
        self.machine.let_go(before, usize::MAX);
    }

    /// Gives the machine what has left it under an id, as an engine does before each command.
    pub(super) fn recall(&mut self, namespace: &str, id: Option<&OperationId>) {
        let Some(id) = id.filter(|_| self.in_memory_max.is_some()) else { return };
        let key = self.machine.state().operations.key_of(namespace, id);
        self.machine.recall_old(self.outside.get(&key).cloned());
    }

    /// Appends new log entries; returns the names of their events.
    fn keep(&mut self, log: &[u8]) -> Result<Vec<&'static str>, String> {
        let entries = Entry::read_all(log).map_err(|error| error.to_string())?;
        let events = entries.iter().flat_map(|entry| &entry.events).map(|event| event.spec().name);
        // The number of steps of a command does not affect its meaning.
        let named = events.filter(|name| !["operation.stepped", "packets.filled"].contains(name)).collect();
        self.entries.extend(entries);
        Ok(named)
    }

    pub(super) fn receipt(&self, answer: MachineAnswer) -> Result<Receipt, String> {
        match answer {
            MachineAnswer::Receipt(receipt) => Ok(receipt),
            MachineAnswer::Replay(replay) => {
                let holds =
                    |entry: &&Entry| entry.sequence_last() == replay.sequence_last && entry.outcome.is_some();
                let entry = self.entries.iter().rev().find(holds);
                let entry = entry.ok_or("the log does not hold the receipt that it should")?;
                Ok(self.machine.replayed(replay, entry))
            }
        }
    }

    /// A dry run returns the answer of the command that follows, and leaves no trace.
    fn check_dry_run(&mut self, envelope: &Envelope, clock: TimeMs) -> Result<Outcome, String> {
        let mut log = Vec::new();
        let before = (image(&self.machine), self.machine.now());
        let answer = self.machine.dry_run(envelope, clock, &mut log);
        if before == (image(&self.machine), self.machine.now()) && log.is_empty() {
            Ok(self.receipt(answer)?.outcome)
        } else {
            Err("a dry run changed the machine".to_owned())
        }
    }

    pub(super) fn submit(&mut self, envelope: &Envelope, clock: TimeMs) -> Result<Reply, String> {
        self.recall(&envelope.namespace, asked(envelope));
        let foretold = self.check_dry_run(envelope, clock)?;
        let mut log = Vec::new();
        let (before, logged) = (self.machine.sequence(), self.entries.len());
        let answer = self.machine.submit(envelope, clock, &mut log);
        let events = self.keep(&log)?;
        let receipt = self.receipt(answer)?;
        if !foretells(&foretold, &receipt.outcome) {
            return Err(format!("a dry run foretold {foretold} for {}", receipt.outcome));
        }
        self.check_place(envelope, &receipt, before)?;
        self.let_go();
        for cut in logged..self.entries.len() {
            if goes_on(&self.entries[cut..]) {
                self.check_interrupted(envelope, &receipt, cut, clock)?;
            }
        }
        Ok(Reply { outcome: receipt.outcome, at: receipt.at, replayed: receipt.replayed, events })
    }

    /// An operation interrupted after the entry with the index `cut` continues as if it had not been, by
    /// itself or because a duplicate arrives.
    fn check_interrupted(
        &self,
        envelope: &Envelope,
        first: &Receipt,
        cut: usize,
        clock: TimeMs,
    ) -> Result<(), String> {
        let mut machine = Machine::new(self.settings.clone(), 0);
        self.entries[..=cut].iter().for_each(|entry| machine.apply(entry));
        let mut log = Vec::new();
        let mut answer = None;
        if envelope.common.operation.is_some() {
            answer = Some(machine.submit(envelope, clock, &mut log));
        } else {
            machine.finish(&mut log);
        }
        let rest = Entry::read_all(&log).map_err(|error| error.to_string())?;
        if rest != self.entries[cut + 1..]
            || machine.state().digest(None) != self.machine.state().digest(None)
        {
            return Err(format!("what is interrupted after {} entries is finished otherwise", cut + 1));
        }
        let copy = answer.map(|answer| self.receipt(answer)).transpose()?;
        let agrees = copy.as_ref().is_none_or(|copy| *copy == Receipt { replayed: true, ..first.clone() });
        if agrees { Ok(()) } else { Err(format!("a helping copy is answered {copy:?} and not {first:?}")) }
    }

    /// A receipt names the first and the last of its events, or the last event before it if it has none;
    /// a duplicate repeats the first receipt.
    fn check_place(&mut self, envelope: &Envelope, receipt: &Receipt, before: u64) -> Result<(), String> {
        let place = (receipt.sequence_first, receipt.sequence_last);
        let key = asked(envelope).map(|id| (envelope.namespace.to_string(), id.to_string()));
        if receipt.replayed {
            let first = key.and_then(|key| self.places.get(&key).copied());
            return if first == Some(place) {
                Ok(())
            } else {
                Err(format!("a copy of the receipt names events {place:?}, the first named {first:?}"))
            };
        }
        // The packets that a campaign's first entry does not have belong to no operation.
        let own = self.entries.iter().rev().find(|entry| !has_further_packets(entry));
        let (now, last) = (own.map_or(0, Entry::sequence_last).max(before), place.1);
        if last != now || (place.0 <= before && place.0 != last) {
            return Err(format!("a receipt names events {place:?} where {before} to {now} were made"));
        }
        if let Some(key) = key.filter(|_| now > before) {
            self.places.insert(key, place);
        }
        Ok(())
    }

    pub(super) fn expire(
        &mut self,
        limit: usize,
        clock: TimeMs,
    ) -> Result<(usize, Vec<&'static str>), String> {
        let mut log = Vec::new();
        let count = self.machine.expire(limit, clock, &mut log);
        Ok((count, self.keep(&log)?))
    }

    pub(super) fn reload(&mut self) -> Result<(), String> {
        let mut bytes = Vec::new();
        self.machine.put(&mut bytes);
        self.machine = Machine::load(self.settings.clone(), &bytes).map_err(|error| error.to_string())?;
        let mut again = Vec::new();
        self.machine.put(&mut again);
        if bytes == again { Ok(()) } else { Err("a loaded snapshot is not what was saved".to_owned()) }
    }

    /// Folds the log, which must give the same state. Its rows may stand in another order than after a snapshot, which
    /// leaves no gaps between them.
    pub(super) fn fold(&mut self) -> Result<(), String> {
        let before = self.machine.state().digest(None);
        self.machine = Machine::new(self.settings.clone(), 0);
        self.entries.iter().for_each(|entry| self.machine.apply(entry));
        self.let_go();
        if self.machine.state().digest(None) == before {
            Ok(())
        } else {
            Err("the folded log is not the state".to_owned())
        }
    }
}

/// The operation that an envelope is about.
fn asked(envelope: &Envelope) -> Option<&OperationId> {
    match &envelope.body {
        Body::Single(Command::OperationResolve(resolve)) => Some(&resolve.operation),
        _ => envelope.common.operation.as_ref(),
    }
}

/// Whether an outcome matches the dry run's, which may hide values.
fn foretells(foretold: &Outcome, outcome: &Outcome) -> bool {
    fn agree(foretold: &[Value], real: &[Value]) -> bool {
        foretold.len() == real.len()
            && foretold.iter().zip(real).all(|pair| match pair {
                (Value::List(foretold), Value::List(real)) => agree(foretold, real),
                (Value::Absent, _) => true,
                (foretold, real) => foretold == real,
            })
    }
    foretold.code == outcome.code && agree(&foretold.facts, &outcome.facts)
}
