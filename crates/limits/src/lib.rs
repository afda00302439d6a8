//! Limits: how many requests of a kind a caller, an address or a resource may have in a time, and at the same time.
//!
//! Must not know: a port, an engine, or who is admitted.
//!
//! Where to begin: [`Rule`], one limit as it is written in the file of limits; [`Limits`], all of them with what was used;
//! [`rooms`], waiting rooms.

#![forbid(unsafe_code)]

mod concurrency;
mod counts;
mod file;
mod limiter;
mod limits;
pub mod rooms;
mod rule;

pub use file::{FileError, RULES_MAX, read};
pub use limiter::{Refused, Standing};
pub use limits::{Asker, Limits, Permit, network};
pub use rule::{Per, Rate, Rule};
