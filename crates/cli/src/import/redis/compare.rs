//! Compares a plan with a server: what is there already, and whether all is there in the end.

use scarce_client::{Client, Reply};
use scarce_takeover::{Made, Plan};
use serde_json::Value;

use crate::import::pipe::Pipe;
use crate::{Exit, Failed, call};

/// How many resources are asked for at once.
const READS_PER_CALL: usize = 500;

/// A value of a resource that is not as the plan has it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Difference {
    pub(super) resource: String,
    pub(super) key: String,
    pub(super) what: String,
    /// In the source.
    pub(super) expected: Value,
    /// In Scarce.
    pub(super) found: Value,
}

/// Resources that exist and that this run has not made.
pub(super) fn existing(pipe: &mut Pipe<'_>, plan: &Plan) -> Result<Vec<String>, Failed> {
    let mut found = Vec::new();
    for some in plan.made.chunks(READS_PER_CALL) {
        let there: Vec<&Made> = {
            let answers = ask(pipe.client(), &some.iter().map(|made| made.read.clone()).collect::<Vec<_>>())?;
            let pairs = some.iter().zip(answers);
            pairs.filter(|(_, answer)| answer.is_some()).map(|(made, _)| made).collect()
        };
        let own = |made: &&Made| {
            let operation = made.steps.first().map(|step| step.id.clone()).unwrap_or_default();
            ["OPERATION.GET", &operation, "ON", &made.id].map(str::to_owned).to_vec()
        };
        let answers = ask(pipe.client(), &there.iter().map(own).collect::<Vec<_>>())?;
        let is_own = |answer: &Option<Value>| {
            let outcome = answer.as_ref().and_then(|answer| answer.get("outcome"));
            outcome.is_some_and(|outcome| outcome.get(0) != Some(&0.into()))
        };
        let others = there.iter().zip(answers).filter(|(_, answer)| !is_own(answer));
        found.extend(others.map(|(made, _)| format!("{} {}", made.kind, made.id)));
    }
    Ok(found)
}

/// What is not as the plan has it.
pub(super) fn compare(pipe: &mut Pipe<'_>, plan: &Plan) -> Result<Vec<Difference>, Failed> {
    let mut differences = Vec::new();
    for some in plan.made.chunks(READS_PER_CALL) {
        let answers = ask(pipe.client(), &some.iter().map(|made| made.read.clone()).collect::<Vec<_>>())?;
        for (made, answer) in some.iter().zip(answers) {
            differences.extend(differing(made, answer.as_ref()));
        }
    }
    Ok(differences)
}

fn differing(made: &Made, answer: Option<&Value>) -> Vec<Difference> {
    let difference = |what: &str, expected: &Value, found: Value| Difference {
        resource: format!("{} {}", made.kind, made.id),
        key: made.key.clone(),
        what: what.to_owned(),
        expected: expected.clone(),
        found,
    };
    let Some(answer) = answer else { return vec![difference("exists", &true.into(), false.into())] };
    let expected = made.expect.as_object().into_iter().flatten();
    let values = expected.map(|(name, value)| (name, value, answer.get(name).cloned().unwrap_or_default()));
    let differing = values.filter(|(_, expected, found)| *expected != found);
    differing.map(|(name, expected, found)| difference(name, expected, found)).collect()
}

/// The answers to read commands; nothing where there is nothing.
fn ask(client: &mut Client, commands: &[Vec<String>]) -> Result<Vec<Option<Value>>, Failed> {
    if commands.is_empty() {
        return Ok(Vec::new());
    }
    let answers = client.pipeline(commands)?;
    answers.into_iter().map(read).collect()
}

fn read(answer: redis::Value) -> Result<Option<Value>, Failed> {
    match Reply::of(answer) {
        Reply::Refused(..) => Ok(None),
        Reply::Error(text) => Err(Failed::text(Exit::Failed, text)),
        Reply::Applied(values) => {
            let named = values
                .chunks_exact(2)
                .filter_map(|pair| Some((call::json(&pair[0]).as_str()?.to_owned(), call::json(&pair[1]))));
            Ok(Some(Value::Object(named.collect())))
        }
    }
}
