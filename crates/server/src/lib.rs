//! The `scarce` binary's parts: gateways in front of an engine, and the command line.

pub mod cli;
pub mod client;
pub mod gateway;
pub mod nearest;
pub mod packets;
pub mod pipeline;
pub mod settings;
