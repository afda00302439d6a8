//! The outcome of a command from a topic.

use scarce_core::command::CommandSpec;
use scarce_core::outcome::{Outcome, Receipt};
use serde_json::{Value, json};

use super::TopicPosition;
use crate::answer;

/// A command and its answer.
#[derive(Clone, Copy, Debug)]
pub struct Answered<'a> {
    /// The operation id.
    pub operation: &'a str,
    /// The rows of its commands.
    pub specs: &'a [&'static CommandSpec],
    /// Whether they were applied all or none.
    pub is_atomic: bool,
    /// The answer.
    pub outcome: &'a Outcome,
    /// Its position in the log; absent if no partition decided it.
    pub receipt: Option<&'a Receipt>,
    /// The position of the command in its topic.
    pub source: &'a TopicPosition,
}

/// The answer as JSON. Every member is always present; those without a value are null.
#[must_use]
pub fn outcome(answered: &Answered<'_>) -> Value {
    let Answered { operation, specs, is_atomic, outcome, receipt, source } = *answered;
    let (mut result, mut results, mut facts) = (Value::Null, Value::Null, Value::Null);
    match specs {
        _ if !outcome.is_applied() => facts = answer::facts(outcome.code, &outcome.facts).into(),
        [spec] if !is_atomic => result = answer::figures(spec, &outcome.facts).into(),
        specs => results = answer::lines(specs, &outcome.facts).into(),
    }
    let command = if is_atomic { None } else { specs.first().map(|spec| spec.name) };
    json!({
        "operation": operation,
        "command": command,
        "applied": outcome.is_applied(),
        "code": outcome.code.word(),
        "retryable": outcome.code.is_retryable(),
        "replayed": receipt.is_some_and(|receipt| receipt.replayed),
        "result": result,
        "results": results,
        "facts": facts,
        "receipt": receipt.map(|receipt| answer::receipt(receipt, operation)),
        "source": { "topic": source.topic, "partition": source.partition, "offset": source.offset },
        "truncated": false,
    })
}
