//! Applies events to accounts.

use scarce_core::accounts::Status;
use scarce_core::event::{
    AccountClosed, AccountCredited, AccountDebited, AccountEvent, AccountOpened, AccountOverdraftSet,
    AccountTransferred,
};
use scarce_core::types::{Id, signed};

use super::origin::{Mistake, Origin, Spot};
use super::tables::Tables;
use super::{holds, text};
use crate::rows::{AccountRow, EntryKind, EntryRow};

const TABLE: &str = "accounts";

pub(super) fn apply(tables: &mut Tables, event: &AccountEvent, origin: &Origin<'_>) -> Result<(), Mistake> {
    use AccountEvent as E;
    match event {
        E::AccountOpened(opened) => open(tables, opened, origin),
        E::AccountCredited(credited) => credit(tables, credited, origin),
        E::AccountDebited(debited) => debit(tables, debited, origin),
        E::AccountTransferred(transferred) => transfer(tables, transferred, origin),
        E::AccountFrozen(frozen) => {
            set_status(tables, &frozen.account, (Status::Open, Status::Frozen), origin)
        }
        E::AccountUnfrozen(unfrozen) => {
            set_status(tables, &unfrozen.account, (Status::Frozen, Status::Open), origin)
        }
        E::AccountClosed(closed) => close(tables, closed, origin),
        E::AccountOverdraftSet(set) => set_overdraft(tables, set, origin),
        E::HoldPlaced(placed) => holds::place(tables, placed, origin),
        E::HoldCaptured(captured) => holds::capture(tables, captured, origin),
        E::HoldVoided(voided) => holds::void(tables, voided, origin),
        E::HoldExpired(expired) => holds::expire(tables, expired, origin),
        E::HoldExtended(extended) => holds::extend(tables, extended, origin),
    }
}

fn open(tables: &mut Tables, opened: &AccountOpened, origin: &Origin<'_>) -> Result<(), Mistake> {
    let AccountOpened { account, asset, overdraft } = opened;
    origin.row(TABLE, account).none(tables.accounts.get(account.as_str()))?;
    let row = AccountRow {
        account_id: text(account),
        partition_id: origin.partition_id(),
        asset: text(asset),
        balance: 0,
        held: 0,
        available: 0,
        overdraft: signed(*overdraft),
        status: Status::Open,
        opened_at_ms: origin.at_ms,
        updated_at_ms: origin.at_ms,
        closed_at_ms: None,
    };
    tables.accounts.add(account.as_str().into(), row);
    Ok(())
}

fn credit(tables: &mut Tables, credited: &AccountCredited, origin: &Origin<'_>) -> Result<(), Mistake> {
    let AccountCredited { account, amount, balance, available } = credited;
    let spot = origin.row(TABLE, account);
    let row = existing(tables, account, spot, origin)?;
    row.not_closed(spot)?;
    let amount = signed(*amount);
    row.shift(amount);
    row.comes_to(*balance, *available, spot)?;
    let entry = row.entry(EntryKind::Credit, amount, origin);
    tables.entries.push(entry);
    Ok(())
}

fn debit(tables: &mut Tables, debited: &AccountDebited, origin: &Origin<'_>) -> Result<(), Mistake> {
    let AccountDebited { account, amount, balance, available } = debited;
    let spot = origin.row(TABLE, account);
    let row = existing(tables, account, spot, origin)?;
    row.is_open(spot)?;
    let amount = signed(*amount).saturating_neg();
    row.shift(amount);
    row.comes_to(*balance, *available, spot)?;
    row.is_covered(spot)?;
    let entry = row.entry(EntryKind::Debit, amount, origin);
    tables.entries.push(entry);
    Ok(())
}

fn transfer(
    tables: &mut Tables,
    transferred: &AccountTransferred,
    origin: &Origin<'_>,
) -> Result<(), Mistake> {
    let AccountTransferred { from, to, from_balance, to_balance, .. } = transferred;
    let amount = signed(transferred.amount);
    let (spot, to_spot) = (origin.row(TABLE, from), origin.row(TABLE, to));
    let source = existing(tables, from, spot, origin)?;
    source.is_open(spot)?;
    source.shift(amount.saturating_neg());
    source.comes_to(*from_balance, transferred.from_available, spot)?;
    source.is_covered(spot)?;
    let (asset, out) =
        (source.asset.clone(), source.entry(EntryKind::Transfer, amount.saturating_neg(), origin));
    let destination = existing(tables, to, to_spot, origin)?;
    destination.not_closed(to_spot)?;
    to_spot.same("asset", &destination.asset, &asset)?;
    destination.shift(amount);
    destination.comes_to(*to_balance, transferred.to_available, to_spot)?;
    let into = destination.entry(EntryKind::Transfer, amount, origin);
    tables.entries.extend(facing(out, into));
    Ok(())
}

fn set_status(
    tables: &mut Tables,
    account: &Id,
    (before, after): (Status, Status),
    origin: &Origin<'_>,
) -> Result<(), Mistake> {
    let spot = origin.row(TABLE, account);
    let row = existing(tables, account, spot, origin)?;
    spot.same("status", row.status.word(), before.word())?;
    row.status = after;
    Ok(())
}

fn close(tables: &mut Tables, closed: &AccountClosed, origin: &Origin<'_>) -> Result<(), Mistake> {
    let spot = origin.row(TABLE, &closed.account);
    let row = existing(tables, &closed.account, spot, origin)?;
    row.not_closed(spot)?;
    spot.same("balance", row.balance, 0)?;
    spot.same("held", row.held, 0)?;
    row.status = Status::Closed;
    row.closed_at_ms = Some(origin.at_ms);
    Ok(())
}

fn set_overdraft(tables: &mut Tables, set: &AccountOverdraftSet, origin: &Origin<'_>) -> Result<(), Mistake> {
    let spot = origin.row(TABLE, &set.account);
    let row = existing(tables, &set.account, spot, origin)?;
    row.not_closed(spot)?;
    spot.same("available", row.available, set.available)?;
    row.overdraft = signed(set.overdraft);
    row.is_covered(spot)
}

/// The row of an account, changed in this batch.
pub(super) fn existing<'t>(
    tables: &'t mut Tables,
    account: &Id,
    spot: Spot<'_>,
    origin: &Origin<'_>,
) -> Result<&'t mut AccountRow, Mistake> {
    let row = spot.found(tables.accounts.change(account.as_str()))?;
    row.updated_at_ms = origin.at_ms;
    Ok(row)
}

impl AccountRow {
    /// Adds money, or removes it.
    pub(super) fn shift(&mut self, amount: i64) {
        self.balance = self.balance.saturating_add(amount);
        self.available = self.available.saturating_add(amount);
    }

    /// Holds money, or releases it.
    pub(super) fn hold(&mut self, amount: i64) {
        self.held = self.held.saturating_add(amount);
        self.available = self.available.saturating_sub(amount);
    }

    /// The entry of a movement that was just applied, to or from outside.
    pub(crate) fn entry(&self, kind: EntryKind, amount: i64, origin: &Origin<'_>) -> EntryRow {
        EntryRow {
            partition_id: origin.partition_id(),
            sequence: origin.sequence,
            account_id: self.account_id.clone(),
            epoch: origin.epoch,
            kind,
            amount,
            balance: self.balance,
            counterparty_id: None,
            hold_id: None,
            operation_id: origin.operation_id(),
            at_ms: origin.at_ms,
        }
    }

    pub(super) fn comes_to(&self, balance: i64, available: i64, spot: Spot<'_>) -> Result<(), Mistake> {
        spot.same("balance", self.balance, balance)?;
        spot.same("available", self.available, available)
    }

    pub(super) fn is_open(&self, spot: Spot<'_>) -> Result<(), Mistake> {
        spot.same("status", self.status.word(), Status::Open.word())
    }

    pub(super) fn not_closed(&self, spot: Spot<'_>) -> Result<(), Mistake> {
        spot.holds(self.status != Status::Closed, || "the account is closed".to_owned())
    }

    /// Checks that the amount that was spent or held was available.
    pub(super) fn is_covered(&self, spot: Spot<'_>) -> Result<(), Mistake> {
        let Self { available, overdraft, .. } = *self;
        spot.holds(available >= -overdraft, || {
            format!("available becomes {available}, and the overdraft is {overdraft}")
        })
    }
}

/// The two sides of a movement between accounts.
pub(super) fn facing(out: EntryRow, into: EntryRow) -> [EntryRow; 2] {
    let (from, to) = (out.account_id.clone(), into.account_id.clone());
    [EntryRow { counterparty_id: Some(to), ..out }, EntryRow { counterparty_id: Some(from), ..into }]
}
