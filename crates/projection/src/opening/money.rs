//! Accounts with their opening balances, and open holds.

use scarce_core::accounts::{Account, Hold, HoldStatus, Status};
use scarce_core::types::{Id, signed};

use super::Opening;
use crate::fold::{Origin, text};
use crate::rows::{AccountRow, EntryKind, EntryRow, HoldRow};

impl Opening<'_> {
    pub(super) fn put_account(&mut self, id: &Id, account: &Account) {
        if id.as_str().starts_with(Id::WORLD_PREFIX) {
            return;
        }
        let row = account_row(id, account, &self.origin);
        let opening = row.opening(&self.origin);
        self.put(row);
        if account.balance != 0 {
            self.put(opening);
        }
    }

    pub(super) fn put_hold(&mut self, account: &Id, name: &Id, hold: &Hold) {
        if hold.status == HoldStatus::Open {
            self.put(hold_row(account, name, hold, &self.origin));
        }
    }
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
