//! Engines that sequence, log and apply commands.

pub mod deployment;
pub mod journal;
pub mod lock;
pub mod snapshot;
pub mod storage;
