//! Records that end by time: deadlines of holds and reservations, and the retention of ended records.

use crate::codec::{Malformed, Wire};
use crate::markets::Markets;
use crate::pieces::{PieceReader, PieceWriter};
use crate::store::{Ordered, Placed, Slice, Sliced, Slot};
use crate::types::{Id, TimeMs};
use crate::{reversible_fields, words};

words! {
    /// The kinds of record that end, in the order in which those of one millisecond do.
    RecordKind {
        /// A hold on an account.
        1 Hold = "hold",
        /// A reservation of stock.
        2 Reservation = "reservation",
        /// A claim of a coupon.
        3 CouponClaim = "claim",
        /// An order of a market.
        4 Order = "order",
        /// The oldest receipts of a stock item.
        5 Sale = "sale",
        /// The packets and claims of a campaign that is over.
        6 Share = "share",
    }
}

/// The kinds of record whose end is kept under their names, in the same order. Ended orders are kept by their rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NamedKind {
    /// A hold on an account.
    Hold,
    /// A reservation of stock.
    Reservation,
    /// A claim of a coupon.
    CouponClaim,
}

impl NamedKind {
    /// The kind of a record; `None` for an order, and for what leaves in the order of its numbers: receipts and packets.
    const fn of(kind: RecordKind) -> Option<Self> {
        match kind {
            RecordKind::Hold => Some(Self::Hold),
            RecordKind::Reservation => Some(Self::Reservation),
            RecordKind::CouponClaim => Some(Self::CouponClaim),
            RecordKind::Order | RecordKind::Sale | RecordKind::Share => None,
        }
    }

    const fn kind(self) -> RecordKind {
        match self {
            Self::Hold => RecordKind::Hold,
            Self::Reservation => RecordKind::Reservation,
            Self::CouponClaim => RecordKind::CouponClaim,
        }
    }
}

/// A record within a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// When it ends.
    pub deadline: TimeMs,
    /// Its kind.
    pub kind: RecordKind,
    /// The slot of its resource.
    pub slot: Slot,
    /// Its name.
    pub record: Id,
}

/// Deadlines in two orders: per resource, for the command that touches it, and overall, for the sweeper.
/// Within a millisecond they are ordered by kind, resource and record, compared as bytes.
#[derive(Debug, Default)]
pub struct Deadlines {
    all: Ordered<(TimeMs, RecordKind, Id, Id), Slot>,
    of_resource: Ordered<(RecordKind, Slot, TimeMs, Id), ()>,
}

reversible_fields!(Deadlines { all, of_resource });

impl Deadlines {
    /// Records that a record ends at `deadline`.
    pub fn add(&mut self, deadline: TimeMs, kind: RecordKind, slot: Slot, resource: &Id, record: &Id) {
        self.all.insert((deadline, kind, resource.clone(), record.clone()), slot);
        self.of_resource.insert((kind, slot, deadline, record.clone()), ());
    }

    /// Removes a deadline added by [`Deadlines::add`].
    pub fn remove(&mut self, deadline: TimeMs, kind: RecordKind, slot: Slot, resource: &Id, record: &Id) {
        self.all.remove(&(deadline, kind, resource.clone(), record.clone()));
        self.of_resource.remove(&(kind, slot, deadline, record.clone()));
    }

    /// How many deadlines are pending.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether none is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The records of a resource that have ended by `now`, oldest first.
    pub fn due_of(&self, kind: RecordKind, slot: Slot, now: TimeMs) -> impl Iterator<Item = (TimeMs, &Id)> {
        let first = Id::trusted(compact_str::CompactString::const_new(""));
        self.of_resource
            .range((kind, slot, 0, first)..)
            .take_while(move |((its_kind, its_slot, deadline, _), ())| {
                (*its_kind, *its_slot) == (kind, slot) && *deadline <= now
            })
            .map(|((_, _, deadline, record), ())| (*deadline, record))
    }

    /// All records that have ended by `now`, oldest first.
    pub fn due(&self, now: TimeMs) -> impl Iterator<Item = Due> {
        self.all.iter().take_while(move |((deadline, ..), _)| *deadline <= now).map(
            |((deadline, kind, _, record), slot)| Due {
                deadline: *deadline,
                kind: *kind,
                slot: *slot,
                record: record.clone(),
            },
        )
    }

    /// The earliest deadline of all.
    #[must_use]
    pub fn next(&self) -> Option<TimeMs> {
        self.all.first().map(|((deadline, ..), _)| *deadline)
    }
}

/// Ended records in the order in which they ended, dropped after the retention window. Only its stamp
/// decides whether a record is still visible, never the moment when it is dropped.
#[derive(Debug, Default)]
pub struct Ended {
    records: Ordered<(TimeMs, NamedKind, Slot, Id), ()>,
    /// Orders by their rows, because they end by the thousands in a millisecond.
    orders: Ordered<(TimeMs, Slot), ()>,
}

reversible_fields!(Ended { records, orders });

/// A record that ended long enough ago.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// A record of a resource, by its name.
    Record(NamedKind, Slot, Id),
    /// The row of an order.
    Order(Slot),
}

impl Ended {
    /// Records that a record other than an order ended.
    pub fn add(&mut self, ended_at: TimeMs, kind: NamedKind, slot: Slot, record: &Id) {
        self.records.insert((ended_at, kind, slot, record.clone()), ());
    }

    /// Records that an order ended.
    pub fn add_order(&mut self, ended_at: TimeMs, row: Slot) {
        self.orders.insert((ended_at, row), ());
    }

    /// Removes an ended record, because its name is in use again.
    pub fn remove(&mut self, ended_at: TimeMs, kind: NamedKind, slot: Slot, record: &Id) {
        self.records.remove(&(ended_at, kind, slot, record.clone()));
    }

    /// Removes an ended order, because its name, and so its row, is in use again.
    pub fn remove_order(&mut self, ended_at: TimeMs, row: Slot) {
        self.orders.remove(&(ended_at, row));
    }

    /// When the oldest record ended.
    #[must_use]
    pub fn first(&self) -> Option<TimeMs> {
        let record = self.records.first().map(|(key, ())| key.0);
        let order = self.orders.first().map(|(key, ())| key.0);
        record.into_iter().chain(order).min()
    }

    /// Records that ended at or before `ended_at`, oldest first.
    pub(crate) fn records_by(&self, ended_at: TimeMs) -> impl Iterator<Item = (NamedKind, Slot, &Id)> {
        let over = self.records.iter().take_while(move |(key, ())| key.0 <= ended_at);
        over.map(|((_, kind, slot, record), ())| (*kind, *slot, record))
    }

    /// The rows of orders that ended at or before `ended_at`, oldest first.
    pub(crate) fn orders_by(&self, ended_at: TimeMs) -> impl Iterator<Item = Slot> {
        self.orders.iter().take_while(move |(key, ())| key.0 <= ended_at).map(|((_, row), ())| *row)
    }

    /// Removes and returns the oldest record that ended at or before `ended_at`.
    pub(crate) fn pop(&mut self, ended_at: TimeMs) -> Option<Over> {
        let first = self.first().filter(|first| *first <= ended_at)?;
        if let Some(key) = self.records.first().map(|(key, ())| key).filter(|key| key.0 == first).cloned() {
            self.records.remove(&key);
            return Some(Over::Record(key.1, key.2, key.3));
        }
        let key = self.orders.first().map(|(key, ())| *key)?;
        self.orders.remove(&key);
        Some(Over::Order(key.1))
    }

    /// Appends all for a snapshot, but for orders, whose records say when they ended.
    pub fn put(&self, out: &mut PieceWriter<'_>) {
        out.count(self.records.len());
        self.records.iter().for_each(|(key, ())| out.row(|out| put_ended(key, out)));
    }

    /// Reads over what [`Ended::put`] wrote.
    pub(crate) fn skim(input: &mut PieceReader<'_>) -> Result<(), Malformed> {
        input.rows(|_: (TimeMs, RecordKind), _: (Slot, Id)| {})
    }

    /// Reads what [`Ended::put`] wrote.
    ///
    /// # Errors
    /// When the bytes do not encode such a list.
    pub fn load(&mut self, markets: &Markets, input: &mut PieceReader<'_>) -> Result<(), Malformed> {
        for _ in 0..input.value::<u64>()? {
            let (ended_at, kind, slot, record): (TimeMs, RecordKind, Slot, Id) = input.row(|input| {
                Ok((Wire::get(input)?, Wire::get(input)?, Wire::get(input)?, Wire::get(input)?))
            })?;
            // Snapshots of earlier releases have orders too.
            if kind != RecordKind::Order {
                self.add(ended_at, NamedKind::of(kind).ok_or(Malformed)?, slot, &record);
            }
        }
        self.queue_orders(markets)
    }

    /// Takes over the ended records of resources that went along, whose new slots `placed_of` gives for each kind.
    pub(crate) fn take_over<'a>(&mut self, from: &Self, placed_of: impl Fn(NamedKind) -> &'a Placed) {
        for ((ended_at, kind, slot, record), ()) in from.records.iter() {
            if let Some(slot) = placed_of(*kind).at(*slot) {
                self.add(*ended_at, *kind, slot, record);
            }
        }
    }

    /// Notes when orders ended.
    pub(crate) fn queue_orders(&mut self, markets: &Markets) -> Result<(), Malformed> {
        for (key, order) in markets.orders.iter().filter(|(_, order)| !order.status.is_live()) {
            self.add_order(order.ended_at, markets.orders.find(key).ok_or(Malformed)?);
        }
        Ok(())
    }
}

impl Sliced for Ended {
    fn freeze(&mut self) {
        self.records.freeze_rows();
    }

    fn put_slice(&mut self, slice: &mut Slice<'_, '_>) -> bool {
        self.records.put_rows(slice, |key, (), out| put_ended(key, out))
    }

    fn remembered_bytes(&self) -> usize {
        self.records.remembered_rows_bytes()
    }

    fn thaw(&mut self) {
        self.records.thaw_rows();
    }
}

fn put_ended((ended_at, kind, slot, record): &(TimeMs, NamedKind, Slot, Id), out: &mut Vec<u8>) {
    ended_at.put(out);
    kind.kind().put(out);
    slot.put(out);
    record.put(out);
}
