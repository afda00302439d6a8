//! How the answers to what was asked are written.

use std::sync::Arc;

use scarce_core::command::CommandSpec;
use scarce_core::outcome::{Code, Outcome, Receipt, Value};
use scarce_engine::Failure;
use scarce_gateway::Acts;
use scarce_gateway::lists::ListAsked;
use scarce_limits::Permit;
use scarce_limits::rooms::NotAdmitted;

use super::reply::Replies;
use super::rooms;
use super::transaction::{Line, write_exec};

/// How to write an answer.
#[derive(Clone, Debug)]
pub(super) enum Form {
    Command(&'static CommandSpec),
    Exec(Vec<Line>),
    Digests(&'static CommandSpec),
    List(Box<ListAsked>),
    Count,
    /// Each answer is one value, a row of a list.
    Rows,
    /// The answer to what counts as in progress until it is written.
    Held {
        _permit: Arc<Permit>,
        form: Box<Form>,
    },
    /// The first answer to a command of a user who waits; if it was not sent before, that its user waits.
    Waits(Box<NotAdmitted>, Box<Form>),
    /// The answer to administrative commands, which is recorded.
    Audited(Acts, Box<Form>),
    /// The reply is written elsewhere; only a failure is written here.
    Elsewhere,
}

impl Form {
    /// The number of the command that is answered, or 0 for an atomic batch; `None` if it is no command of the table.
    pub(super) fn number(&self) -> Option<u16> {
        match self {
            Self::Command(spec) | Self::Digests(spec) => Some(spec.number),
            Self::List(asked) => Some(asked.spec().number),
            Self::Exec(_) => Some(0),
            Self::Held { form, .. } | Self::Waits(_, form) | Self::Audited(_, form) => form.number(),
            Self::Count | Self::Rows | Self::Elsewhere => None,
        }
    }

    /// The acts of which the answer is recorded, if there are any, and the form of the answer by itself.
    pub(super) fn parted(self) -> (Option<Acts>, Self) {
        match self {
            Self::Audited(acts, form) => (Some(acts), *form),
            form => (None, form),
        }
    }

    pub(super) fn write(&self, replies: &mut Replies<'_>, answers: &[Result<Receipt, Failure>]) {
        let failed = answers.iter().find(|answer| answer.is_err());
        let Some(first) = failed.or(answers.first()) else { return replies.null() };
        match (self, first) {
            (Self::Audited(acts, form), _) => {
                // It was refused before it got anywhere: nothing rests on the record.
                acts.noted(first).keep();
                form.write(replies, answers);
            }
            (Self::Held { form, .. }, _) => form.write(replies, answers),
            (Self::Waits(refused, form), Ok(receipt)) if receipt.outcome.code == Code::DeadlinePassed => {
                let is_batch = matches!(**form, Self::Exec(_));
                rooms::write_refusal(replies, refused, is_batch);
            }
            (Self::Waits(_, form), _) => form.write(replies, answers),
            (_, Err(failure)) => replies.failure(failure),
            (Self::Elsewhere, Ok(_)) => replies.null(),
            (Self::Rows, Ok(_)) => {
                replies.array(answers.len());
                let rows = answers.iter().flatten().flat_map(|receipt| &receipt.outcome.facts);
                rows.for_each(|row| replies.value(row));
            }
            (Self::List(asked), Ok(_)) => {
                let outcome = asked.join(answers.iter().flatten());
                replies.outcome(asked.spec(), &outcome);
            }
            (Self::Command(spec), Ok(receipt)) => replies.outcome(spec, &receipt.outcome),
            (Self::Exec(lines), Ok(receipt)) => write_exec(replies, lines, &receipt.outcome),
            (Self::Count, Ok(_)) => {
                let counts = answers.iter().flatten().flat_map(|receipt| &receipt.outcome.facts);
                replies.integer(
                    counts
                        .filter_map(
                            |count| if let Value::Integer(count) = count { Some(count) } else { None },
                        )
                        .sum(),
                );
            }
            (Self::Digests(spec), Ok(_)) => {
                let rows = answers.iter().flatten().flat_map(|receipt| &receipt.outcome.facts);
                let rows = rows.flat_map(|fact| match fact {
                    Value::List(rows) => rows.clone(),
                    _ => Vec::new(),
                });
                let all: Vec<Value> = rows.collect();
                replies.outcome(spec, &Outcome::applied(scarce_core::facts![all]));
            }
        }
    }
}
