//! What the crowd requests and what it is told, on any port.

use redis::Value;

use scarce_client::{Reply, integer, text};

/// A command with its operation id, to be sent until it is answered.
#[derive(Clone, Debug)]
pub(super) struct Ask<D> {
    pub(super) id: String,
    pub(super) deed: D,
    /// Sends it once more although it was answered.
    pub(super) insists: bool,
    /// Sends it on two connections at once.
    pub(super) doubles: bool,
    /// It was answered before and is sent again.
    pub(super) is_again: bool,
}

impl<D> Ask<D> {
    /// A command to be sent once.
    pub(super) fn new(id: String, deed: D) -> Self {
        Self { id, deed, insists: false, doubles: false, is_again: false }
    }

    /// The same command, repeated after its answer.
    pub(super) fn again(self) -> Self {
        Self { is_again: true, ..self }
    }
}

/// The purpose of a command.
pub(super) trait Deed: Clone + Send + 'static {
    /// The request to send.
    fn request(&self, id: &str) -> Request;

    /// Whether the log contains something of it after this answer.
    fn is_logged(&self, _: &CallerAnswer) -> bool {
        true
    }

    /// Whether the engine remembers its refusal.
    fn is_refusal_remembered(&self) -> bool {
        false
    }
}

/// One command, or several as an atomic batch.
pub(super) struct Request {
    /// The operation id, if it has one.
    pub(super) id: Option<String>,
    pub(super) lines: Vec<Vec<String>>,
}

impl Request {
    /// One command under an id.
    pub(super) fn one(id: &str, words: &[&str]) -> Self {
        Self::batch(id, &[words])
    }

    /// Several commands under one id.
    pub(super) fn batch(id: &str, lines: &[&[&str]]) -> Self {
        Self { id: Some(id.to_owned()), lines: lines.iter().map(|line| words(line)).collect() }
    }

    /// A command that takes no id.
    pub(super) fn without_id(words: &[&str]) -> Self {
        Self { id: None, ..Self::batch("", &[words]) }
    }
}

/// A command's words.
pub(super) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The answer that a caller received.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CallerAnswer {
    /// Applied, with the values of the reply; those of a batch one line after the other.
    Applied(Vec<Value>),
    /// Refused, with the code and its facts.
    Refused(String, Vec<Value>),
    /// The server could not decide now; retry with the same id.
    Later,
    /// The server did not understand.
    Error(String),
}

impl CallerAnswer {
    /// Parses the reply to a command.
    pub(super) fn of(value: Value) -> Self {
        match Reply::of(value) {
            Reply::Applied(values) => Self::Applied(values),
            Reply::Refused(code, facts) => Self::Refused(code, facts),
            Reply::Error(text) => Self::of_error(text),
        }
    }

    /// Parses the reply to a batch: one for each line.
    pub(super) fn of_batch(value: Value) -> Self {
        let lines = match value {
            Value::Array(lines) => lines,
            other => return Self::of(other),
        };
        let mut all = Vec::new();
        for line in lines.into_iter().filter(|line| text(line).is_none()) {
            match Self::of(line) {
                Self::Applied(values) => all.extend(values),
                Self::Refused(code, _) if code == "BATCH_REFUSED" => {}
                other => return other,
            }
        }
        Self::Applied(all)
    }

    fn of_error(text: String) -> Self {
        match text.split(' ').next() {
            Some("OVERLOADED" | "UNAVAILABLE" | "UNKNOWN" | "LOADING") => Self::Later,
            _ => Self::Error(text),
        }
    }

    pub(super) fn is_applied(&self) -> bool {
        matches!(self, Self::Applied(_))
    }

    /// The code of a refusal.
    pub(super) fn code(&self) -> Option<&str> {
        match self {
            Self::Refused(code, _) => Some(code),
            _ => None,
        }
    }

    /// The values or facts.
    pub(super) fn values(&self) -> &[Value] {
        match self {
            Self::Applied(values) | Self::Refused(_, values) => values,
            Self::Later | Self::Error(_) => &[],
        }
    }

    /// The numbers among the values or facts.
    pub(super) fn figures(&self) -> Vec<i64> {
        self.values().iter().filter_map(integer).collect()
    }

    /// The number at an index of the values or facts, if it is not negative.
    pub(super) fn figure(&self, at: usize) -> Option<u64> {
        self.values().get(at).and_then(integer).and_then(|figure| u64::try_from(figure).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(texts: &[&str]) -> Value {
        let texts = texts.iter().map(|text| Value::BulkString(text.as_bytes().to_vec()));
        Value::Array([Value::Int(0)].into_iter().chain(texts).collect())
    }

    #[test]
    fn a_batch_is_refused_with_the_code_of_its_refused_line() {
        let applied = Value::Array(vec![Value::Int(1), Value::Int(7), Value::Int(3)]);
        let done = CallerAnswer::of_batch(Value::Array(vec![Value::Okay, applied.clone(), applied]));
        assert_eq!(done.figures(), [7, 3, 7, 3]);
        let lines = vec![Value::Okay, refused(&["BATCH_REFUSED", "SOLD_OUT"]), refused(&["SOLD_OUT"])];
        assert_eq!(CallerAnswer::of_batch(Value::Array(lines)).code(), Some("SOLD_OUT"));
    }
}
