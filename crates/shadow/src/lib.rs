//! Shadow mode: a proxy that callers of a Redis point at. It passes everything on, answers what that Redis answers, and
//! sends the calls of a map to Scarce as well, in the same order, to compare the answers.
//!
//! Must not know: an engine, a port or the command line. What it compares never holds up or changes what callers are
//! answered; if Scarce is away or too slow, comparing breaks off and the proxy goes on.
//!
//! Where to begin: `session.rs` is one caller's connection, `mirror.rs` the thread that asks Scarce, [`Report`] what was
//! found.

#![forbid(unsafe_code)]

mod answer;
mod error;
mod frame;
mod map;
mod mirror;
mod pending;
mod proxy;
mod report;
mod session;

pub use error::ShadowError;
pub use map::CallMap;
pub use mirror::{Connect, Settings};
pub use proxy::{Begin, Proxy};
pub use report::{Difference, Report, Tally};
