//! Engines that sequence, log and apply commands.

pub mod journal;
pub mod storage;
