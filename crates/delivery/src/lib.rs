//! From the log to outside systems over HTTP, and the settlement of claimed red packets.
//!
//! ```text
//! log ─▶ webhooks consumer ──▶ delivery_webhooks ────▶ worker ─▶ POST to each endpoint
//! log ─▶ settlement consumer ▶ delivery_settlements ─▶ worker ─▶ ACCOUNT.CREDIT, or POST
//! ```
//!
//! Begin with [`Delivery`], which is a database. Its consumers write down what is to be done, in one transaction with
//! the position that they reached; its workers do it, and note how each attempt went (`queue.rs`). Between the two
//! there is nothing but the database, so that a process that is killed continues where it was. What fails is retried
//! with growing delays, and in the end becomes a dead letter, which says why and can be replayed.
//!
//! Every event is delivered at least once to every endpoint that wants it, under an id that never changes. No order is
//! promised, neither between endpoints nor between the events of one resource: a later event may arrive while an
//! earlier one waits for its retry. Every claimed packet is credited once.
//!
//! This crate must not know how a log is kept or served, nor what else is made of it: that a projection can tell
//! whether a credit happened comes in from outside, as a [`SettledLookup`].

mod consumer;
mod endpoints;
mod error;
mod health;
mod http;
mod options;
mod page;
mod queue;
mod retry;
mod running;
mod secret;
mod settlement;
mod store;
mod webhooks;

pub use consumer::{SettlementConsumer, WebhooksConsumer};
pub use endpoints::{AddedEndpoint, Endpoint, EndpointState};
pub use error::DeliveryError;
pub use health::{Counts, Health, Lag};
pub use options::{DeliveryOptions, SettlementOptions};
pub use page::Page;
pub use running::Workers;
pub use scarce_sql::DatabaseError;
pub use secret::Secret;
pub use settlement::{
    AccountTemplate, LookedUp, Route, Settled, SettledLookup, Settlement, SettlementFilter, SettlementState,
    Tried, operation_id,
};
pub use store::Delivery;
pub use webhooks::{DeliveryFilter, DeliveryState, WebhookDelivery, message_id};
