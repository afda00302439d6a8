//! Accounts with their opening balances, and open holds.

use scarce_core::accounts::{Account, Hold, HoldStatus, Status};
use scarce_core::state::State;
use scarce_core::types::{Id, signed};

use super::{Take, Unwanted};
use crate::fold::{Origin, text};
use crate::rows::{AccountRow, EntryKind, EntryRow, HoldRow};

pub(super) fn put(state: &State, origin: &Origin<'_>, take: Take<'_>) -> Result<(), Unwanted> {
    let accounts = || state.accounts.iter().filter(|(id, _)| !id.as_str().starts_with(Id::WORLD_PREFIX));
    super::put(take, accounts().map(|(id, account)| account_row(id, account, origin)))?;
    let balances = accounts().filter(|(_, account)| account.balance != 0);
    super::put(take, balances.map(|(id, account)| account_row(id, account, origin).opening(origin)))?;
    let open = state.accounts.holds().filter(|(.., hold)| hold.status == HoldStatus::Open);
    super::put(take, open.map(|(account, name, hold)| hold_row(account, name, hold, origin)))
}

fn account_row(id: &Id, account: &Account, origin: &Origin<'_>) -> AccountRow {
    AccountRow {
        account_id: text(id),
        partition_id: origin.partition_id(),
        asset: text(&account.asset),
        balance: account.balance,
        held: signed(account.held),
        available: account.available(),
        overdraft: signed(account.overdraft),
        status: account.status,
        opened_at_ms: origin.at_ms,
        updated_at_ms: origin.at_ms,
        closed_at_ms: (account.status == Status::Closed).then_some(origin.at_ms),
    }
}

impl AccountRow {
    /// The entry that brings in the balance.
    fn opening(&self, origin: &Origin<'_>) -> EntryRow {
        self.entry(EntryKind::Opening, self.balance, origin)
    }
}

/// What was captured of it before is not known, so it is as if placed with what it holds.
fn hold_row(account: &Id, name: &Id, hold: &Hold, origin: &Origin<'_>) -> HoldRow {
    HoldRow {
        account_id: text(account),
        hold_id: text(name),
        use_number: 1,
        partition_id: origin.partition_id(),
        amount: signed(hold.amount),
        captured: 0,
        amount_placed: signed(hold.amount),
        status: hold.status,
        deadline_ms: hold.deadline.map(signed),
        operation_id: None,
        placed_at_ms: origin.at_ms,
        ended_at_ms: None,
    }
}
