//! Events as JSON, for streams, topics, exports and projections, and parsing them again. Fields that are
//! never public are left out, and so is the content hash of the request: with it, anyone could check a
//! guess of a campaign's amounts.

mod entries;
mod filter;
mod read;
mod shown;

pub use entries::{Entries, Gap};
pub use filter::{FILTERS, Filter, Marks};
pub use read::{Received, Unreadable, read, read_value};
pub use shown::{Public, fields, of_entry, public};

/// The members of an event's JSON, in order.
pub const MEMBERS: [&str; 12] = [
    "partition",
    "epoch",
    "sequence",
    "at",
    "namespace",
    "operation",
    "name",
    "fields",
    "entry_first",
    "entry_last",
    "more",
    "outcome",
];

#[cfg(test)]
mod tests;
