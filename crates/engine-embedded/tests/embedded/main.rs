//! The embedded engine in process: restarts, receipts, blocked and failed syncs, turns.

mod duplicates;
mod old;
mod receipts;
mod restarts;
mod resting;
mod slices;
mod support;
mod syncs;
mod turns;
