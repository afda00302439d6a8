//! Events as JSON: what streams, topics, exports and projections are made of, and the way back. Fields
//! that are never public are left out, and so is the hash of what was asked for: with it, whoever
//! guesses a campaign's amounts could tell whether the guess is right.

mod entries;
mod read;
mod shown;

pub use entries::{Entries, Gap};
pub use read::{Received, Unreadable, read, read_value};
pub use shown::{Public, fields, of_entry, public};

/// The members of an event's JSON, in the order in which they are written.
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
