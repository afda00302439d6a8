//! The engine's log for its consumers: each reads at its own pace, and none misses an event.
//!
//! ```text
//! engine's log ─ cursor ─▶ batches ─▶ consumer ─▶ wherever it flows
//!      ▲                                  │
//!      └── kept for ── confirmed ◀────────┘
//! ```
//!
//! A [`Consumer`] takes the log of one partition. [`run`] serves one for each partition: it holds the
//! partition's lease, so that several processes share the work, reads from the consumer's position, retries
//! batches that fail, and confirms positions to the engine, which may then trim the log.
//!
//! This crate must not know where events go: no database, no broker, no HTTP.
//!
//! Begin reading at [`Consumer`], then at [`run`].

mod backoff;
mod batch;
mod claim;
mod consumer;
mod copy;
mod cursor;
mod runner;
mod status;
mod traces;

pub use backoff::Backoff;
pub use batch::Batch;
pub use consumer::{Consumer, HeldStretch, Trouble};
pub use copy::{CopiedMessage, LogCopy, Meaning};
pub use cursor::{Cursor, CursorError};
pub use runner::{Outflow, Plan, Start, run};
pub use scarce_engine::{Failure, Image};
pub use status::{State, Status};
pub use traces::{TRACEPARENT, TraceParent, Traces};
