//! A client of the RESP port: what the command line, the demonstrations and tests speak to a server with.
//!
//! Must not know: the core, an engine or the server. It speaks the protocol as any client does, so that its
//! callers see what a user sees.
//!
//! Where to begin: [`Client`] sends commands and reads answers, [`Reply`] tells an answer from a refusal, [`Info`]
//! reads what `INFO` says of a server's log.

#![forbid(unsafe_code)]

mod client;
mod info;
mod trouble;

pub use client::{Client, ClientError, ClientTls, Reply, integer, pack, text};
pub use info::{Extent, Info};
