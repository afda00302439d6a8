//! The rows of a state at one position, where the log before it is gone: balances, units and everything that is open, as
//! an opening balance sheet has them. What was before is not known, and nothing here makes it up.

mod coupons;
mod markets;
mod money;
mod packets;
mod stock;

use scarce_core::event::Position;
use scarce_core::machine::Machine;
use scarce_core::types::signed;

use crate::fold::{LogCursor, Origin};
use crate::rows::OpeningRow;
use crate::table::{Manner, Row, Sheet};

/// How many rows are made at a time.
const ROWS_MAX: usize = 5_000;

/// Nobody takes the rows any more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unwanted;

/// Takes rows; each call is a piece of a table.
pub(crate) type Take<'t> = &'t mut dyn FnMut(Sheet) -> Result<(), Unwanted>;

/// The cursor behind everything that a state contains.
pub(crate) fn cursor(image: &Machine) -> LogCursor {
    LogCursor {
        position: Position { epoch: image.epoch(), sequence: image.sequence() },
        step_sequence: image.state().unfinished.as_ref().map(|unfinished| unfinished.sequence_first),
        at_ms: Some(image.state().at),
    }
}

/// Makes the rows of a state, piece by piece.
pub(crate) fn rows(image: &Machine, opened_at_ms: i64, take: Take<'_>) -> Result<(), Unwanted> {
    let origin = Origin {
        partition: image.partition(),
        epoch: signed(image.epoch()),
        sequence: signed(image.sequence()),
        at_ms: signed(image.state().at),
        operation: None,
        event: "opening",
    };
    let Origin { epoch, sequence, at_ms, .. } = origin;
    let opening = OpeningRow { partition_id: origin.partition_id(), epoch, sequence, at_ms, opened_at_ms };
    put(take, [opening])?;
    money::put(image.state(), &origin, take)?;
    stock::put(image.state(), &origin, take)?;
    packets::put(image.state(), &origin, take)?;
    coupons::put(image.state(), &origin, take)?;
    markets::put(image.state(), &origin, take)
}

/// Hands rows over in pieces.
fn put<R: Row>(take: Take<'_>, rows: impl IntoIterator<Item = R>) -> Result<(), Unwanted> {
    let mut rows = rows.into_iter().peekable();
    while rows.peek().is_some() {
        take(Sheet::new(Manner::Insert, rows.by_ref().take(ROWS_MAX)))?;
    }
    Ok(())
}
