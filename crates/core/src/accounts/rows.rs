//! The rows of accounts.

use std::collections::{BTreeMap, BTreeSet};

use super::{Account, Accounts, Hold};
use crate::codec::Malformed;
use crate::machine::{StateRow, TakeRow};
use crate::pieces::PieceReader;
use crate::store::Slot;
use crate::types::Id;

impl Accounts {
    /// Gives every row to `take`.
    pub(crate) fn rows(&self, take: TakeRow<'_>) {
        self.iter().for_each(|(id, account)| take(StateRow::Account(id, account)));
        self.holds().for_each(|(account, name, hold)| take(StateRow::Hold { account, name, hold }));
    }
}

/// Gives the rows of what [`Accounts::put`] wrote. Only of accounts with holds the names are kept meanwhile.
pub(crate) fn read_rows(
    holding: &BTreeSet<Slot>,
    input: &mut PieceReader<'_>,
    take: TakeRow<'_>,
) -> Result<(), Malformed> {
    let (mut names, mut next) = (BTreeMap::new(), 0);
    input.rows(|id: Id, account: Account| {
        take(StateRow::Account(&id, &account));
        if holding.contains(&Slot(next)) {
            names.insert(Slot(next), id);
        }
        next += 1;
    })?;
    input.rows(|(slot, name): (Slot, Id), hold: Hold| {
        if let Some(account) = names.get(&slot) {
            take(StateRow::Hold { account, name: &name, hold: &hold });
        }
    })
}
