//! Rows of the clock.

use crate::table::row;

row! {
    /// A move of the clock: stamps before it and behind it do not compare.
    ClockMoveRow in "clock_moves", key 2 {
        partition_id: i64,
        sequence: i64,
        epoch: i64,
        from_ms: i64,
        to_ms: i64,
    }
}
