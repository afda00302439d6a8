//! The mirror on real servers.

mod bench;
mod random;
