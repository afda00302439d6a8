//! Gateways: bytes in, commands to the engine, answers out.

pub mod resp;
