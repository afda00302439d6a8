//! The books: per market and side the price levels, per level a queue of resting orders, and per owner
//! its resting orders, oldest first.
//!
//! The queues are linked through one slab of entries per market, so that removing an order from the
//! middle of a queue only touches its neighbours. All changes to a book go through [`Pen`], which can
//! record the cell that it overwrites; a rollback writes the recorded cells again, last one first.

use super::levels::{Level, Levels, Rank};
use crate::command::shapes::Side;
use crate::store::{Reversible, Slot, Table, visits};
use crate::types::Id;

/// No entry.
pub(super) const NIL: u32 = u32::MAX;

/// The entry of a resting order. Only the order's record has its remaining quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// The slot of the order's record.
    pub(super) row: Slot,
    /// The index of its owner among the market's owners.
    pub(super) owner: Slot,
    pub(super) side: Side,
    pub(super) rank: Rank,
    prev: u32,
    next: u32,
    own_prev: u32,
    own_next: u32,
}

/// An order that is to rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resting {
    /// The slot of its record.
    pub(super) row: Slot,
    /// Its side.
    pub(super) side: Side,
    /// Its price.
    pub(super) price: u64,
    /// Its remaining quantity.
    pub(super) quantity: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    /// The first free entry; free entries are linked by `next`.
    free: u32,
    orders: u64,
    bids_total: u64,
    asks_total: u64,
}

impl Header {
    fn total(&mut self, side: Side) -> &mut u64 {
        match side {
            Side::Buy => &mut self.bids_total,
            Side::Sell => &mut self.asks_total,
        }
    }
}

/// A market's book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Book {
    bids: Levels,
    asks: Levels,
    nodes: Vec<Node>,
    header: Header,
}

impl Book {
    const fn new() -> Self {
        let header = Header { free: NIL, orders: 0, bids_total: 0, asks_total: 0 };
        Self { bids: Levels::new(), asks: Levels::new(), nodes: Vec::new(), header }
    }

    fn side(&self, side: Side) -> &Levels {
        match side {
            Side::Buy => &self.bids,
            Side::Sell => &self.asks,
        }
    }

    fn side_mut(&mut self, side: Side) -> &mut Levels {
        match side {
            Side::Buy => &mut self.bids,
            Side::Sell => &mut self.asks,
        }
    }

    fn node(&self, index: u32) -> Option<&Node> {
        self.nodes.get(index as usize)
    }

    /// How many orders rest.
    pub(super) fn orders(&self) -> u64 {
        self.header.orders
    }

    /// The sum of all units that rest on a side.
    pub(super) fn total(&self, side: Side) -> u64 {
        match side {
            Side::Buy => self.header.bids_total,
            Side::Sell => self.header.asks_total,
        }
    }

    /// The best price of a side.
    pub(super) fn best(&self, side: Side) -> Option<u64> {
        self.side(side).first().map(|(rank, _)| rank.price(side))
    }

    /// Whether a taker that trades against `side` at `limit` (absent: at any price) would meet an order.
    pub(super) fn crosses(&self, side: Side, limit: Option<u64>) -> bool {
        visits::note();
        self.side(side).first().is_some_and(|(rank, _)| rank <= Rank::limit(side, limit))
    }

    /// The levels of a side, best first, down to a limit (absent: all).
    pub(super) fn crossing(&self, side: Side, limit: Option<u64>) -> impl Iterator<Item = (u64, &Level)> {
        let levels = self.side(side).range(..=Rank::limit(side, limit));
        levels.map(move |(rank, level)| (rank.price(side), level))
    }

    /// The units of a side down to a rank, or at least `wanted` of them.
    pub(super) fn units(&self, side: Side, last: Rank, wanted: u64) -> u64 {
        self.side(side).units(last, wanted)
    }

    /// The entries at a price, oldest first.
    pub(super) fn queue_at(&self, side: Side, rank: Rank) -> impl Iterator<Item = &Node> {
        self.side(side).get(rank).into_iter().flat_map(|level| self.queue(level))
    }

    /// The entry that trades first on a side.
    pub(super) fn first(&self, side: Side) -> Option<&Node> {
        let (_, level) = self.side(side).first()?;
        self.node(level.head)
    }

    /// The entries of a level, oldest first.
    pub(super) fn queue(&self, level: &Level) -> impl Iterator<Item = &Node> {
        let nodes = std::iter::successors(self.node(level.head), |node| self.node(node.next));
        nodes.inspect(|_| visits::note())
    }

    /// The entries at a price, oldest first.
    pub(super) fn queue_at_price(&self, side: Side, price: u64) -> impl Iterator<Item = &Node> {
        self.queue_at(side, Rank::of(side, price))
    }

    /// The entries at its price behind an entry.
    pub(super) fn queue_behind(&self, node: u32) -> impl Iterator<Item = &Node> {
        let nodes = std::iter::successors(self.node(node), |node| self.node(node.next));
        nodes.skip(1).inspect(|_| visits::note())
    }

    /// The entries of a side at worse prices than one, in the order in which they trade.
    pub(super) fn beyond(&self, side: Side, price: u64) -> impl Iterator<Item = &Node> {
        let levels = self.side(side).beyond(Rank::of(side, price));
        levels.flat_map(|level| self.queue(level))
    }

    /// The entries of a side with their price, in the order in which they trade.
    pub(super) fn makers(&self, side: Side, limit: Option<u64>) -> impl Iterator<Item = (u64, &Node)> {
        self.crossing(side, limit).flat_map(|(price, level)| self.queue(level).map(move |node| (price, node)))
    }
}

/// An owner's resting orders in a market.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Owner {
    first: u32,
    last: u32,
    orders: u32,
}

#[derive(Debug)]
enum Change {
    Opened,
    Grown(Slot),
    Header(Slot, Header),
    Node(Slot, u32, Node),
    Level(Slot, Side, Rank, Option<Level>),
}

/// The books of all markets, by the slot of the market.
#[derive(Debug)]
pub(super) struct Books {
    books: Vec<Book>,
    /// The owners that have resting orders.
    owners: Table<(Slot, Id), Owner>,
    changes: Option<Vec<Change>>,
}

impl Books {
    pub(super) fn new(hash_seed: u64) -> Self {
        Self { books: Vec::new(), owners: Table::new(hash_seed), changes: None }
    }

    /// Adds the empty book of the next market. Markets are never removed, so markets and books have the
    /// same order.
    pub(super) fn open(&mut self) {
        self.books.push(Book::new());
        if let Some(changes) = &mut self.changes {
            changes.push(Change::Opened);
        }
    }

    /// A market's book.
    pub(super) fn get(&self, market: Slot) -> &Book {
        static EMPTY: Book = Book::new();
        self.books.get(market.0 as usize).unwrap_or(&EMPTY)
    }

    /// The index of an owner that has resting orders in the market.
    pub(super) fn owner(&self, market: Slot, owner: &Id) -> Option<Slot> {
        self.owners.find(&(market, owner))
    }

    /// How many orders of an owner rest in its market.
    pub(super) fn count_of(&self, owner: Slot) -> usize {
        self.owners.at(owner).map_or(0, |owner| owner.orders as usize)
    }

    /// The entries of an owner in a market, oldest first.
    pub(super) fn of_owner(&self, market: Slot, owner: Slot) -> impl Iterator<Item = &Node> {
        let (book, owner) = (self.get(market), self.owners.at(owner));
        let first = owner.and_then(|owner| book.node(owner.first));
        std::iter::successors(first, |node| book.node(node.own_next)).inspect(|_| visits::note())
    }

    /// The entries of the same owner that are newer than an entry.
    pub(super) fn own_behind(&self, market: Slot, node: u32) -> impl Iterator<Item = &Node> {
        let book = self.get(market);
        let nodes = std::iter::successors(book.node(node), |node| book.node(node.own_next));
        nodes.skip(1).inspect(|_| visits::note())
    }

    /// The slots of an owner's resting orders, oldest first.
    pub(super) fn orders_of(&self, market: Slot, owner: &Id) -> impl Iterator<Item = Slot> {
        let owner = self.owner(market, owner);
        owner.into_iter().flat_map(move |owner| self.of_owner(market, owner)).map(|node| node.row)
    }

    /// Puts an order on the book, behind all others at its price. Returns its entry.
    pub(super) fn rest(&mut self, market: Slot, owner: &Id, resting: Resting) -> u32 {
        let owner = self.owner(market, owner).unwrap_or_else(|| {
            self.owners.insert((market, owner.clone()), Owner { first: NIL, last: NIL, orders: 0 })
        });
        let Resting { row, side, price, quantity } = resting;
        let rank = Rank::of(side, price);
        let own_prev = self.owners.at(owner).map_or(NIL, |owner| owner.last);
        let node = Node { row, owner, side, rank, prev: NIL, next: NIL, own_prev, own_next: NIL };
        let Some(mut pen) = self.pen(market) else { return NIL };
        let index = pen.add(node);
        pen.link(index, node, quantity);
        self.owners.update(owner, |owner| {
            owner.last = index;
            owner.orders += 1;
            if owner.first == NIL {
                owner.first = index;
            }
        });
        index
    }

    /// Takes an order with `remaining` units off the book.
    pub(super) fn take_off(&mut self, market: Slot, index: u32, remaining: u64) {
        let Some(node) = self.get(market).node(index).copied() else { return };
        let Some(mut pen) = self.pen(market) else { return };
        pen.unlink(node, remaining);
        pen.free(index);
        match (node.own_prev, node.own_next) {
            // Only owners with resting orders are kept, so that memory use follows the book.
            (NIL, NIL) => {
                self.owners.remove_at(node.owner);
            }
            (prev, next) => self.owners.update(node.owner, |owner| {
                owner.orders -= 1;
                if prev == NIL {
                    owner.first = next;
                }
                if next == NIL {
                    owner.last = prev;
                }
            }),
        }
    }

    /// Takes an order with `remaining` units off the book, and puts it there again with another price and quantity, behind
    /// all others at that price and behind all others of its owner.
    pub(super) fn requeue(
        &mut self,
        market: Slot,
        index: u32,
        remaining: u64,
        (price, quantity): (u64, u64),
    ) {
        let Some(mut node) = self.get(market).node(index).copied() else { return };
        let Some(mut pen) = self.pen(market) else { return };
        pen.unlink(node, remaining);
        let (own_prev, own_next) = (node.own_prev, node.own_next);
        (node.rank, node.prev, node.next) = (Rank::of(node.side, price), NIL, NIL);
        if own_next != NIL {
            let last = self.owners.at(node.owner).map_or(NIL, |owner| owner.last);
            (node.own_prev, node.own_next) = (last, NIL);
            self.owners.update(node.owner, |owner| {
                owner.last = index;
                if own_prev == NIL {
                    owner.first = own_next;
                }
            });
        }
        let Some(mut pen) = self.pen(market) else { return };
        pen.node(index, |its| *its = node);
        pen.link(index, node, quantity);
    }

    /// Reduces a resting order; it keeps its position in the queue.
    pub(super) fn shrink(&mut self, market: Slot, index: u32, by: u64) {
        let Some(node) = self.get(market).node(index).copied() else { return };
        let Some(mut pen) = self.pen(market) else { return };
        pen.level(node.side, node.rank, |level| level.quantity -= by);
        pen.header(|header| *header.total(node.side) -= by);
    }

    fn pen(&mut self, market: Slot) -> Option<Pen<'_>> {
        let book = self.books.get_mut(market.0 as usize)?;
        Some(Pen { book, market, changes: self.changes.as_mut() })
    }
}

/// Writes to a book, cell by cell, and records what it overwrites while a rollback is possible.
struct Pen<'a> {
    book: &'a mut Book,
    market: Slot,
    changes: Option<&'a mut Vec<Change>>,
}

impl Pen<'_> {
    fn note(&mut self, change: Change) {
        if let Some(changes) = &mut self.changes {
            changes.push(change);
        }
    }

    fn header(&mut self, change: impl FnOnce(&mut Header)) {
        if let Some(changes) = &mut self.changes {
            changes.push(Change::Header(self.market, self.book.header));
        }
        change(&mut self.book.header);
    }

    fn node(&mut self, index: u32, change: impl FnOnce(&mut Node)) {
        if let Some(node) = self.book.nodes.get_mut(index as usize) {
            if let Some(changes) = &mut self.changes {
                changes.push(Change::Node(self.market, index, *node));
            }
            change(node);
        }
    }

    /// Changes a level, which exists while it has orders.
    fn level(&mut self, side: Side, rank: Rank, change: impl FnOnce(&mut Level)) {
        let before = self.book.side_mut(side).change(rank, change);
        self.note(Change::Level(self.market, side, rank, before));
    }

    /// Allocates an entry.
    fn add(&mut self, node: Node) -> u32 {
        let index = self.book.header.free;
        if let Some(next) = self.book.node(index).map(|free| free.next) {
            self.header(|header| header.free = next);
            self.node(index, |free| *free = node);
            return index;
        }
        self.book.nodes.push(node);
        self.note(Change::Grown(self.market));
        u32::try_from(self.book.nodes.len() - 1).expect("a market keeps fewer than 2^32 resting orders")
    }

    fn free(&mut self, index: u32) {
        let next = self.book.header.free;
        self.node(index, |node| node.next = next);
        self.header(|header| header.free = index);
    }

    /// Appends an entry to the queues of its level and of its owner's orders.
    fn link(&mut self, index: u32, node: Node, quantity: u64) {
        let mut prev = NIL;
        self.level(node.side, node.rank, |level| {
            prev = std::mem::replace(&mut level.tail, index);
            if level.head == NIL {
                level.head = index;
            }
            level.orders += 1;
            level.quantity += quantity;
        });
        self.node(prev, |before| before.next = index);
        self.node(index, |node| node.prev = prev);
        self.node(node.own_prev, |before| before.own_next = index);
        self.header(|header| {
            header.orders += 1;
            *header.total(node.side) += quantity;
        });
    }

    /// Removes an entry from its two queues.
    fn unlink(&mut self, node: Node, quantity: u64) {
        self.level(node.side, node.rank, |level| {
            if node.prev == NIL {
                level.head = node.next;
            }
            if node.next == NIL {
                level.tail = node.prev;
            }
            level.orders -= 1;
            level.quantity -= quantity;
        });
        self.node(node.prev, |before| before.next = node.next);
        self.node(node.next, |after| after.prev = node.prev);
        self.node(node.own_prev, |before| before.own_next = node.own_next);
        self.node(node.own_next, |after| after.own_prev = node.own_prev);
        self.header(|header| {
            header.orders -= 1;
            *header.total(node.side) -= quantity;
        });
    }
}

impl Change {
    fn undo(self, books: &mut Vec<Book>) {
        let (Self::Grown(market)
        | Self::Header(market, _)
        | Self::Node(market, ..)
        | Self::Level(market, ..)) = self
        else {
            books.pop();
            return;
        };
        let Some(book) = books.get_mut(market.0 as usize) else { return };
        match self {
            Self::Opened => {}
            Self::Grown(_) => {
                book.nodes.pop();
            }
            Self::Header(_, before) => book.header = before,
            Self::Node(_, index, before) => book.nodes[index as usize] = before,
            Self::Level(_, side, rank, before) => book.side_mut(side).restore(rank, before),
        }
    }
}

impl Reversible for Books {
    fn begin(&mut self) {
        self.owners.begin();
        self.changes = Some(Vec::new());
    }

    fn commit(&mut self) {
        self.owners.commit();
        self.changes = None;
    }

    fn rollback(&mut self) {
        self.owners.rollback();
        for change in self.changes.take().into_iter().flatten().rev() {
            change.undo(&mut self.books);
        }
    }
}

#[cfg(test)]
#[path = "tests/book.rs"]
mod tests;
