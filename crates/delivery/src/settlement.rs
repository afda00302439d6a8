//! The settlement of claimed packets: each is credited once.

mod claims;
mod credits;
mod doubts;
mod earlier;
pub(crate) mod ids;
mod inside;
mod lookup;
mod outside;
mod passing;
mod queries;
mod questions;
pub(crate) mod replaced;
mod row;
mod template;

pub use lookup::{LookedUp, Settled, SettledLookup, Tried};
pub(crate) use passing::Reached;
pub(crate) use queries::SETTLEMENT_COLUMNS;
pub use queries::{Settlement, SettlementFilter, SettlementState};
pub use replaced::Replaced;
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

/// The operation id under which a packet is settled, in the namespace of settlements. If an id was refused for good, and
/// the packet is retried, the round rises; it begins at 1.
#[must_use]
pub fn operation_id(campaign: &str, packet: u64, round: u64) -> String {
    ids::IdScheme::Current.operation_id(campaign, packet, round)
}

/// The campaign and the packet that an operation settles, by its namespace and id; `None` for other operations.
#[must_use]
pub fn settled_packet(namespace: &str, operation_id: &str) -> Option<(String, u64)> {
    ids::packet_of(namespace, operation_id)
}
