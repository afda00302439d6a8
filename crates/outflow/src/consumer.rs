//! Consumers of the log.

use std::future::Future;
use std::pin::Pin;

use scarce_core::event::Position;
use scarce_engine::Image;

use crate::Batch;

/// Why a batch could not be consumed. It is retried after a growing delay.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Trouble {
    /// What is wrong, with what, and what to do; shown to people who look why a consumer lags.
    pub reason: String,
}

impl Trouble {
    /// A trouble with this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

/// Events of one epoch without a gap, as a consumer holds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldStretch {
    /// The epoch.
    pub epoch: u64,
    /// The first sequence.
    pub first: u64,
    /// The last sequence.
    pub last: u64,
}

/// Consumes the log of one partition, batch after batch.
///
/// A batch counts as consumed when `consume` returns `Ok`: it must then be stored as safely as the consumer
/// requires, because the log may be trimmed up to it. After an error or a crash the same events come again,
/// from the last known position; none is skipped, and none comes before one with a lower sequence.
pub trait Consumer: Send + 'static {
    /// The consumer's own position, if it stores that together with the results of the events. `None`: the
    /// position that the engine confirmed counts.
    fn position(&mut self) -> impl Future<Output = Result<Option<Position>, Trouble>> + Send;

    /// Whether it stores its own position with its first batch, and must not skip what it has lost. If its store has none
    /// although the engine knows that it consumed something, the store was lost or is another one: the consumer does not go on
    /// until that was decided.
    fn keeps_position(&self) -> bool {
        false
    }

    /// Whether its store was made anew since it was last looked at, so that it wants all that the log still has, whatever the engine
    /// knows as confirmed. Then it has no position.
    fn starts_over(&self) -> bool {
        false
    }

    /// Whether a rebase also rewrites what the consumer has stored, its own position included. As long as that still is the
    /// one of a history that was left, another store was rewritten, and the consumer does not go on.
    fn is_rewritten(&self) -> bool {
        false
    }

    /// What it still holds behind a position after a rebase that left its own position, in the order of the log. It goes on
    /// behind the last event of these that the log has, too; without any, behind the position that the engine confirmed.
    fn held_after(
        &mut self,
        after: Position,
    ) -> impl Future<Output = Result<Vec<HeldStretch>, Trouble>> + Send {
        let _ = after;
        std::future::ready(Ok(Vec::new()))
    }

    /// Learns that its store knows less than it has done: it was lost, or restored from an older backup, and what follows from
    /// the events up to a sequence may have been done before. They come again.
    fn forgot_up_to(&mut self, sequence: u64) -> impl Future<Output = Result<(), Trouble>> + Send {
        let _ = sequence;
        std::future::ready(Ok(()))
    }

    /// Consumes a batch.
    fn consume(&mut self, batch: &Batch) -> impl Future<Output = Result<(), Trouble>> + Send;

    /// Whether it can begin with the state of the partition, where the log's beginning is gone.
    fn takes_image(&self) -> bool {
        false
    }

    /// Begins with the state of the partition at the position that the image is of, and continues behind it. `Ok`
    /// means the same as for a batch: its own position is now that of the image.
    fn begin_with(&mut self, image: Box<dyn Image>) -> impl Future<Output = Result<(), Trouble>> + Send {
        drop(image);
        std::future::ready(Err(Trouble::new("this consumer needs the log from its beginning")))
    }
}

type Doing<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A consumer with its futures in boxes, so that what runs consumers is compiled once and not for each kind. That is one
/// allocation for a batch.
pub(crate) trait BoxedConsumer: Send {
    fn position(&mut self) -> Doing<'_, Result<Option<Position>, Trouble>>;
    fn keeps_position(&self) -> bool;
    fn starts_over(&self) -> bool;
    fn is_rewritten(&self) -> bool;
    fn held_after(&mut self, after: Position) -> Doing<'_, Result<Vec<HeldStretch>, Trouble>>;
    fn forgot_up_to(&mut self, sequence: u64) -> Doing<'_, Result<(), Trouble>>;
    fn consume<'a>(&'a mut self, batch: &'a Batch) -> Doing<'a, Result<(), Trouble>>;
    fn takes_image(&self) -> bool;
    fn begin_with(&mut self, image: Box<dyn Image>) -> Doing<'_, Result<(), Trouble>>;
}

impl<C: Consumer> BoxedConsumer for C {
    fn position(&mut self) -> Doing<'_, Result<Option<Position>, Trouble>> {
        Box::pin(Consumer::position(self))
    }

    fn keeps_position(&self) -> bool {
        Consumer::keeps_position(self)
    }

    fn starts_over(&self) -> bool {
        Consumer::starts_over(self)
    }

    fn is_rewritten(&self) -> bool {
        Consumer::is_rewritten(self)
    }

    fn held_after(&mut self, after: Position) -> Doing<'_, Result<Vec<HeldStretch>, Trouble>> {
        Box::pin(Consumer::held_after(self, after))
    }

    fn forgot_up_to(&mut self, sequence: u64) -> Doing<'_, Result<(), Trouble>> {
        Box::pin(Consumer::forgot_up_to(self, sequence))
    }

    fn consume<'a>(&'a mut self, batch: &'a Batch) -> Doing<'a, Result<(), Trouble>> {
        Box::pin(Consumer::consume(self, batch))
    }

    fn takes_image(&self) -> bool {
        Consumer::takes_image(self)
    }

    fn begin_with(&mut self, image: Box<dyn Image>) -> Doing<'_, Result<(), Trouble>> {
        Box::pin(Consumer::begin_with(self, image))
    }
}
