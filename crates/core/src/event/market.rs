//! What all events of markets have in common.

use super::MarketEvent;
use crate::types::Id;

impl MarketEvent {
    /// The market that the event is about.
    #[must_use]
    pub fn market(&self) -> &Id {
        match self {
            Self::MarketCreated(its) => &its.market,
            Self::MarketHalted(its) => &its.market,
            Self::MarketResumed(its) => &its.market,
            Self::OrderPlaced(its) => &its.market,
            Self::OrderTraded(its) => &its.market,
            Self::OrderCancelled(its) => &its.market,
            Self::OrderReduced(its) => &its.market,
            Self::OrderRested(its) => &its.market,
            Self::OrderReplaced(its) => &its.market,
        }
    }
}
