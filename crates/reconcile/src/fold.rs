//! The fold of a partition's log, entry by entry.

use std::collections::VecDeque;

use scarce_core::event::Entry;
use scarce_core::machine::Machine;

use crate::ReconcileError;
use crate::figures::Ledger;
use crate::invariants::Tallies;
use crate::report::{CheckKind, EventPlace, Finding};
use crate::run::GoOn;
use crate::source::LogSource;

/// How many entries wait, at most.
const WAITING_MAX: usize = 20_000;

/// How often the log is asked again for what an engine says that it has.
const TRIES_MAX: usize = 5;

/// Gets entries that were folded, and the state after them.
type Seen<'s> = &'s mut dyn FnMut(&Machine, &[Entry]) -> Result<(), ReconcileError>;

/// The state that the log gives, and what is wrong with the log.
pub(crate) struct Fold {
    pub(crate) machine: Machine,
    pub(crate) tallies: Tallies,
    /// The sequence of the state that it began with.
    pub(crate) begins_after: u64,
    /// How many events were folded.
    pub(crate) events: u64,
    /// Where the log contradicts itself: nothing behind that is folded.
    pub(crate) broken: Option<Finding>,
    /// Entries that were read and not folded yet.
    waiting: VecDeque<Entry>,
}

impl Fold {
    /// Begins with the state that the log goes on from.
    pub(crate) fn new(machine: Machine) -> Self {
        Self {
            tallies: Tallies::new(machine.state()),
            begins_after: machine.sequence(),
            machine,
            events: 0,
            broken: None,
            waiting: VecDeque::new(),
        }
    }

    /// Reads and folds all of the log; `seen` gets each entry after it was folded. What is wrong with the log ends that.
    pub(crate) fn take_all(&mut self, log: &mut dyn LogSource, seen: Seen<'_>) -> Result<(), ReconcileError> {
        let (partition, from) = (self.machine.partition(), self.machine.sequence() + 1);
        let read = log.read(partition, from, &mut |entries| {
            let mut count = 0;
            while count < entries.len() && self.take(&entries[count]) {
                count += 1;
            }
            seen(&self.machine, &entries[..count])?;
            Ok(self.broken.is_none())
        });
        self.note_broken(read)
    }

    /// Folds the log up to a sequence; `seen` gets each entry after it was folded.
    pub(crate) fn take_each(
        &mut self,
        log: &mut dyn LogSource,
        through: u64,
        go_on: GoOn<'_>,
        seen: &mut dyn FnMut(&Self, &Entry),
    ) -> Result<(), ReconcileError> {
        let (partition, from) = (self.machine.partition(), self.machine.sequence() + 1);
        let read = log.read(partition, from, &mut |entries| {
            for entry in &entries {
                if entry.head.sequence_first > through || !self.take(entry) {
                    return Ok(false);
                }
                seen(self, entry);
            }
            if go_on(self.machine.sequence()) { Ok(true) } else { Err(ReconcileError::Stopped) }
        });
        self.note_broken(read)
    }

    /// Folds up to a sequence that the engine has; `false` where the log does not lead there.
    pub(crate) fn reach(&mut self, log: &mut dyn LogSource, sequence: u64) -> Result<bool, ReconcileError> {
        let mut tries_left = TRIES_MAX;
        while self.machine.sequence() < sequence {
            if self.waiting.is_empty() {
                tries_left = tries_left.saturating_sub(1);
                if tries_left == 0 {
                    return Ok(false);
                }
                self.read_on(log)?;
            }
            while let Some(entry) = self.waiting.front().filter(|entry| entry.head.sequence_first <= sequence)
            {
                let entry = entry.clone();
                self.waiting.pop_front();
                tries_left = TRIES_MAX;
                if !self.take(&entry) {
                    return Ok(false);
                }
            }
            if self.broken.is_some() {
                return Ok(false);
            }
        }
        Ok(self.machine.sequence() == sequence)
    }

    fn read_on(&mut self, log: &mut dyn LogSource) -> Result<(), ReconcileError> {
        let (partition, from) = (self.machine.partition(), self.machine.sequence() + 1);
        let waiting = &mut self.waiting;
        let read = log.read(partition, from, &mut |entries| {
            waiting.extend(entries);
            Ok(waiting.len() < WAITING_MAX)
        });
        self.note_broken(read)
    }

    fn note_broken(&mut self, read: Result<(), ReconcileError>) -> Result<(), ReconcileError> {
        match read {
            Err(ReconcileError::Broken { what }) => {
                let next = self.machine.sequence() + 1;
                self.broken.get_or_insert_with(|| Finding {
                    check: CheckKind::Log,
                    partition: Some(self.machine.partition()),
                    resource: None,
                    field: "log".to_owned(),
                    expected: Some(format!("event {next}")),
                    found: Some(what),
                    first_event: Some(EventPlace {
                        partition: self.machine.partition(),
                        sequence: next,
                        event: None,
                    }),
                });
                Ok(())
            }
            other => other,
        }
    }

    /// Folds an entry; `false` where it does not follow what is folded, which is noted.
    fn take(&mut self, entry: &Entry) -> bool {
        if self.broken.is_some() {
            return false;
        }
        let next = self.machine.sequence() + 1;
        if entry.sequence_last() < next {
            return true;
        }
        if let Err(finding) = self.check(entry, next) {
            self.broken = Some(*finding);
            return false;
        }
        self.machine.apply(entry);
        for event in &entry.events {
            self.tallies.count(self.machine.state(), event);
        }
        self.events += entry.events.len() as u64;
        true
    }

    fn check(&self, entry: &Entry, next: u64) -> Result<(), Box<Finding>> {
        let partition = self.machine.partition();
        let finding = |sequence, event, field: &str, expected, found| Finding {
            check: CheckKind::Log,
            partition: Some(partition),
            resource: None,
            field: field.to_owned(),
            expected,
            found,
            first_event: Some(EventPlace { partition, sequence, event }),
        };
        let first = entry.head.sequence_first;
        if first != next {
            let values = (Some(next.to_string()), Some(first.to_string()));
            return Err(Box::new(finding(next, None, "sequence", values.0, values.1)));
        }
        let (epoch, before) = (entry.head.epoch, self.machine.epoch());
        if self.machine.sequence() > 0 && epoch < before {
            let values = (Some(format!("{before} or later")), Some(epoch.to_string()));
            return Err(Box::new(finding(first, None, "epoch", values.0, values.1)));
        }
        let mut ledger = Ledger::new(self.machine.state());
        for (sequence, event) in (first..).zip(&entry.events) {
            ledger.follow(event).map_err(|its| {
                let resource = Some(its.resource);
                let name = Some(event.spec().name);
                Box::new(Finding { resource, ..finding(sequence, name, its.field, its.before, its.told) })
            })?;
        }
        Ok(())
    }
}
