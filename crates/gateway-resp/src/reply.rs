//! Writes replies in RESP2 or RESP3. Text from callers enters a frame only as a length-prefixed bulk string.

use scarce_core::command::{AnswerLayout, CommandSpec};
use scarce_core::outcome::shape::names;
use scarce_core::outcome::{Code, Outcome, Value, overload};
use scarce_engine::Failure;

/// The protocol of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The version that every client supports.
    Resp2,
    /// The version with its own maps and nulls.
    Resp3,
}

/// Appends replies to a connection's output.
pub struct Replies<'a> {
    out: &'a mut Vec<u8>,
    protocol: Protocol,
}

impl<'a> Replies<'a> {
    /// Writes to `out`.
    pub fn new(out: &'a mut Vec<u8>, protocol: Protocol) -> Self {
        Self { out, protocol }
    }

    /// A short fixed word, such as `OK`.
    pub fn simple(&mut self, text: &'static str) {
        self.line(b'+', text.as_bytes());
    }

    /// A status that a script gave; line breaks and other control characters become spaces.
    pub fn status(&mut self, text: &str) {
        let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        self.line(b'+', text.as_bytes());
    }

    /// An error; line breaks and other control characters become spaces.
    pub fn error(&mut self, word: &'static str, text: &str) {
        self.out.push(b'-');
        self.out.extend_from_slice(word.as_bytes());
        self.out.push(b' ');
        self.out
            .extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().bytes());
        self.out.extend_from_slice(b"\r\n");
    }

    /// An integer.
    pub fn integer(&mut self, value: i64) {
        self.head(b':', value);
    }

    /// A text.
    pub fn bulk(&mut self, text: &[u8]) {
        self.head(b'$', i64::try_from(text.len()).unwrap_or(i64::MAX));
        self.out.extend_from_slice(text);
        self.out.extend_from_slice(b"\r\n");
    }

    /// A null.
    pub fn null(&mut self) {
        self.out.extend_from_slice(match self.protocol {
            Protocol::Resp2 => b"$-1\r\n",
            Protocol::Resp3 => b"_\r\n",
        });
    }

    /// The head of an array of `count` values, which follow.
    pub fn array(&mut self, count: usize) {
        self.head(b'*', i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// The head of a message of `count` values, which nobody asked for at that moment.
    pub fn push(&mut self, count: usize) {
        match self.protocol {
            Protocol::Resp2 => self.array(count),
            Protocol::Resp3 => self.head(b'>', i64::try_from(count).unwrap_or(i64::MAX)),
        }
    }

    /// The head of a map of `count` pairs, which follow.
    pub fn map(&mut self, count: usize) {
        match self.protocol {
            Protocol::Resp2 => self.array(2 * count),
            Protocol::Resp3 => self.head(b'%', i64::try_from(count).unwrap_or(i64::MAX)),
        }
    }

    /// A value of an outcome.
    pub fn value(&mut self, value: &Value) {
        match value {
            Value::Absent => self.null(),
            Value::Integer(value) => self.integer(*value),
            Value::Text(text) => self.bulk(text.as_bytes()),
            Value::List(values) => {
                self.array(values.len());
                values.iter().for_each(|value| self.value(value));
            }
        }
    }

    /// The answer to a command.
    pub fn outcome(&mut self, spec: &CommandSpec, outcome: &Outcome) {
        match outcome.code {
            Code::Applied => self.applied(spec, outcome),
            Code::Invalid => self.error("ERR", &format!("{}. Usage: {}", invalid(outcome), spec.usage())),
            Code::Overloaded => self.overloaded(outcome),
            _ => self.refused(outcome),
        }
    }

    /// The answer when the engine has no room to remember another operation.
    pub fn overloaded(&mut self, outcome: &Outcome) {
        let queue = outcome.facts.first().map(ToString::to_string).unwrap_or_default();
        self.error("OVERLOADED", &overload::sentence(&queue, overload::retry_after_ms(outcome)));
    }

    fn applied(&mut self, spec: &CommandSpec, outcome: &Outcome) {
        match spec.answer {
            AnswerLayout::Array => {
                self.array(1 + outcome.facts.len());
                self.integer(1);
            }
            AnswerLayout::Map => {
                self.map(outcome.facts.len());
                for (name, value) in names(spec.reply).zip(&outcome.facts) {
                    self.bulk(name.as_bytes());
                    self.value(value);
                }
                return;
            }
            AnswerLayout::Bare if outcome.facts.len() == 1 => {}
            AnswerLayout::Bare => self.array(outcome.facts.len()),
        }
        outcome.facts.iter().for_each(|value| self.value(value));
    }

    /// The answer to a command that was applied, with two numbers.
    pub fn applied_pair(&mut self, [first, second]: [i64; 2]) {
        const HEAD: &[u8; 8] = b"*3\r\n:1\r\n";
        let mut reply = [0; HEAD.len() + 2 * NUMBER_BYTES_MAX];
        let start = put_line(&mut reply, HEAD.len() + 2 * NUMBER_BYTES_MAX, b':', second);
        let start = put_line(&mut reply, start, b':', first) - HEAD.len();
        if let Some(head) = reply[start..].first_chunk_mut() {
            *head = *HEAD;
        }
        self.out.extend_from_slice(&reply[start..]);
    }

    /// A refusal is an answer, never an error, so that traffic on a sold-out item raises no exceptions. What was not
    /// decided is an error.
    pub fn refused(&mut self, outcome: &Outcome) {
        let reason = || outcome.facts.first().map(ToString::to_string).unwrap_or_default();
        match outcome.code {
            Code::Unknown => return self.failure(&Failure::Unknown { reason: reason() }),
            Code::Migrated => return self.failure(&Failure::Migrated { address: reason() }),
            Code::Unavailable => return self.failure(&Failure::Unavailable { reason: reason() }),
            _ => {}
        }
        self.array(2 + outcome.facts.len());
        self.integer(0);
        self.bulk(outcome.code.word().as_bytes());
        outcome.facts.iter().for_each(|value| self.value(value));
    }

    /// A failure of the engine.
    pub fn failure(&mut self, failure: &Failure) {
        let word = match failure {
            Failure::Overloaded { .. } => "OVERLOADED",
            Failure::Unavailable { .. } => "UNAVAILABLE",
            Failure::Migrated { .. } => "MIGRATED",
            Failure::Unknown { .. } => "UNKNOWN",
        };
        self.error(word, &failure.to_string());
    }

    fn line(&mut self, kind: u8, text: &[u8]) {
        self.out.push(kind);
        self.out.extend_from_slice(text);
        self.out.extend_from_slice(b"\r\n");
    }

    fn head(&mut self, kind: u8, number: i64) {
        if let Ok(digit @ 0..=9) = u8::try_from(number) {
            self.out.extend_from_slice(&[kind, b'0' + digit, b'\r', b'\n']);
            return;
        }
        let mut line = [0; NUMBER_BYTES_MAX];
        let start = put_line(&mut line, NUMBER_BYTES_MAX, kind, number);
        self.out.extend_from_slice(&line[start..]);
    }
}

/// Room for any number with its kind, its sign and its line's end.
const NUMBER_BYTES_MAX: usize = 24;

/// The numbers below a hundred, two digits each.
static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut at: u8 = 0;
    while at < 100 {
        pairs[at as usize] = [b'0' + at / 10, b'0' + at % 10];
        at += 1;
    }
    pairs
};

/// Puts a number with its kind and its line's end before `end`, and returns where that starts. By hand: every number of
/// every answer is written here.
#[inline]
fn put_line<const N: usize>(out: &mut [u8; N], end: usize, kind: u8, number: i64) -> usize {
    let mut at = end - 2;
    (out[at + 1], out[at]) = (b'\n', b'\r');
    let mut rest = number.unsigned_abs();
    while rest >= 10 {
        at -= 2;
        let [tens, ones] = PAIRS[(rest % 100) as usize];
        (out[at + 1], out[at]) = (ones, tens);
        rest /= 100;
    }
    // An even number of digits ends in a pair; then nothing is left, but of zero itself.
    if rest > 0 || number == 0 {
        at -= 1;
        out[at] = b'0' + (rest % 10) as u8;
    }
    if number < 0 {
        at -= 1;
        out[at] = b'-';
    }
    at -= 1;
    out[at] = kind;
    at
}

/// What an `INVALID` outcome says, for the text of an error.
pub fn invalid(outcome: &Outcome) -> String {
    let facts: Vec<String> = outcome.facts.iter().map(ToString::to_string).collect();
    format!("INVALID {}", facts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_a_caller_breaks_a_frame() {
        let mut out = Vec::new();
        let mut replies = Replies::new(&mut out, Protocol::Resp2);
        replies.error("ERR", "a\r\n+OK\r\n");
        replies.value(&Value::from("b\r\n:1\r\n"));
        assert_eq!(out, b"-ERR a  +OK  \r\n$7\r\nb\r\n:1\r\n\r\n");
    }

    #[test]
    fn what_was_not_decided_is_an_error() {
        for (failure, expected) in [
            (Failure::Unknown { reason: "why".to_owned() }, "-UNKNOWN the outcome was not learned: why; "),
            (Failure::Unavailable { reason: "why".to_owned() }, "-UNAVAILABLE why"),
            (
                Failure::Migrated { address: "there:7379".to_owned() },
                "-MIGRATED this deployment has moved to there:7379; ",
            ),
        ] {
            let mut out = Vec::new();
            Replies::new(&mut out, Protocol::Resp2).refused(&failure.outcome());
            assert!(out.starts_with(expected.as_bytes()), "{}", String::from_utf8_lossy(&out));
        }
    }

    #[test]
    fn a_pair_is_written_as_its_outcome() {
        let spec = scarce_core::command::table::find(b"ACCOUNT.DEBIT").expect("a command");
        for pair in [[0, 0], [i64::MIN, i64::MIN], [-1, 10], [99, 100], [i64::MAX, -9_007_199_254_740_991]] {
            let [mut one, mut other] = [Vec::new(), Vec::new()];
            Replies::new(&mut one, Protocol::Resp2).applied_pair(pair);
            let outcome = Outcome::applied(scarce_core::facts![pair[0], pair[1]]);
            Replies::new(&mut other, Protocol::Resp2).outcome(spec, &outcome);
            assert_eq!(one, other);
        }
    }

    #[test]
    fn numbers_are_written_in_full() {
        let mut out = Vec::new();
        let mut replies = Replies::new(&mut out, Protocol::Resp3);
        let powers = (0..19).map(|power| 10_i64.pow(power));
        let numbers = powers.flat_map(|power| [power - 1, power, -power, 1 - power]);
        let numbers: Vec<i64> = numbers.chain([i64::MIN, i64::MAX]).collect();
        numbers.iter().for_each(|number| replies.integer(*number));
        replies.null();
        let expected: String = numbers.iter().map(|number| format!(":{number}\r\n")).collect();
        assert_eq!(String::from_utf8_lossy(&out), expected + "_\r\n");
    }
}
