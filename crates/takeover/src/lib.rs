//! What a team keeps in a Redis of its own, behind its own scripts, made into accounts, stock, packets and coupons.
//!
//! Must not know: an engine, a port or the command line. It reads the source and writes commands down; sending them is
//! left to its caller.
//!
//! Where to begin: [`Map`] says which keys mean what, [`Source::read`] reads them at one moment, [`Resources::gather`]
//! puts together what belongs to one resource, and [`Plan`] has the operations.

#![forbid(unsafe_code)]

mod build;
mod cells;
mod error;
mod gather;
mod map;
mod pattern;
mod plan;
mod resources;
mod rules;
mod snapshot;
mod source;

pub use cells::value_of;
pub use error::{Problem, TakeoverError};
pub use map::Map;
pub use pattern::{Captures, Pattern};
pub use plan::{Heading, Made, Plan, Step, Sum};
pub use resources::Resources;
pub use snapshot::{Snapshot, Tally};
pub use source::{Moment, Source};
