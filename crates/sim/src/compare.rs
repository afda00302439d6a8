//! Runs a sequence on the core and on the model in lock-step and reports the first difference; shrinks a
//! sequence that differs.

mod partition;
mod shrink;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use scarce_core::command::table::find;
use scarce_core::command::{Body, Command, Common, Effect, Envelope, Invalid};
use scarce_core::outcome::{Code, Facts, Outcome, Value};
use scarce_core::state::StateSettings;
use scarce_core::types::TimeMs;

use crate::model::{Model, Reply};
use crate::random::{Sequence, Step};
use partition::Core;

pub use shrink::{Soak, report, shrink, soak};

/// The deployment's secret in all comparisons.
pub const SECRET: [u8; 32] = [7; 32];

/// The number of steps between two comparisons of digests.
const DIGEST_EVERY: usize = 5;

/// The first difference between the two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The index of the step.
    pub step: usize,
    /// The answers of the core and of the model.
    pub what: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "step {}: {}", self.step, self.what)
    }
}

/// How often each outcome was seen, including those of refused batches' lines.
pub type Coverage = BTreeMap<Code, u64>;

/// A comparison, unchanged or with a planted difference that it must find.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The model's settings if they differ from the sequence's.
    pub model_settings: Option<StateSettings>,
    /// Changes what the core answered.
    pub alter: fn(&mut Outcome),
}

impl Default for Comparison {
    fn default() -> Self {
        Self { model_settings: None, alter: |_| {} }
    }
}

/// Reads the words of a step as a gateway does.
///
/// # Errors
/// When a line is not a command.
pub fn envelope(namespace: &str, options: &str, lines: &[String]) -> Result<Envelope, Invalid> {
    let mut commands = Vec::new();
    let mut common = Common::default();
    for line in lines.iter().filter(|line| !line.is_empty()) {
        let whole = if commands.is_empty() { format!("{line} {options}") } else { line.clone() };
        let words: Vec<&[u8]> = whole.split_whitespace().map(str::as_bytes).collect();
        let spec =
            words.first().and_then(|name| find(name)).ok_or_else(|| Invalid::new("command", "is unknown"))?;
        let (command, its) = Command::parse(spec, &words[1..])?;
        if commands.is_empty() {
            common = its;
        }
        commands.push(command);
    }
    let body = if lines.len() == 1 && !lines[0].is_empty() {
        Body::Single(commands.remove(0))
    } else {
        Body::Atomic(commands)
    };
    Envelope::new(namespace, common, body, &SECRET)
}

/// Blanks the words that say what is invalid and why.
fn comparable(outcome: &Outcome) -> Outcome {
    let mut outcome = outcome.clone();
    if outcome.code == Code::Invalid {
        outcome.facts.clear();
    }
    let mut facts = outcome.facts.into_vec();
    blank(&mut facts);
    outcome.facts = facts.into();
    outcome
}

/// Drops what follows an `INVALID`.
fn blank(values: &mut Vec<Value>) {
    if let Some(at) = values.iter().position(|value| *value == Value::from(Code::Invalid.word())) {
        values.truncate(at + 1);
    }
    for value in values {
        if let Value::List(values) = value {
            blank(values);
        }
    }
}

fn cover(coverage: &mut Coverage, outcome: &Outcome) {
    *coverage.entry(outcome.code).or_default() += 1;
    if let (Code::BatchRefused, Some(Value::Text(word))) = (outcome.code, outcome.facts.get(1))
        && let Some(code) = Code::from_word(word)
    {
        *coverage.entry(code).or_default() += 1;
    }
}

impl Comparison {
    /// Runs a sequence until the first difference.
    ///
    /// # Errors
    /// The first difference; a panic counts as one.
    pub fn run(&self, sequence: &Sequence, coverage: &mut Coverage) -> Result<(), Difference> {
        let mut at = 0;
        let run = catch_unwind(AssertUnwindSafe(|| self.run_steps(sequence, coverage, &mut at)));
        run.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Err(Difference { step: at, what: format!("panic: {}", text.unwrap_or_default()) })
        })
    }

    fn run_steps(
        &self,
        sequence: &Sequence,
        coverage: &mut Coverage,
        at: &mut usize,
    ) -> Result<(), Difference> {
        let mut core = Core::new(sequence.settings.clone(), in_memory_max(sequence.seed));
        let mut model =
            Model::new(self.model_settings.clone().unwrap_or_else(|| sequence.settings.clone()), SECRET);
        for (step, what) in sequence.steps.iter().enumerate() {
            *at = step;
            let differs = |what: String| Difference { step, what };
            self.step(&mut core, &mut model, what, coverage).map_err(differs)?;
            let last = step + 1 == sequence.steps.len();
            if last || step % DIGEST_EVERY == 0 {
                let (ours, theirs) = (core.machine.state().digest(None), model.digest(None));
                if ours != theirs {
                    return Err(differs(format!("digest: core {ours:032x}, model {theirs:032x}")));
                }
            }
        }
        Ok(())
    }

    fn step(
        &self,
        core: &mut Core,
        model: &mut Model,
        step: &Step,
        coverage: &mut Coverage,
    ) -> Result<(), String> {
        match step {
            Step::Reload => {
                model.restart();
                core.reload()
            }
            Step::Fold => {
                model.restart();
                core.fold()
            }
            Step::Expire { clock, limit } => {
                let (ours, theirs) = (core.expire(*limit, *clock)?, model.expire(*limit, *clock));
                if ours == theirs { Ok(()) } else { Err(format!("expired: core {ours:?}, model {theirs:?}")) }
            }
            Step::Submit { clock, namespace, options, lines } => {
                let Ok(envelope) = envelope(namespace, options, lines) else {
                    *coverage.entry(Code::Invalid).or_default() += 1;
                    return Ok(());
                };
                let (mut ours, theirs) = both(core, model, &envelope, *clock)?;
                (self.alter)(&mut ours.outcome);
                cover(coverage, &theirs.outcome);
                same(&ours, &theirs)
            }
        }
    }
}

/// Of every other sequence, operations leave memory, all but a few.
fn in_memory_max(seed: u64) -> Option<u64> {
    seed.is_multiple_of(2).then_some(seed / 2 % 4)
}

/// The answer of both.
fn both(
    core: &mut Core,
    model: &mut Model,
    envelope: &Envelope,
    clock: TimeMs,
) -> Result<(Reply, Reply), String> {
    let reading = match &envelope.body {
        Body::Single(command) if command.spec().effect == Effect::Read => Some(command),
        _ => None,
    };
    let Some(command) = reading else {
        let theirs = model.submit(envelope, clock);
        return Ok((core.submit(envelope, clock)?, theirs));
    };
    if let Command::OperationGet(get) = command {
        core.recall(&envelope.namespace, Some(&get.operation));
    }
    let answer = core.machine.query(&envelope.namespace, command, clock);
    let mut ours = core.receipt(answer)?.outcome;
    if let (Command::OperationGet(get), true) = (command, ours.is_applied()) {
        let sequence = std::mem::replace(&mut ours.facts[1], Value::Absent);
        let place = core.places.get(&(envelope.namespace.to_string(), get.operation.to_string()));
        if place.is_some_and(|place| sequence != Value::from(place.1)) {
            return Err(format!("OPERATION.GET names {sequence}, the receipt named {place:?}"));
        }
    }
    if let Command::Digest(_) = command {
        ours.facts = digest_alone(&ours);
    }
    if let (Command::MarketDepth(_) | Command::MarketTicker(_), true) = (command, ours.is_applied()) {
        // The model counts no events.
        ours.facts.pop();
    }
    let theirs = model.query(&envelope.namespace, command, clock);
    let reply = |outcome| Reply { outcome, at: 0, replayed: false, events: Vec::new() };
    Ok((reply(ours), reply(theirs)))
}

/// The digest without partition and sequence, which the model does not have.
fn digest_alone(outcome: &Outcome) -> Facts {
    match outcome.facts.first() {
        Some(Value::List(rows)) => match rows.first() {
            Some(Value::List(row)) => row.last().cloned().into_iter().collect(),
            _ => Facts::new(),
        },
        _ => Facts::new(),
    }
}

fn same(ours: &Reply, theirs: &Reply) -> Result<(), String> {
    let events = |reply: &Reply| -> Vec<&'static str> {
        reply.events.iter().copied().filter(|name| *name != "packets.filled").collect()
    };
    let agrees = comparable(&ours.outcome) == comparable(&theirs.outcome)
        && (ours.at, ours.replayed) == (theirs.at, theirs.replayed)
        && events(ours) == events(theirs);
    if agrees {
        return Ok(());
    }
    let shown = |reply: &Reply| {
        let again = if reply.replayed { " (again)" } else { "" };
        format!("{}{again} at {} {:?}", reply.outcome, reply.at, reply.events)
    };
    Err(format!("\n  core  {}\n  model {}", shown(ours), shown(theirs)))
}
