//! An engine in this process.

use std::collections::BTreeSet;
use std::sync::Arc;

use scarce_core::command::Command;
use scarce_core::command::table::find;
use scarce_core::machine::Machine;
use scarce_core::outcome::{Outcome, Value};
use scarce_core::types::Id;
use scarce_engine::{Engine, Failure, Image, Request};

use crate::ReconcileError;
use crate::source::{EngineSource, Figures, HeldDigest, LogSource, Take, figures_of, look, look_commands};

/// How much of the log is read at a time.
const BYTES_AT_ONCE: u64 = 1 << 20;

/// An engine in this process: its log, and its answers.
#[derive(Clone)]
pub struct Served {
    engine: Arc<dyn Engine>,
    /// Partitions whose log does not reach back to its beginning.
    trimmed: BTreeSet<u32>,
}

impl Served {
    /// The engine.
    #[must_use]
    pub fn new(engine: Arc<dyn Engine>) -> Self {
        Self { engine, trimmed: BTreeSet::new() }
    }

    /// Why events cannot be read that were there when the comparison began.
    fn why_unread(&self, partition: u32, next: u64, failure: Failure) -> ReconcileError {
        match self.engine.first_sequence(partition) {
            Ok(first) if first > next => ReconcileError::Trimmed { partition, next, first },
            _ => failure.into(),
        }
    }

    fn ask(&self, partition: u32, commands: Vec<Command>) -> Result<Vec<Outcome>, ReconcileError> {
        let requests = commands.into_iter().map(|command| Request::Read(String::new(), command));
        let answers = self.engine.call(partition, requests.collect());
        let outcomes = answers.into_iter().map(|answer| answer.map(|receipt| receipt.outcome));
        Ok(outcomes.collect::<Result<_, Failure>>()?)
    }
}

impl LogSource for Served {
    fn partitions(&self) -> u32 {
        self.engine.partitions()
    }

    fn deployment_id(&self) -> &str {
        self.engine.deployment_id()
    }

    fn base(&mut self, partition: u32) -> Result<Machine, ReconcileError> {
        if self.engine.first_sequence(partition)? <= 1 {
            return Ok(Machine::new(self.engine.state_settings().clone(), partition));
        }
        self.trimmed.insert(partition);
        Ok(self.engine.image(partition)?.into_machine()?)
    }

    fn is_state_of_engine(&self, partition: u32) -> bool {
        self.trimmed.contains(&partition)
    }

    fn first(&mut self, partition: u32, _: u64) -> Result<u64, ReconcileError> {
        Ok(self.engine.first_sequence(partition)?)
    }

    fn read(&mut self, partition: u32, from: u64, take: Take<'_>) -> Result<(), ReconcileError> {
        let mut next = from;
        let end = self.engine.durable_through(partition)?;
        while next <= end {
            let entries = self.engine.entries(partition, next, BYTES_AT_ONCE);
            let entries = entries.map_err(|failure| self.why_unread(partition, next, failure))?;
            let Some(last) = entries.last() else { break };
            next = last.sequence_last() + 1;
            if !take(entries)? {
                break;
            }
        }
        Ok(())
    }

    fn end(&mut self, partition: u32) -> Result<Option<u64>, ReconcileError> {
        Ok(Some(self.engine.durable_through(partition)?))
    }
}

impl EngineSource for Served {
    fn deployment_id(&self) -> &str {
        self.engine.deployment_id()
    }

    fn digests(&mut self, partition: u32, resources: &[Id]) -> Result<Vec<HeldDigest>, ReconcileError> {
        let digest = |id: &Id| digest_command(Some(id));
        let outcomes = self.ask(partition, resources.iter().filter_map(digest).collect())?;
        outcomes.iter().map(held).collect()
    }

    fn whole(&mut self, partition: u32) -> Result<HeldDigest, ReconcileError> {
        let outcomes = self.ask(partition, digest_command(None).into_iter().collect())?;
        outcomes.first().map_or_else(|| Err(unclear()), held)
    }

    fn figures(&mut self, partition: u32, resource: &Id) -> Result<Figures, ReconcileError> {
        let commands = look_commands().filter_map(|spec| look(spec, resource)).collect();
        let outcomes = self.ask(partition, commands)?;
        Ok(look_commands().zip(&outcomes).flat_map(|(spec, outcome)| figures_of(spec, outcome)).collect())
    }

    fn image(&mut self, partition: u32) -> Result<Option<Box<dyn Image>>, ReconcileError> {
        Ok(Some(self.engine.image(partition)?))
    }
}

fn digest_command(resource: Option<&Id>) -> Option<Command> {
    let spec = find(b"DIGEST")?;
    let words: Vec<&[u8]> = resource.iter().map(|id| id.as_str().as_bytes()).collect();
    Command::parse(spec, &words).ok().map(|(command, _)| command)
}

fn unclear() -> ReconcileError {
    ReconcileError::Unanswered {
        what: "DIGEST has no digest in it; the engine is of another release".to_owned(),
    }
}

/// Reads a partition's row of an answer to `DIGEST`.
fn held(outcome: &Outcome) -> Result<HeldDigest, ReconcileError> {
    if let [Value::List(rows)] = outcome.facts.iter().as_slice()
        && let [Value::List(row)] = rows.as_slice()
        && let [_, Value::Integer(sequence), Value::Text(digest)] = row.as_slice()
        && let (Ok(sequence), Ok(digest)) = (u64::try_from(*sequence), u128::from_str_radix(digest, 16))
    {
        return Ok(HeldDigest { sequence, digest });
    }
    Err(unclear())
}
