//! The figures of accounts.

use scarce_core::event::{AccountEvent, HoldCaptured};
use scarce_core::types::{Id, signed};

use super::{Contradiction, Ledger, created, missing, same};

/// The figures of an account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Money {
    balance: i64,
    held: i64,
}

impl Money {
    fn available(self) -> i64 {
        self.balance - self.held
    }
}

pub(super) fn follow(ledger: &mut Ledger<'_>, event: &AccountEvent) -> Result<(), Contradiction> {
    use AccountEvent as E;
    match event {
        E::AccountOpened(its) => {
            created(&its.account, ledger.find_account(&its.account).is_none())?;
            ledger.accounts.insert(its.account.clone(), Money::default());
            Ok(())
        }
        E::AccountCredited(its) => {
            ledger.pay(&its.account, signed(its.amount), (its.balance, Some(its.available)))
        }
        E::AccountDebited(its) => {
            ledger.pay(&its.account, -signed(its.amount), (its.balance, Some(its.available)))
        }
        E::AccountTransferred(its) => {
            let amount = signed(its.amount);
            ledger.pay(&its.from, -amount, (its.from_balance, Some(its.from_available)))?;
            ledger.pay(&its.to, amount, (its.to_balance, Some(its.to_available)))
        }
        E::HoldPlaced(its) => ledger.hold(&its.account, signed(its.amount), (its.held, its.available)),
        E::HoldVoided(its) => ledger.hold(&its.account, -signed(its.amount), (its.held, its.available)),
        E::HoldExpired(its) => ledger.hold(&its.account, -signed(its.amount), (its.held, its.available)),
        E::HoldCaptured(its) => ledger.capture(its),
        E::AccountOverdraftSet(its) => {
            let money = ledger.account(&its.account)?;
            same(&its.account, "available", Some(money.available()), its.available)
        }
        E::AccountFrozen(its) => ledger.account(&its.account).map(drop),
        E::AccountUnfrozen(its) => ledger.account(&its.account).map(drop),
        E::AccountClosed(its) => ledger.account(&its.account).map(drop),
        E::HoldExtended(its) => ledger.account(&its.account).map(drop),
    }
}

impl Ledger<'_> {
    fn find_account(&self, id: &Id) -> Option<Money> {
        let of_state = || {
            let account = self.state.accounts.get(id)?;
            Some(Money { balance: account.balance, held: signed(account.held) })
        };
        self.accounts.get(id).copied().or_else(of_state)
    }

    fn account(&self, id: &Id) -> Result<Money, Contradiction> {
        self.find_account(id).ok_or_else(|| missing(id))
    }

    fn pay(&mut self, id: &Id, change: i64, told: (i64, Option<i64>)) -> Result<(), Contradiction> {
        let mut money = self.account(id)?;
        money.balance += change;
        same(id, "balance", Some(money.balance), told.0)?;
        if let Some(available) = told.1 {
            same(id, "available", Some(money.available()), available)?;
        }
        self.accounts.insert(id.clone(), money);
        Ok(())
    }

    fn hold(&mut self, id: &Id, change: i64, told: (u64, i64)) -> Result<(), Contradiction> {
        let mut money = self.account(id)?;
        money.held += change;
        same(id, "held", Some(money.held), signed(told.0))?;
        same(id, "available", Some(money.available()), told.1)?;
        self.accounts.insert(id.clone(), money);
        Ok(())
    }

    /// With the last payment what is left of the hold is freed too, so that not all of `held` was paid.
    fn capture(&mut self, its: &HoldCaptured) -> Result<(), Contradiction> {
        let mut money = self.account(&its.account)?;
        let amount = signed(its.amount);
        let is_paid_to_itself = its.to.as_ref() == Some(&its.account);
        if !is_paid_to_itself {
            money.balance -= amount;
        }
        same(&its.account, "balance", Some(money.balance), its.balance)?;
        let freed = money.held - signed(its.held);
        if freed < amount || (its.open && freed != amount) {
            return same(&its.account, "held", Some(money.held - amount), signed(its.held));
        }
        money.held = signed(its.held);
        same(&its.account, "available", Some(money.available()), its.available)?;
        self.accounts.insert(its.account.clone(), money);
        match (&its.to, its.to_balance) {
            (Some(to), Some(balance)) if !is_paid_to_itself => self.pay(to, amount, (balance, None)),
            _ => Ok(()),
        }
    }
}
