//! Digests that the owner leaves to the keeper: of the state as the owner gives it in slices, as for a snapshot. It is written to a
//! file, because it is read twice: records name their resource by a slot, and what comes behind them says which of them count.

use std::io::{self, Write};

use scarce_core::command::Command;
use scarce_core::machine::digest_outcome;
use scarce_core::outcome::{Durability, Outcome, Receipt};
use scarce_core::types::Id;
use scarce_engine::engine::{Failure, Request};

use super::{DigestTask, Keeper, KeeperTask};
use crate::error::explain;
use crate::snapshot::SnapshotInfo;
use crate::storage::Storage;

/// How much room on the disk a digest leaves to the journal.
const ROOM_LEFT_BYTES: u64 = 64 << 20;

/// How much a digest writes between two looks at the room.
const LOOK_BYTES: usize = 1 << 20;

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

/// What a digest writes for its time, as long as there is room for the journal beside it.
pub(super) struct WithinRoom<'a> {
    out: &'a mut dyn Write,
    storage: &'a dyn Storage,
    /// How much was written since the last look.
    unlooked: usize,
}

impl<'a> WithinRoom<'a> {
    /// Looks at the room before the first byte.
    pub(super) fn new(storage: &'a dyn Storage, out: &'a mut dyn Write) -> Self {
        Self { out, storage, unlooked: LOOK_BYTES }
    }

    fn look(&mut self) -> io::Result<()> {
        self.unlooked = 0;
        let available = self.storage.available_bytes().map_err(io::Error::other)?;
        if available >= ROOM_LEFT_BYTES {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "a digest of much needs the room of a snapshot for its time, and has to leave {} MiB to the journal, of which the \
             disk has {} MiB; make room",
            ROOM_LEFT_BYTES >> 20,
            available >> 20
        )))
    }
}

impl Write for WithinRoom<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.unlooked >= LOOK_BYTES {
            self.look()?;
        }
        let written = self.out.write(bytes)?;
        self.unlooked += written;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
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
