//! Runs a sequence on the core and on the model in lock-step and says where they first differ; makes
//! a sequence that differs as short as it can.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use scarce_core::command::table::find;
use scarce_core::command::{Body, Command, Common, Effect, Envelope, Invalid};
use scarce_core::event::Entry;
use scarce_core::machine::{Answer, Machine};
use scarce_core::outcome::{Code, Outcome, Receipt, Value};
use scarce_core::state::Settings;
use scarce_core::types::TimeMs;

use crate::model::{Model, Reply};
use crate::random::{Sequence, Step};

/// The deployment's secret in all comparisons.
pub const SECRET: [u8; 32] = [7; 32];

/// After how many steps digests are compared.
const DIGEST_EVERY: usize = 5;

/// The steps of a sequence in a soak.
const SOAK_STEPS: usize = 400;

/// Where the two differ first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which step, from 0.
    pub step: usize,
    /// What the core says and what the model says.
    pub what: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "step {}: {}", self.step, self.what)
    }
}

/// How often each outcome was seen, those of refused batches' lines included.
pub type Coverage = BTreeMap<Code, u64>;

/// A comparison, as it is or with something planted that it must find.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The model's settings where they are not the sequence's.
    pub model_settings: Option<Settings>,
    /// Changes what the core answered.
    pub alter: fn(&mut Outcome),
    /// Groups of commands that are left out.
    pub without: &'static [&'static str],
}

impl Default for Comparison {
    fn default() -> Self {
        Self { model_settings: None, alter: |_| {}, without: &[] }
    }
}

/// The core with its whole log.
struct Core {
    settings: Settings,
    machine: Machine,
    entries: Vec<Entry>,
    /// Where the receipts of operations said that their events are.
    places: BTreeMap<(String, String), (u64, u64)>,
}

impl Core {
    fn new(settings: Settings) -> Self {
        Self {
            machine: Machine::new(settings.clone(), 0),
            settings,
            entries: Vec::new(),
            places: BTreeMap::new(),
        }
    }

    /// Takes in what was logged; gives the names of the events.
    fn keep(&mut self, log: &[u8]) -> Vec<&'static str> {
        let entries = Entry::read_all(log).expect("the core writes entries that it reads");
        let events = entries.iter().flat_map(|entry| &entry.events).map(|event| event.spec().name);
        // In how many steps something is done is no part of what it means.
        let named = events.filter(|name| !["operation.stepped", "packets.filled"].contains(name)).collect();
        self.entries.extend(entries);
        named
    }

    fn receipt(&self, answer: Answer) -> Receipt {
        match answer {
            Answer::Receipt(receipt) => receipt,
            Answer::Replay(replay) => {
                let holds =
                    |entry: &&Entry| entry.sequence_last() == replay.sequence_last && entry.outcome.is_some();
                let entry =
                    self.entries.iter().rev().find(holds).expect("the log holds what it is asked for");
                self.machine.replayed(replay, entry)
            }
        }
    }

    fn submit(&mut self, envelope: &Envelope, clock: TimeMs) -> Result<Reply, String> {
        let mut log = Vec::new();
        let before = self.machine.sequence();
        let answer = self.machine.submit(envelope, clock, &mut log);
        let events = self.keep(&log);
        let receipt = self.receipt(answer);
        self.check_place(envelope, &receipt, before)?;
        Ok(Reply { outcome: receipt.outcome, at: receipt.at, replayed: receipt.replayed, events })
    }

    /// A receipt names the first and the last of its events; without any, the last one there was; a
    /// copy says what the first said.
    fn check_place(&mut self, envelope: &Envelope, receipt: &Receipt, before: u64) -> Result<(), String> {
        let place = (receipt.sequence_first, receipt.sequence_last);
        let operation = envelope.common.operation.as_ref();
        let key = operation.map(|id| (envelope.namespace.to_string(), id.to_string()));
        if receipt.replayed {
            let first = key.and_then(|key| self.places.get(&key).copied());
            return if first == Some(place) {
                Ok(())
            } else {
                Err(format!("a copy of the receipt names events {place:?}, the first named {first:?}"))
            };
        }
        let (now, last) = (self.machine.sequence(), place.1);
        if last != now || (place.0 <= before && place.0 != last) {
            return Err(format!("a receipt names events {place:?} where {before} to {now} were made"));
        }
        if let Some(key) = key.filter(|_| now > before) {
            self.places.insert(key, place);
        }
        Ok(())
    }

    fn expire(&mut self, limit: usize, clock: TimeMs) -> (usize, Vec<&'static str>) {
        let mut log = Vec::new();
        let count = self.machine.expire(limit, clock, &mut log);
        (count, self.keep(&log))
    }

    fn reload(&mut self) -> Result<(), String> {
        let mut bytes = Vec::new();
        self.machine.put(&mut bytes);
        self.machine = Machine::load(self.settings.clone(), &bytes).map_err(|error| error.to_string())?;
        let mut again = Vec::new();
        self.machine.put(&mut again);
        if bytes == again { Ok(()) } else { Err("a loaded snapshot is not what was saved".to_owned()) }
    }

    /// Folds the log, up to the first step of what was done last; what then is finished must be what
    /// the log says.
    fn fold(&mut self) -> Result<(), String> {
        let before = self.machine.state().digest(None);
        let open = self.entries.iter().rev().skip(1).take_while(|entry| entry.head.more).count();
        let folded = if open == 0 { self.entries.len() } else { self.entries.len() - open };
        self.machine = Machine::new(self.settings.clone(), 0);
        self.entries[..folded].iter().for_each(|entry| self.machine.apply(entry));
        let mut log = Vec::new();
        self.machine.finish(&mut log);
        let rest = Entry::read_all(&log).map_err(|error| error.to_string())?;
        if rest != self.entries[folded..] {
            return Err("an interrupted operation is finished otherwise than it was".to_owned());
        }
        if self.machine.state().digest(None) == before {
            Ok(())
        } else {
            Err("the folded log is not the state".to_owned())
        }
    }
}

/// Reads the words of a step as a gateway does.
///
/// # Errors
/// When a line is no command.
pub fn envelope(namespace: &str, options: &str, lines: &[String]) -> Result<Envelope, Invalid> {
    let mut commands = Vec::new();
    let mut common = Common::default();
    for line in lines {
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
    let body = if commands.len() == 1 { Body::Single(commands.remove(0)) } else { Body::Atomic(commands) };
    Envelope::new(namespace, common, body, &SECRET)
}

/// Blanks the words in which something is called invalid.
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
    /// Runs a sequence; gives the first difference.
    ///
    /// # Errors
    /// The first difference, which a panic is too.
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
        let mut core = Core::new(sequence.settings.clone());
        let mut model =
            Model::new(self.model_settings.clone().unwrap_or_else(|| sequence.settings.clone()), SECRET);
        for (step, what) in sequence.steps.iter().enumerate() {
            *at = step;
            let differs = |what: String| Difference { step, what };
            self.step(&mut core, &mut model, what, coverage).map_err(differs)?;
            let last = step + 1 == sequence.steps.len();
            if last || step % DIGEST_EVERY == 0 {
                let (ours, theirs) = (core.machine.state().digest(None), model.digest());
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
                let (ours, theirs) = (core.expire(*limit, *clock), model.expire(*limit, *clock));
                if ours == theirs { Ok(()) } else { Err(format!("expired: core {ours:?}, model {theirs:?}")) }
            }
            Step::Submit { clock, namespace, options, lines } => {
                let Ok(envelope) = envelope(namespace, options, lines) else {
                    *coverage.entry(Code::Invalid).or_default() += 1;
                    return Ok(());
                };
                if envelope.commands().iter().any(|command| self.without.contains(&command.spec().group())) {
                    return Ok(());
                }
                let (mut ours, theirs) = both(core, model, &envelope, *clock)?;
                (self.alter)(&mut ours.outcome);
                cover(coverage, &theirs.outcome);
                same(&ours, &theirs)
            }
        }
    }
}

/// What both answer.
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
    let answer = core.machine.query(&envelope.namespace, command, clock);
    let mut ours = core.receipt(answer).outcome;
    if let (Command::OperationGet(_), true) = (command, ours.is_applied()) {
        ours.facts[1] = Value::Absent;
    }
    let theirs = model.query(&envelope.namespace, command, clock);
    let reply = |outcome| Reply { outcome, at: 0, replayed: false, events: Vec::new() };
    Ok((reply(ours), reply(theirs)))
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

/// Drops whatever can be dropped while the sequence still differs.
#[must_use]
pub fn shrink(comparison: &Comparison, sequence: &Sequence) -> (Sequence, Option<Difference>) {
    let differs = |sequence: &Sequence| comparison.run(sequence, &mut Coverage::new()).err();
    let mut best = sequence.clone();
    let Some(mut difference) = differs(&best) else { return (best, None) };
    best.steps.truncate(difference.step + 1);
    let mut size = best.steps.len().div_ceil(2).max(1);
    loop {
        let mut at = 0;
        let mut shorter = false;
        while at < best.steps.len() {
            let mut less = best.clone();
            less.steps.drain(at..(at + size).min(best.steps.len()));
            if let Some(found) = differs(&less) {
                (best, difference, shorter) = (less, found, true);
                best.steps.truncate(difference.step + 1);
            } else {
                at += size;
            }
        }
        if size == 1 && !shorter {
            break;
        }
        size = (size / 2).max(1);
    }
    simplify(&differs, &mut best, &mut difference);
    (best, Some(difference))
}

/// Drops lines of batches and options that do not matter.
fn simplify(
    differs: &impl Fn(&Sequence) -> Option<Difference>,
    best: &mut Sequence,
    difference: &mut Difference,
) {
    for at in 0..best.steps.len() {
        let Step::Submit { lines, .. } = &best.steps[at] else { continue };
        for line in (0..=lines.len()).rev() {
            let mut less = best.clone();
            if let Step::Submit { lines, options, .. } = &mut less.steps[at] {
                match lines.len() {
                    _ if line == lines.len() => options.clear(),
                    0 | 1 => continue,
                    _ => drop(lines.remove(line)),
                }
            }
            if let Some(found) = differs(&less).filter(|found| found.step + 1 == less.steps.len()) {
                (*best, *difference) = (less, found);
            }
        }
    }
}

/// A difference with its shortest sequence, to be printed and to be kept.
#[must_use]
pub fn report(comparison: &Comparison, sequence: &Sequence) -> String {
    match shrink(comparison, sequence) {
        (shortest, Some(difference)) => format!("{difference}\n{shortest}"),
        (_, None) => format!("differs no more\n{sequence}"),
    }
}

/// What a soak found.
#[derive(Debug, Default)]
pub struct Soak {
    /// How many sequences were run.
    pub sequences: u64,
    /// How often each outcome was seen.
    pub coverage: Coverage,
    /// The first difference with its shortest sequence.
    pub difference: Option<String>,
}

/// Compares sequence after sequence, from `seed` on, for so many minutes or until a difference is
/// found. `progress` is called after each.
pub fn soak(seed: u64, minutes: u64, mut progress: impl FnMut(&Soak)) -> Soak {
    let (comparison, started) = (Comparison::default(), Instant::now());
    let mut soak = Soak::default();
    while started.elapsed() < Duration::from_secs(minutes * 60) && soak.difference.is_none() {
        let sequence = Sequence::random(seed.wrapping_add(soak.sequences), SOAK_STEPS);
        if comparison.run(&sequence, &mut soak.coverage).is_err() {
            soak.difference = Some(report(&comparison, &sequence));
        }
        soak.sequences += 1;
        progress(&soak);
    }
    soak
}
