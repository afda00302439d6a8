//! Engines that sequence, log and apply commands.

pub mod storage;
