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
    /// The account that the amount leaves, and the one that it goes to; one of them may be the world's.
    from: Slot,
    to: Slot,
    event: &'static EventSpec,
    /// Balance and available amount of the account; of a transfer, also of the other one.
    figures: [i64; 4],
    is_transfer: bool,
}

/// What a request moves, unless anything stands against it.
pub(crate) fn decide(state: &State, plain: &Plain<'_>) -> Option<Movement> {
    let amount = signed(plain.amount);
    let (slot, account) = state.accounts.accounts.find_row(&Name(plain.account))?;
    match plain.kind {
        PlainKind::Credit => {
            let may = account.status != Status::Closed && receives(account, plain.amount);
            may.then(|| across(state, (slot, account), amount))?
        }
        PlainKind::Debit => {
            let may = account.status == Status::Open && account.covers(plain.amount);
            may.then(|| across(state, (slot, account), -amount))?
        }
        PlainKind::Transfer => transfer(state, (slot, account), plain),
    }
}

/// A movement between an account and the world.
#[inline(always)]
fn across(state: &State, (slot, account): (Slot, &Account), change: i64) -> Option<Movement> {
    let (balance, available) = (account.balance + change, account.available() + change);
    let (from, to, event) = if change < 0 {
        (slot, account.world, AccountDebited::SPEC)
    } else {
        (account.world, slot, AccountCredited::SPEC)
    };
    let figures = [balance, available, 0, 0];
    world_receives(state, account, -change).then_some(Movement {
        from,
        to,
        event,
        figures,
        is_transfer: false,
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
        from: slot,
        to,
        event: AccountTransferred::SPEC,
        figures: [source.balance - amount, from_available, destination.balance + amount, to_available],
        is_transfer: true,
    })
}

impl Movement {
    /// The numbers of the answer.
    #[inline]
    pub(crate) const fn answer(&self) -> [i64; 2] {
        let [balance, available, _, to_available] = self.figures;
        if self.is_transfer { [available, to_available] } else { [available, balance] }
    }

    /// Changes the balances.
    #[inline]
    pub(crate) fn apply(&self, state: &mut State, amount: u64) {
        let (accounts, amount) = (&mut state.accounts.accounts, signed(amount));
        accounts.update(self.from, |account| account.balance -= amount);
        accounts.update(self.to, |account| account.balance += amount);
    }

    /// Appends the event, with what [`Plain::put_content`] put there of the request.
    #[inline]
    pub(crate) fn put_event(&self, names: Range<usize>, draft: &mut Draft) {
        draft.put_number(u64::from(self.event.number));
        draft.repeat(names);
        let count = if self.is_transfer { 4 } else { 2 };
        self.figures[..count].iter().for_each(|figure| draft.put_signed(*figure));
    }
}
