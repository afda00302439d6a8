//! The channels of a partition.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

use scarce_core::event::{Histories, Position};

use super::channel::Channel;
use super::held::Held;
use super::hub::{Full, Hub};
use super::mailbox::Listener;
use super::shares::Share;

/// How long a channel is held that nobody listens to, for those who come back.
const IDLE_MAX: Duration = Duration::from_secs(30);

/// The channels of a partition, and what its follower is to do with them.
#[derive(Default)]
pub(crate) struct Partition {
    registry: Mutex<Registry>,
    /// Which epochs wrote the log, and which one does.
    histories: Mutex<(Histories, u64)>,
}

#[derive(Default)]
pub(crate) struct Registry {
    channels: BTreeMap<Arc<str>, Arc<Held>>,
    /// Those that are not followed yet.
    fresh: Vec<Arc<Held>>,
    /// Those that newcomers wait for.
    asked: Vec<Arc<Held>>,
    /// The thread that follows the log, while there are channels.
    pub(crate) follower: Option<Thread>,
}

impl Partition {
    pub(crate) fn registry(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the follower.
    pub(crate) fn wake(&self) {
        if let Some(follower) = &self.registry().follower {
            follower.unpark();
        }
    }

    pub(crate) fn listen(
        &self,
        hub: &Hub,
        (channel, share): (Channel, Option<&Arc<Share>>),
        number: u32,
        after: Option<Position>,
        listener: &Arc<Listener>,
    ) -> Result<Arc<Held>, Full> {
        let mut registry = self.registry();
        let known = registry.channels.get(channel.name.as_str()).cloned();
        let held = match known {
            Some(held) => held,
            None => {
                hub.check_room_for_channel(share.map(Arc::as_ref))?;
                let held = Held::new(channel, number, share.cloned());
                hub.figures.channels.add(1);
                share.iter().for_each(|share| share.channels.add(1));
                registry.channels.insert(held.name.clone(), held.clone());
                registry.fresh.push(held.clone());
                held
            }
        };
        let mut inner = held.inner();
        if inner.listeners() == 0 || after.is_some_and(|after| !inner.reaches(after.sequence)) {
            // What it shows may be older than what the newcomer knows. If it is so also once it was read again, the newcomer
            // knows what never was.
            inner.is_current = false;
            registry.asked.push(held.clone());
        }
        if let Some(after) = after {
            let wanted = inner.wanted_after.map_or(after.sequence, |wanted| wanted.min(after.sequence));
            inner.wanted_after = Some(wanted);
        }
        inner.listen(listener.clone());
        drop(inner);
        Ok(held)
    }

    pub(crate) fn ask(&self, held: &Arc<Held>) {
        let mut registry = self.registry();
        registry.asked.push(held.clone());
        if let Some(follower) = &registry.follower {
            follower.unpark();
        }
    }

    /// What its follower is to do: channels that it does not follow yet, and those to be read.
    pub(crate) fn take(&self) -> (Vec<Arc<Held>>, Vec<Arc<Held>>) {
        let mut registry = self.registry();
        (std::mem::take(&mut registry.fresh), std::mem::take(&mut registry.asked))
    }

    /// Lets go of channels that nobody has listened to for a while, and returns them; and whether none are left, so that the
    /// follower ends.
    pub(crate) fn sweep(&self, hub: &Hub) -> (Vec<Arc<Held>>, bool) {
        let (now, mut registry) = (Instant::now(), self.registry());
        let mut gone = Vec::new();
        let is_over = |held: &Held| {
            let inner = held.inner();
            let since = inner.idle_since.filter(|_| inner.listeners() == 0);
            let is_short = || hub.check_room_for_channel(held.share()).is_err();
            since.is_some_and(|since| now - since > IDLE_MAX || is_short())
        };
        registry.channels.retain(|_, held| {
            let stays = !is_over(held);
            if !stays {
                gone.push(held.clone());
            }
            stays
        });
        hub.figures.channels.subtract(gone.len() as u64);
        gone.iter().filter_map(|held| held.share()).for_each(|share| share.channels.subtract(1));
        let is_last = registry.channels.is_empty() || hub.is_ended();
        if is_last {
            registry.follower = None;
        }
        (gone, is_last)
    }

    pub(crate) fn learn(&self, histories: Histories, epoch: u64) {
        *self.histories.lock().unwrap_or_else(PoisonError::into_inner) = (histories, epoch);
    }

    /// Whether a position is of the log's history.
    pub(crate) fn knows(&self, position: Position) -> bool {
        let known = self.histories.lock().unwrap_or_else(PoisonError::into_inner);
        known.1 == position.epoch || known.0.has(position) == Some(true)
    }
}
