//! Accounts and holds.

use scarce_core::accounts::{AccountFigures, Hold, HoldStatus, Status};
use scarce_core::state::State;

use super::record::{Damaged, Record, id, words};

pub(super) fn put(state: &mut State, hash: &str, name: &str, record: &Record<'_>) -> Result<(), Damaged> {
    if hash == "accounts" {
        state.accounts.restore(id(name)?, account(record)?);
        return Ok(());
    }
    let (account, name) = words(name)?;
    state.accounts.restore_hold(&id(account)?, id(name)?, hold(record)?);
    Ok(())
}

/// Takes out a hold that is forgotten.
pub(super) fn drop_hold(state: &mut State, name: &str) -> Result<(), Damaged> {
    let (account, name) = words(name)?;
    state.accounts.drop_hold(&id(account)?, &id(name)?);
    Ok(())
}

fn account(record: &Record<'_>) -> Result<AccountFigures, Damaged> {
    Ok(AccountFigures {
        asset: record.id("asset")?,
        balance: record.number("balance")?,
        held: record.number("held")?,
        overdraft: record.number("overdraft")?,
        status: record.word("status", Status::from_word)?,
    })
}

fn hold(record: &Record<'_>) -> Result<Hold, Damaged> {
    Ok(Hold {
        amount: record.number("amount")?,
        status: record.word("status", HoldStatus::from_word)?,
        deadline: record.optional("deadline")?,
        ended_at: record.number("ended_at")?,
    })
}
