//! Where subscribers come to: the channels of all partitions, and what they may take together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use scarce_core::event::Position;
use scarce_core::placement;
use scarce_engine::Engine;

use super::channel::Channel;
use super::follower;
use super::held::Held;
use super::mailbox::Listener;
use super::partition::Partition;
use super::shares::{Share, Shares, has_room};

/// The most channels to which one subscriber listens.
const SUBSCRIPTIONS_OF_ONE_MAX: usize = 1_000;

/// The most subscriptions of all subscribers.
const SUBSCRIPTIONS_MAX: u64 = 200_000;

/// The most channels that are held.
const CHANNELS_MAX: u64 = 20_000;

/// What all updates together may take that subscribers have not read, and what those of one channel may.
const HELD_BYTES_MAX: u64 = 32 << 20;
const CHANNEL_BYTES: std::ops::RangeInclusive<u64> = (2 << 10)..=(256 << 10);

/// A figure that goes up and down, or only up.
#[derive(Debug, Default)]
pub struct Figure(AtomicU64);

impl Figure {
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn subtract(&self, count: u64) {
        self.0.fetch_sub(count, Ordering::Relaxed);
    }

    /// Its value.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What the hub counts.
#[derive(Debug, Default)]
pub struct PushFigures {
    /// Connections that have subscribed.
    pub subscribers: Figure,
    /// Their subscriptions.
    pub subscriptions: Figure,
    /// Channels that are held.
    pub channels: Figure,
    /// Messages that subscribers took.
    pub messages: Figure,
    /// Read commands that were sent for channels.
    pub reads: Figure,
    /// Subscriptions that were ended because their subscribers read too slowly.
    pub cut_offs: Figure,
    /// Snapshots that slow subscribers got in place of what they had missed.
    pub conflations: Figure,
}

/// There is no room for another subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Full {
    /// A connection has as many as it may have.
    #[error(
        "a connection may have {SUBSCRIPTIONS_OF_ONE_MAX} subscriptions; end some, or open another connection"
    )]
    OfOne,
    /// The server has as many as it may have.
    #[error("the server has as many subscriptions or channels as it may have; try again later")]
    OfAll,
    /// The key has as many as it may have, and leaves the others to other keys.
    #[error(
        "this key has as many subscriptions or channels as are left for others; end some, or try again later"
    )]
    OfKey,
    /// The server is ending, or the system gives no thread.
    #[error("the server cannot follow its log for subscribers at the moment; try again later")]
    Unavailable,
}

/// The channels of all partitions.
pub struct Hub {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) partitions: Vec<Partition>,
    /// What is counted.
    pub figures: PushFigures,
    pub(crate) shares: Shares,
    is_ended: AtomicBool,
}

impl Hub {
    /// Nobody listens yet, and nothing runs.
    #[must_use]
    pub fn new(engine: Arc<dyn Engine>) -> Arc<Self> {
        let partitions = (0..engine.partitions()).map(|_| Partition::default()).collect();
        Arc::new(Self {
            engine,
            partitions,
            figures: PushFigures::default(),
            shares: Shares::default(),
            is_ended: AtomicBool::new(false),
        })
    }

    /// Ends the threads that follow the log.
    pub fn end(&self) {
        self.is_ended.store(true, Ordering::Release);
        self.partitions.iter().for_each(Partition::wake);
    }

    pub(crate) fn is_ended(&self) -> bool {
        self.is_ended.load(Ordering::Acquire)
    }

    pub(crate) fn check_room(&self, subscriptions_of_one: usize, share: Option<&Share>) -> Result<(), Full> {
        let all = &self.figures.subscriptions;
        match () {
            () if self.is_ended() => Err(Full::Unavailable),
            () if subscriptions_of_one >= SUBSCRIPTIONS_OF_ONE_MAX => Err(Full::OfOne),
            () if !has_room(SUBSCRIPTIONS_MAX, all, None) => Err(Full::OfAll),
            () if !has_room(SUBSCRIPTIONS_MAX, all, share.map(|share| &share.subscriptions)) => {
                Err(Full::OfKey)
            }
            () => Ok(()),
        }
    }

    pub(crate) fn check_room_for_channel(&self, share: Option<&Share>) -> Result<(), Full> {
        let all = &self.figures.channels;
        match () {
            () if !has_room(CHANNELS_MAX, all, None) => Err(Full::OfAll),
            () if !has_room(CHANNELS_MAX, all, share.map(|share| &share.channels)) => Err(Full::OfKey),
            () => Ok(()),
        }
    }

    /// What the updates of each channel may take.
    pub(crate) fn channel_bytes_max(&self) -> usize {
        let even = HELD_BYTES_MAX / self.figures.channels.get().max(1);
        usize::try_from(even.clamp(*CHANNEL_BYTES.start(), *CHANNEL_BYTES.end())).unwrap_or(usize::MAX)
    }

    /// Listens to a channel, which is followed from now on.
    pub(crate) fn listen(
        self: &Arc<Self>,
        channel: Channel,
        after: Option<Position>,
        listener: &Arc<Listener>,
        share: Option<&Arc<Share>>,
    ) -> Result<Arc<Held>, Full> {
        let number = placement::partition(&channel.resource, self.engine.partitions());
        let partition = self.partitions.get(number as usize).ok_or(Full::Unavailable)?;
        let held = partition.listen(self, (channel, share), number, after, listener)?;
        follower::ensure(self, number)?;
        Ok(held)
    }

    /// Has a channel read.
    pub(crate) fn ask(&self, held: &Arc<Held>) {
        if let Some(partition) = self.partitions.get(held.partition as usize) {
            partition.ask(held);
        }
    }

    /// Whether a position is of the history that a partition's log has.
    pub(crate) fn knows(&self, partition: u32, position: Position) -> bool {
        self.partitions.get(partition as usize).is_some_and(|partition| partition.knows(position))
    }
}
