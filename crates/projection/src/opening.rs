//! The rows of a state at one position, where the log before it is gone: balances, units and everything that is open, as
//! an opening balance sheet has them. What was before is not known, and nothing here makes it up.

mod coupons;
mod markets;
mod money;
mod packets;
mod stock;

use scarce_core::event::Position;
use scarce_core::machine::{Moment, StateRow};
use scarce_core::types::signed;
use scarce_outflow::{Failure, Image};

use crate::fold::{AskedCommand, LogCursor, OpenSteps, Origin};
use crate::rows::OpeningRow;
use crate::table::{Manner, Row, Sheet};

/// How many rows of a table are handed over together.
const ROWS_MAX: usize = 5_000;

/// Nobody takes the rows any more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unwanted;

/// Takes rows; each call is a piece of a table.
pub(crate) type Take<'t> = &'t mut dyn FnMut(Sheet) -> Result<(), Unwanted>;

/// The cursor behind everything that a state contains.
pub(crate) fn cursor(Moment { position, step_sequence, at, .. }: Moment) -> LogCursor {
    // What an operation in the middle of its steps was asked, its first event told.
    let step = step_sequence.map(|sequence| OpenSteps { sequence, asked: AskedCommand::default() });
    LogCursor { position, step, at_ms: Some(at) }
}

/// Makes the rows of a state, piece by piece.
pub(crate) fn rows(image: &mut dyn Image, opened_at_ms: i64, take: Take<'_>) -> Result<(), Failure> {
    let Moment { partition, position: Position { epoch, sequence }, at, .. } = image.moment();
    let (epoch, sequence, at_ms) = (signed(epoch), signed(sequence), signed(at));
    let origin = Origin { partition, epoch, sequence, at_ms, operation: None, event: "opening" };
    let mut opening = Opening { origin, take, sheets: Vec::new(), is_wanted: true };
    let partition_id = opening.origin.partition_id();
    opening.put(OpeningRow { partition_id, epoch, sequence, at_ms, opened_at_ms });
    image.rows(&mut |row| opening.put_row(row))?;
    opening.finish();
    Ok(())
}

/// Rows on their way into tables.
struct Opening<'t> {
    origin: Origin<'static>,
    take: Take<'t>,
    /// Of each table the rows that were not handed over yet.
    sheets: Vec<Sheet>,
    /// Whether they are still taken.
    is_wanted: bool,
}

impl Opening<'_> {
    fn put_row(&mut self, row: StateRow<'_>) {
        match row {
            StateRow::Account(id, account) => self.put_account(id, account),
            StateRow::Hold { account, name, hold } => self.put_hold(account, name, hold),
            StateRow::Item { sku, item, left } => self.put_item(sku, item, left),
            StateRow::Reservation { sku, name, reservation } => self.put_reservation(sku, name, reservation),
            StateRow::Receipt { sku, first, receipt } => self.put_receipt(sku, first, receipt),
            StateRow::Returned { sku, first, count, sale } => self.put_return(sku, (first, count), sale),
            StateRow::Campaign { id, campaign, .. } => self.put_campaign(id, campaign),
            StateRow::PacketClaim { id, user, claim, amount, .. } => {
                self.put_packet_claim(id, user, claim, amount);
            }
            StateRow::Coupon(id, coupon) => self.put_coupon(id, coupon),
            StateRow::CouponClaim { coupon, serial, claim } => self.put_coupon_claim(coupon, serial, claim),
            StateRow::Market(id, market) => self.put_market(id, market),
            StateRow::Order { id, market, name, order } => self.put_order((id, market), name, order),
        }
    }

    /// Takes a row, and hands its table's on when there are enough.
    fn put<R: Row>(&mut self, row: R) {
        let sheet = match self.sheets.iter_mut().position(|sheet| std::ptr::eq(sheet.table, R::TABLE)) {
            Some(place) => &mut self.sheets[place],
            None => {
                self.sheets.push(Sheet::new(Manner::Insert, std::iter::empty::<R>()));
                let last = self.sheets.len() - 1;
                &mut self.sheets[last]
            }
        };
        sheet.push(row);
        if sheet.rows() == ROWS_MAX {
            let full = std::mem::replace(sheet, Sheet::new(Manner::Insert, std::iter::empty::<R>()));
            self.hand_over(full);
        }
    }

    fn hand_over(&mut self, sheet: Sheet) {
        self.is_wanted = self.is_wanted && (self.take)(sheet).is_ok();
    }

    /// Hands over what is left.
    fn finish(&mut self) {
        for sheet in std::mem::take(&mut self.sheets) {
            if sheet.rows() > 0 {
                self.hand_over(sheet);
            }
        }
    }
}
