//! What every engine shares: the [`Engine`] and [`Log`] traits, requests and failures, clocks, consumers' names
//! and positions, metrics, and stopping.
//!
//! An engine sequences, logs and applies commands. Two crates implement one: `scarce-engine-embedded` keeps state
//! and journal in this process, `scarce-engine-redis` keeps both inside Redis or Valkey. Everything above them
//! (ports, consumers of the log) knows this crate only.
//!
//! This crate must not know any engine: no files, no sockets, no asynchronous runtime, no database client.
//!
//! Begin reading at [`engine`].

pub mod clock;
pub mod consumers;
pub mod engine;
mod image;
pub mod inputs;
pub mod memory;
pub mod metrics;
pub mod random;
pub mod scripts;
pub mod slow;
pub mod standing;
pub mod stop;
pub mod throttle;

pub use engine::{Engine, Failure, Log, Reply, Request, Watch};
pub use image::Image;
pub use standing::Standing;
pub use throttle::Throttle;
