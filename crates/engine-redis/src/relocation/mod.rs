//! A deployment that comes from the embedded engine, in the keys of its partitions.

mod operations;
mod rows;

use super::keys::NAMES;

pub use operations::OperationRows;
pub use rows::{PartitionRows, Purpose, Sizes};

/// The keys of a partition that have rows, with their types.
fn counted_keys() -> impl Iterator<Item = (&'static str, rows::KeyType)> {
    NAMES.iter().filter_map(|name| Some((*name, rows::KeyType::of(name)?)))
}
