//! The rows of a state with the names that they need: of a machine, or of the bytes of one, which are read row by row.

use crate::accounts::{Account, Hold};
use crate::codec::Malformed;
use crate::coupons::{Claim as CouponClaim, Coupon};
use crate::event::Position;
use crate::markets::{Market, Order};
use crate::packets::{Campaign, Claim as PacketClaim, Forgotten as LeftPackets};
use crate::pieces::PieceReader;
use crate::stock::{Forgotten as LeftReceipts, Receipt, Reservation, StockItem};
use crate::types::{Id, TimeMs};

use super::{Machine, Outline};

/// A row of a state. What belongs to a resource comes after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are named like what they hold")]
pub enum StateRow<'r> {
    /// An account, world accounts included.
    Account(&'r Id, &'r Account),
    /// A hold; ended ones for as long as they are kept.
    Hold { account: &'r Id, name: &'r Id, hold: &'r Hold },
    /// An item, and what has left of its receipts.
    Item { sku: &'r Id, item: &'r StockItem, left: &'r LeftReceipts },
    /// A reservation; ended ones for as long as they are kept.
    Reservation { sku: &'r Id, name: &'r Id, reservation: &'r Reservation },
    /// A sale by its first serial.
    Receipt { sku: &'r Id, first: u64, receipt: &'r Receipt },
    /// A range of returned serials: the first one, how many, and the sale that they are of with its first serial.
    Returned { sku: &'r Id, first: u64, count: u64, sale: (u64, &'r Receipt) },
    /// A campaign, and what has left of its packets.
    Campaign { id: &'r Id, campaign: &'r Campaign, left: &'r LeftPackets },
    /// A user's packet and its amount.
    PacketClaim { id: &'r Id, campaign: &'r Campaign, user: &'r Id, claim: &'r PacketClaim, amount: u64 },
    /// A coupon.
    Coupon(&'r Id, &'r Coupon),
    /// A claim of a coupon; ended ones for as long as they are kept.
    CouponClaim { coupon: &'r Id, serial: u64, claim: &'r CouponClaim },
    /// A market.
    Market(&'r Id, &'r Market),
    /// An order; ended ones for as long as they are kept.
    Order { id: &'r Id, market: &'r Market, name: &'r Id, order: &'r Order },
}

impl<'r> StateRow<'r> {
    /// The resource, where this is the row of one and not of what belongs to it.
    #[must_use]
    pub fn resource(&self) -> Option<&'r Id> {
        match *self {
            Self::Account(id, _)
            | Self::Item { sku: id, .. }
            | Self::Campaign { id, .. }
            | Self::Coupon(id, _)
            | Self::Market(id, _) => Some(id),
            _ => None,
        }
    }
}

/// Takes rows.
pub type TakeRow<'t> = &'t mut dyn FnMut(StateRow<'_>);

/// Of which moment rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The partition.
    pub partition: u32,
    /// The last event.
    pub position: Position,
    /// The stamp of the last entry.
    pub at: TimeMs,
    /// The first event of an operation that is not finished, if there is one.
    pub step_sequence: Option<u64>,
}

impl Machine {
    /// The moment that it is at.
    #[must_use]
    pub fn moment(&self) -> Moment {
        let Self { partition, epoch, sequence, state, .. } = self;
        Moment {
            partition: *partition,
            position: Position { epoch: *epoch, sequence: *sequence },
            at: state.at,
            step_sequence: state.unfinished.as_ref().map(|unfinished| unfinished.sequence_first),
        }
    }

    /// Gives every row to `take`.
    pub fn rows(&self, take: TakeRow<'_>) {
        let state = &self.state;
        state.accounts.rows(take);
        state.stock.rows(take);
        state.campaigns.rows(take);
        state.coupons.rows(take);
        state.markets.rows(take);
    }
}

impl Outline {
    /// Gives every row to `take`, as [`Machine::rows`] does, from a second reading of the same bytes. Besides the outline the names
    /// of accounts with holds and the amounts of claimed packets are kept meanwhile.
    ///
    /// # Errors
    /// When the bytes do not encode a machine.
    pub fn rows(
        &self,
        next: &mut dyn FnMut(&mut Vec<u8>) -> bool,
        take: TakeRow<'_>,
    ) -> Result<(), Malformed> {
        let mut input = PieceReader::new(next);
        super::scan::pass_head(&mut input)?;
        crate::accounts::read_rows(self.holding(), &mut input, take)?;
        self.state().stock.read_rows(&mut input, take)?;
        self.state().campaigns.read_rows(&mut input, take)?;
        self.state().coupons.read_rows(&mut input, take)?;
        self.state().markets.read_rows(&mut input, take)
    }
}
