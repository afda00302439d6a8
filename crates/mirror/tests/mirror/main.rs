//! The mirror on real servers.

mod bench;
mod random;
mod rows;
mod speed;
mod trouble;
mod verify;
