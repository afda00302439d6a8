//! Stock: items that are sold by the unit. `total = available + reserved + sold` always. Serials of sold
//! units come from a counter that only increases, and every sale has a receipt.

pub mod audit;
mod evolve;
mod items;
pub(crate) mod query;
mod records;
mod regroup;
pub mod reservations;
mod retention;
mod rows;
pub mod sales;

pub use evolve::evolve;
pub use items::{adjust, close, create, restock};
pub use reservations::expire;
pub use retention::{Forgotten, RECEIPTS_PER_EVENT_MAX, forget_receipts};

use compact_str::CompactString;

use crate::codec::{Malformed, Wire};
use crate::deadlines::{Deadlines, RecordKind};
use crate::digest::{Kind, Sum};
use crate::event::{Event, StockAvailableAgain, StockSoldOut};
use crate::facts;
use crate::limits::{Counter, CounterKey, Counters};
use crate::outcome::{Code, Refusal};
use crate::pieces::{PieceReader, PieceWriter};
use crate::state::State;
use crate::store::{Ordered, Sliced, Slot, Table};
use crate::types::{Id, TimeMs};
use crate::{record_wire, reversible_fields, shown_word, words};

/// A stock item on sale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StockItem {
    /// All units: available, reserved and sold.
    pub total: u64,
    /// Units available.
    pub available: u64,
    /// Units set aside by reservations.
    pub reserved: u64,
    /// Units sold and not returned.
    pub sold: u64,
    /// Units that were sold and then returned.
    pub returned: u64,
    /// The last serial assigned.
    pub serial: u64,
    /// The maximum number of units that an owner may have reserved or bought.
    pub per_owner_max: Option<u64>,
    /// When sales begin.
    pub starts_at: Option<TimeMs>,
    /// When sales end.
    pub ends_at: Option<TimeMs>,
    /// Whether sales were ended permanently.
    pub closed: bool,
    /// The recount in progress.
    pub audit: Option<Audit>,
}

record_wire!(StockItem {
    total,
    available,
    reserved,
    sold,
    returned,
    serial,
    per_owner_max,
    starts_at,
    ends_at,
    closed,
    audit,
});

/// The progress of a recount of receipts. Sales after its start have serials beyond its horizon; returns
/// are subtracted from both counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audit {
    /// The last serial that is recounted.
    pub horizon_serial: u64,
    /// The last serial that was recounted.
    pub through_serial: u64,
    /// Units found so far.
    pub counted: u64,
    /// Units that should be found in total.
    pub expected: u64,
}

record_wire!(Audit { horizon_serial, through_serial, counted, expected });

/// A sale: units `first` to `first + count − 1`; `first` is the key of the receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The number of units.
    pub count: u64,
    /// How many of them were returned.
    pub returned: u64,
    /// The buyer.
    pub owner: Id,
    /// The operation that sold them; empty if the caller gave no id.
    pub operation: CompactString,
    /// When it was made.
    pub at: TimeMs,
}

record_wire!(Receipt { count, returned, owner, operation, at });

words! {
    /// The status of a reservation.
    ReservationStatus {
        /// It holds units.
        0 Open = "open",
        /// Its units were sold.
        1 Confirmed = "confirmed",
        /// Its units went back.
        2 Released = "released",
        /// Its deadline passed and its units went back.
        3 Expired = "expired",
    }
}
shown_word!(ReservationStatus);

/// Units set aside for an owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// The owner.
    pub owner: Id,
    /// The number of units.
    pub quantity: u64,
    /// Its status.
    pub status: ReservationStatus,
    /// Its deadline.
    pub deadline: TimeMs,
    /// The first serial sold, once confirmed; 0 before.
    pub first_serial: u64,
    /// When it ended; 0 while it is open.
    pub ended_at: TimeMs,
}

record_wire!(Reservation { owner, quantity, status, deadline, first_serial, ended_at });

/// The stock of a partition. Items are never removed.
#[derive(Debug)]
pub struct StockItems {
    pub(crate) items: Table<Id, StockItem>,
    pub(crate) reservations: Table<(Slot, Id), Reservation>,
    pub(crate) receipts: Ordered<(Slot, u64), Receipt>,
    /// Ranges of returned serials, by their first serial, each within one receipt and none adjacent.
    pub(crate) returned: Ordered<(Slot, u64), u64>,
    /// What is left of receipts whose retention is over, by item.
    pub(crate) forgotten: Ordered<Slot, Forgotten>,
    pub(crate) owners: Counters,
}

reversible_fields!(StockItems { items, reservations, receipts, returned, forgotten, owners });

impl StockItems {
    pub(crate) fn new(hash_seed: u64) -> Self {
        Self {
            items: Table::by_name(hash_seed, Id::listed),
            reservations: Table::by_resource(hash_seed, |key| key.0),
            receipts: Ordered::default(),
            returned: Ordered::default(),
            forgotten: Ordered::default(),
            owners: Counters::new(hash_seed),
        }
    }

    pub(crate) fn record_count(&self) -> usize {
        self.items.len()
            + self.reservations.len()
            + self.receipts.len()
            + self.returned.len()
            + self.forgotten.len()
            + self.owners.len()
    }

    /// An item by name.
    #[must_use]
    pub fn get(&self, sku: &Id) -> Option<&StockItem> {
        self.items.get(sku)
    }

    /// Every item with its name.
    pub fn iter(&self) -> impl Iterator<Item = (&Id, &StockItem)> {
        self.items.iter()
    }

    /// The receipts of an item by their first serial.
    pub fn receipts(&self, sku: &Id) -> impl Iterator<Item = (u64, &Receipt)> {
        let slot = self.items.find(sku);
        slot.into_iter()
            .flat_map(|slot| self.receipts.range((slot, 0)..=(slot, u64::MAX)))
            .map(|((_, first), receipt)| (*first, receipt))
    }

    /// Every reservation with the names of its item and its own; ended ones for as long as they are kept.
    pub fn reservations(&self) -> impl Iterator<Item = (&Id, &Id, &Reservation)> {
        self.reservations
            .iter()
            .filter_map(|((slot, name), reservation)| Some((self.items.key_at(*slot)?, name, reservation)))
    }

    /// Every range of returned serials: the item, the first one, how many, and the receipt that they are of with its
    /// first serial.
    pub fn returned(&self) -> impl Iterator<Item = (&Id, u64, u64, (u64, &Receipt))> {
        self.returned.iter().filter_map(|((slot, first), count)| {
            let ((_, receipt), sale) = self.receipts.range((*slot, 0)..=(*slot, *first)).next_back()?;
            Some((self.items.key_at(*slot)?, *first, *count, (*receipt, sale)))
        })
    }

    /// Restores an item from another store.
    pub fn restore(&mut self, sku: Id, item: StockItem) {
        self.items.insert(sku, item);
    }

    /// Restores a reservation from another store, of an item that was restored.
    pub fn restore_reservation(&mut self, sku: &Id, name: Id, reservation: Reservation) {
        if let Some(slot) = self.items.find(sku) {
            self.reservations.insert((slot, name), reservation);
        }
    }

    /// Restores a receipt from another store, of an item that was restored.
    pub fn restore_receipt(&mut self, sku: &Id, first: u64, receipt: Receipt) {
        if let Some(slot) = self.items.find(sku) {
            self.receipts.insert((slot, first), receipt);
        }
    }

    /// Takes a receipt out that another store no longer has.
    pub fn drop_receipt(&mut self, sku: &Id, first: u64) {
        if let Some(slot) = self.items.find(sku) {
            self.receipts.remove(&(slot, first));
        }
    }

    /// Restores returned serials of an item that was restored. Those of receipts that have left are no part of the state: a
    /// store may take some time to remove them.
    pub fn restore_returned(&mut self, sku: &Id, first: u64, count: u64) {
        if let Some(slot) = self.items.find(sku)
            && first > self.forgotten_of(slot).through_serial
        {
            self.returned.insert((slot, first), count);
        }
    }

    /// Restores an owner's count of units of an item that was restored.
    pub fn restore_owner(&mut self, sku: &Id, owner: &Id, used: u64) {
        if let Some(slot) = self.items.find(sku) {
            let key = owner_key(slot, owner);
            self.owners.restore(&key, &Counter { used, ends_at: None });
        }
    }

    pub(crate) fn find_with_reservations(&self, sku: &Id) -> Option<Slot> {
        let slot = self.items.find(sku)?;
        self.items.at(slot).filter(|item| item.reserved > 0).map(|_| slot)
    }

    pub(crate) fn existing(&self, sku: &Id) -> Result<(Slot, &StockItem), Refusal> {
        self.items
            .find(sku)
            .and_then(|slot| self.items.at(slot).map(|item| (slot, item)))
            .ok_or_else(|| Refusal::new(Code::StockNotFound, facts![sku]))
    }

    pub(crate) fn not_closed(&self, sku: &Id) -> Result<(Slot, &StockItem), Refusal> {
        let (slot, item) = self.existing(sku)?;
        if item.closed { Err(Refusal::new(Code::StockClosed, facts![sku])) } else { Ok((slot, item)) }
    }

    /// Takes a reservation out that another store no longer has.
    pub fn drop_reservation(&mut self, sku: &Id, name: &Id) {
        if let Some(slot) = self.items.find(sku) {
            self.forget(slot, name);
        }
    }

    pub(crate) fn forget(&mut self, slot: Slot, reservation: &Id) {
        self.reservations.remove(&(slot, reservation.clone()));
    }

    pub(crate) fn digest(&self, state: &State, sum: &mut Sum<'_>) {
        self.items.iter().for_each(|(sku, item)| sum.add(Kind::Stock, sku, |out| item.put(out)));
        for ((slot, name), reservation) in self.reservations.iter() {
            self.sum_reservation(sum, state, *slot, name, reservation);
        }
        for ((slot, first), receipt) in self.receipts.iter() {
            self.sum_receipt(sum, *slot, *first, receipt);
        }
        for (key, used) in self.owners.running(state.settled(state.at)) {
            self.sum_owner(sum, key, used);
        }
    }

    pub(crate) fn digest_of(&self, state: &State, sku: &Id, sum: &mut Sum<'_>) {
        let Some((slot, item)) = self.items.find_row(sku) else { return };
        sum.add(Kind::Stock, sku, |out| item.put(out));
        for ((_, name), reservation) in self.reservations.of_resource(slot) {
            if !sum.has_room() {
                return;
            }
            self.sum_reservation(sum, state, slot, name, reservation);
        }
        for ((_, first), receipt) in self.receipts.range((slot, 0)..=(slot, u64::MAX)) {
            if !sum.has_room() {
                return;
            }
            self.sum_receipt(sum, slot, *first, receipt);
        }
        for (key, used) in self.owners.running_of(slot, state.settled(state.at)) {
            if !sum.has_room() {
                return;
            }
            self.sum_owner(sum, key, used);
        }
    }

    fn sum_reservation(&self, sum: &mut Sum<'_>, state: &State, slot: Slot, name: &Id, its: &Reservation) {
        if its.status == ReservationStatus::Open || state.is_retained(its.ended_at, state.at) {
            self.add(sum, Kind::Reservation, slot, |out| {
                name.put(out);
                its.put(out);
            });
        }
    }

    fn sum_receipt(&self, sum: &mut Sum<'_>, slot: Slot, first: u64, receipt: &Receipt) {
        self.add(sum, Kind::StockReceipt, slot, |out| {
            first.put(out);
            receipt.put(out);
            self.returned_within(slot, first, receipt.count).put(out);
        });
    }

    fn sum_owner(&self, sum: &mut Sum<'_>, key: &CounterKey, used: u64) {
        self.add(sum, Kind::StockOwner, key.resource, |out| {
            key.subject.put(out);
            used.put(out);
        });
    }

    fn add(&self, sum: &mut Sum<'_>, kind: Kind, slot: Slot, put: impl FnOnce(&mut Vec<u8>)) {
        if let Some(sku) = self.items.key_at(slot) {
            sum.add(kind, sku, put);
        }
    }

    fn returned_within(&self, slot: Slot, first: u64, count: u64) -> Vec<(u64, u64)> {
        let serials = (slot, first)..(slot, first.saturating_add(count));
        self.returned.range(serials).map(|((_, first), count)| (*first, *count)).collect()
    }

    /// What [`StockItems::put`] writes, in the same order, and what has left.
    pub(crate) fn sliced(&mut self) -> ([&mut dyn Sliced; 5], &mut dyn Sliced) {
        let Self { items, reservations, receipts, returned, forgotten, owners } = self;
        ([items, reservations, receipts, returned, owners.sliced()], forgotten)
    }

    pub(crate) fn put(&self, out: &mut PieceWriter<'_>) {
        self.items.put(out);
        self.reservations.put(out);
        self.receipts.put(out);
        self.returned.put(out);
        self.owners.put(out);
    }

    /// Reads the items and the returned serials of what [`StockItems::put`] wrote, which [`StockItems::scan`] needs.
    pub(crate) fn skim(&mut self, input: &mut PieceReader<'_>) -> Result<(), Malformed> {
        self.items.load(input)?;
        input.rows(|_: (Slot, Id), _: Reservation| {})?;
        input.rows(|_: (Slot, u64), _: Receipt| {})?;
        self.returned.load(input)?;
        Counters::scan(input, 0, |_, _| {})
    }

    /// Adds what [`StockItems::put`] wrote to a digest.
    pub(crate) fn scan(
        &self,
        state: &State,
        input: &mut PieceReader<'_>,
        sum: &mut Sum<'_>,
    ) -> Result<(), Malformed> {
        input.rows(|sku: Id, item: StockItem| sum.add(Kind::Stock, &sku, |out| item.put(out)))?;
        input.rows(|(slot, name): (Slot, Id), its: Reservation| {
            self.sum_reservation(sum, state, slot, &name, &its);
        })?;
        input.rows(|(slot, first): (Slot, u64), its: Receipt| self.sum_receipt(sum, slot, first, &its))?;
        input.rows(|_: (Slot, u64), _: u64| {})?;
        Counters::scan(input, state.settled(state.at), |key, used| self.sum_owner(sum, key, used))
    }

    pub(crate) fn load(
        &mut self,
        input: &mut PieceReader<'_>,
        deadlines: &mut Deadlines,
    ) -> Result<(), Malformed> {
        self.items.load(input)?;
        self.reservations.load(input)?;
        self.receipts.load(input)?;
        self.returned.load(input)?;
        self.owners.load(input)?;
        self.queue_reservations(deadlines)
    }

    /// Notes when open reservations end.
    pub(crate) fn queue_reservations(&self, deadlines: &mut Deadlines) -> Result<(), Malformed> {
        for ((slot, name), reservation) in self.reservations.iter() {
            let sku = self.items.key_at(*slot).ok_or(Malformed)?;
            if reservation.status == ReservationStatus::Open {
                deadlines.add(reservation.deadline, RecordKind::Reservation, *slot, sku, name);
            }
        }
        Ok(())
    }
}

/// The counter of the units that an owner has reserved and bought.
pub(crate) fn owner_key(resource: Slot, owner: &Id) -> CounterKey {
    CounterKey { resource, limit: 0, window: 0, subject: crate::limits::subject(std::iter::once(owner)) }
}

/// Adds the event for `available` reaching zero or leaving it.
pub(crate) fn note_availability(sku: &Id, item: &StockItem, available: u64, events: &mut Vec<Event>) {
    if item.available > 0 && available == 0 {
        events.push(StockSoldOut { sku: sku.clone() }.into());
    } else if item.available == 0 && available > 0 && !item.closed {
        events.push(StockAvailableAgain { sku: sku.clone(), available }.into());
    }
}
