//! What flows out of an engine, of either kind: everything, in order, to whoever asks, and the log is kept for them.

mod engines;
mod log_kept;
mod recorder;
mod runs;
