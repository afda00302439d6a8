//! The accounts in the log, folded here with simple sums.

use std::collections::{BTreeMap, BTreeSet};

use super::super::log::{Effects, Event, Log};
use crate::failure::DemoError;

/// An account.
#[derive(Clone, Debug, Default)]
pub(super) struct Account {
    pub(super) asset: String,
    pub(super) balance: i64,
    pub(super) overdraft: i64,
    /// The amount of each hold.
    pub(super) holds: BTreeMap<String, i64>,
    /// The number of events that moved its money.
    pub(super) movements: u64,
}

impl Account {
    pub(super) fn held(&self) -> i64 {
        self.holds.values().sum()
    }

    fn available(&self) -> i64 {
        self.balance - self.held()
    }
}

/// How holds were created and ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Holds {
    pub(super) placed: u64,
    pub(super) captured: u64,
    pub(super) voided: u64,
    pub(super) expired: u64,
}

/// The folded log.
#[derive(Default)]
pub(super) struct Ledger {
    pub(super) accounts: BTreeMap<String, Account>,
    /// Money from outside minus money to the outside, by asset.
    pub(super) brought_in: BTreeMap<String, i64>,
    pub(super) holds: Holds,
    pub(super) effects: Effects,
    /// Accounts that ever exceeded their overdraft.
    pub(super) overdrawn: BTreeSet<String>,
    /// Events whose numbers differ from these sums.
    pub(super) deviations: u64,
}

impl Ledger {
    /// Folds the log.
    ///
    /// # Errors
    /// When an event lacks a field.
    pub(super) fn of(log: &Log) -> Result<Self, DemoError> {
        log.fold(Self::default(), Self::fold)
    }

    fn fold(&mut self, event: &Event) -> Option<()> {
        let amount = event.signed("amount").unwrap_or(0);
        let account = event.text("account");
        match event.name.as_str() {
            "account.opened" => {
                let opened = self.account(&account);
                opened.asset = event.text("asset");
                opened.overdraft = event.signed("overdraft")?;
                return Some(());
            }
            "account.credited" => self.bring_in(&account, amount),
            "account.debited" => self.bring_in(&account, -amount),
            "account.transferred" => {
                self.transfer(event, amount);
                return Some(());
            }
            "hold.placed" => {
                self.holds.placed += 1;
                self.account(&account).holds.insert(event.text("hold"), amount);
            }
            "hold.captured" => self.capture(event, &account, amount)?,
            "hold.voided" => {
                self.holds.voided += 1;
                self.account(&account).holds.remove(&event.text("hold"));
            }
            "hold.expired" => {
                self.holds.expired += 1;
                self.account(&account).holds.remove(&event.text("hold"));
            }
            _ => return Some(()),
        }
        self.check(event, &account, ["balance", "held", "available"]);
        self.note(event);
        Some(())
    }

    fn account(&mut self, name: &str) -> &mut Account {
        self.accounts.entry(name.to_owned()).or_default()
    }

    fn add(&mut self, name: &str, amount: i64) {
        let account = self.account(name);
        account.balance += amount;
        account.movements += 1;
    }

    fn bring_in(&mut self, name: &str, amount: i64) {
        self.add(name, amount);
        let asset = self.account(name).asset.clone();
        *self.brought_in.entry(asset).or_default() += amount;
    }

    fn transfer(&mut self, event: &Event, amount: i64) {
        let (from, to) = (event.text("from"), event.text("to"));
        self.add(&from, -amount);
        self.add(&to, amount);
        self.check(event, &from, ["from_balance", "", "from_available"]);
        self.check(event, &to, ["to_balance", "", "to_available"]);
        self.note(event);
    }

    fn capture(&mut self, event: &Event, account: &str, amount: i64) -> Option<()> {
        let (hold, is_open) = (event.text("hold"), event.number("open")? == 1);
        let holds = &mut self.account(account).holds;
        if is_open {
            *holds.entry(hold).or_default() -= amount;
        } else {
            holds.remove(&hold);
            self.holds.captured += 1;
        }
        self.add(account, -amount);
        let to = event.text("to");
        self.add(&to, amount);
        self.check(event, &to, ["to_balance", "", ""]);
        Some(())
    }

    /// Compares the event's numbers for an account with these sums; the names are those of balance, held and
    /// available.
    fn check(&mut self, event: &Event, name: &str, told: [&str; 3]) {
        let account = self.account(name);
        let own = [account.balance, account.held(), account.available()];
        let is_overdrawn = own[2] + account.overdraft < 0;
        let deviates =
            told.iter().zip(own).any(|(name, own)| event.signed(name).is_some_and(|told| told != own));
        self.deviations += u64::from(deviates);
        if is_overdrawn {
            self.overdrawn.insert(name.to_owned());
        }
    }

    /// Records the numbers that the caller is told.
    fn note(&mut self, event: &Event) {
        let told: &[&str] = match event.name.as_str() {
            "account.credited" | "account.debited" => &["available", "balance"],
            "account.transferred" => &["from_available", "to_available"],
            "hold.placed" => &["available", "deadline"],
            "hold.captured" => &["amount", "hold_remaining", "available"],
            "hold.voided" => &["amount", "available"],
            // An expiry is logged by whichever command came next, and is not an effect of that command.
            _ => return,
        };
        self.effects.note(event, told);
    }

    /// The number of open holds.
    pub(super) fn open_holds(&self) -> u64 {
        self.accounts.values().map(|account| account.holds.len() as u64).sum()
    }
}
