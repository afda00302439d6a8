//! What a team keeps in a Redis of its own, behind its own scripts, made into accounts, stock, packets and coupons.
//!
//! Must not know: an engine, a port or the command line. It reads the source and writes commands down; sending them is
//! left to its caller.
//!
//! Where to begin: [`Pattern`] is a name of keys with places that are captured.

#![forbid(unsafe_code)]

mod cells;
mod error;
mod map;
mod pattern;

pub use cells::value_of;
pub use error::{Problem, TakeoverError};
pub use pattern::{Captures, Pattern};
