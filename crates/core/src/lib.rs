//! The state machine of Scarce: what every command on accounts, stock, red packets, coupons and markets does.
//!
//! A [`machine::Machine`] holds one partition. It takes a [`command::Envelope`] and a stamp, gives back an
//! [`outcome::Outcome`], and appends to a log what it changed, as [`event::Entry`]s. Replaying those entries on an empty
//! machine gives the same state again.
//!
//! **What it must not know.** Nothing here reads a clock, draws a random number, opens a file, waits or
//! starts a thread: stamps, seeds and packets that were cut come in from outside. It knows no engine, no
//! port, no JSON and no SQL; those read the tables below.
//!
//! **Where to begin.**
//!
//! 1. The tables: [`command::table`] (what can be requested), [`event`] (what can change), [`outcome::codes`] (why a
//!    command is refused). Types, parsing, encodings and documents are generated from their rows. What an engine or a
//!    port must know about a command is in its row too, as [`command::rules`].
//! 2. [`machine::Machine::submit`]: the order of the checks, the same for every command.
//! 3. One resource, such as [`accounts`]: decisions read the state and push events; its `evolve.rs` applies them, and
//!    nothing else changes the state.
//! 4. [`store`]: the containers of the state, which can roll back changes.

#![forbid(unsafe_code)]
#![warn(clippy::float_arithmetic, clippy::disallowed_types)]

pub mod accounts;
pub mod codec;
pub mod command;
pub mod coupons;
pub mod deadlines;
pub mod digest;
mod draft;
pub mod event;
pub mod follower;
pub mod invalid;
pub mod language;
pub mod limits;
pub(crate) mod lists;
pub mod machine;
pub mod markets;
pub mod operations;
pub mod outcome;
pub mod packets;
pub mod pieces;
pub mod placement;
pub mod resource;
pub mod state;
pub mod stock;
pub mod store;
pub mod types;
pub mod windows;
