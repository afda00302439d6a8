//! The answers to commands: applied with values, or refused with a code and the facts that explain
//! the refusal.

pub mod codes;
mod durability;
pub mod overload;
pub mod shape;

use compact_str::CompactString;
use smallvec::SmallVec;

use crate::codec::{Input, Malformed, Wire};
use crate::draft::Draft;
use crate::invalid::Invalid;
use crate::types::{Id, TimeMs};

pub use codes::Code;
pub use durability::Durability;

/// A value of an outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// No value, such as a deadline that was not set.
    Absent,
    /// An integer of magnitude up to 2^53 − 1.
    Integer(i64),
    /// A word, an id or a text.
    Text(CompactString),
    /// Several values in order.
    List(Vec<Value>),
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::Integer(crate::types::signed(value))
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(CompactString::from(value))
    }
}

impl From<&Id> for Value {
    fn from(value: &Id) -> Self {
        Self::Text(CompactString::from(value.as_str()))
    }
}

impl From<CompactString> for Value {
    fn from(value: CompactString) -> Self {
        Self::Text(value)
    }
}

impl From<Vec<Value>> for Value {
    fn from(values: Vec<Value>) -> Self {
        Self::List(values)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Into::into)
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Absent => f.write_str("-"),
            Self::Integer(value) => value.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::List(values) => {
                f.write_str("[")?;
                for (at, value) in values.iter().enumerate() {
                    if at > 0 {
                        f.write_str(" ")?;
                    }
                    value.fmt(f)?;
                }
                f.write_str("]")
            }
        }
    }
}

/// What an integer's encoding begins with.
const INTEGER: u8 = 1;

impl Wire for Value {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Absent => out.push(0),
            Self::Integer(value) => {
                out.push(INTEGER);
                value.put(out);
            }
            Self::Text(text) => {
                out.push(2);
                text.put(out);
            }
            Self::List(values) => {
                out.push(3);
                (values.len() as u64).put(out);
                values.iter().for_each(|value| value.put(out));
            }
        }
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        value_at_depth(input, 0)
    }
}

/// Answers contain a batch's lines, their facts and an order's fills; nothing nests deeper.
const DEPTH_MAX: u8 = 8;

fn value_at_depth(input: &mut Input<'_>, depth: u8) -> Result<Value, Malformed> {
    if depth > DEPTH_MAX {
        return Err(Malformed);
    }
    Ok(match input.byte()? {
        0 => Value::Absent,
        INTEGER => Value::Integer(i64::get(input)?),
        2 => Value::Text(CompactString::get(input)?),
        3 => {
            let count = input.count()?;
            Value::List((0..count).map(|_| value_at_depth(input, depth + 1)).collect::<Result<_, _>>()?)
        }
        _ => return Err(Malformed),
    })
}

/// The values of an outcome, usually few enough to need no allocation.
pub type Facts = SmallVec<[Value; 3]>;

/// Collects values of different types into [`Facts`].
#[macro_export]
macro_rules! facts {
    ($($value:expr),* $(,)?) => {{
        const COUNT: usize = <[&str]>::len(&[$(stringify!($value)),*]);
        #[allow(unused_mut, reason = "empty lists push nothing")]
        let mut facts = $crate::outcome::Facts::with_capacity(COUNT);
        $(facts.push($crate::outcome::Value::from($value));)*
        facts
    }};
}

/// The one answer to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Applied, or the reason why not.
    pub code: Code,
    /// Applied: the values in the command table. Refused: the facts of the code.
    pub facts: Facts,
}

impl Outcome {
    /// An applied command with its values.
    #[must_use]
    pub fn applied(facts: Facts) -> Self {
        Self { code: Code::Applied, facts }
    }

    /// Whether the command was applied.
    #[must_use]
    pub fn is_applied(&self) -> bool {
        self.code == Code::Applied
    }

    /// The outcome as the values of an answer: 1 and the values, or 0, the code's word and the facts.
    #[must_use]
    pub fn to_values(&self) -> Vec<Value> {
        let head = if self.is_applied() {
            vec![Value::Integer(1)]
        } else {
            vec![Value::Integer(0), Value::from(self.code.word())]
        };
        head.into_iter().chain(self.facts.iter().cloned()).collect()
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.code.word())?;
        self.facts.iter().try_for_each(|fact| write!(f, " {fact}"))
    }
}

impl Wire for Outcome {
    fn put(&self, out: &mut Vec<u8>) {
        u64::from(self.code.number()).put(out);
        (self.facts.len() as u64).put(out);
        self.facts.iter().for_each(|fact| fact.put(out));
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        let number = u16::try_from(u64::get(input)?).map_err(|_| Malformed)?;
        let code = Code::from_number(number).ok_or(Malformed)?;
        let count = input.count()?;
        let facts = (0..count).map(|_| Value::get(input)).collect::<Result<Facts, _>>()?;
        Ok(Self { code, facts })
    }
}

/// Appends the outcome of a command that was applied, with these numbers, as it is encoded.
#[inline]
pub(crate) fn draft_applied([first, second]: [i64; 2], draft: &mut Draft) {
    const APPLIED: u8 = Code::Applied.number().to_le_bytes()[0];
    const { assert!(Code::Applied.number() < 0x80, "it is one byte of a varint") };
    draft.put([APPLIED, 2, INTEGER]);
    draft.put_signed(first);
    draft.put_byte(INTEGER);
    draft.put_signed(second);
}

/// Appends the outcome of a command that was applied, as it is encoded; of a list, that it is empty.
pub(crate) fn draft_facts(facts: &Facts, draft: &mut Draft) {
    draft.put_number(u64::from(Code::Applied.number()));
    draft.put_number(facts.len() as u64);
    for fact in facts {
        match fact {
            Value::Absent => draft.put_byte(0),
            Value::Integer(value) => {
                draft.put_byte(INTEGER);
                draft.put_signed(*value);
            }
            Value::Text(text) => {
                draft.put_byte(2);
                draft.put_text(text.as_bytes());
            }
            Value::List(values) => {
                debug_assert!(values.is_empty(), "a draft has no room for lists");
                draft.put([3, 0]);
            }
        }
    }
}

/// `INVALID`, with the argument and the reason.
impl From<Invalid> for Outcome {
    fn from(Invalid { argument, reason }: Invalid) -> Self {
        Self { code: Code::Invalid, facts: facts![argument, reason.as_str()] }
    }
}

/// The reason for a refusal. Travels as `Err` inside a decision, so that checks read as a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub Box<Outcome>);

impl Refusal {
    /// A refusal with the facts of its code.
    #[must_use]
    pub fn new(code: Code, facts: Facts) -> Self {
        Self(Box::new(Outcome { code, facts }))
    }

    /// `INVALID`: an argument breaks a rule that only the state can show.
    #[must_use]
    pub fn invalid(argument: &'static str, reason: &'static str) -> Self {
        Self::new(Code::Invalid, facts![argument, reason])
    }
}

/// The result of a decision: the values of an applied command, or a refusal.
pub type Verdict = Result<Facts, Refusal>;

/// An outcome and its position in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The answer itself.
    pub outcome: Outcome,
    /// The partition that decided.
    pub partition: u32,
    /// The epoch of the partition's leadership at that time.
    pub epoch: u64,
    /// The first event of the command; for a refusal without events, the last event before it.
    pub sequence_first: u64,
    /// The last event of the command.
    pub sequence_last: u64,
    /// The stamp by which the command was decided.
    pub at: TimeMs,
    /// Whether this is a repetition of the first receipt.
    pub replayed: bool,
    /// How safe the change was when the answer was sent. A machine decides in memory; its engine does the
    /// rest.
    pub durability: Durability,
}
