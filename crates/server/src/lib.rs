//! A server of Scarce, put together: ports in front of an engine, and a pipeline behind it.
//!
//! Must not know: a command line, a terminal or a signal; those are of the crate `scarce`. It must not decide
//! anything either: what a command comes to is `scarce-core`'s, how it is kept is an engine's, what callers see of it
//! is a port's.
//!
//! Where to begin: [`serve`], which draws a running server on one page.

#![forbid(unsafe_code)]

pub mod keys;
pub mod logs;
pub mod pipeline;
mod reconcile;
pub mod relocation;
pub mod serve;
