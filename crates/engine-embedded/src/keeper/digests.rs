//! Digests that the owner leaves to the keeper: of the state as the owner gives it in slices, as for a snapshot.

use scarce_core::command::Command;
use scarce_core::machine::digest_outcome;
use scarce_core::outcome::{Durability, Outcome, Receipt};
use scarce_core::types::Id;
use scarce_engine::engine::{Failure, Request};

use super::{DigestTask, Keeper, KeeperTask};
use crate::error::explain;
use crate::snapshot::SnapshotInfo;

impl Keeper {
    /// Answers a digest, and those that wait behind it, as of one moment. Returns whether the end was asked for.
    pub(super) fn answer_digests(&mut self, first: DigestTask) -> bool {
        let (mut tasks, mut next) = (vec![first], None);
        while let Ok(task) = self.tasks.try_recv() {
            match task {
                KeeperTask::Digest(task) => tasks.push(task),
                other => {
                    next = Some(other);
                    break;
                }
            }
        }
        let memory = self.memory.clone();
        let turn = memory.begin_snapshot();
        let mut resources: Vec<Option<Id>> =
            tasks.iter().flat_map(|task| task.mail.requests()).filter_map(resource_of).collect();
        resources.sort_unstable();
        resources.dedup();
        match self.digests(&resources) {
            Ok((info, digests)) => {
                let found: Vec<_> = resources.into_iter().zip(digests).collect();
                tasks.into_iter().for_each(|task| self.answer_digest(&info, &found, task));
            }
            Err(error) => {
                let reason = explain(&error);
                for task in tasks {
                    task.mail.answer(vec![Err(Failure::Unavailable { reason: reason.clone() })]);
                }
            }
        }
        drop(turn);
        next.is_some_and(|task| self.carry_out(task))
    }

    fn answer_digest(&self, info: &SnapshotInfo, found: &[(Option<Id>, u128)], task: DigestTask) {
        let DigestTask { mail, epoch } = task;
        let answer = |request: &Request| {
            let resource = resource_of(request).ok_or_else(no_digest)?;
            let (_, digest) = found.iter().find(|(its, _)| *its == resource).ok_or_else(no_digest)?;
            let outcome = digest_outcome(self.home.partition, info.sequence, *digest);
            self.progress.metrics().count(request, Ok(outcome.code));
            Ok(receipt(info, epoch, outcome))
        };
        let answers = mail.requests().iter().map(answer).collect();
        mail.answer(answers);
    }
}

fn receipt(info: &SnapshotInfo, epoch: u64, outcome: Outcome) -> Receipt {
    Receipt {
        outcome,
        partition: info.owner.partition,
        epoch,
        sequence_first: info.sequence,
        sequence_last: info.sequence,
        at: info.stamp_ms,
        replayed: false,
        durability: Durability::Synced,
    }
}

/// The resource of which a digest is asked for, or that one of all is.
fn resource_of(request: &Request) -> Option<Option<Id>> {
    match request {
        Request::Read(_, Command::Digest(digest)) => Some(digest.resource.0.clone()),
        _ => None,
    }
}

fn no_digest() -> Failure {
    Failure::Unavailable { reason: "the keeper makes digests only".to_owned() }
}
