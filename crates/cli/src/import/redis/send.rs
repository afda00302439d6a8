//! Sends the operations of a plan: resources side by side, the steps of one resource each after the one before.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use scarce_takeover::{Made, Plan, Step};

use crate::import::answer::ImportAnswer;
use crate::import::operation::{Operation, Terms};
use crate::import::pipe::Pipe;
use crate::{Exit, Failed};

/// What was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) resources: u64,
    pub(super) operations: u64,
}

/// A step in flight: its resource's place in the plan, and which of its steps it is.
type InFlight = (usize, usize);

/// Sends all of it. A step is sent again with the same id until it is answered.
///
/// # Errors
/// When a step is refused, answered otherwise than it must be, or not answered for too long.
pub(super) fn send(pipe: &mut Pipe<'_>, plan: &Plan, stop: &AtomicBool) -> Result<Sent, Failed> {
    let (mut sent, mut next) = (Sent::default(), 0);
    let mut waiting: VecDeque<InFlight> = VecDeque::new();
    loop {
        while next < plan.made.len() && pipe.has_room() && !stop.load(Ordering::Relaxed) {
            put(pipe, plan, (next, 0), &mut waiting);
            next += 1;
        }
        pipe.flush()?;
        let (Some((resource, step)), Some((_, answer))) = (waiting.pop_front(), pipe.receive()?) else {
            break;
        };
        let made = &plan.made[resource];
        check(made, &made.steps[step], &answer)?;
        sent.operations += 1;
        if step + 1 < made.steps.len() && !stop.load(Ordering::Relaxed) {
            put(pipe, plan, (resource, step + 1), &mut waiting);
        } else {
            sent.resources += 1;
        }
    }
    if stop.load(Ordering::Relaxed) {
        return Err(Failed::text(Exit::Failed, "interrupted"));
    }
    Ok(sent)
}

fn put(pipe: &mut Pipe<'_>, plan: &Plan, at: InFlight, waiting: &mut VecDeque<InFlight>) {
    let step = &plan.made[at.0].steps[at.1];
    let line = at.0 as u64 + 2;
    let commands: Vec<Vec<&str>> =
        step.commands.iter().map(|words| words.iter().map(String::as_str).collect()).collect();
    let operation = match commands.as_slice() {
        [command] => Operation::single(line, step.id.clone(), command, Terms::default()),
        all => Operation::batch(line, step.id.clone(), all, Terms::default()),
    };
    pipe.put(operation);
    waiting.push_back(at);
}

fn check(made: &Made, step: &Step, answer: &ImportAnswer) -> Result<(), Failed> {
    let what = format!("{} '{}', made of the key {}", made.kind, made.id, made.key);
    let values = match answer {
        ImportAnswer::Applied(values) => values,
        ImportAnswer::Refused { reason, values, .. } => {
            let facts = serde_json::Value::from(values.clone());
            let text = format!("{what}, was refused: {reason} {facts}; 'scarce explain {reason}' says more");
            return Err(Failed::text(Exit::Refused, text));
        }
        ImportAnswer::Rejected(text) | ImportAnswer::Undecided(text) | ImportAnswer::Denied(text) => {
            return Err(Failed::text(Exit::Failed, format!("{what}, was rejected: {text}")));
        }
    };
    if step.answers.is_empty() {
        return Ok(());
    }
    // A single command answers its values, a batch a list of them for each line.
    let expected: Vec<serde_json::Value> = match step.answers.as_slice() {
        [one] if step.commands.len() == 1 => one.iter().map(|value| (*value).into()).collect(),
        all => all.iter().map(|values| values.clone().into()).collect(),
    };
    if *values == expected {
        return Ok(());
    }
    let text = format!(
        "{what}, was claimed by others meanwhile: a claim was answered otherwise than the source has it; \
         nobody may use what is being imported. Import it under another name into an empty deployment"
    );
    Err(Failed::text(Exit::Broken, text))
}
