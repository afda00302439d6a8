//! What events change in accounts.

use super::{Account, Accounts, Hold, HoldStatus, Status};
use crate::deadlines::{NamedKind, RecordKind};
use crate::event::{AccountEvent, AccountOpened, AccountTransferred, HoldCaptured, HoldExtended, HoldPlaced};
use crate::state::State;
use crate::store::Slot;
use crate::types::{Id, TimeMs, signed};

/// Applies an event of an account or a hold.
pub fn evolve(state: &mut State, event: &AccountEvent, at: TimeMs) {
    use AccountEvent as E;
    let accounts = &mut state.accounts;
    match event {
        E::AccountOpened(opened) => accounts.add(opened),
        E::AccountCredited(credited) => accounts.move_money(&credited.account, signed(credited.amount)),
        E::AccountDebited(debited) => accounts.move_money(&debited.account, -signed(debited.amount)),
        E::AccountTransferred(transferred) => accounts.transfer(transferred),
        E::AccountFrozen(frozen) => accounts.set_status(&frozen.account, Status::Frozen),
        E::AccountUnfrozen(unfrozen) => accounts.set_status(&unfrozen.account, Status::Open),
        E::AccountClosed(closed) => accounts.set_status(&closed.account, Status::Closed),
        E::AccountOverdraftSet(set) => {
            accounts.accounts.update_key(&set.account, |account| account.overdraft = set.overdraft);
        }
        E::HoldPlaced(placed) => place(state, placed),
        E::HoldCaptured(captured) => capture(state, captured, at),
        E::HoldVoided(voided) => free(state, &voided.account, &voided.hold, HoldStatus::Voided, at),
        E::HoldExpired(expired) => free(state, &expired.account, &expired.hold, HoldStatus::Expired, at),
        E::HoldExtended(extended) => extend(state, extended),
    }
}

impl Accounts {
    fn add(&mut self, opened: &AccountOpened) {
        let AccountOpened { account, asset, overdraft } = opened;
        let new = |world, overdraft| Account {
            asset: asset.clone(),
            balance: 0,
            held: 0,
            overdraft,
            status: Status::Open,
            world,
        };
        let world_id = Id::world(asset);
        let world =
            self.accounts.find(&world_id).unwrap_or_else(|| self.accounts.insert(world_id, new(Slot(0), 0)));
        self.accounts.insert(account.clone(), new(world, *overdraft));
    }

    /// Moves money between an account and the world.
    fn move_money(&mut self, account: &Id, change: i64) {
        let Some(slot) = self.accounts.find(account) else { return };
        let mut world = None;
        self.accounts.update(slot, |account| {
            account.balance += change;
            world = Some(account.world);
        });
        if let Some(world) = world {
            self.accounts.update(world, |world| world.balance -= change);
        }
    }

    fn transfer(&mut self, transferred: &AccountTransferred) {
        let amount = signed(transferred.amount);
        self.accounts.update_key(&transferred.from, |account| account.balance -= amount);
        self.accounts.update_key(&transferred.to, |account| account.balance += amount);
    }

    fn set_status(&mut self, account: &Id, status: Status) {
        self.accounts.update_key(account, |account| account.status = status);
    }
}

fn place(state: &mut State, placed: &HoldPlaced) {
    let HoldPlaced { account, hold, amount, deadline, .. } = placed;
    let Some(slot) = state.accounts.accounts.find(account) else { return };
    let record = Hold { amount: *amount, status: HoldStatus::Open, deadline: *deadline, ended_at: 0 };
    if let Some(before) = state.accounts.holds.insert((slot, hold.clone()), record) {
        state.ended.remove(before.ended_at, NamedKind::Hold, slot, hold);
    }
    state.accounts.accounts.update(slot, |account| account.held += amount);
    if let Some(deadline) = deadline {
        state.deadlines.add(*deadline, RecordKind::Hold, slot, account, hold);
    }
}

fn capture(state: &mut State, captured: &HoldCaptured, at: TimeMs) {
    let HoldCaptured { account, hold, amount, to, open, .. } = captured;
    match to {
        None => state.accounts.move_money(account, -signed(*amount)),
        Some(to) => {
            state.accounts.accounts.update_key(account, |account| account.balance -= signed(*amount));
            state.accounts.accounts.update_key(to, |account| account.balance += signed(*amount));
        }
    }
    if !*open {
        free(state, account, hold, HoldStatus::Captured, at);
        return;
    }
    if let Some(slot) = state.accounts.accounts.find(account) {
        state.accounts.accounts.update(slot, |account| account.held -= amount);
        state.accounts.holds.update(&(slot, hold.clone()), |hold| hold.amount -= amount);
    }
}

/// Ends a hold; the amount it held is no longer set aside. An expired hold ended at its deadline, so it
/// is forgotten at the same time no matter who noticed the expiry.
fn free(state: &mut State, account: &Id, hold: &Id, status: HoldStatus, at: TimeMs) {
    let Some(slot) = state.accounts.accounts.find(account) else { return };
    let mut found = None;
    state.accounts.holds.update(&(slot, hold.clone()), |hold| {
        let ended_at = if status == HoldStatus::Expired { hold.deadline.unwrap_or(at) } else { at };
        found = Some((hold.amount, hold.deadline, ended_at));
        *hold = Hold { amount: 0, status, ended_at, deadline: hold.deadline };
    });
    let Some((amount, deadline, ended_at)) = found else { return };
    if let Some(deadline) = deadline {
        state.deadlines.remove(deadline, RecordKind::Hold, slot, account, hold);
    }
    state.accounts.accounts.update(slot, |account| account.held -= amount);
    state.ended.add(ended_at, NamedKind::Hold, slot, hold);
}

fn extend(state: &mut State, extended: &HoldExtended) {
    let HoldExtended { account, hold, deadline } = extended;
    let Some(slot) = state.accounts.accounts.find(account) else { return };
    let key = (slot, hold.clone());
    if let Some(before) = state.accounts.holds.get(&key).and_then(|hold| hold.deadline) {
        state.deadlines.remove(before, RecordKind::Hold, slot, account, hold);
    }
    state.accounts.holds.update(&key, |hold| hold.deadline = Some(*deadline));
    state.deadlines.add(*deadline, RecordKind::Hold, slot, account, hold);
}
