//! Accounts and holds.

use scarce_core::accounts::HoldStatus;
use scarce_core::deadlines::RecordKind;
use scarce_core::state::State;
use scarce_core::types::Id;

use super::{Item, Maybe, RowName, join, pair, put_due, put_ended, put_name};

pub(super) fn put_account(state: &State, id: &Id, out: &mut Vec<Item>) {
    let Some(its) = state.accounts.get(id) else { return };
    let text = join(&[&its.asset, &its.balance, &its.held, &its.overdraft, &its.status.word()]);
    out.push(Item::Row("accounts", id.to_string(), text));
    if !id.as_str().starts_with(Id::WORLD_PREFIX) {
        put_name("account", id, out);
    }
}

pub(super) fn put_hold(state: &State, account: &Id, name: &Id, out: &mut Vec<Item>) {
    let Some(its) = state.accounts.hold(account, name) else { return };
    let text = join(&[&its.amount, &its.status.word(), &Maybe(its.deadline), &its.ended_at]);
    out.push(Item::Row("holds", pair(account, name), text));
    out.push(Item::Member("holds_by", pair(account, name)));
    match (its.status, its.deadline) {
        (HoldStatus::Open, Some(deadline)) => {
            put_due(deadline, RecordKind::Hold, account, name.as_str(), out);
        }
        (HoldStatus::Open, None) => {}
        _ => put_ended(its.ended_at, RecordKind::Hold, account, name, out),
    }
}

pub(super) fn each(state: &State, take: &mut impl FnMut(RowName)) {
    state.accounts.iter().for_each(|(id, _)| take(RowName::Account(id.clone())));
    state.accounts.holds().for_each(|(account, name, _)| take(RowName::Hold(account.clone(), name.clone())));
}
