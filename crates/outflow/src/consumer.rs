//! Who takes what flows out.

use std::future::Future;

use scarce_core::event::Position;

use crate::Batch;

/// Why a batch could not be taken. It is offered again later, after a delay that grows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Trouble {
    /// What is wrong, with what, and what to do; shown to whoever looks why a consumer lags.
    pub reason: String,
}

impl Trouble {
    /// Trouble for this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

/// Takes the log of one partition, batch after batch.
///
/// A batch counts as taken when `consume` returns `Ok`: it must then be as safe as the consumer means to make
/// it, because the log may be trimmed behind it. After an error or a crash the same events come again, from the
/// last position that is known; none is left out, and none comes before one with a lower sequence.
pub trait Consumer: Send + 'static {
    /// Where the consumer itself remembers to be, where it keeps its position together with what it makes of the
    /// events. `None`: the engine's note of what was confirmed counts.
    fn position(&mut self) -> impl Future<Output = Result<Option<Position>, Trouble>> + Send;

    /// Takes a batch.
    fn consume(&mut self, batch: &Batch) -> impl Future<Output = Result<(), Trouble>> + Send;
}
