//! Accounts and holds.

use scarce_core::accounts::{AccountFigures, Hold, HoldStatus, Status};
use scarce_core::state::State;
use scarce_engine::engine::Failure;

use super::record::{Damaged, Fields, id};
use super::{Keys, Link, each_row};

pub(super) async fn read(link: &Link, keys: &Keys, state: &mut State) -> Result<(), Failure> {
    let accounts = &mut state.accounts;
    each_row(link, &keys.of("accounts"), |name, fields| {
        accounts.restore(id(name)?, account(fields)?);
        Ok(())
    })
    .await?;
    each_row(link, &keys.of("holds"), |name, fields| {
        let (account, name) = name.split_once(' ').ok_or(Damaged)?;
        accounts.restore_hold(&id(account)?, id(name)?, hold(fields)?);
        Ok(())
    })
    .await
}

fn account(mut fields: Fields<'_>) -> Result<AccountFigures, Damaged> {
    let figures = AccountFigures {
        asset: fields.id()?,
        balance: fields.number()?,
        held: fields.number()?,
        overdraft: fields.number()?,
        status: fields.word(Status::from_word)?,
    };
    fields.end().map(|()| figures)
}

fn hold(mut fields: Fields<'_>) -> Result<Hold, Damaged> {
    let hold = Hold {
        amount: fields.number()?,
        status: fields.word(HoldStatus::from_word)?,
        deadline: fields.optional()?,
        ended_at: fields.number()?,
    };
    fields.end().map(|()| hold)
}
