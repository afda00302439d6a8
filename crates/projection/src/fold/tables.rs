//! All rows that the fold of a partition caches.

use std::mem::take;

use crate::rows::{
    AccountRow, AvailabilityRow, CampaignRow, ClockMoveRow, CouponClaimRow, CouponLimitRow, CouponRow,
    EntryRow, HoldRow, MarketRow, MovementRow, OperationRow, OrderRow, PacketClaimRow, ReceiptRow,
    ReservationRow, ReturnRow, StockRow, TradeRow,
};
use crate::shelf::Shelf;
use crate::table::{Manner, Row, Sheet};

use super::operations::Uses;
use super::returned::Returned;

/// The rows of a partition: of tables whose rows change, as many as are cached; of tables whose rows never
/// change, the new ones of the batch.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) accounts: Shelf<AccountRow>,
    pub(crate) holds: Shelf<HoldRow>,
    pub(crate) stock: Shelf<StockRow>,
    pub(crate) receipts: Shelf<ReceiptRow>,
    pub(crate) reservations: Shelf<ReservationRow>,
    pub(crate) campaigns: Shelf<CampaignRow>,
    pub(crate) coupons: Shelf<CouponRow>,
    pub(crate) limits: Shelf<CouponLimitRow>,
    pub(crate) coupon_claims: Shelf<CouponClaimRow>,
    pub(crate) markets: Shelf<MarketRow>,
    pub(crate) orders: Shelf<OrderRow>,
    pub(crate) entries: Vec<EntryRow>,
    pub(crate) movements: Vec<MovementRow>,
    pub(crate) availability: Vec<AvailabilityRow>,
    pub(crate) returns: Vec<ReturnRow>,
    pub(crate) packet_claims: Vec<PacketClaimRow>,
    pub(crate) trades: Vec<TradeRow>,
    pub(crate) operations: Vec<OperationRow>,
    pub(crate) clock_moves: Vec<ClockMoveRow>,
    /// Which units were returned before.
    pub(crate) returned: Returned,
    /// How often operation ids were used before.
    pub(crate) uses: Uses,
}

/// Runs code for every shelf.
macro_rules! each_shelf {
    ($tables:ident, $shelf:ident => $does:expr) => {{
        {
            let $shelf = &mut $tables.accounts;
            $does
        }
        {
            let $shelf = &mut $tables.holds;
            $does
        }
        {
            let $shelf = &mut $tables.stock;
            $does
        }
        {
            let $shelf = &mut $tables.receipts;
            $does
        }
        {
            let $shelf = &mut $tables.reservations;
            $does
        }
        {
            let $shelf = &mut $tables.campaigns;
            $does
        }
        {
            let $shelf = &mut $tables.coupons;
            $does
        }
        {
            let $shelf = &mut $tables.limits;
            $does
        }
        {
            let $shelf = &mut $tables.coupon_claims;
            $does
        }
        {
            let $shelf = &mut $tables.markets;
            $does
        }
        {
            let $shelf = &mut $tables.orders;
            $does
        }
    }};
}

pub(crate) use each_shelf;

impl Tables {
    /// Caches up to about this many rows of each table.
    pub(crate) fn new(rows_max: usize) -> Self {
        Self {
            accounts: Shelf::new(rows_max),
            holds: Shelf::new(rows_max),
            stock: Shelf::new(rows_max),
            // Few sales are ever returned.
            receipts: Shelf::new(0),
            reservations: Shelf::new(rows_max),
            campaigns: Shelf::new(rows_max),
            coupons: Shelf::new(rows_max),
            limits: Shelf::new(rows_max),
            coupon_claims: Shelf::new(rows_max),
            markets: Shelf::new(rows_max),
            orders: Shelf::new(rows_max),
            entries: Vec::new(),
            movements: Vec::new(),
            availability: Vec::new(),
            returns: Vec::new(),
            packet_claims: Vec::new(),
            trades: Vec::new(),
            operations: Vec::new(),
            clock_moves: Vec::new(),
            returned: Returned::default(),
            uses: Uses::default(),
        }
    }

    /// The rows that the batch writes, table by table; moved out if they are not cached.
    pub(crate) fn sheets(&mut self) -> Vec<Sheet> {
        let mut sheets = vec![
            new(&mut self.entries),
            new(&mut self.movements),
            new(&mut self.availability),
            new(&mut self.returns),
            new(&mut self.packet_claims),
            new(&mut self.trades),
            new(&mut self.operations),
            new(&mut self.clock_moves),
        ];
        each_shelf!(self, shelf => sheets.extend(shelf.sheets()));
        sheets.retain(|sheet| sheet.rows() > 0);
        sheets
    }

    /// Notes that the batch is in the database.
    pub(crate) fn settle(&mut self) {
        each_shelf!(self, shelf => shelf.settle());
        self.returned.clear();
        self.uses.settle();
    }
}

/// New rows of a table whose rows never change.
fn new<R: Row>(rows: &mut Vec<R>) -> Sheet {
    Sheet::new(Manner::Insert, take(rows))
}
