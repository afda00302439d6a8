//! Snapshots: files that hold a partition's whole state at one sequence.

pub mod file;

pub use file::{
    Listed, Newest, SnapshotError, SnapshotInfo, SnapshotOwner, SnapshotReader, list, load, newest_good,
    retain, write,
};
