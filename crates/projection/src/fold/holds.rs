//! Applies events to holds.

use scarce_core::accounts::HoldStatus;
use scarce_core::event::{HoldCaptured, HoldExpired, HoldExtended, HoldPlaced, HoldVoided};
use scarce_core::types::{Id, signed};

use super::accounts::{existing, facing};
use super::origin::{Mistake, Origin, Spot};
use super::tables::Tables;
use super::{pair, text};
use crate::rows::{EntryKind, EntryRow, HoldRow};

const TABLE: &str = "holds";

pub(super) fn void(tables: &mut Tables, ended: &HoldVoided, origin: &Origin<'_>) -> Result<(), Mistake> {
    let figures = Freed { amount: ended.amount, held: ended.held, available: ended.available };
    free(tables, (&ended.account, &ended.hold), HoldStatus::Voided, &figures, origin)
}

pub(super) fn expire(tables: &mut Tables, ended: &HoldExpired, origin: &Origin<'_>) -> Result<(), Mistake> {
    let figures = Freed { amount: ended.amount, held: ended.held, available: ended.available };
    free(tables, (&ended.account, &ended.hold), HoldStatus::Expired, &figures, origin)
}

pub(super) fn place(tables: &mut Tables, placed: &HoldPlaced, origin: &Origin<'_>) -> Result<(), Mistake> {
    let HoldPlaced { account, hold, amount, deadline, held, available } = placed;
    let amount = signed(*amount);
    let account_spot = origin.row("accounts", account);
    let owner = existing(tables, account, account_spot, origin)?;
    owner.is_open(account_spot)?;
    owner.hold(amount);
    account_spot.same("held", owner.held, signed(*held))?;
    account_spot.same("available", owner.available, *available)?;
    owner.is_covered(account_spot)?;
    let (key, spot) = (pair(account, hold), origin.row_of(TABLE, account, hold));
    let before = tables.holds.get(&key);
    if let Some(before) = before {
        spot.holds(before.status != HoldStatus::Open, || "a hold of this name is open".to_owned())?;
    }
    let row = HoldRow {
        account_id: text(account),
        hold_id: text(hold),
        use_number: before.map_or(1, |before| before.use_number + 1),
        partition_id: origin.partition_id(),
        amount,
        captured: 0,
        amount_placed: amount,
        status: HoldStatus::Open,
        deadline_ms: deadline.map(signed),
        operation_id: origin.operation_id(),
        placed_at_ms: origin.at_ms,
        ended_at_ms: None,
    };
    tables.holds.add(key, row);
    Ok(())
}

pub(super) fn capture(
    tables: &mut Tables,
    captured: &HoldCaptured,
    origin: &Origin<'_>,
) -> Result<(), Mistake> {
    let HoldCaptured { account, hold, open, hold_remaining, .. } = captured;
    let amount = signed(captured.amount);
    let spot = origin.row_of(TABLE, account, hold);
    let row = open_hold(tables, account, hold, spot)?;
    let rest = row.amount.saturating_sub(amount);
    spot.holds(rest >= 0, || format!("the hold has {}, and {amount} were captured", row.amount))?;
    spot.same("amount", if *open { rest } else { 0 }, signed(*hold_remaining))?;
    let freed = if *open { amount } else { row.amount };
    row.captured = row.captured.saturating_add(amount);
    row.amount = signed(*hold_remaining);
    if !*open {
        row.end(HoldStatus::Captured, origin.at_ms);
    }
    pay(tables, captured, freed, origin)
}

/// Moves the captured amount; `freed` is no longer held.
fn pay(tables: &mut Tables, captured: &HoldCaptured, freed: i64, origin: &Origin<'_>) -> Result<(), Mistake> {
    let HoldCaptured { account, hold, to, balance, held, available, to_balance, .. } = captured;
    let (amount, kind) = (signed(captured.amount), EntryKind::Capture);
    let spot = origin.row("accounts", account);
    spot.same("to_balance given", to.is_some(), to_balance.is_some())?;
    let is_own = to.as_ref() == Some(account);
    let source = existing(tables, account, spot, origin)?;
    source.hold(freed.saturating_neg());
    // An account that captures its own hold moves no money, and gets no entry.
    source.shift(if is_own { 0 } else { amount.saturating_neg() });
    spot.same("held", source.held, signed(*held))?;
    source.comes_to(*balance, *available, spot)?;
    let hold_id = Some(text(hold));
    let out = EntryRow { hold_id: hold_id.clone(), ..source.entry(kind, amount.saturating_neg(), origin) };
    let asset = source.asset.clone();
    match to.as_ref().zip(*to_balance) {
        None => tables.entries.push(out),
        Some((_, to_balance)) if is_own => spot.same("to_balance", *balance, to_balance)?,
        Some((to, to_balance)) => {
            let spot = origin.row("accounts", to);
            let destination = existing(tables, to, spot, origin)?;
            destination.not_closed(spot)?;
            spot.same("asset", &destination.asset, &asset)?;
            destination.shift(amount);
            spot.same("balance", destination.balance, to_balance)?;
            let into = EntryRow { hold_id, ..destination.entry(kind, amount, origin) };
            tables.entries.extend(facing(out, into));
        }
    }
    Ok(())
}

/// The result of a hold's end.
struct Freed {
    amount: u64,
    held: u64,
    available: i64,
}

fn free(
    tables: &mut Tables,
    (account, hold): (&Id, &Id),
    status: HoldStatus,
    figures: &Freed,
    origin: &Origin<'_>,
) -> Result<(), Mistake> {
    let spot = origin.row_of(TABLE, account, hold);
    let row = open_hold(tables, account, hold, spot)?;
    let amount = row.amount;
    spot.same("amount", amount, signed(figures.amount))?;
    // A hold that expired ended at its deadline, whenever that was noticed.
    let ended_at_ms = match status {
        HoldStatus::Expired => row.deadline_ms.unwrap_or(origin.at_ms),
        _ => origin.at_ms,
    };
    row.end(status, ended_at_ms);
    let spot = origin.row("accounts", account);
    let owner = existing(tables, account, spot, origin)?;
    owner.hold(amount.saturating_neg());
    spot.same("held", owner.held, signed(figures.held))?;
    spot.same("available", owner.available, figures.available)
}

pub(super) fn extend(
    tables: &mut Tables,
    extended: &HoldExtended,
    origin: &Origin<'_>,
) -> Result<(), Mistake> {
    let HoldExtended { account, hold, deadline } = extended;
    let spot = origin.row_of(TABLE, account, hold);
    open_hold(tables, account, hold, spot)?.deadline_ms = Some(signed(*deadline));
    Ok(())
}

fn open_hold<'t>(
    tables: &'t mut Tables,
    account: &Id,
    hold: &Id,
    spot: Spot<'_>,
) -> Result<&'t mut HoldRow, Mistake> {
    let row = spot.found(tables.holds.change(&pair(account, hold)))?;
    spot.same("status", row.status.word(), HoldStatus::Open.word())?;
    Ok(row)
}

impl HoldRow {
    fn end(&mut self, status: HoldStatus, ended_at_ms: i64) {
        self.status = status;
        self.amount = 0;
        self.ended_at_ms = Some(ended_at_ms);
    }
}
