//! Decisions on accounts: opening, money in and out, transfers, status.

use super::{Account, Status};
use crate::command::table::{AccountCredit, AccountDebit, AccountOpen, AccountOverdraft, AccountTransfer};
use crate::event::{
    AccountClosed, AccountCredited, AccountDebited, AccountFrozen, AccountOpened, AccountOverdraftSet,
    AccountTransferred, AccountUnfrozen, Event,
};
use crate::facts;
use crate::outcome::{Code, Refusal, Verdict};
use crate::state::State;
use crate::types::{BALANCE_MAX, Id, signed};

/// Opens an account.
pub fn open(state: &State, command: &AccountOpen, events: &mut Vec<Event>) -> Verdict {
    let AccountOpen { account, asset, overdraft } = command;
    if state.accounts.get(account).is_some() {
        return Err(Refusal::new(Code::AccountExists, facts![account]));
    }
    events.push(
        AccountOpened { account: account.clone(), asset: asset.clone(), overdraft: overdraft.get() }.into(),
    );
    Ok(facts![0_i64])
}

/// Credits an account from the world account.
pub fn credit(state: &State, command: &AccountCredit, events: &mut Vec<Event>) -> Verdict {
    let (_, account) = state.accounts.not_closed(&command.account)?;
    let amount = command.amount.get();
    check_receives(account, amount)?;
    check_world(state, account, -signed(amount))?;
    let balance = account.balance + signed(amount);
    let available = account.available() + signed(amount);
    events.push(AccountCredited { account: command.account.clone(), amount, balance, available }.into());
    Ok(facts![available, balance])
}

/// Debits an account to the world account.
pub fn debit(state: &State, command: &AccountDebit, events: &mut Vec<Event>) -> Verdict {
    let (_, account) = state.accounts.spending(&command.account)?;
    let amount = command.amount.get();
    check_covers(&command.account, account, amount)?;
    check_world(state, account, signed(amount))?;
    let balance = account.balance - signed(amount);
    let available = account.available() - signed(amount);
    events.push(AccountDebited { account: command.account.clone(), amount, balance, available }.into());
    Ok(facts![available, balance])
}

/// Moves money between two accounts.
pub fn transfer(state: &State, command: &AccountTransfer, events: &mut Vec<Event>) -> Verdict {
    let AccountTransfer { from, to, amount } = command;
    let amount = amount.get();
    if from == to {
        return Err(Refusal::new(Code::SameAccount, facts![from]));
    }
    state.accounts.existing(from)?;
    state.accounts.existing(to)?;
    let (_, source) = state.accounts.not_closed(from)?;
    let (_, destination) = state.accounts.not_closed(to)?;
    state.accounts.spending(from)?;
    check_asset(source, destination)?;
    check_covers(from, source, amount)?;
    check_receives(destination, amount)?;
    let (from_available, to_available) =
        (source.available() - signed(amount), destination.available() + signed(amount));
    let event = AccountTransferred {
        from: from.clone(),
        to: to.clone(),
        amount,
        from_balance: source.balance - signed(amount),
        from_available,
        to_balance: destination.balance + signed(amount),
        to_available,
    };
    events.push(event.into());
    Ok(facts![from_available, to_available])
}

/// Stops debits and new holds.
pub fn freeze(state: &State, account: &Id, events: &mut Vec<Event>) -> Verdict {
    let (_, found) = state.accounts.not_closed(account)?;
    if found.status != Status::Frozen {
        events.push(AccountFrozen { account: account.clone() }.into());
    }
    Ok(facts![Status::Frozen.word()])
}

/// Allows debits and new holds again.
pub fn unfreeze(state: &State, account: &Id, events: &mut Vec<Event>) -> Verdict {
    let (_, found) = state.accounts.not_closed(account)?;
    if found.status != Status::Open {
        events.push(AccountUnfrozen { account: account.clone() }.into());
    }
    Ok(facts![Status::Open.word()])
}

/// Closes an empty account. Closing a closed one changes nothing.
pub fn close(state: &State, account: &Id, events: &mut Vec<Event>) -> Verdict {
    let (_, found) = state.accounts.existing(account)?;
    if found.balance != 0 || found.held != 0 {
        return Err(Refusal::new(Code::BalanceNotZero, facts![found.balance, found.held]));
    }
    if found.status != Status::Closed {
        events.push(AccountClosed { account: account.clone() }.into());
    }
    Ok(facts![Status::Closed.word()])
}

/// Sets how far below zero an account may go.
pub fn set_overdraft(state: &State, command: &AccountOverdraft, events: &mut Vec<Event>) -> Verdict {
    let (_, found) = state.accounts.not_closed(&command.account)?;
    let (overdraft, available) = (command.overdraft.get(), found.available());
    if available < -signed(overdraft) {
        return Err(Refusal::new(Code::OverdraftInUse, facts![available, overdraft]));
    }
    if overdraft != found.overdraft {
        events.push(AccountOverdraftSet { account: command.account.clone(), overdraft, available }.into());
    }
    Ok(facts![overdraft, available])
}

pub(super) fn check_asset(source: &Account, destination: &Account) -> Result<(), Refusal> {
    if source.asset == destination.asset {
        return Ok(());
    }
    Err(Refusal::new(Code::AssetMismatch, facts![&source.asset, &destination.asset]))
}

pub(super) fn check_covers(id: &Id, account: &Account, amount: u64) -> Result<(), Refusal> {
    if account.covers(amount) {
        return Ok(());
    }
    Err(Refusal::new(Code::InsufficientFunds, facts![id, account.available(), amount]))
}

pub(super) fn check_receives(account: &Account, amount: u64) -> Result<(), Refusal> {
    if receives(account, amount) { Ok(()) } else { Err(overflow("balance")) }
}

pub(super) fn receives(account: &Account, amount: u64) -> bool {
    account.balance + signed(amount) <= BALANCE_MAX
}

pub(super) fn check_world(state: &State, account: &Account, change: i64) -> Result<(), Refusal> {
    if world_receives(state, account, change) { Ok(()) } else { Err(overflow("world")) }
}

/// The world's balance has the same bounds as any other.
pub(super) fn world_receives(state: &State, account: &Account, change: i64) -> bool {
    let balance = state.accounts.accounts.at(account.world).map_or(0, |world| world.balance);
    (balance + change).abs() <= BALANCE_MAX
}

pub(super) fn overflow(argument: &'static str) -> Refusal {
    Refusal::new(Code::Overflow, facts![argument])
}
