//! Load for a server: commands of a workload, sent over connections in a closed or an open loop, and the latencies
//! and outcomes of their answers.
//!
//! Begin with [`Driver`]: a connection from [`connect`] with the [`Commands`] of a [`Load`]. This crate must not know
//! who asks, nor how the results are shown: `scarce bench` does that. It is a crate of its own because what
//! measures must be fast, unlike the rest of the command line, which is compiled for a short wait.

#![forbid(unsafe_code)]

mod drive;
mod error;
mod link;
mod tally;
mod workload;

pub use drive::{Driven, Driver, LoadProgress, Until};
pub use error::LoadError;
pub use link::{Replies, connect};
pub use tally::{PERCENTILES, Tally};
pub use workload::{Commands, Load, Workload};
