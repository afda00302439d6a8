//! Accounts: double-entry money. Every movement has a source and a destination. Money that enters or
//! leaves is booked against the partition's `$world:<asset>` account, so all balances of an asset in a
//! partition sum to zero.

mod evolve;
pub mod holds;
mod movements;
pub(crate) mod plain;
pub(crate) mod query;
mod regroup;
mod rows;

pub use evolve::evolve;
pub use holds::expire;
pub use movements::{close, credit, debit, freeze, open, set_overdraft, transfer, unfreeze};
pub(crate) use rows::read_rows;

use std::collections::{BTreeMap, BTreeSet};

use crate::codec::{Malformed, Wire};
use crate::deadlines::{Deadlines, RecordKind};
use crate::digest::{Kind, Sum};
use crate::facts;
use crate::outcome::{Code, Refusal};
use crate::pieces::{PieceReader, PieceWriter};
use crate::state::State;
use crate::store::{Ordered, Sliced, Slot, Table};
use crate::types::{Id, TimeMs, signed};
use crate::{record_wire, reversible_fields, shown_word, words};

words! {
    /// The status of an account.
    Status {
        /// Everything.
        0 Open = "open",
        /// No debits and no new holds.
        1 Frozen = "frozen",
        /// Nothing, for good.
        2 Closed = "closed",
    }
}
shown_word!(Status);

/// An account of one asset. `balance − held ≥ −overdraft` always.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The asset.
    pub asset: Id,
    /// The balance in minor units; below zero if an overdraft is used.
    pub balance: i64,
    /// The amount set aside by holds.
    pub held: u64,
    /// How far below zero `available` may go.
    pub overdraft: u64,
    /// Its status.
    pub status: Status,
    /// The slot of the asset's world account.
    pub(crate) world: Slot,
}

record_wire!(Account { asset, balance, held, overdraft, status, world });

impl Account {
    /// What can be spent without the overdraft.
    #[must_use]
    pub fn available(&self) -> i64 {
        self.balance - signed(self.held)
    }

    /// Whether `amount` more can be spent or held, overdraft included.
    #[must_use]
    pub fn covers(&self, amount: u64) -> bool {
        signed(amount) - signed(self.overdraft) <= self.available()
    }
}

/// The fields of an account that exist outside of a partition's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "as in Account")]
pub struct AccountFigures {
    pub asset: Id,
    pub balance: i64,
    pub held: u64,
    pub overdraft: u64,
    pub status: Status,
}

words! {
    /// The status of a hold.
    HoldStatus {
        /// It holds money.
        0 Open = "open",
        /// Its money was paid out, or what was left freed with the last payment.
        1 Captured = "captured",
        /// It was ended without payment, or with what had been paid before.
        2 Voided = "voided",
        /// Its deadline passed.
        3 Expired = "expired",
    }
}
shown_word!(HoldStatus);

/// Money set aside on an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The amount that it still holds.
    pub amount: u64,
    /// Its status.
    pub status: HoldStatus,
    /// Its deadline.
    pub deadline: Option<TimeMs>,
    /// When it ended; 0 while it is open.
    pub ended_at: TimeMs,
}

record_wire!(Hold { amount, status, deadline, ended_at });

/// The accounts and holds of a partition. Accounts are never removed.
#[derive(Debug)]
pub struct Accounts {
    pub(crate) accounts: Table<Id, Account>,
    pub(crate) holds: Ordered<(Slot, Id), Hold>,
}

reversible_fields!(Accounts { accounts, holds });

impl Accounts {
    pub(crate) fn new(hash_seed: u64) -> Self {
        Self { accounts: Table::by_name(hash_seed, Id::listed), holds: Ordered::default() }
    }

    pub(crate) fn record_count(&self) -> usize {
        self.accounts.len() + self.holds.len()
    }

    /// An account by name.
    #[must_use]
    pub fn get(&self, account: &Id) -> Option<&Account> {
        self.accounts.get(account)
    }

    /// Every account with its name, world accounts included.
    pub fn iter(&self) -> impl Iterator<Item = (&Id, &Account)> {
        self.accounts.iter()
    }

    /// Every hold with the names of its account and its own; ended ones for as long as they are kept.
    pub fn holds(&self) -> impl Iterator<Item = (&Id, &Id, &Hold)> {
        self.holds.iter().filter_map(|((slot, name), hold)| Some((self.accounts.key_at(*slot)?, name, hold)))
    }

    /// A hold by the names of account and hold.
    #[must_use]
    pub fn hold(&self, account: &Id, hold: &Id) -> Option<&Hold> {
        self.holds.get(&(self.accounts.find(account)?, hold.clone()))
    }

    pub(crate) fn find_with_holds(&self, account: &Id) -> Option<Slot> {
        let slot = self.accounts.find(account)?;
        self.accounts.at(slot).filter(|account| account.held > 0).map(|_| slot)
    }

    /// The account, or the refusal that it does not exist.
    pub(crate) fn existing(&self, account: &Id) -> Result<(Slot, &Account), Refusal> {
        self.accounts
            .find(account)
            .and_then(|slot| self.accounts.at(slot).map(|found| (slot, found)))
            .ok_or_else(|| Refusal::new(Code::AccountNotFound, facts![account]))
    }

    /// The account, or the refusal that it does not exist or is closed.
    pub(crate) fn not_closed(&self, account: &Id) -> Result<(Slot, &Account), Refusal> {
        let (slot, found) = self.existing(account)?;
        if found.status == Status::Closed {
            return Err(Refusal::new(Code::AccountClosed, facts![account]));
        }
        Ok((slot, found))
    }

    /// The account, or the refusal that it does not exist or may not spend.
    pub(crate) fn spending(&self, account: &Id) -> Result<(Slot, &Account), Refusal> {
        let (slot, found) = self.not_closed(account)?;
        if found.status == Status::Frozen {
            return Err(Refusal::new(Code::AccountFrozen, facts![account]));
        }
        Ok((slot, found))
    }

    /// Restores an account from another store.
    pub fn restore(&mut self, id: Id, figures: AccountFigures) {
        let AccountFigures { asset, balance, held, overdraft, status } = figures;
        let world_id = Id::world(&asset);
        let empty = |status| Account {
            asset: asset.clone(),
            balance: 0,
            held: 0,
            overdraft: 0,
            status,
            world: Slot(0),
        };
        let world = self
            .accounts
            .find(&world_id)
            .unwrap_or_else(|| self.accounts.insert(world_id.clone(), empty(Status::Open)));
        let world = if id == world_id { Slot(0) } else { world };
        self.accounts.insert(id, Account { balance, held, overdraft, world, ..empty(status) });
    }

    /// Restores a hold from another store, on an account that was restored.
    pub fn restore_hold(&mut self, account: &Id, name: Id, hold: Hold) {
        if let Some(slot) = self.accounts.find(account) {
            self.holds.insert((slot, name), hold);
        }
    }

    /// Takes a hold out that another store no longer has.
    pub fn drop_hold(&mut self, account: &Id, name: &Id) {
        if let Some(slot) = self.accounts.find(account) {
            self.forget(slot, name);
        }
    }

    pub(crate) fn forget(&mut self, slot: Slot, hold: &Id) {
        self.holds.remove(&(slot, hold.clone()));
    }

    pub(crate) fn digest(&self, state: &State, sum: &mut Sum<'_>) {
        self.accounts.iter().for_each(|(id, account)| add_account(sum, id, account));
        for ((slot, name), hold) in self.holds.iter() {
            if let Some(account) = self.accounts.key_at(*slot) {
                add_hold(sum, state, account, name, hold);
            }
        }
    }

    pub(crate) fn digest_of(&self, state: &State, id: &Id, sum: &mut Sum<'_>) {
        let Some((slot, account)) = self.accounts.find_row(id) else { return };
        add_account(sum, id, account);
        let least = |slot| (slot, Id::trusted(compact_str::CompactString::const_new("")));
        for ((_, name), hold) in self.holds.range(least(slot)..least(Slot(slot.0 + 1))) {
            if !sum.has_room() {
                return;
            }
            add_hold(sum, state, id, name, hold);
        }
    }

    /// What [`Accounts::put`] writes, in the same order.
    pub(crate) fn sliced(&mut self) -> [&mut dyn Sliced; 2] {
        [&mut self.accounts, &mut self.holds]
    }

    pub(crate) fn put(&self, out: &mut PieceWriter<'_>) {
        self.accounts.put(out);
        self.holds.put(out);
    }

    pub(crate) fn load(
        &mut self,
        input: &mut PieceReader<'_>,
        deadlines: &mut Deadlines,
    ) -> Result<(), Malformed> {
        self.accounts.load(input)?;
        self.holds.load(input)?;
        self.queue_holds(deadlines)
    }

    /// Notes when open holds end.
    pub(crate) fn queue_holds(&self, deadlines: &mut Deadlines) -> Result<(), Malformed> {
        for ((slot, name), hold) in self.holds.iter() {
            let account = self.accounts.key_at(*slot).ok_or(Malformed)?;
            if let (HoldStatus::Open, Some(deadline)) = (hold.status, hold.deadline) {
                deadlines.add(deadline, RecordKind::Hold, *slot, account, name);
            }
        }
        Ok(())
    }
}

/// The slots of accounts that have holds, from what [`Accounts::put`] wrote.
pub(crate) fn skim(input: &mut PieceReader<'_>) -> Result<BTreeSet<Slot>, Malformed> {
    let mut holding = BTreeSet::new();
    input.rows(|_: Id, _: Account| {})?;
    input.rows(|(slot, _): (Slot, Id), _: Hold| {
        holding.insert(slot);
    })?;
    Ok(holding)
}

/// Adds what [`Accounts::put`] wrote to a digest. Only of accounts with holds the names are kept meanwhile.
pub(crate) fn scan(
    state: &State,
    holding: &BTreeSet<Slot>,
    input: &mut PieceReader<'_>,
    sum: &mut Sum<'_>,
) -> Result<(), Malformed> {
    let (mut names, mut next) = (BTreeMap::new(), 0);
    input.rows(|id: Id, account: Account| {
        add_account(sum, &id, &account);
        if holding.contains(&Slot(next)) {
            names.insert(Slot(next), id);
        }
        next += 1;
    })?;
    input.rows(|(slot, name): (Slot, Id), hold: Hold| {
        if let Some(account) = names.get(&slot) {
            add_hold(sum, state, account, &name, &hold);
        }
    })
}

fn add_account(sum: &mut Sum<'_>, id: &Id, account: &Account) {
    sum.add(Kind::Account, id, |out| {
        account.asset.put(out);
        account.balance.put(out);
        account.held.put(out);
        account.overdraft.put(out);
        account.status.put(out);
    });
}

fn add_hold(sum: &mut Sum<'_>, state: &State, account: &Id, name: &Id, hold: &Hold) {
    if hold.status == HoldStatus::Open || state.is_retained(hold.ended_at, state.at) {
        sum.add(Kind::Hold, account, |out| {
            name.put(out);
            hold.put(out);
        });
    }
}
