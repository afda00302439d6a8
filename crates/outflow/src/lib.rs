//! What an engine decided, flowing on: consumers of its log, each at its own pace, none missing anything.
//!
//! ```text
//! engine's log ─ cursor ─▶ batches ─▶ consumer ─▶ wherever it flows
//!      ▲                                  │
//!      └── kept for ── confirmed ◀────────┘
//! ```
//!
//! A [`Consumer`] takes the log of one partition. [`run`] serves one for each partition: it holds the partition's
//! lease, so that several processes share the work, reads on where the consumer is, offers again what could not
//! be taken, and notes in the engine how far all is, so that the log can be trimmed behind.
//!
//! This crate must not know where events flow to: no database, no broker, no HTTP.
//!
//! Begin reading at [`Consumer`], then at [`run`].

mod backoff;
mod batch;
mod claim;
mod consumer;
mod cursor;
mod runner;
mod status;

pub use backoff::Backoff;
pub use batch::Batch;
pub use consumer::{Consumer, Trouble};
pub use cursor::{Cursor, CursorError};
pub use runner::{Outflow, Plan, Start, run};
pub use status::{State, Status};
