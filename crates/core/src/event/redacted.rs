//! Placeholders for fields that are never public, for events that are read back from a public stream.

use compact_str::CompactString;

use crate::command::shapes::Cut;
use crate::machine::step::OperationProgress;
use crate::types::Id;

/// An empty value in place of a field that was left out.
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

/// Packets of a campaign without a name.
impl Redacted for OperationProgress {
    fn redacted() -> Self {
        Self::Packets { campaign: Id::trusted(CompactString::default()) }
    }
}
