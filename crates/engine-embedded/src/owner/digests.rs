//! Digests of much: the keeper makes them from the journal, so that no command waits for them.

use crossbeam_channel::TrySendError;
use scarce_core::command::Command;
use scarce_core::command::table::Digest;
use scarce_engine::engine::{Failure, Request};

use super::Owner;
use crate::inbox::Mail;
use crate::keeper::{DigestTask, KeeperTask};

/// How many entities the owner looks at for a digest. It takes about a millisecond.
const ENTITIES_MAX: usize = 8_192;

/// The work of a digest that the owner makes, or finds to be too long; see [`scarce_core::command::work`].
pub(super) const DIGEST_WORK: u64 = ENTITIES_MAX as u64;

/// The queue that is full when too many digests wait.
const QUEUE: &str = "digests";

/// The digest that mail asks for. Ports send each as mail of its own.
pub(super) fn digest_of(mail: &Mail) -> Option<&Digest> {
    match mail.requests() {
        [Request::Read(_, Command::Digest(digest))] => Some(digest),
        _ => None,
    }
}

impl Owner {
    /// Whether a digest would keep this thread for too long.
    pub(super) fn is_long(&self, digest: &Digest) -> bool {
        !self.machine.state().is_digest_within(digest.resource.0.as_ref(), ENTITIES_MAX)
    }

    /// Keeps mail back until what was decided before it is durable: the keeper reads the journal.
    pub(super) fn put_off(&mut self, mail: Mail) {
        self.put_off.push_back((self.gate(), mail));
    }

    /// Hands digests to the keeper.
    pub(super) fn hand_on_digests(&mut self) {
        let durable = self.durable();
        while self.put_off.front().is_some_and(|(after, _)| *after <= durable) {
            let Some(((_, mail), (keeper, _))) = self.put_off.pop_front().zip(self.keeper.as_ref()) else {
                return;
            };
            let task = KeeperTask::Digest(DigestTask { mail, epoch: self.machine.epoch() });
            // Other mail that cannot be handed over is dropped, which tells its sender.
            if let Err(TrySendError::Full(KeeperTask::Digest(task))) = keeper.try_send(task) {
                task.mail.answer(vec![Err(Failure::Overloaded { queue: QUEUE })]);
            }
        }
    }
}
