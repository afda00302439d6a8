//! Positions in a partition's log.

/// A position in the log of a partition, after an event. The default is the beginning.
///
/// Ordered by epoch, then by sequence: after a failover that lost events, a higher epoch reuses their
/// sequences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The [epoch](super::epoch) of the event; 0 if it does not matter.
    pub epoch: u64,
    /// Its sequence; 0 for the beginning.
    pub sequence: u64,
}

impl std::fmt::Display for Position {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}.{}", self.epoch, self.sequence)
    }
}
