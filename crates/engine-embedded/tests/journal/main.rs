//! The journal against its guarantees: on a faulty disk in memory, and on the real one.

mod basics;
mod crash;
mod damage;
mod faults;
mod files;
mod snapshots;
mod support;
