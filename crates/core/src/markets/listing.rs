//! A market's resting orders, a page at a time. An owner's are linked with each other and so are those at a price, so a page
//! costs what is on it: it goes on at the order behind which it is asked for. If that order has left its place, those before
//! it are passed one by one, up to a bound.

use super::book::Node;
use super::fillable::too_many;
use super::{LOOKED_MAX, Order};
use crate::command::shapes::{BookPlace, Side};
use crate::command::table::OrderList;
use crate::facts;
use crate::outcome::{Refusal, Value, Verdict};
use crate::state::State;
use crate::store::Slot;
use crate::types::Id;

/// A page of an owner's orders, oldest first, or of all in the order in which they trade, bids first.
pub(crate) fn list(state: &State, list: &OrderList) -> Verdict {
    let (market, _) = state.markets.existing(&list.market)?;
    let listing = Listing { state, market, after: list.after.as_ref() };
    let mut rows = Vec::new();
    let count = list.count.rows();
    match &list.owner {
        Some(owner) => listing.add(listing.of_owner(owner)?, count, &mut rows),
        None => {
            for side in [Side::Buy, Side::Sell] {
                listing.add(listing.of_side(side)?, count, &mut rows);
            }
        }
    }
    Ok(facts![rows])
}

struct Listing<'a> {
    state: &'a State,
    market: Slot,
    after: Option<&'a BookPlace>,
}

type Nodes<'a> = Box<dyn Iterator<Item = &'a Node> + 'a>;

impl<'a> Listing<'a> {
    fn of_owner(&self, owner: &Id) -> Result<Nodes<'a>, Refusal> {
        let books = &self.state.markets.books;
        let Some(slot) = books.owner(self.market, owner) else { return Ok(Box::new(std::iter::empty())) };
        let Some(after) = self.after else { return Ok(Box::new(books.of_owner(self.market, slot))) };
        match self.anchor(after).filter(|(order, _)| order.owner == *owner) {
            Some((_, node)) => Ok(Box::new(books.own_behind(self.market, node))),
            None => self.behind(Box::new(books.of_owner(self.market, slot)), after),
        }
    }

    /// A side's orders, those at the best price first. Bids come before asks.
    fn of_side(&self, side: Side) -> Result<Nodes<'a>, Refusal> {
        let book = self.state.markets.books.get(self.market);
        match self.after {
            Some(after) if after.side == side => {
                let price = after.price.get();
                let anchor =
                    self.anchor(after).filter(|(order, _)| (order.side, order.price) == (side, Some(price)));
                let at_price = match anchor {
                    Some((_, node)) => Box::new(book.queue_behind(node)),
                    None => self.behind(Box::new(book.queue_at_price(side, price)), after)?,
                };
                Ok(Box::new(at_price.chain(book.beyond(side, price))))
            }
            Some(after) if after.side == Side::Sell => Ok(Box::new(std::iter::empty())),
            _ => Ok(Box::new(book.makers(side, None).map(|(_, node)| node))),
        }
    }

    /// The order of a place with its entry, if it still rests there.
    fn anchor(&self, after: &BookPlace) -> Option<(&'a Order, u32)> {
        let order = self.state.markets.orders.get(&(self.market, &after.order))?;
        let place = order.place.filter(|place| place.priority == after.priority.get())?;
        Some((order, place.node))
    }

    /// Those behind a place of such entries, whose priorities rise.
    fn behind(&self, nodes: Nodes<'a>, after: &BookPlace) -> Result<Nodes<'a>, Refusal> {
        let mut nodes = nodes.peekable();
        let mut passed = 0;
        while nodes.next_if(|node| self.priority(node) <= after.priority.get()).is_some() {
            passed += 1;
            if passed > LOOKED_MAX {
                return Err(too_many());
            }
        }
        Ok(Box::new(nodes))
    }

    fn priority(&self, node: &Node) -> u64 {
        let place = self.state.markets.orders.at(node.row).and_then(|order| order.place);
        place.map_or(0, |place| place.priority)
    }

    /// Adds rows, up to a number of them.
    fn add(&self, nodes: Nodes<'a>, count: usize, rows: &mut Vec<Value>) {
        rows.extend(nodes.take(count - rows.len()).filter_map(|node| self.row(node)));
    }

    fn row(&self, node: &Node) -> Option<Value> {
        let orders = &self.state.markets.orders;
        let ((_, id), order) = (orders.key_at(node.row)?, orders.at(node.row)?);
        let (price, priority) = (order.price?, self.priority(node));
        let mut row = facts![id, &order.owner, order.side.word(), price, order.remaining, order.filled];
        let place = format!("{}-{price}-{priority}-{id}", order.side.word());
        row.extend(facts![order.tif.word(), order.stp.word(), order.status.word(), place.as_str()]);
        Some(Value::List(row.into_vec()))
    }
}

#[cfg(test)]
#[path = "tests/listing.rs"]
mod tests;
