//! Accounts among another number of partitions.

use super::{Account, AccountFigures, Accounts};
use crate::store::{Goes, Placed, Slot};
use crate::types::Id;

impl Accounts {
    /// Takes over the accounts that go, with their holds. The world's share goes along: in each partition all balances of
    /// an asset sum to zero.
    pub(crate) fn take_over(&mut self, from: &Self, goes: &Goes<'_>) -> Placed {
        let mut placed = Placed::default();
        for (id, account) in from.accounts.iter().filter(|(id, _)| id.listed().is_some() && goes(id)) {
            let slot = self.take_account(id, account);
            placed.note(from.accounts.find(id), slot);
        }
        placed.take_ordered(&mut self.holds, &from.holds);
        placed
    }

    fn take_account(&mut self, id: &Id, account: &Account) -> Slot {
        let Account { asset, balance, held, overdraft, status, world: _ } = account.clone();
        self.restore(id.clone(), AccountFigures { asset, balance, held, overdraft, status });
        let slot = self.accounts.find(id).unwrap_or(Slot(0));
        if let Some(world) = self.accounts.at(slot).map(|account| account.world) {
            self.accounts.update(world, |world| world.balance -= balance);
        }
        slot
    }
}
