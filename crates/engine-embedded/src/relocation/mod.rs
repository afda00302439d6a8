//! Moving a deployment into other files, among another number of partitions: what the old files and the new ones say of
//! each other, the state that goes, and the outcomes of remembered operations that are not part of it.
//!
//! The mark in the old directory decides. Until it is there, the old files are served and the new ones are not; from then
//! on it is the other way round, without end.

mod marks;
mod outcomes;
mod source;
mod standby;
mod target;

pub use marks::{Arriving, MarkError, Moved, RelocationId, check_current};
pub use source::{RestingPartition, read_consumptions, read_resting};
pub use standby::{Standby, StandbyCopy, Told};
pub use target::{CompleteOperations, write_partition};

pub(crate) use marks::check_served;

use crate::storage::{Storage, StorageError};
use crate::timekeeper;

/// Takes over what the old files know of this machine's clock, so that the new ones go on with it.
///
/// # Errors
/// When it cannot be written.
pub fn copy_clock(from: &dyn Storage, to: &dyn Storage) -> Result<(), StorageError> {
    timekeeper::copy(from, to)
}
