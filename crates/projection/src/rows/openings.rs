//! Rows of where a history begins.

use crate::table::row;

row! {
    /// Where the history of a partition begins in these tables, if that is not the beginning of its log.
    OpeningRow in "openings", key 1 {
        partition_id: i64,
        epoch: i64,
        sequence: i64,
        at_ms: i64,
        opened_at_ms: i64,
    }
}
