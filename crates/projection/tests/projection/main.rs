//! The projection into real databases, of logs that the state machine wrote.

mod agreement;
mod assets;
mod clocks;
mod commands;
mod histories;
mod kills;
mod kit;
mod openings;
mod plans;
mod random;
mod rebuilding;
mod schema;
mod several;
mod small_disk;
mod troubles;
mod verifying;
mod wrong_events;
