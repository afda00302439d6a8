//! Recounting receipts and comparing them with counters, in bounded pieces, while sales continue.

use super::{Audit, Forgotten, StockItem};
use crate::event::{Event, StockAuditAdvanced, StockAudited};
use crate::facts;
use crate::outcome::{Code, Refusal, Verdict};
use crate::state::State;
use crate::store::Slot;
use crate::types::Id;

/// Recounts the next piece; the piece that reaches the horizon compares the totals.
pub fn advance(state: &State, sku: &Id, events: &mut Vec<Event>) -> Verdict {
    let (slot, item) = state.stock.existing(sku)?;
    let sum = item.available + item.reserved + item.sold;
    if item.total != sum {
        return Err(inconsistent("total", sum, item.total));
    }
    let begun = item.audit.clone().unwrap_or_else(|| begin(item, &state.stock.forgotten_of(slot)));
    let (through_serial, counted) = count(state, slot, &begun)?;
    let Audit { horizon_serial, expected, .. } = begun;
    if through_serial < horizon_serial {
        let sku = sku.clone();
        let event = StockAuditAdvanced { sku, through_serial, horizon_serial, counted, expected };
        events.push(event.into());
        return Ok(facts!["RUNNING", counted, through_serial]);
    }
    if counted != expected {
        return Err(inconsistent("sold", counted, expected));
    }
    let event = StockAudited { sku: sku.clone(), horizon_serial, counted, expected, consistent: true };
    events.push(event.into());
    Ok(facts!["CONSISTENT", counted, through_serial])
}

/// Receipts that have left were counted when they did.
fn begin(item: &StockItem, forgotten: &Forgotten) -> Audit {
    Audit {
        horizon_serial: item.serial,
        through_serial: forgotten.through_serial,
        counted: forgotten.sold,
        expected: item.sold,
    }
}

/// The last serial of the piece, and the units still sold up to it. Receipts are consecutive without
/// gaps, so a serial without a receipt shows up as a gap.
fn count(state: &State, slot: Slot, begun: &Audit) -> Result<(u64, u64), Refusal> {
    let (mut through, mut counted) = (begun.through_serial, begun.counted);
    // The rest may have left meanwhile, and what is behind the horizon was sold later.
    if through >= begun.horizon_serial {
        return Ok((through, counted));
    }
    let rest = (slot, through + 1)..=(slot, begun.horizon_serial);
    let limit = state.settings.receipts_per_audit_max;
    let mut found = 0;
    for ((_, first), receipt) in state.stock.receipts.range(rest).take(limit) {
        if *first != through + 1 {
            return Err(inconsistent("serial", *first, through + 1));
        }
        if receipt.returned > receipt.count {
            return Err(inconsistent("returned", receipt.returned, receipt.count));
        }
        through += receipt.count;
        counted += receipt.count - receipt.returned;
        found += 1;
    }
    if found < limit && through < begun.horizon_serial {
        return Err(inconsistent("serial", through, begun.horizon_serial));
    }
    Ok((through, counted))
}

fn inconsistent(figure: &'static str, counted: u64, recorded: u64) -> Refusal {
    Refusal::new(Code::StockInconsistent, facts![figure, counted, recorded])
}
