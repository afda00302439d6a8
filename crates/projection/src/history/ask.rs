//! Histories by name, for ports and tools.

use scarce_api::history::{Asked, HistoryId};
use serde::Serialize;
use serde_json::Value;

use super::{History, Page, PageOrder, Paging, Span};
use crate::ProjectionError;

impl History {
    /// A page of a history, its rows as JSON objects with the fields of its table.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is not from this list.
    pub async fn ask(&self, asked: &Asked) -> Result<Page<Value>, ProjectionError> {
        let paging = Paging {
            limit: asked.limit,
            after: asked.after.clone(),
            order: if asked.is_oldest_first { PageOrder::OldestFirst } else { PageOrder::NewestFirst },
        };
        let page = self.page(asked, &paging).await?;
        Ok(Page { cursor: page.cursor.map(|place| asked.sealed(&place)), ..page })
    }

    async fn page(&self, asked: &Asked, paging: &Paging) -> Result<Page<Value>, ProjectionError> {
        let text = |name| asked.text(name);
        let (sku, market, order) = (asked.text_if_said("sku"), text("market"), text("order"));
        match asked.history.id {
            HistoryId::AccountEntries => {
                let span = Span { from_ms: asked.number("from_ms"), to_ms: asked.number("to_ms") };
                shown(&self.account_statement(text("account"), span, paging).await?)
            }
            HistoryId::AccountHolds => shown(&self.account_holds(text("account"), paging).await?),
            HistoryId::Operation => shown(&whole(self.operations(text("operation")).await?)),
            HistoryId::Unit => {
                let unit = self.unit(text("sku"), asked.number("serial").unwrap_or_default()).await?;
                shown(&whole(Vec::from_iter(unit)))
            }
            HistoryId::StockMovements => shown(&self.stock_movements(text("sku"), paging).await?),
            HistoryId::StockAvailability => shown(&self.stock_availability(text("sku"), paging).await?),
            HistoryId::OwnerReceipts => shown(&self.owner_receipts(text("owner"), sku, paging).await?),
            HistoryId::OwnerReservations => {
                shown(&self.owner_reservations(text("owner"), sku, paging).await?)
            }
            HistoryId::PacketClaims => shown(&self.campaign_claims(text("campaign"), paging).await?),
            HistoryId::UserPackets => shown(&self.user_packets(text("user"), paging).await?),
            HistoryId::CouponClaims => shown(&self.coupon_claims(text("coupon"), paging).await?),
            HistoryId::UserCoupons => {
                let coupon = asked.text_if_said("coupon");
                shown(&self.user_coupon_claims(text("user"), coupon, paging).await?)
            }
            HistoryId::MarketOrders => shown(&self.owner_orders(market, text("owner"), paging).await?),
            HistoryId::Order => shown(&whole(self.orders(market, order).await?)),
            HistoryId::OrderTrades => match self.orders(market, order).await?.last() {
                Some(order) => shown(&self.order_trades(order, paging).await?),
                None => Ok(whole(Vec::new())),
            },
            HistoryId::Trades => shown(&self.trades(market, paging).await?),
        }
    }
}

/// A list that is short enough for one page.
fn whole<T>(rows: Vec<T>) -> Page<T> {
    Page { rows, has_more: false, cursor: None }
}

/// Rows as JSON objects.
fn shown<T: Serialize>(page: &Page<T>) -> Result<Page<Value>, ProjectionError> {
    let rows = page.rows.iter().map(serde_json::to_value).collect::<Result<_, _>>();
    let rows = rows.map_err(|source| ProjectionError::Shown { source })?;
    Ok(Page { rows, has_more: page.has_more, cursor: page.cursor.clone() })
}
