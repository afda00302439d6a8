//! Engines that sequence, log and apply commands.
