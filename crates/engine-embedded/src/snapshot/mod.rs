//! Snapshots: files that hold a partition's whole state at one sequence.

pub mod file;

pub use file::{
    Listed, Newest, Owner, SnapshotError, SnapshotInfo, SnapshotReader, list, load, newest_good, retain,
    write,
};
