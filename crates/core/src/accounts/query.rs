//! Queries about accounts.

use std::ops::Bound;

use super::Account;
use super::holds::{status_at, visible};
use crate::command::table::{AccountHolds, AccountList};
use crate::facts;
use crate::lists::page;
use crate::outcome::{Code, Refusal, Value, Verdict};
use crate::state::State;
use crate::types::{Id, TimeMs};

pub(crate) fn account(state: &State, id: &Id) -> Verdict {
    let (_, account) = state.accounts.existing(id)?;
    Ok(facts![
        id,
        &account.asset,
        account.balance,
        account.held,
        account.available(),
        account.overdraft,
        account.status.word(),
    ])
}

pub(crate) fn world(state: &State, asset: &Id) -> Verdict {
    let id = Id::world(asset);
    let account = state.accounts.get(&id).ok_or_else(|| Refusal::new(Code::AccountNotFound, facts![&id]))?;
    Ok(facts![&id, &account.asset, account.balance])
}

/// A page of the holds that are visible under their names: name, amount left, status, deadline.
pub(crate) fn holds(state: &State, get: &AccountHolds, now: TimeMs) -> Verdict {
    let (slot, _) = state.accounts.existing(&get.account)?;
    let first = || Id::trusted(compact_str::CompactString::const_new(""));
    let after = Bound::Excluded((slot, get.after.clone().unwrap_or_else(first)));
    let rows = state
        .accounts
        .holds
        .range((after, Bound::Unbounded))
        .take_while(|((its_slot, _), _)| *its_slot == slot)
        .filter(|((_, name), _)| visible(state, slot, name, now).is_some())
        .map(|((_, name), hold)| {
            let fields = facts![name, hold.amount, status_at(hold, state.settled(now)).word(), hold.deadline];
            Value::List(fields.into_vec())
        })
        .take(get.count.rows());
    Ok(facts![rows.collect::<Vec<_>>()])
}

/// A page of accounts: account, asset, balance, held, available, status.
pub(crate) fn list(state: &State, list: &AccountList) -> Verdict {
    page(&state.accounts.accounts, list.page(), |id, account| {
        let Account { asset, balance, held, status, .. } = account;
        facts![id, asset, *balance, *held, account.available(), status.word()]
    })
}
