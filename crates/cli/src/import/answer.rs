//! Interprets the server's replies to an operation.

use redis::Value;
use serde_json::json;

use super::operation::Operation;
use crate::call;
use scarce_client::Reply;

/// The result of an operation.
#[derive(Debug, PartialEq)]
pub(super) enum ImportAnswer {
    /// Applied, with these values; for a batch, one list per line.
    Applied(Vec<serde_json::Value>),
    /// It was refused.
    Refused {
        /// The code of the operation as a whole: `BATCH_REFUSED` for a batch with a refused line.
        outcome: String,
        /// The code of the reason: for such a batch, the line's.
        reason: String,
        /// The facts; for such a batch the line's index, code and facts.
        values: Vec<serde_json::Value>,
    },
    /// The server does not understand it.
    Rejected(String),
    /// The server could not decide now; the same again may work.
    Undecided(String),
    /// The server accepts nothing from this caller.
    Denied(String),
}

/// Parses the replies to an operation.
pub(super) fn read(operation: &Operation, mut replies: Vec<Value>) -> ImportAnswer {
    if let Some(Value::ServerError(error)) =
        replies.iter().find(|reply| matches!(reply, Value::ServerError(_)))
    {
        return of_error(error.code(), error.details().unwrap_or_default());
    }
    let Some(last) = replies.pop() else { return ImportAnswer::Undecided("no answer came".to_owned()) };
    if operation.is_atomic { of_batch(last) } else { of_single(last) }
}

fn of_error(code: &str, details: &str) -> ImportAnswer {
    let text = format!("{code} {details}");
    match code {
        "OVERLOADED" | "UNAVAILABLE" | "UNKNOWN" | "LOADING" | "READONLY" => ImportAnswer::Undecided(text),
        "NOAUTH" | "NOPERM" | "WRONGPASS" => ImportAnswer::Denied(text),
        _ => ImportAnswer::Rejected(text),
    }
}

fn of_single(reply: Value) -> ImportAnswer {
    match Reply::of(reply) {
        Reply::Applied(values) => ImportAnswer::Applied(all(&values)),
        Reply::Refused(code, facts) => refused(code, &facts),
        Reply::Error(text) => ImportAnswer::Rejected(text),
    }
}

fn refused(code: String, facts: &[Value]) -> ImportAnswer {
    ImportAnswer::Refused { outcome: code.clone(), reason: code, values: all(facts) }
}

fn all(values: &[Value]) -> Vec<serde_json::Value> {
    values.iter().map(call::json).collect()
}

/// The answers to the lines of a batch, after the one to `BATCH.ID`.
fn of_batch(reply: Value) -> ImportAnswer {
    let Value::Array(lines) = reply else {
        return ImportAnswer::Rejected(format!("EXEC was answered {}", call::json(&reply)));
    };
    let mut applied = Vec::new();
    for (index, line) in lines.into_iter().skip(1).enumerate() {
        match Reply::of(line) {
            Reply::Applied(values) => applied.push(all(&values).into()),
            // Another line is the culprit and will follow.
            Reply::Refused(code, _) if code == "BATCH_REFUSED" => {}
            Reply::Refused(code, facts) if OF_THE_WHOLE.contains(&code.as_str()) => {
                return refused(code, &facts);
            }
            Reply::Refused(code, facts) => {
                let values = vec![index.into(), code.clone().into(), all(&facts).into()];
                return ImportAnswer::Refused { outcome: "BATCH_REFUSED".to_owned(), reason: code, values };
            }
            Reply::Error(text) => return ImportAnswer::Rejected(text),
        }
    }
    ImportAnswer::Applied(applied)
}

/// Refusals caused by the batch itself, not by one of its lines.
const OF_THE_WHOLE: [&str; 5] =
    ["ID_REUSED", "ID_EXPIRED", "DEADLINE_PASSED", "RESOLVED_ABSENT", "CROSS_PARTITION"];

impl ImportAnswer {
    /// Whether the resource to create already exists.
    pub(super) fn is_existing(&self) -> bool {
        matches!(self, Self::Refused { reason, .. } if ["ACCOUNT_EXISTS", "STOCK_EXISTS"].contains(&reason.as_str()))
    }

    /// The value of a name, if the answer has names.
    pub(super) fn named(&self, name: &str) -> Option<&str> {
        let Self::Applied(values) = self else { return None };
        values.chunks_exact(2).find(|pair| pair[0] == name).and_then(|pair| pair[1].as_str())
    }

    /// The line of the outcomes file.
    pub(super) fn to_json(&self, operation: &Operation) -> serde_json::Value {
        let nothing = Vec::new();
        let (outcome, values) = match self {
            Self::Applied(values) => ("APPLIED", values),
            Self::Refused { outcome, values, .. } => (outcome.as_str(), values),
            Self::Rejected(_) => ("INVALID", &nothing),
            Self::Undecided(_) | Self::Denied(_) => ("UNKNOWN", &nothing),
        };
        json!({ "line": operation.line, "id": operation.id, "outcome": outcome, "values": values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(values: &[Value]) -> Value {
        Value::Array(values.to_vec())
    }

    fn word(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    #[test]
    fn a_batch_is_refused_for_the_line_that_stopped_it() {
        let other = list(&[Value::Int(0), word("BATCH_REFUSED"), Value::Int(1), word("SOLD_OUT")]);
        let culprit = list(&[Value::Int(0), word("SOLD_OUT"), Value::Int(0), Value::Int(2)]);
        let ImportAnswer::Refused { outcome, reason, values } =
            of_batch(list(&[Value::Okay, other.clone(), culprit, other]))
        else {
            panic!("not refused");
        };
        assert_eq!((outcome.as_str(), reason.as_str()), ("BATCH_REFUSED", "SOLD_OUT"));
        assert_eq!(serde_json::Value::from(values), json!([1, "SOLD_OUT", [0, 2]]));
    }

    #[test]
    fn a_batch_may_be_refused_as_a_whole() {
        let line = list(&[Value::Int(0), word("ID_REUSED")]);
        let answer = of_batch(list(&[Value::Okay, line.clone(), line]));
        assert_eq!(answer, refused("ID_REUSED".to_owned(), &[]));
    }

    #[test]
    fn an_applied_batch_gives_the_values_of_each_line() {
        let lines = [
            Value::Okay,
            list(&[Value::Int(1), Value::Int(7)]),
            list(&[Value::Int(1), Value::Int(3), Value::Int(4)]),
        ];
        assert_eq!(of_batch(list(&lines)), ImportAnswer::Applied(vec![json!([7]), json!([3, 4])]));
    }
}
