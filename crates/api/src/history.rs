//! The table of histories: queries of the projected tables, about what an engine no longer holds. Routes,
//! subcommands and the description are generated from it.

mod asked;
mod columns;

pub use asked::{Asked, PAGE_ROWS_MAX};
pub use columns::{Column, Kind};

use columns::{
    COUPON_CLAIMS, ENTRIES, HOLDS, OPERATIONS, ORDERS, PACKET_CLAIMS, RECEIPTS, RESERVATIONS,
    STOCK_AVAILABILITY, STOCK_MOVEMENTS, TRADES, UNITS,
};
use scarce_core::language::Text;
use scarce_core::resource::ResourceKind;

/// A list that can be queried, page by page.
#[derive(Clone, Copy, Debug)]
pub struct History {
    /// Its kind.
    pub id: HistoryId,
    /// Its name, with words separated by `-`.
    pub name: &'static str,
    /// Its path, with required parameters in braces.
    pub path: &'static str,
    /// Its optional parameters, in the query.
    pub filters: &'static [&'static str],
    /// Its contents.
    pub summary: Text,
    /// The members of a row, in order.
    pub columns: &'static [Column],
    /// The kind of resource that it is about; `None` if it is about operations of any caller.
    pub resource: Option<ResourceKind>,
    /// The parameter that names the resource; without one it is about all of the kind.
    pub of: Option<&'static str>,
}

impl History {
    /// The required parameters, in the order of the path.
    pub fn required(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }
}

/// The history with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static History> {
    HISTORIES.iter().find(|history| history.name == name)
}

macro_rules! resource {
    (Nothing) => {
        None
    };
    ($kind:ident) => {
        Some(ResourceKind::$kind)
    };
}

macro_rules! histories {
    ($($resource:ident [$($of:literal)?] $id:ident $name:literal $path:literal [$($filter:literal)*] $columns:ident $english:literal $chinese:literal;)*) => {
        /// Which history.
        #[allow(missing_docs, reason = "the table says of each what it lists")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum HistoryId { $($id),* }

        /// Every history.
        pub static HISTORIES: &[History] = &[$(History {
            id: HistoryId::$id,
            name: $name,
            path: $path,
            filters: &[$($filter),*],
            summary: Text::new($english, $chinese),
            columns: $columns,
            resource: resource!($resource),
            of: [$(Some($of),)? None][0],
        }),*];
    };
}

histories! {
    Account ["account"] AccountEntries "account-entries" "/v1/history/accounts/{account}/entries" ["from_ms" "to_ms"] ENTRIES
        "The statement of an account: every movement with the balance after it." "账户流水：每笔变动及其后的余额。";
    Account ["account"] AccountHolds "account-holds" "/v1/history/accounts/{account}/holds" [] HOLDS
        "All holds of an account, by name, those that ended included." "账户的全部冻结记录（按名称），含已结束的。";
    Nothing [] Operation "operation" "/v1/history/operations/{operation}" [] OPERATIONS
        "What was answered to an operation id, also after the engine forgot it." "某操作 ID 的结果，引擎遗忘之后仍可查询。";
    Stock ["sku"] Unit "unit" "/v1/history/stock/{sku}/units/{serial}" [] UNITS
        "Who got a unit, and whether it came back; no row where it was never sold." "某件商品卖给了谁、是否退回；从未售出则无记录。";
    Stock ["sku"] StockMovements "stock-movements" "/v1/history/stock/{sku}/movements" [] STOCK_MOVEMENTS
        "Why there are as many units of an item as there are." "库存总量的每次变动。";
    Stock ["sku"] StockAvailability "stock-availability" "/v1/history/stock/{sku}/availability" [] STOCK_AVAILABILITY
        "When an item was sold out, and when units were available again." "某商品何时售罄、何时恢复可售。";
    Stock [] OwnerReceipts "owner-receipts" "/v1/history/owners/{owner}/receipts" ["sku"] RECEIPTS
        "What an owner bought." "某买家的购买记录。";
    Stock [] OwnerReservations "owner-reservations" "/v1/history/owners/{owner}/reservations" ["sku"] RESERVATIONS
        "What was set aside for an owner, whatever became of it." "某买家的预留记录及其结果。";
    Campaign ["campaign"] PacketClaims "packet-claims" "/v1/history/packets/{campaign}/claims" [] PACKET_CLAIMS
        "Who got the packets of a campaign." "某红包活动的领取记录。";
    Campaign [] UserPackets "user-packets" "/v1/history/users/{user}/packets" [] PACKET_CLAIMS
        "What packets a user got, by campaign." "某用户领到的红包（按活动）。";
    Coupon ["coupon"] CouponClaims "coupon-claims" "/v1/history/coupons/{coupon}/claims" [] COUPON_CLAIMS
        "What was claimed of a coupon." "某优惠券的领取记录。";
    Coupon [] UserCoupons "user-coupons" "/v1/history/users/{user}/coupons" ["coupon"] COUPON_CLAIMS
        "What coupons a user claimed." "某用户领取的优惠券。";
    Market ["market"] MarketOrders "market-orders" "/v1/history/markets/{market}/owners/{owner}/orders" [] ORDERS
        "An owner's orders in a market, whatever became of them." "某用户在某市场的全部订单及其结果。";
    Market ["market"] Order "order" "/v1/history/markets/{market}/orders/{order}" [] ORDERS
        "An order by its name; several where the name was used again." "按名称查询订单；名称被重复使用时有多条。";
    Market ["market"] OrderTrades "order-trades" "/v1/history/markets/{market}/orders/{order}/trades" [] TRADES
        "The trades of an order; of the last one where the name was used again." "某订单的成交；名称被重复使用时取最后一个订单。";
    Market ["market"] Trades "trades" "/v1/history/markets/{market}/trades" [] TRADES
        "The trades of a market." "某市场的成交记录。";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_and_paths_are_told_apart() {
        let names: BTreeSet<_> = HISTORIES.iter().map(|history| history.name).collect();
        let shapes: BTreeSet<String> = HISTORIES
            .iter()
            .map(|history| {
                let part = |part: &'static str| if part.starts_with('{') { "{}" } else { part };
                history.path.split('/').map(part).collect::<Vec<_>>().join("/")
            })
            .collect();
        assert_eq!((names.len(), shapes.len()), (HISTORIES.len(), HISTORIES.len()));
        assert!(HISTORIES.iter().all(|history| find(history.name).is_some()));
    }
}
