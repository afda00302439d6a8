//! Reconciliations of real engines with real databases, and of logs from which something was taken.

mod differences;
mod equal;
mod kit;
mod logs;
mod meanwhile;
mod repair;
mod settlements;
mod trimmed;
