//! Total is available, reserved and sold; receipts are disjoint, without gaps, and come to what is sold.

use std::collections::BTreeMap;

use scarce_core::state::State;
use scarce_core::stock::{ReservationStatus, StockItem};
use scarce_core::types::Id;

use super::{Breach, Report, holds, same};

pub(super) fn check(state: &State, report: Report<'_>) -> u64 {
    let mut reserved: BTreeMap<&Id, u64> = BTreeMap::new();
    let mut held: BTreeMap<(&Id, &Id), u64> = BTreeMap::new();
    let open = state.stock.reservations().filter(|(.., its)| its.status == ReservationStatus::Open);
    for (sku, _, its) in open {
        *reserved.entry(sku).or_default() += its.quantity;
        if is_limited(state, sku) {
            *held.entry((sku, &its.owner)).or_default() += its.quantity;
        }
    }
    let mut count = 0;
    for (sku, item) in state.stock.iter() {
        count += 1;
        let sum = item.available + item.reserved + item.sold;
        same(report, sku, "total, as available, reserved and sold", sum, item.total);
        let reserved = reserved.get(sku).copied().unwrap_or(0);
        same(report, sku, "reserved, the sum of its open reservations", reserved, item.reserved);
        receipts(state, (sku, item), &mut held, report);
    }
    for ((sku, owner), units) in held {
        let max = state.stock.get(sku).and_then(|item| item.per_owner_max).unwrap_or(u64::MAX);
        holds(report, units <= max, || Breach {
            resource: sku.clone(),
            field: "units of an owner",
            expected: format!("{max} or fewer"),
            found: format!("{units} of {owner}"),
        });
    }
    count
}

fn is_limited(state: &State, sku: &Id) -> bool {
    state.stock.get(sku).is_some_and(|item| item.per_owner_max.is_some())
}

fn receipts<'s>(
    state: &'s State,
    (sku, item): (&'s Id, &StockItem),
    held: &mut BTreeMap<(&'s Id, &'s Id), u64>,
    report: Report<'_>,
) {
    // Serials up to there were all sold, and those that are not any more came back.
    let forgotten = state.stock.forgotten(sku);
    let (mut next, mut sold) = (forgotten.through_serial + 1, forgotten.sold);
    let mut returned = forgotten.through_serial.saturating_sub(forgotten.sold);
    for (first, receipt) in state.stock.receipts(sku) {
        // Said once: what follows is beside the point then.
        if first != next {
            return same(report, sku, "serial at which a receipt begins", next, first);
        }
        next += receipt.count;
        let kept = receipt.count.saturating_sub(receipt.returned);
        sold += kept;
        returned += receipt.returned;
        if item.per_owner_max.is_some() && kept > 0 {
            *held.entry((sku, &receipt.owner)).or_default() += kept;
        }
    }
    same(report, sku, "last serial, by its receipts", next - 1, item.serial);
    same(report, sku, "sold, by its receipts", sold, item.sold);
    same(report, sku, "returned, by its receipts", returned, item.returned);
}
