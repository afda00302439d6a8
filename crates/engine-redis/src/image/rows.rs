//! The rows of the keys as a state. A row may be put in again, which is how what has changed meanwhile is corrected.

use scarce_core::state::{State, StateSettings};

use super::book::KeptBooks;
use super::markets::{Orders, Tapes};
use super::record::{Damaged, Record};
use super::returned::ReturnedRanges;
use super::{accounts, coupons, markets, packets, stock};
use crate::records;

/// What was read so far.
pub(super) struct Image {
    state: State,
    orders: Orders,
    tapes: Tapes,
    pub(super) returned: ReturnedRanges,
    /// What the keys hold of books beside the orders.
    pub(super) kept: KeptBooks,
}

impl Image {
    /// Nothing yet.
    pub(super) fn new(settings: &StateSettings) -> Self {
        Self {
            state: State::new(settings.clone()),
            orders: Orders::new(),
            tapes: Tapes::new(),
            returned: ReturnedRanges::default(),
            kept: KeptBooks::default(),
        }
    }

    /// Puts the row of a hash in, in place of what its id had.
    pub(super) fn put(&mut self, hash: &str, id: &str, text: &str) -> Result<(), Damaged> {
        let record = Record::new(records::find(hash).ok_or(Damaged)?, text)?;
        let state = &mut self.state;
        match hash {
            "accounts" | "holds" => accounts::put(state, hash, id, &record),
            "stock" | "reservations" | "receipts_of" | "owners" => stock::put(state, hash, id, &record),
            "campaigns" | "packets" | "claims" => packets::put(state, hash, id, &record),
            "coupons" | "coupon_claims" | "counts" => coupons::put(state, hash, id, &record),
            "markets" => markets::put(state, &mut self.kept, id, &record),
            "orders" => markets::put_order(&mut self.orders, id, &record),
            "tape" => markets::put_trade(&mut self.tapes, id, &record),
            _ => Err(Damaged),
        }
    }

    /// Corrects a row by what the library says of it: an empty text is a row that is gone, because it has ended and the
    /// time of retention is over, or because what it counts is at nothing.
    pub(super) fn correct(&mut self, hash: &str, id: &str, text: &str) -> Result<(), Damaged> {
        let state = &mut self.state;
        match (hash, text) {
            ("holds", "") => accounts::drop_hold(state, id),
            ("reservations" | "receipts_of" | "owners", "") => stock::drop_row(state, hash, id),
            ("packets" | "claims", "") => packets::drop_row(state, hash, id),
            ("coupon_claims" | "counts", "") => coupons::drop_row(state, hash, id),
            ("orders", "") => {
                self.orders.remove(id);
                Ok(())
            }
            // Its receipt is gone, and that is told by the item.
            ("returned", "") => Ok(()),
            // Nothing else is ever taken out.
            (_, "") => Err(Damaged),
            ("returned", text) => self.returned.replace(id, text),
            (hash, text) => self.put(hash, id, text),
        }
    }

    /// The state as of the stamp of its last event; or the order that does not fit.
    pub(super) fn finish(self, at: u64) -> Result<Finished, String> {
        let Self { mut state, orders, tapes, returned, kept } = self;
        state.at = at;
        returned.restore(&mut state);
        let made = markets::restore(&mut state, orders, &kept)?;
        markets::restore_tapes(&mut state, tapes).map_err(|Damaged| "the tape".to_owned())?;
        Ok(Finished { state, kept, made })
    }
}

/// A state, the books as the keys hold them, and as they follow from the orders.
pub(super) struct Finished {
    pub(super) state: State,
    pub(super) kept: KeptBooks,
    pub(super) made: KeptBooks,
}
