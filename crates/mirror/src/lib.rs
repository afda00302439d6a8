//! A mirror: the state of an engine in a Redis for readers, in the keys of the engine inside Redis, at one position of the log
//! of each partition.
//!
//! ```text
//! log ─ tracker: folds entries, notes what they touch ─▶ changes: rows as they are then ─▶ session: rows and mark, or nothing
//!                                                        whole: all keys against all of a state, at the beginning
//! ```
//!
//! Rows are written as they are, never by what was added, so that writing them once more changes nothing. What is still to be
//! drawn of red packets is not written. A mirror has no deployment of its own, so that no server decides by it.
//!
//! `restore` writes a whole deployment the same way into a Redis that has none, with what is still to be drawn.
//!
//! This crate must not know how an engine decides; it takes the names of keys and the fields of rows from the engine inside Redis.
//!
//! Begin reading at [`Mirror`], then at `consumer.rs`.

mod books;
mod consumer;
mod error;
mod mirror;
mod restore;
mod rows;
mod served;
mod session;
mod touched;
mod tracker;
mod verify;
mod whole;

pub use consumer::MirrorConsumer;
pub use error::MirrorError;
pub use mirror::{Mark, Mirror};
pub use restore::{RestoreError, RestoreTarget};
pub use rows::{Item, RowName};
pub use served::each_served;
pub use tracker::{Changes, Tracker};
pub use verify::{Compared, Difference, Verification};
