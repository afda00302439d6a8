//! Moving a deployment into other files: what the old files and the new ones say of each other.
//!
//! The mark in the old directory decides. Until it is there, the old files are served and the new ones are not; from then
//! on it is the other way round, without end.

mod marks;

pub use marks::{Arriving, MarkError, Moved, RelocationId};

pub(crate) use marks::check_served;
