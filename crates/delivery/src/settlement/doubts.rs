//! Resolves credits that may have happened longer ago than the engine is sure to remember, before anything is
//! sent.

use scarce_core::command::shapes::Resource;
use scarce_core::command::table::OperationGet;
use scarce_core::outcome::{Code, Value};
use scarce_core::types::OperationId;
use scarce_engine::Request;

use super::claims::ClaimedSettlement;
use super::inside::{Addressed, Settler, at_once, never};
use super::lookup::{Settled, Tried};
use super::questions::{Answered, Question, ask, partition_of, read};
use crate::queue::{Ended, Resolution};
use crate::store::now_ms;

/// What the engine remembers of an operation.
enum Memory {
    /// It was applied.
    Applied,
    /// It was refused, and stays refused.
    Refused,
    /// It is not known, and the engine would remember it.
    Absent,
    /// It is not known, and the engine may have forgotten it.
    Forgotten,
    /// The engine cannot answer at the moment.
    Unclear(String),
}

impl Settler {
    /// Resolves packets whose earlier attempt is unresolved for longer than the engine is sure to remember.
    /// The others may be sent, under the same id.
    pub(super) async fn resolve_old(&mut self, all: Vec<Addressed>, ended: &mut Ended) -> Vec<Addressed> {
        let now = now_ms();
        let (old, mut fresh): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|its| self.is_old(&its.claimed, now));
        let mut remembered = Vec::new();
        for (its, memory) in self.recall(old).await {
            let settled = match memory {
                Memory::Applied => {
                    remembered.push(only_repeated(its));
                    continue;
                }
                Memory::Absent => Ok(Settled::Absent),
                Memory::Forgotten => self.look_up(&its).await,
                Memory::Unclear(reason) => Err(reason),
                Memory::Refused => {
                    let reason = "an earlier try was refused".to_owned();
                    ended.failed.push(at_once(&its.claimed, reason, Resolution::Refused));
                    continue;
                }
            };
            match settled {
                Ok(Settled::Applied) => ended.done.push((its.claimed.id, None)),
                Ok(Settled::Absent) if its.claimed.is_first => fresh.push(its),
                Ok(Settled::Absent) => {
                    let reason = "an earlier try came to nothing".to_owned();
                    ended.failed.push(at_once(&its.claimed, reason, Resolution::NotDone));
                }
                Ok(Settled::Refused) => {
                    let reason = "an earlier try was refused".to_owned();
                    ended.failed.push(at_once(&its.claimed, reason, Resolution::RefusedBefore));
                }
                Ok(Settled::Other { found }) => {
                    let reason = other_credit(&its.claimed, its.account.as_str(), &found);
                    ended.failed.push(never(&its.claimed, reason, Resolution::Open));
                }
                Ok(Settled::Unknown { reason }) => {
                    ended.failed.push(never(&its.claimed, reason, its.claimed.untouched()));
                }
                Err(reason) => {
                    ended.failed.push(self.engine_failed(&its.claimed, reason, its.claimed.untouched()));
                }
            }
        }
        self.credit(remembered, ended).await;
        fresh
    }

    /// What came of a credit, by the engine's memory or by who knows operations for longer; an error if that cannot be
    /// said at the moment.
    pub(super) async fn find(&self, its: Addressed) -> Result<Settled, String> {
        match self.recall(vec![its]).await.pop() {
            Some((its, Memory::Applied)) => self.compare(&its).await,
            Some((_, Memory::Refused)) => Ok(Settled::Refused),
            Some((_, Memory::Absent)) => Ok(Settled::Absent),
            Some((its, Memory::Forgotten)) => self.look_up(&its).await,
            Some((_, Memory::Unclear(reason))) => Err(reason),
            None => Err("the engine was not asked".to_owned()),
        }
    }

    /// Whether an operation that the engine remembers is this credit: another claim of the packet has the same id. Nothing is
    /// changed.
    async fn compare(&self, its: &Addressed) -> Result<Settled, String> {
        let credit = self.credit_under(its, its.claimed.scheme);
        let questions = credit.map(|(partition, envelope)| (partition, Request::DryRun(envelope)));
        match ask(&self.engine, questions.into_iter().collect(), self.patience()).await.pop() {
            Some(Ok(receipt)) if receipt.replayed && receipt.outcome.is_applied() => Ok(Settled::Applied),
            Some(Ok(receipt)) if receipt.outcome.code == Code::IdReused => {
                Ok(Settled::Other { found: receipt.outcome.to_string() })
            }
            Some(Ok(receipt)) => Err(receipt.outcome.to_string()),
            Some(Err(failure)) => Err(failure.to_string()),
            None => Err("its campaign makes no operation id".to_owned()),
        }
    }

    /// Whether a possible credit happened longer ago than the engine is sure to remember, or at a time that cannot be told.
    fn is_old(&self, claimed: &ClaimedSettlement, now: i64) -> bool {
        if claimed.is_first && !self.options.looks_up_first_tries {
            return false;
        }
        self.is_ahead(claimed.may_be_since(), now)
            || claimed.may_be_since() <= now.saturating_sub(self.window_ms())
    }

    /// Whether a time is of a clock that was ahead, and has been put right since: then it does not tell how long ago it was.
    fn is_ahead(&self, at: i64, now: i64) -> bool {
        at > now.saturating_add(self.clocks_apart_ms())
    }

    /// Asks the engine what it remembers. It usually remembers for much longer than it must, and says so: for
    /// an id that carries a time it says whether it remembers as far back. So we ask for the operation, and
    /// then for an unused id with the time from which on the operation may have happened.
    async fn recall(&self, old: Vec<Addressed>) -> Vec<(Addressed, Memory)> {
        let mut questions = Vec::with_capacity(2 * old.len());
        for its in &old {
            let from_ms = self.times(&its.claimed).0;
            questions.extend(self.get(its, &its.claimed.operation_id));
            questions.extend(self.get(its, &id_of_time(from_ms)));
        }
        if questions.len() != 2 * old.len() {
            // Someone wrote an invalid id into the tables.
            let unclear = || Memory::Unclear("its campaign makes no operation id".to_owned());
            return old.into_iter().map(|its| (its, unclear())).collect();
        }
        let answers = ask(&self.engine, questions, self.patience()).await;
        let memories: Vec<Memory> = answers.chunks(2).map(memory).collect();
        old.into_iter().zip(memories).collect()
    }

    fn get(&self, its: &Addressed, operation: &str) -> Option<Question> {
        let operation = OperationId::parse(operation.as_bytes(), "ID").ok()?;
        let resource = Resource(its.account.clone());
        let namespace = its.claimed.scheme.namespace();
        Some(read(&*self.engine, namespace, &its.account, OperationGet { operation, resource }))
    }

    /// The time range in which a packet may have been credited, in Unix milliseconds.
    fn times(&self, claimed: &ClaimedSettlement) -> (u64, u64) {
        let time = |at: i64| u64::try_from(at).unwrap_or_default();
        let (since, now) = (claimed.may_be_since(), now_ms());
        if self.is_ahead(since, now) {
            (0, time(since.saturating_add(self.window_ms())))
        } else if claimed.is_first {
            (time(since), time(now))
        } else {
            (time(since), time(since.saturating_add(self.window_ms())))
        }
    }

    /// Asks a source that knows operations for longer than the engine does.
    async fn look_up(&self, its: &Addressed) -> Result<Settled, String> {
        let (from_ms, until_ms) = self.times(&its.claimed);
        let tried = Tried {
            namespace: its.claimed.scheme.namespace().to_owned(),
            operation_id: its.claimed.operation_id.clone(),
            account: its.account.as_str().to_owned(),
            amount: its.claimed.amount,
            partition: partition_of(&*self.engine, &its.account),
            from_ms,
            until_ms,
        };
        let found = match &self.options.lookup {
            Some(lookup) => lookup.look_up(&tried).await?,
            None => Settled::Unknown { reason: "and there is nobody to ask".to_owned() },
        };
        Ok(match found {
            Settled::Unknown { reason } => Settled::Unknown {
                reason: format!(
                    "it may have been sent from {from_ms} on (Unix milliseconds) as '{}' to '{}' without an answer; \
                     the engine no longer remembers that id, {reason}; look whether the account was credited, and \
                     resolve this",
                    tried.operation_id, tried.account
                ),
            },
            found => found,
        })
    }
}

/// A credit whose id the engine remembers is sent again with a deadline that has passed: the engine repeats its answer
/// if it was this credit, says so if the id names another one, and credits nothing.
fn only_repeated(mut its: Addressed) -> Addressed {
    its.claimed.first_tried_at_ms = 0;
    its
}

/// Why an operation under the settlement's id does not settle the claim.
pub(super) fn other_credit(claimed: &ClaimedSettlement, account: &str, found: &str) -> String {
    let ClaimedSettlement { operation_id, campaign, packet, amount, .. } = claimed;
    format!(
        "packet {packet} of campaign '{campaign}' is to be credited with {amount} to '{account}', and the operation \
         '{operation_id}' was another one: {found}; look which of them is right, and resolve this"
    )
}

/// The meaning of the answers for an operation and for a time.
fn memory(answers: &[Answered]) -> Memory {
    let (operation, time) = match answers {
        [Ok(operation), Ok(time)] => (&operation.outcome, &time.outcome),
        [Err(failure), _] | [_, Err(failure)] => return Memory::Unclear(failure.to_string()),
        _ => return Memory::Unclear("the engine gave no answer".to_owned()),
    };
    match (operation.code, time.code) {
        (Code::Applied, _) => match operation.facts.get(3) {
            Some(Value::List(values)) if values.first() == Some(&Value::Integer(1)) => Memory::Applied,
            _ => Memory::Refused,
        },
        (Code::OperationNotFound, Code::OperationNotFound) => Memory::Absent,
        (Code::OperationNotFound, Code::IdExpired) => Memory::Forgotten,
        (Code::OperationNotFound, _) => Memory::Unclear(time.to_string()),
        _ => Memory::Unclear(operation.to_string()),
    }
}

/// An id that carries a time, as a UUID of version 7 does.
fn id_of_time(at_ms: u64) -> String {
    let (high, low) = ((at_ms >> 16) & 0xffff_ffff, at_ms & 0xffff);
    format!("{high:08x}-{low:04x}-7000-8000-000000000000")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_reads_the_time_out_of_the_id() {
        let at_ms = 1_795_198_538_093;
        let id = OperationId::parse(id_of_time(at_ms).as_bytes(), "ID").expect("an id");
        assert_eq!(id.uuid_v7_ms(), Some(at_ms));
    }
}
