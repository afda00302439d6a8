//! Accounts and holds.

use scarce_core::accounts::{AccountFigures, Hold, HoldStatus, Status};
use scarce_core::state::State;

use super::record::{Damaged, Record, id, words};
use super::{Keys, Link, each_row};
use scarce_engine::engine::Failure;

pub(super) async fn read(link: &Link, keys: &Keys, state: &mut State) -> Result<(), Failure> {
    let accounts = &mut state.accounts;
    each_row(link, keys, "accounts", |name, record| {
        accounts.restore(id(name)?, account(&record)?);
        Ok(())
    })
    .await?;
    each_row(link, keys, "holds", |name, record| {
        let (account, name) = words(name)?;
        accounts.restore_hold(&id(account)?, id(name)?, hold(&record)?);
        Ok(())
    })
    .await
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
