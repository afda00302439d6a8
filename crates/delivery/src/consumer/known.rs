//! Which claims of a state the table of settlements is to have: those since the consumer began, and not those of before, which
//! may have been paid in another way. Which of them it has is looked up claim by claim.

use std::collections::BTreeMap;

use scarce_core::types::signed;
use scarce_sql::{ColumnKind, Lent};

use super::BatchFailure;
use super::cursor::Key;
use crate::page::Taken;

/// What tells claims since the consumer began from those of before.
pub(super) enum Known {
    /// It has read the log from its beginning, or was never here: all are wanted.
    Nothing,
    /// What it wrote before, as far as the log is known to have the claims.
    Rows {
        /// The last packet of each campaign: packets are claimed in their order.
        packets: BTreeMap<String, u64>,
        /// The time of the last claim, for campaigns that have no row.
        at: u64,
    },
}

const ROWS: &str = "FROM delivery_cursors AS c JOIN delivery_settlements AS s \
                    ON s.partition_id = c.partition_id AND s.lost_at_ms IS NULL WHERE c.consumer = ? AND c.partition_id = ?";

impl Known {
    /// Reads it. Times behind `now` are of a clock that was ahead, and tell nothing of what came later.
    pub(super) async fn read(lent: &mut Lent, key: Key, now: u64) -> Result<Self, BatchFailure> {
        let sql = "SELECT MIN(first_sequence) FROM delivery_epochs WHERE consumer = ? AND partition_id = ?";
        let row = lent.fetch(sql, &key.cells(), &[ColumnKind::Integer]).await?.into_iter().next();
        if row.and_then(|row| Taken::new(row).time()).is_some_and(|first| first <= 1) {
            return Ok(Self::Nothing);
        }
        let sql = format!("SELECT s.campaign, MAX(s.packet) {ROWS} GROUP BY s.campaign");
        let rows = lent.fetch(&sql, &key.cells(), &[ColumnKind::Text, ColumnKind::Integer]).await?;
        let read = |row| {
            let mut row = Taken::new(row);
            (row.text(), row.natural())
        };
        let packets: BTreeMap<String, u64> = rows.into_iter().map(read).collect();
        if packets.is_empty() {
            return Ok(Self::Nothing);
        }
        let sql = format!(
            "SELECT COALESCE(MAX(CASE WHEN s.claimed_at_ms <= {} THEN s.claimed_at_ms END), MAX(s.claimed_at_ms)) {ROWS}",
            signed(now)
        );
        let row = lent.fetch(&sql, &key.cells(), &[ColumnKind::Integer]).await?.into_iter().next();
        let at = row.and_then(|row| Taken::new(row).time()).unwrap_or_default();
        Ok(Self::Rows { packets, at })
    }

    /// Whether a claim is of before the consumer began.
    pub(super) fn leaves_out(&self, campaign: &str, packet: u64, claimed_at: u64) -> bool {
        match self {
            Self::Nothing => false,
            Self::Rows { packets, at } => {
                packets.get(campaign).map_or(claimed_at < *at, |last| packet < *last)
            }
        }
    }
}
