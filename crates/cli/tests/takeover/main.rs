//! Teams that leave a Redis of their own: `scarce import redis`, on real servers.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bad_input;
mod load;
mod shadow;
mod shop;
mod sources;
#[path = "../support/mod.rs"]
mod support;
mod whole;
