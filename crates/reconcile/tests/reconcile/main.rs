//! Reconciliations of real engines with real databases, and of logs from which something was taken.

mod kit;
