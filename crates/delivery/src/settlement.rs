//! The settlement of claimed packets: each is credited once.

mod claims;
mod credits;
mod doubts;
mod inside;
mod lookup;
mod outside;
mod queries;
mod questions;
mod template;

pub use lookup::{LookedUp, Settled, SettledLookup, Tried};
pub use queries::{Settlement, SettlementFilter, SettlementState};
pub use template::AccountTemplate;

/// The route of a settlement. A packet keeps the route of its first attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// As a credit to an account of the engine.
    Engine,
    /// By a call to an outside system.
    Outside,
}

impl Route {
    /// The word in the table.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Outside => "outside",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [Self::Engine, Self::Outside].into_iter().find(|route| route.word() == word)
    }
}

/// The operation id of a packet's settlement: `settle:{campaign}:{packet}`. If that id was refused for good,
/// and the packet is retried, the round is appended.
#[must_use]
pub fn operation_id(campaign: &str, packet: u64, round: u64) -> String {
    match round {
        0 | 1 => format!("settle:{campaign}:{packet}"),
        round => format!("settle:{campaign}:{packet}:{round}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scarce_core::types::{ID_BYTES_MAX, INTEGER_MAX, OperationId};

    #[test]
    fn the_longest_operation_id_is_one() {
        let campaign = "c".repeat(ID_BYTES_MAX);
        let id = operation_id(&campaign, INTEGER_MAX, INTEGER_MAX);
        assert!(OperationId::parse(id.as_bytes(), "id").is_ok(), "{id}");
        assert_eq!(operation_id("spring", 7, 1), "settle:spring:7");
        assert_eq!(operation_id("spring", 7, 2), "settle:spring:7:2");
    }
}
