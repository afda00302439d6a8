//! Snapshots: files that hold a partition's whole state at one sequence.

pub mod file;

pub use file::{
    DigestOf, Listed, Newest, SnapshotError, SnapshotInfo, SnapshotOwner, SnapshotReader, digest_only, list,
    load, newest_good, remove_digest, retain, write, write_with,
};
