//! The state machine of Scarce: accounts, stock, red packets, coupons and markets.
//!
//! Nothing here reads a clock, draws a random number, opens a file or waits. A [`machine::Machine`]
//! takes an [`command::Envelope`] and a stamp and gives back an [`outcome::Outcome`]; what it changed
//! it appends to a log as [`event::Entry`]s, and folding those entries over an empty machine gives
//! the same state again.

#![forbid(unsafe_code)]
#![warn(clippy::float_arithmetic, clippy::disallowed_types)]

pub mod accounts;
pub mod codec;
pub mod command;
pub mod coupons;
pub mod deadlines;
pub mod digest;
pub mod event;
pub mod invalid;
pub mod language;
pub mod limits;
pub mod machine;
pub mod markets;
pub mod operations;
pub mod outcome;
pub mod packets;
pub mod placement;
pub mod resource;
pub mod state;
pub mod stock;
pub mod store;
pub mod types;
pub mod windows;
