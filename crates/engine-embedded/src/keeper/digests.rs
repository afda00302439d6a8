//! Digests that the owner leaves to the keeper: of the state folded from snapshot and journal, as a snapshot is made.

use scarce_core::machine::{Machine, MachineAnswer};
use scarce_core::outcome::{Durability, Receipt};
use scarce_engine::engine::{Failure, Request};

use super::{DigestTask, Keeper, KeeperTask};
use crate::error::explain;

impl Keeper {
    /// Answers a digest, and those that wait behind it, from one folded state. Returns whether the end was asked for.
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
        match self.folded() {
            Ok((machine, _)) => tasks.into_iter().for_each(|task| self.answer_digest(&machine, task)),
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

    fn answer_digest(&self, machine: &Machine, task: DigestTask) {
        let DigestTask { mail, epoch } = task;
        let answers = mail.requests().iter().map(|request| self.digest(machine, request, epoch)).collect();
        mail.answer(answers);
    }

    fn digest(&self, machine: &Machine, request: &Request, epoch: u64) -> Result<Receipt, Failure> {
        let answer = match request {
            Request::Read(namespace, command) => machine.query(namespace, command, machine.now()),
            Request::Write(_) | Request::DryRun(_) | Request::Expire(_) => return Err(no_digest()),
        };
        let MachineAnswer::Receipt(receipt) = answer else { return Err(no_digest()) };
        self.progress.metrics().count(request, Ok(receipt.outcome.code));
        Ok(Receipt { epoch, durability: Durability::Synced, ..receipt })
    }
}

fn no_digest() -> Failure {
    Failure::Unavailable { reason: "the keeper makes digests only".to_owned() }
}
