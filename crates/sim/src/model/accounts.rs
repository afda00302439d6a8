//! Accounts: the held amount is the sum of the open holds, the world's balance the negative of all
//! others.

use scarce_core::command::table::{
    AccountCapture, AccountCredit, AccountDebit, AccountExtend, AccountHold, AccountHolds, AccountOpen,
    AccountOverdraft, AccountTransfer, AccountVoid,
};
use scarce_core::facts;
use scarce_core::outcome::{Code, Refusal, Value, Verdict};
use scarce_core::types::{Id, TimeMs};

use super::{MAX, Model, deadline_after, figure, refuse};

#[derive(Clone, Debug)]
pub(super) struct Account {
    pub(super) asset: Id,
    pub(super) balance: i128,
    pub(super) overdraft: i128,
    pub(super) status: &'static str,
}

#[derive(Clone, Debug)]
pub(super) struct Hold {
    pub(super) account: Id,
    pub(super) name: Id,
    /// The amount it still holds; 0 once it has ended.
    pub(super) amount: i128,
    pub(super) status: &'static str,
    pub(super) deadline: Option<TimeMs>,
    pub(super) ended_at: TimeMs,
}

impl Hold {
    pub(super) fn is_due(&self, now: TimeMs) -> bool {
        self.status == "open" && self.deadline.is_some_and(|deadline| now >= deadline)
    }

    fn end(&mut self, status: &'static str, at: TimeMs) {
        (self.status, self.ended_at, self.amount) = (status, at, 0);
    }
}

impl Model {
    pub(super) fn held(&self, account: &Id) -> i128 {
        let its = self.holds.iter().filter(|hold| hold.account == *account && hold.status == "open");
        its.map(|hold| hold.amount).sum()
    }

    fn balance(&self, account: &Id) -> i128 {
        self.accounts.get(account).map_or(0, |account| account.balance)
    }

    fn available(&self, account: &Id) -> i128 {
        self.balance(account) - self.held(account)
    }

    fn account(&self, account: &Id) -> Result<&Account, Refusal> {
        self.accounts.get(account).ok_or_else(|| Refusal::new(Code::AccountNotFound, facts![account]))
    }

    fn account_not_closed(&self, account: &Id) -> Result<&Account, Refusal> {
        let found = self.account(account)?;
        if found.status == "closed" { refuse(Code::AccountClosed, facts![account]) } else { Ok(found) }
    }

    fn account_not_frozen(&self, account: &Id) -> Result<(), Refusal> {
        let frozen = self.account(account)?.status == "frozen";
        if frozen { refuse(Code::AccountFrozen, facts![account]) } else { Ok(()) }
    }

    fn check_funds(&self, account: &Id, amount: i128) -> Result<(), Refusal> {
        let available = self.available(account);
        if available + self.account(account)?.overdraft >= amount {
            return Ok(());
        }
        refuse(Code::InsufficientFunds, facts![account, figure(available), figure(amount)])
    }

    /// Moves money, and refuses if a balance would leave its range.
    fn move_money(&mut self, from: &Id, to: &Id, amount: i128) -> Result<(), Refusal> {
        for (id, change) in [(from, -amount), (to, amount)] {
            if let Some(account) = self.accounts.get_mut(id) {
                account.balance += change;
            }
        }
        for id in [to, from] {
            if self.balance(id).abs() > MAX {
                let name = if id.as_str().starts_with('$') { "world" } else { "balance" };
                return refuse(Code::Overflow, facts![name]);
            }
        }
        Ok(())
    }

    fn standing(&self, account: &Id) -> Verdict {
        Ok(facts![figure(self.available(account)), figure(self.balance(account))])
    }

    pub(super) fn open(&mut self, c: &AccountOpen) -> Verdict {
        if self.accounts.contains_key(&c.account) {
            return refuse(Code::AccountExists, facts![&c.account]);
        }
        let new = |overdraft| Account { asset: c.asset.clone(), balance: 0, overdraft, status: "open" };
        self.accounts.insert(c.account.clone(), new(i128::from(c.overdraft.get())));
        self.accounts.entry(Id::world(&c.asset)).or_insert_with(|| new(0));
        self.note("account.opened");
        Ok(facts![0_u64])
    }

    pub(super) fn credit(&mut self, c: &AccountCredit) -> Verdict {
        let world = Id::world(&self.account_not_closed(&c.account)?.asset);
        self.move_money(&world, &c.account, i128::from(c.amount.get()))?;
        self.note("account.credited");
        self.standing(&c.account)
    }

    pub(super) fn debit(&mut self, c: &AccountDebit) -> Verdict {
        let world = Id::world(&self.account_not_closed(&c.account)?.asset);
        self.account_not_frozen(&c.account)?;
        self.check_funds(&c.account, i128::from(c.amount.get()))?;
        self.move_money(&c.account, &world, i128::from(c.amount.get()))?;
        self.note("account.debited");
        self.standing(&c.account)
    }

    pub(super) fn transfer(&mut self, c: &AccountTransfer) -> Verdict {
        if c.from == c.to {
            return refuse(Code::SameAccount, facts![&c.from]);
        }
        self.account(&c.from)?;
        self.account(&c.to)?;
        let from = self.account_not_closed(&c.from)?.asset.clone();
        let to = self.account_not_closed(&c.to)?.asset.clone();
        self.account_not_frozen(&c.from)?;
        if from != to {
            return refuse(Code::AssetMismatch, facts![&from, &to]);
        }
        self.check_funds(&c.from, i128::from(c.amount.get()))?;
        self.move_money(&c.from, &c.to, i128::from(c.amount.get()))?;
        self.note("account.transferred");
        Ok(facts![figure(self.available(&c.from)), figure(self.available(&c.to))])
    }

    fn visible_hold(&self, account: &Id, name: &Id, now: TimeMs) -> Option<&Hold> {
        self.holds.iter().find(|hold| {
            let kept = hold.status == "open" || self.is_retained(hold.ended_at, now);
            hold.account == *account && hold.name == *name && kept
        })
    }

    pub(super) fn hold(&mut self, c: &AccountHold, now: TimeMs) -> Verdict {
        self.account_not_closed(&c.account)?;
        self.account_not_frozen(&c.account)?;
        if self.visible_hold(&c.account, &c.hold, now).is_some() {
            return refuse(Code::HoldExists, facts![&c.hold]);
        }
        let amount = i128::from(c.amount.get());
        self.check_funds(&c.account, amount)?;
        if self.held(&c.account) + amount > MAX {
            return refuse(Code::Overflow, facts!["held"]);
        }
        let deadline = c.ttl_ms.map(|ttl| deadline_after(now, ttl.get()));
        let (account, name) = (c.account.clone(), c.hold.clone());
        self.holds.retain(|hold| hold.account != account || hold.name != name);
        self.holds.push(Hold { account, name, amount, status: "open", deadline, ended_at: 0 });
        self.note("hold.placed");
        Ok(facts![figure(self.available(&c.account)), deadline])
    }

    /// The index of the open hold, or the refusal.
    fn open_hold(&self, account: &Id, name: &Id, now: TimeMs) -> Result<usize, Refusal> {
        self.account(account)?;
        let Some(hold) = self.visible_hold(account, name, now) else {
            return refuse(Code::HoldNotFound, facts![name]);
        };
        match hold.status {
            "captured" => refuse(Code::HoldCaptured, facts![name]),
            "voided" => refuse(Code::HoldVoided, facts![name]),
            "expired" => refuse(Code::HoldExpired, facts![name, hold.deadline]),
            _ if hold.is_due(now) => refuse(Code::HoldExpired, facts![name, hold.deadline]),
            _ => Ok(self
                .holds
                .iter()
                .position(|its| its.account == *account && its.name == *name)
                .unwrap_or(0)),
        }
    }

    pub(super) fn capture(&mut self, c: &AccountCapture, now: TimeMs) -> Verdict {
        let at = self.open_hold(&c.account, &c.hold, now)?;
        let held = self.holds[at].amount;
        let amount = c.amount.map_or(held, |amount| i128::from(amount.get()));
        if amount > held {
            return refuse(Code::AmountExceedsHold, facts![figure(held), figure(amount)]);
        }
        let from = self.account(&c.account)?.asset.clone();
        let receiver = c.to.clone().unwrap_or_else(|| Id::world(&from));
        let to = self.account_not_closed(&receiver)?.asset.clone();
        if from != to {
            return refuse(Code::AssetMismatch, facts![&from, &to]);
        }
        self.move_money(&c.account, &receiver, amount)?;
        let rest = if c.keep_rest { held - amount } else { 0 };
        if rest > 0 {
            self.holds[at].amount = rest;
        } else {
            self.holds[at].end("captured", now);
        }
        self.note("hold.captured");
        Ok(facts![figure(amount), figure(rest), figure(self.available(&c.account))])
    }

    pub(super) fn void(&mut self, c: &AccountVoid, now: TimeMs) -> Verdict {
        let at = self.open_hold(&c.account, &c.hold, now)?;
        let released = self.holds[at].amount;
        self.holds[at].end("voided", now);
        self.note("hold.voided");
        Ok(facts![figure(released), figure(self.available(&c.account))])
    }

    pub(super) fn extend_hold(&mut self, c: &AccountExtend, now: TimeMs) -> Verdict {
        let at = self.open_hold(&c.account, &c.hold, now)?;
        let deadline = deadline_after(now, c.ttl_ms.get());
        self.holds[at].deadline = Some(deadline);
        self.note("hold.extended");
        Ok(facts![deadline])
    }

    pub(super) fn end_hold(&mut self, account: &Id, name: &Id) {
        if let Some(hold) = self.holds.iter_mut().find(|hold| hold.account == *account && hold.name == *name)
        {
            hold.end("expired", hold.deadline.unwrap_or(0));
        }
        self.note("hold.expired");
    }

    /// Freezes or unfreezes.
    pub(super) fn set_status(&mut self, account: &Id, status: &'static str) -> Verdict {
        if self.account_not_closed(account)?.status != status {
            self.change(account, |account| account.status = status);
            self.note(if status == "frozen" { "account.frozen" } else { "account.unfrozen" });
        }
        Ok(facts![status])
    }

    pub(super) fn close_account(&mut self, account: &Id) -> Verdict {
        let (balance, held) = (self.account(account)?.balance, self.held(account));
        if balance != 0 || held != 0 {
            return refuse(Code::BalanceNotZero, facts![figure(balance), figure(held)]);
        }
        if self.account(account)?.status != "closed" {
            self.change(account, |account| account.status = "closed");
            self.note("account.closed");
        }
        Ok(facts!["closed"])
    }

    pub(super) fn set_overdraft(&mut self, c: &AccountOverdraft) -> Verdict {
        let overdraft = i128::from(c.overdraft.get());
        let before = self.account_not_closed(&c.account)?.overdraft;
        let available = self.available(&c.account);
        if available < -overdraft {
            return refuse(Code::OverdraftInUse, facts![figure(available), figure(overdraft)]);
        }
        if overdraft != before {
            self.change(&c.account, |account| account.overdraft = overdraft);
            self.note("account.overdraft_set");
        }
        Ok(facts![figure(overdraft), figure(available)])
    }

    fn change(&mut self, account: &Id, change: impl FnOnce(&mut Account)) {
        if let Some(account) = self.accounts.get_mut(account) {
            change(account);
        }
    }

    pub(super) fn show_account(&self, id: &Id) -> Verdict {
        let account = self.account(id)?;
        let (held, available) = (self.held(id), self.available(id));
        let figures = [account.balance, held, available, account.overdraft].map(figure);
        let [balance, held, available, overdraft] = figures;
        Ok(facts![id, &account.asset, balance, held, available, overdraft, account.status])
    }

    pub(super) fn show_world(&self, asset: &Id) -> Verdict {
        let world = Id::world(asset);
        let account = self.account(&world)?;
        Ok(facts![&world, &account.asset, figure(account.balance)])
    }

    /// Name, amount left, status and deadline of each hold that can be seen, by name.
    pub(super) fn show_holds(&self, c: &AccountHolds, now: TimeMs) -> Verdict {
        let account = &c.account;
        self.account(account)?;
        let mut shown: Vec<&Hold> = self.holds.iter().filter(|hold| hold.account == *account).collect();
        shown.retain(|hold| self.visible_hold(account, &hold.name, now).is_some());
        shown.sort_by_key(|hold| &hold.name);
        shown.retain(|hold| c.after.as_ref().is_none_or(|after| hold.name > *after));
        shown.truncate(usize::try_from(c.count.get()).unwrap_or(usize::MAX));
        let line = |hold: &&Hold| {
            let status = if hold.is_due(now) { "expired" } else { hold.status };
            Value::List(facts![&hold.name, figure(hold.amount), status, hold.deadline].into_vec())
        };
        Ok(facts![Value::List(shown.iter().map(line).collect())])
    }
}
