//! From the log to outside systems over HTTP, and the settlement of claimed red packets.
//!
//! ```text
//! log ─▶ webhooks consumer ──▶ delivery_webhooks ────▶ worker ─▶ POST to each endpoint
//! log ─▶ settlement consumer ▶ delivery_settlements ─▶ worker ─▶ ACCOUNT.CREDIT, or POST
//! ```
//!
//! Begin with [`Delivery`], which is a database. Its consumers write deliveries and settlements down, in one
//! transaction with their position; its workers carry them out, and record the result of each attempt
//! (`queue.rs`). Consumers and workers share nothing but the database, so a process that is killed continues
//! where it was. Failures are retried with growing delays; in the end they become dead letters, which say why
//! and can be replayed.
//!
//! Every event is delivered at least once to every endpoint that wants it, under an id that never changes. No
//! order is guaranteed, neither between endpoints nor between the events of one resource: a later event may
//! arrive while an earlier one waits for its retry. Every claimed packet is credited once.
//!
//! This crate must not know how a log is kept or served, nor its other uses: a projection may know whether a
//! credit happened, but comes in from outside, as a [`SettledLookup`].

mod announcements;
mod consumer;
mod endpoints;
mod epochs;
mod error;
mod guard;
mod health;
mod http;
mod options;
mod page;
mod queue;
mod rebase;
mod retry;
mod running;
mod secret;
mod settlement;
mod shown;
mod store;
mod suspension;
mod vault;
mod webhooks;

pub use announcements::{DIFFERENT, EQUAL};
pub use consumer::{SettlementConsumer, WebhooksConsumer};
pub use endpoints::{AddedEndpoint, Encrypted, Endpoint, EndpointState, Failing};
pub use epochs::Stretch;
pub use error::DeliveryError;
pub use health::{Counts, Health, Lag};
pub use options::{DeliveryOptions, SettlementOptions};
pub use page::Page;
pub use rebase::{HELD_MAX, Rebased};
pub use running::{WorkerStatus, WorkerTrouble, Workers};
pub use scarce_sql::DatabaseError;
pub use secret::Secret;
pub use settlement::{
    AccountTemplate, LookedUp, Replaced, Route, Settled, SettledLookup, Settlement, SettlementFilter,
    SettlementState, Tried, operation_id, settled_packet,
};
pub use store::Delivery;
pub use vault::{SecretKeys, SecretReference};
pub use webhooks::{DeliveryFilter, DeliveryState, WebhookDelivery, message_id};
