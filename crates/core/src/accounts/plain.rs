//! Movements of money that nothing stands against, decided on the names and numbers of the request. They are those of
//! [`movements`](super::movements), which decides when there is anything to refuse.

use std::ops::Range;

use super::movements::{receives, world_receives};
use super::{Account, Status};
use crate::command::plain::{Plain, PlainKind};
use crate::draft::Draft;
use crate::event::{AccountCredited, AccountDebited, AccountTransferred, EventSpec};
use crate::state::State;
use crate::store::Slot;
use crate::types::{Name, signed};

/// A movement that may be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Movement {
    /// By how much the balances of two accounts change.
    changes: [(Slot, i64); 2],
    event: &'static EventSpec,
    /// Balance and available amount of the account; of a transfer, also of the other one.
    figures: [i64; 4],
    figures_count: usize,
    /// The numbers of the answer.
    pub(crate) answer: [i64; 2],
}

/// What a request moves, unless anything stands against it.
pub(crate) fn decide(state: &State, plain: &Plain<'_>) -> Option<Movement> {
    let amount = signed(plain.amount);
    let (slot, account) = state.accounts.accounts.find_row(&Name(plain.account))?;
    match plain.kind {
        PlainKind::Credit => {
            let may = account.status != Status::Closed && receives(account, plain.amount);
            may.then(|| across(state, (slot, account), amount, AccountCredited::SPEC))?
        }
        PlainKind::Debit => {
            let may = account.status == Status::Open && account.covers(plain.amount);
            may.then(|| across(state, (slot, account), -amount, AccountDebited::SPEC))?
        }
        PlainKind::Transfer => transfer(state, (slot, account), plain),
    }
}

/// A movement between an account and the world.
fn across(
    state: &State,
    (slot, account): (Slot, &Account),
    change: i64,
    event: &'static EventSpec,
) -> Option<Movement> {
    let (balance, available) = (account.balance + change, account.available() + change);
    world_receives(state, account, -change).then_some(Movement {
        changes: [(slot, change), (account.world, -change)],
        event,
        figures: [balance, available, 0, 0],
        figures_count: 2,
        answer: [available, balance],
    })
}

fn transfer(state: &State, (slot, source): (Slot, &Account), plain: &Plain<'_>) -> Option<Movement> {
    let (to, destination) = state.accounts.accounts.find_row(&Name(plain.to))?;
    let may = slot != to
        && source.status == Status::Open
        && destination.status != Status::Closed
        && source.asset == destination.asset
        && source.covers(plain.amount)
        && receives(destination, plain.amount);
    let amount = signed(plain.amount);
    let (from_available, to_available) = (source.available() - amount, destination.available() + amount);
    may.then_some(Movement {
        changes: [(slot, -amount), (to, amount)],
        event: AccountTransferred::SPEC,
        figures: [source.balance - amount, from_available, destination.balance + amount, to_available],
        figures_count: 4,
        answer: [from_available, to_available],
    })
}

impl Movement {
    /// Changes the balances.
    pub(crate) fn apply(&self, state: &mut State) {
        for (slot, change) in self.changes {
            state.accounts.accounts.update(slot, |account| account.balance += change);
        }
    }

    /// Appends the event, with what [`Plain::put_names`] put there of the request.
    pub(crate) fn put_event(&self, names: Range<usize>, draft: &mut Draft) {
        draft.put_number(u64::from(self.event.number));
        draft.repeat(names);
        self.figures[..self.figures_count].iter().for_each(|figure| draft.put_signed(*figure));
    }
}
