//! Receipts leave memory when their retention is over: the oldest of an item first, several at a time, by an event. What
//! rules need of them stays with the item: up to which serial they have left, and how many units of theirs are sold.

use super::StockItems;
use crate::codec::Malformed;
use crate::deadlines::RecordKind;
use crate::event::{Event, StockReceiptsForgotten};
use crate::pieces::{PieceReader, PieceWriter};
use crate::record_wire;
use crate::state::State;
use crate::store::{Ordered, Slot};
use crate::types::{Id, TimeMs};

/// How many receipts leave with one event. A unit of them that was returned counts as another one, because it may have a
/// range of its own.
pub const RECEIPTS_PER_EVENT_MAX: u64 = 8;

/// What is left of an item's receipts whose retention is over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// The last serial that was in one of them.
    pub through_serial: u64,
    /// How many of their units are sold: those that were not returned while they were kept.
    pub sold: u64,
}

record_wire!(Forgotten { through_serial, sold });

/// The name under which an item's oldest receipts are due.
fn receipts_name() -> Id {
    Id::trusted(compact_str::CompactString::const_new("receipts"))
}

/// Lets the oldest receipts of an item go whose retention is over.
pub fn forget_receipts(state: &State, slot: Slot, now: TimeMs, events: &mut Vec<Event>) {
    let stock = &state.stock;
    let Some(sku) = stock.items.key_at(slot) else { return };
    let Forgotten { mut through_serial, mut sold } = stock.forgotten_of(slot);
    let mut weight = 0;
    for ((_, first), receipt) in stock.receipts.range((slot, 0)..=(slot, u64::MAX)) {
        if weight >= RECEIPTS_PER_EVENT_MAX || state.settings.receipt_due(receipt.at) > now {
            break;
        }
        through_serial = first + receipt.count - 1;
        sold += receipt.count - receipt.returned;
        weight += 1 + receipt.returned;
    }
    events.push(StockReceiptsForgotten { sku: sku.clone(), through_serial, sold }.into());
}

/// Whether the receipt of a serial has left, or its retention is over and it will.
pub(super) fn is_receipt_over(state: &State, slot: Slot, serial: u64, now: TimeMs) -> bool {
    let stock = &state.stock;
    serial <= stock.forgotten_of(slot).through_serial
        || stock
            .receipt_at(slot, serial)
            .is_some_and(|sold_at| state.settings.receipt_due(sold_at) <= state.settled(now))
}

/// Takes the receipts out that have left.
pub(super) fn evolve(state: &mut State, event: &StockReceiptsForgotten) {
    let StockReceiptsForgotten { sku, through_serial, sold } = event;
    let Some(slot) = state.stock.items.find(sku) else { return };
    if let Some(at) = state.stock.oldest_at(slot) {
        let due = state.settings.receipt_due(at);
        state.deadlines.remove(due, RecordKind::Sale, slot, sku, &receipts_name());
    }
    state.stock.drop_receipts(slot, *through_serial);
    state.stock.forgotten.insert(slot, Forgotten { through_serial: *through_serial, sold: *sold });
    if let Some(at) = state.stock.oldest_at(slot) {
        state.queue_receipt(slot, sku, at);
    }
}

fn drop_through<V: Clone>(rows: &mut Ordered<(Slot, u64), V>, slot: Slot, serial: u64) {
    loop {
        let first = rows.range((slot, 0)..=(slot, serial)).next().map(|(key, _)| *key);
        let Some(key) = first else { return };
        rows.remove(&key);
    }
}

impl State {
    /// Notes when the oldest receipts of an item are due.
    pub(super) fn queue_receipt(&mut self, slot: Slot, sku: &Id, at: TimeMs) {
        let due = self.settings.receipt_due(at);
        self.deadlines.add(due, RecordKind::Sale, slot, sku, &receipts_name());
    }

    /// The same for every item of a snapshot.
    pub(crate) fn queue_receipts(&mut self) {
        let Self { stock, deadlines, settings, .. } = self;
        for (sku, _) in stock.items.iter() {
            let Some(slot) = stock.items.find(sku) else { continue };
            if let Some(at) = stock.oldest_at(slot) {
                let due = settings.receipt_due(at);
                deadlines.add(due, RecordKind::Sale, slot, sku, &receipts_name());
            }
        }
    }
}

impl StockItems {
    /// What is left of an item's receipts that have left memory.
    #[must_use]
    pub fn forgotten(&self, sku: &Id) -> Forgotten {
        self.items.find(sku).map(|slot| self.forgotten_of(slot)).unwrap_or_default()
    }

    pub(super) fn forgotten_of(&self, slot: Slot) -> Forgotten {
        self.forgotten.get(&slot).cloned().unwrap_or_default()
    }

    /// Restores what is left of an item's receipts from another store, of an item that was restored, and takes out those
    /// that were read before they left.
    pub fn restore_forgotten(&mut self, sku: &Id, forgotten: Forgotten) {
        let Some(slot) = self.items.find(sku).filter(|_| forgotten.through_serial > 0) else { return };
        self.drop_rows(slot, forgotten.through_serial);
        self.forgotten.insert(slot, forgotten);
    }

    /// When the receipt of a serial was made.
    fn receipt_at(&self, slot: Slot, serial: u64) -> Option<TimeMs> {
        let ((_, first), receipt) = self.receipts.range((slot, 0)..=(slot, serial)).next_back()?;
        (serial - first < receipt.count).then_some(receipt.at)
    }

    /// When the oldest receipt of an item was made.
    fn oldest_at(&self, slot: Slot) -> Option<TimeMs> {
        self.receipts.range((slot, 0)..=(slot, u64::MAX)).next().map(|(_, receipt)| receipt.at)
    }

    /// Drops an item's receipts up to a serial. An audit counts those that it has not come to.
    fn drop_receipts(&mut self, slot: Slot, through_serial: u64) {
        if let Some(mut audit) = self.items.at(slot).and_then(|item| item.audit.clone()) {
            for ((_, first), receipt) in self.receipts.range((slot, 0)..=(slot, through_serial)) {
                if *first > audit.through_serial && *first <= audit.horizon_serial {
                    audit.through_serial = first + receipt.count - 1;
                    audit.counted += receipt.count - receipt.returned;
                }
            }
            self.items.update(slot, |item| item.audit = Some(audit));
        }
        self.drop_rows(slot, through_serial);
    }

    fn drop_rows(&mut self, slot: Slot, through_serial: u64) {
        drop_through(&mut self.receipts, slot, through_serial);
        drop_through(&mut self.returned, slot, through_serial);
    }

    pub(crate) fn put_forgotten(&self, out: &mut PieceWriter<'_>) {
        self.forgotten.put(out);
    }

    pub(crate) fn load_forgotten(&mut self, input: &mut PieceReader<'_>) -> Result<(), Malformed> {
        self.forgotten.load(input)
    }
}
