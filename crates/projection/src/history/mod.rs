//! History, read from the tables: facts that an engine no longer keeps. Amounts, quantities and serials are
//! integers, times are Unix milliseconds; long lists come in pages.

mod ask;
mod books;
mod coupons;
mod markets;
mod money;
mod operations;
mod packets;
mod page;
mod record;
mod stock;

pub use books::UnitsThen;
pub use coupons::CouponClaim;
pub use markets::{MarketOrder, Trade};
pub use money::{AccountEntry, Hold};
pub use operations::Operation;
pub use packets::PacketClaim;
pub use page::{LIMIT_MAX, Page, PageOrder, Paging, Span};
pub use stock::{Reservation, SaleReceipt, StockAvailability, StockMovement, StockReturn, Unit};

use crate::Projection;

/// Reads history from the tables. Cheap to clone; a few readers run at a time, further ones wait.
#[derive(Clone, Debug)]
pub struct History {
    projection: Projection,
}

impl History {
    pub(crate) fn new(projection: Projection) -> Self {
        Self { projection }
    }
}
