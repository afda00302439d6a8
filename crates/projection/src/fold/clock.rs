//! Records moves of the clock.

use scarce_core::event::{ClockEvent, ClockMoved};
use scarce_core::types::signed;

use super::origin::Origin;
use super::tables::Tables;
use crate::rows::ClockMoveRow;

pub(super) fn apply(tables: &mut Tables, event: &ClockEvent, origin: &Origin<'_>) {
    let ClockEvent::ClockMoved(ClockMoved { from_ms, to_ms }) = event else { return };
    tables.clock_moves.push(ClockMoveRow {
        partition_id: origin.partition_id(),
        sequence: origin.sequence,
        epoch: origin.epoch,
        from_ms: signed(*from_ms),
        to_ms: signed(*to_ms),
    });
    tables.uses.note_move(origin.sequence);
}
