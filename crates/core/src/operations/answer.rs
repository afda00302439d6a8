//! Answers as they are remembered: those of whole numbers, which most commands have, without what goes without saying.

use crate::codec::{Input, Wire};
use crate::outcome::{Code, Facts, Outcome, Value};

/// The largest encoded outcome in bytes that is stored in memory; a larger one is read back from the log.
const OUTCOME_BYTES_MAX: Form = 15;

/// Instead of an outcome that is in the log and not in memory.
pub(super) const TOO_LARGE: &[u8] = &[0; OUTCOME_BYTES_MAX as usize + 1];

/// How an answer is stored. Those up to [`OUTCOME_BYTES_MAX`] are outcomes of so many bytes as they are encoded.
pub(super) type Form = u8;

/// It is in the log.
const IN_LOG: Form = OUTCOME_BYTES_MAX + 1;
/// Applied, without values. Those above are applied with so many more numbers.
const NUMBERS: Form = IN_LOG + 1;
/// The most numbers: what a form has room for.
const NUMBERS_MAX: usize = (TWICE - NUMBERS - 1) as usize;
/// Applied, with a number that comes twice, such as the balances of an account without holds.
const TWICE: Form = FORM_MAX;
/// The largest form: five bits.
pub(super) const FORM_MAX: Form = 31;

/// A stored answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredAnswer<'a> {
    pub(super) form: Form,
    pub(super) bytes: &'a [u8],
}

impl<'a> StoredAnswer<'a> {
    /// Reads the answer of a form at the front of `input`.
    pub(super) fn get(form: Form, input: &mut Input<'a>) -> Self {
        let rest = *input;
        match form {
            0..IN_LOG => _ = input.take(usize::from(form)),
            IN_LOG => {}
            TWICE => _ = u64::get(input),
            _ => (NUMBERS..form).for_each(|_| _ = u64::get(input)),
        }
        let mut taken = rest;
        Self { form, bytes: taken.take(rest.len() - input.len()).unwrap_or_default() }
    }

    /// Whether it is in the log.
    pub(super) const fn is_in_log(self) -> bool {
        self.form == IN_LOG
    }

    /// The outcome, unless it is in the log.
    pub(super) fn outcome(self) -> Option<Outcome> {
        match self.form {
            0..IN_LOG => Outcome::get(&mut Input::new(self.bytes)).ok(),
            IN_LOG => None,
            _ => Some(Outcome::applied(self.numbers().map(Value::Integer).collect::<Facts>())),
        }
    }

    /// Appends the outcome as it is encoded, unless it is in the log.
    pub(super) fn put_outcome(self, out: &mut Vec<u8>) {
        match self.form {
            0..IN_LOG => out.extend_from_slice(self.bytes),
            IN_LOG => {}
            form => {
                u64::from(Code::Applied.number()).put(out);
                u64::from(numbers_of(form)).put(out);
                self.numbers().for_each(|number| Value::Integer(number).put(out));
            }
        }
    }

    /// The numbers, each stored as what it differs by from the one before; where nothing is stored any more it does not
    /// differ.
    fn numbers(self) -> impl Iterator<Item = i64> {
        let mut input = Input::new(self.bytes);
        (0..numbers_of(self.form)).scan(0_i64, move |last, _| {
            *last = last.wrapping_add(i64::get(&mut input).unwrap_or(0));
            Some(*last)
        })
    }
}

/// How many numbers an answer of such a form has.
const fn numbers_of(form: Form) -> Form {
    if form == TWICE { 2 } else { form - NUMBERS }
}

/// An outcome, and how it is encoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encoded<'a> {
    given: Given<'a>,
    bytes: &'a [u8],
}

#[derive(Clone, Copy, Debug)]
enum Given<'a> {
    Outcome(&'a Outcome),
    /// Applied, with these numbers.
    Numbers(&'a [i64]),
}

impl<'a> Encoded<'a> {
    pub(crate) const fn new(outcome: &'a Outcome, bytes: &'a [u8]) -> Self {
        Self { given: Given::Outcome(outcome), bytes }
    }

    /// A command that was applied, with its answer's numbers.
    pub(crate) const fn numbers(numbers: &'a [i64], bytes: &'a [u8]) -> Self {
        Self { given: Given::Numbers(numbers), bytes }
    }
}

/// The outcome of bytes from a snapshot; if they encode no outcome, one that is stored as its bytes are.
pub(super) fn decoded(bytes: &[u8]) -> Outcome {
    let mut input = Input::new(bytes);
    let outcome = Outcome::get(&mut input).ok().filter(|_| input.is_empty());
    outcome.unwrap_or_else(|| Outcome { code: Code::Unknown, facts: Facts::new() })
}

/// Appends an outcome as it is stored, and returns its form.
pub(super) fn put(Encoded { given, bytes }: Encoded<'_>, out: &mut Vec<u8>) -> Form {
    if bytes.len() > usize::from(OUTCOME_BYTES_MAX) {
        return IN_LOG;
    }
    let start = out.len();
    let put = match given {
        Given::Numbers(numbers) => put_numbers(numbers.iter().copied().map(Some), out),
        Given::Outcome(outcome) if outcome.is_applied() => {
            let numbers = outcome.facts.iter().map(|value| match value {
                Value::Integer(number) => Some(*number),
                _ => None,
            });
            put_numbers(numbers, out)
        }
        Given::Outcome(_) => None,
    };
    put.unwrap_or_else(|| {
        out.truncate(start);
        out.extend_from_slice(bytes);
        Form::try_from(bytes.len()).unwrap_or(IN_LOG)
    })
}

/// Appends each number as what it differs by from the one before, and returns the form. None if there are too many, or
/// other values.
fn put_numbers(numbers: impl ExactSizeIterator<Item = Option<i64>>, out: &mut Vec<u8>) -> Option<Form> {
    let form =
        NUMBERS + Form::try_from(numbers.len()).ok().filter(|count| usize::from(*count) <= NUMBERS_MAX)?;
    let is_pair = form == NUMBERS + numbers_of(TWICE);
    let mut last = 0_i64;
    for (at, number) in numbers.enumerate() {
        let number = number?;
        if is_pair && at == 1 && number == last {
            return Some(TWICE);
        }
        number.wrapping_sub(last).put(out);
        last = number;
    }
    Some(form)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts;

    fn stored(outcome: &Outcome) -> (Form, Vec<u8>) {
        let mut out = Vec::new();
        let form = put(Encoded::new(outcome, &outcome.to_bytes()), &mut out);
        (form, out)
    }

    #[test]
    fn an_answer_comes_back_as_it_was_and_takes_few_bytes() {
        let cases = [
            (Outcome::applied(facts![]), 0),
            (Outcome::applied(facts![100_000_i64, 100_000_i64]), 3),
            (Outcome::applied(facts![0_i64, 0_i64]), 1),
            (Outcome::applied(facts![0_i64, 0_i64, 0_i64]), 3),
            (Outcome::applied(facts![-5_i64, 7_i64, 1_000_000_i64]), 5),
            (Outcome::applied(facts!["frozen"]), 10),
            (Outcome::applied(facts![5_i64, "open"]), 10),
            (Outcome { code: Code::ResolvedAbsent, facts: facts![] }, 2),
            (Outcome::applied(facts![i64::MIN]), 10),
            (Outcome::applied(facts![Value::Absent, 1_i64]), 5),
        ];
        for (outcome, bytes) in cases {
            let (form, out) = stored(&outcome);
            assert!(out.len() <= bytes, "{outcome}: {} bytes", out.len());
            let more = [out.as_slice(), &[1, 2, 3]].concat();
            let mut input = Input::new(&more);
            let answer = StoredAnswer::get(form, &mut input);
            assert_eq!((answer.outcome(), input.len()), (Some(outcome.clone()), 3));
            let mut encoded = Vec::new();
            answer.put_outcome(&mut encoded);
            assert_eq!(encoded, outcome.to_bytes());
        }
    }

    #[test]
    fn numbers_are_stored_as_the_outcome_that_has_them() {
        for numbers in [
            &[][..],
            &[7],
            &[-5, 7],
            &[1, 2, 3, 4],
            &[5, 5],
            &[0, 0],
            &[5, 5, 5],
            &[1; 13],
            &[0; 14],
            &[i64::MIN, i64::MAX],
            &[1; 16],
        ] {
            let facts = numbers.iter().copied().map(Value::Integer).collect::<Facts>();
            let outcome = Outcome::applied(facts);
            let (mut out, bytes) = (Vec::new(), outcome.to_bytes());
            let form = put(Encoded::numbers(numbers, &bytes), &mut out);
            assert_eq!((form, out), stored(&outcome), "{numbers:?}");
        }
    }

    #[test]
    fn what_is_large_is_in_the_log() {
        let outcome = Outcome::applied(facts!["a text that is too long to be kept"]);
        let (form, out) = stored(&outcome);
        let answer = StoredAnswer::get(form, &mut Input::new(&out));
        assert!(answer.is_in_log() && out.is_empty() && answer.outcome().is_none());
    }
}
