//! What stands for a field that no public stream shows, where an event is read back from one.

use compact_str::CompactString;

use crate::command::shapes::Cut;
use crate::machine::step::Progress;
use crate::types::Id;

/// A value that says nothing, in the place of one that was left out.
pub trait Redacted {
    /// The value.
    fn redacted() -> Self;
}

impl Redacted for u64 {
    fn redacted() -> Self {
        0
    }
}

impl<T> Redacted for Option<T> {
    fn redacted() -> Self {
        None
    }
}

impl<T> Redacted for Vec<T> {
    fn redacted() -> Self {
        Vec::new()
    }
}

/// No amounts.
impl Redacted for Cut {
    fn redacted() -> Self {
        Self::Amounts(Vec::new())
    }
}

/// Packets of a campaign that has no name.
impl Redacted for Progress {
    fn redacted() -> Self {
        Self::Packets { campaign: Id::trusted(CompactString::default()) }
    }
}
