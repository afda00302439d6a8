//! The rows of every table.

mod accounts;
mod clock;
mod coupons;
mod markets;
mod openings;
mod operations;
mod packets;
mod stock;

pub(crate) use accounts::{AccountRow, EntryKind, EntryRow, HoldRow};
pub(crate) use clock::ClockMoveRow;
pub(crate) use coupons::{CouponClaimRow, CouponLimitRow, CouponRow, CouponStatus};
pub(crate) use markets::{MarketRow, MarketStatus, OrderRow, TradeRow};
pub(crate) use openings::OpeningRow;
pub(crate) use operations::{CommandName, EventName, OperationRow};
pub(crate) use packets::{CampaignRow, CampaignStatus, PacketClaimRow};
pub(crate) use stock::{
    AvailabilityKind, AvailabilityRow, MovementKind, MovementRow, ReceiptRow, ReservationRow, ReturnRow,
    StockRow, StockStatus,
};

use crate::table::{Row, Table};

/// Every table that events are written to, in the order in which they are written.
pub(crate) const TABLES: &[&Table] = &[
    AccountRow::TABLE,
    EntryRow::TABLE,
    HoldRow::TABLE,
    StockRow::TABLE,
    MovementRow::TABLE,
    AvailabilityRow::TABLE,
    ReceiptRow::TABLE,
    ReturnRow::TABLE,
    ReservationRow::TABLE,
    CampaignRow::TABLE,
    PacketClaimRow::TABLE,
    CouponRow::TABLE,
    CouponLimitRow::TABLE,
    CouponClaimRow::TABLE,
    MarketRow::TABLE,
    OrderRow::TABLE,
    TradeRow::TABLE,
    OperationRow::TABLE,
    OpeningRow::TABLE,
    ClockMoveRow::TABLE,
];
