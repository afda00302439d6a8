//! Engines that sequence, log and apply commands.
//!
//! [`Engine`] is what gateways and outflow know; [`embedded`] is the engine that keeps its state and
//! journal in this process, [`redis`] the one that keeps both in Redis or Valkey.

pub mod clock;
pub mod consumers;
pub mod deployment;
pub mod embedded;
pub mod engine;
pub mod journal;
pub mod lock;
pub mod metrics;
pub mod random;
pub mod redis;
pub mod snapshot;
pub mod stop;
pub mod storage;

pub use engine::{Engine, Failure, Log, Reply, Request, Watch};
