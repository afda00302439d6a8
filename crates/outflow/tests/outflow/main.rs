//! Consumers of an engine of either kind get everything, in order, and the log is kept for them.

mod engines;
mod histories;
mod log_kept;
mod recorder;
mod runs;
