//! Feeds damaged and made-up bytes to everything that reads bytes from outside: requests, files of the log,
//! snapshots, imports.
//!
//! Begin with [`TARGETS`]. A [`Target`] has examples of good input and checks a single input, by more than "it
//! does not panic": what was read must be the same in pieces and as a whole, must survive being written and read
//! again, and must never be something that nobody wrote. Two drivers call it:
//!
//! - `tests/mutations.rs` damages the examples at random ([`Mutations`]), in every run of the tests;
//! - `src/main.rs` lets libFuzzer look for inputs that reach new code: `cargo xtask fuzz NAME`. What it finds goes
//!   to `examples/NAME`, and from then on is an example too.
//!
//! This crate must not know how the engines decide: it judges by what was written and read.

#![forbid(unsafe_code)]
#![allow(clippy::panic, reason = "a target that finds a fault ends the run")]

mod mutations;
mod target;

pub use mutations::Mutations;
pub use target::{TARGETS, Target};
