//! The list of resting orders: all of them sorted, those up to a place left out.

use scarce_core::command::shapes::{BookPlace, Side};
use scarce_core::command::table::OrderList;
use scarce_core::facts;
use scarce_core::markets::LOOKED_MAX;
use scarce_core::outcome::{Code, Value, Verdict};

use super::markets::{Market, Order};
use super::{Model, refuse};

impl Model {
    pub(super) fn list_orders(&self, list: &OrderList) -> Verdict {
        let market = self.market(&list.market)?;
        let mut orders = match &list.owner {
            Some(owner) => own(market, owner.as_str()),
            None => [Side::Buy, Side::Sell]
                .iter()
                .flat_map(|side| market.book(*side))
                .map(|at| &market.orders[at])
                .collect(),
        };
        if let Some(after) = &list.after {
            let is_passed = |order: &Order| match &list.owner {
                Some(_) => order.place <= after.priority.get(),
                None => key(order) <= key_of(after),
            };
            let is_walked = |order: &Order| is_passed(order) && (list.owner.is_some() || is_at(order, after));
            let rests =
                orders.iter().any(|order| order.name == after.order && order.place == after.priority.get())
                    && orders.iter().any(|order| {
                        order.name == after.order && (list.owner.is_some() || is_at(order, after))
                    });
            if !rests && orders.iter().filter(|order| is_walked(order)).count() > LOOKED_MAX {
                return refuse(Code::StepLimit, facts![LOOKED_MAX as u64]);
            }
            orders.retain(|order| !is_passed(order));
        }
        orders.truncate(list.count.rows());
        Ok(facts![orders.into_iter().map(row).collect::<Vec<_>>()])
    }
}

fn own<'a>(market: &'a Market, owner: &str) -> Vec<&'a Order> {
    let is_own = |order: &&Order| order.is_open() && order.owner.as_str() == owner;
    let mut orders: Vec<&Order> = market.orders.iter().filter(is_own).collect();
    orders.sort_by_key(|order| order.place);
    orders
}

fn key(order: &Order) -> (u8, i128, u64) {
    order_key(order.side, order.price.unwrap_or(0), order.place)
}

fn key_of(place: &BookPlace) -> (u8, i128, u64) {
    order_key(place.side, place.price.get(), place.priority.get())
}

fn order_key(side: Side, price: u64, priority: u64) -> (u8, i128, u64) {
    match side {
        Side::Buy => (0, -i128::from(price), priority),
        Side::Sell => (1, i128::from(price), priority),
    }
}

fn is_at(order: &Order, place: &BookPlace) -> bool {
    (order.side, order.price) == (place.side, Some(place.price.get()))
}

fn row(order: &Order) -> Value {
    let price = order.price.unwrap_or(0);
    let place = format!("{}-{price}-{}-{}", order.side.word(), order.place, order.name);
    let mut row = facts![&order.name, &order.owner, order.side.word(), price, order.remaining, order.filled];
    row.extend(facts![order.tif.word(), order.stp.word(), order.status(), place.as_str()]);
    Value::List(row.into_vec())
}
