//! Decisions on holds: money set aside until it is captured, voided or expires.

use super::movements::{check_asset, check_covers, check_receives, check_world, overflow};
use super::{Account, Hold, HoldStatus};
use crate::command::table::{AccountCapture, AccountExtend, AccountHold, AccountVoid};
use crate::event::{Event, HoldCaptured, HoldExpired, HoldExtended, HoldPlaced, HoldVoided};
use crate::facts;
use crate::outcome::{Code, Refusal, Verdict};
use crate::state::State;
use crate::store::Slot;
use crate::types::{INTEGER_MAX, Id, TimeMs, deadline_after, signed};

/// Sets money aside.
pub fn place(state: &State, command: &AccountHold, now: TimeMs, events: &mut Vec<Event>) -> Verdict {
    let AccountHold { account, hold, amount, ttl_ms } = command;
    let (slot, found) = state.accounts.spending(account)?;
    if visible(state, slot, hold, now).is_some() {
        return Err(Refusal::new(Code::HoldExists, facts![hold]));
    }
    let amount = amount.get();
    check_covers(account, found, amount)?;
    let held =
        Some(found.held + amount).filter(|held| *held <= INTEGER_MAX).ok_or_else(|| overflow("held"))?;
    let deadline = ttl_ms.map(|ttl_ms| deadline_after(now, ttl_ms));
    let available = found.available() - signed(amount);
    events.push(
        HoldPlaced { account: account.clone(), hold: hold.clone(), amount, deadline, held, available }.into(),
    );
    Ok(facts![available, deadline])
}

/// Pays money out of a hold.
pub fn capture(state: &State, command: &AccountCapture, now: TimeMs, events: &mut Vec<Event>) -> Verdict {
    let AccountCapture { account, hold, amount, to, keep_rest } = command;
    let (slot, source) = state.accounts.existing(account)?;
    let found = open_hold(state, slot, hold, now)?;
    let amount = amount.map_or(found.amount, crate::types::Positive::get);
    if amount > found.amount {
        return Err(Refusal::new(Code::AmountExceedsHold, facts![found.amount, amount]));
    }
    let to_balance = check_destination(state, account, source, to.as_ref(), amount)?;
    let rest = found.amount - amount;
    let open = *keep_rest && rest > 0;
    let held = source.held - if open { amount } else { found.amount };
    let balance = source.balance - if to.as_ref() == Some(account) { 0 } else { signed(amount) };
    let available = balance - signed(held);
    let event = HoldCaptured {
        account: account.clone(),
        hold: hold.clone(),
        amount,
        to: to.clone(),
        hold_remaining: if open { rest } else { 0 },
        open,
        balance,
        held,
        available,
        to_balance,
    };
    events.push(event.into());
    Ok(facts![amount, if open { rest } else { 0 }, available])
}

/// The balance that the destination will have; absent for the world.
fn check_destination(
    state: &State,
    account: &Id,
    source: &Account,
    to: Option<&Id>,
    amount: u64,
) -> Result<Option<i64>, Refusal> {
    let Some(to) = to else {
        check_world(state, source, signed(amount))?;
        return Ok(None);
    };
    let (_, destination) = state.accounts.not_closed(to)?;
    check_asset(source, destination)?;
    if to == account {
        return Ok(Some(destination.balance));
    }
    check_receives(destination, amount)?;
    Ok(Some(destination.balance + signed(amount)))
}

/// Ends a hold and frees its money.
pub fn void(state: &State, command: &AccountVoid, now: TimeMs, events: &mut Vec<Event>) -> Verdict {
    let AccountVoid { account, hold } = command;
    let (slot, source) = state.accounts.existing(account)?;
    let amount = open_hold(state, slot, hold, now)?.amount;
    let available = source.available() + signed(amount);
    let held = source.held - amount;
    events.push(HoldVoided { account: account.clone(), hold: hold.clone(), amount, held, available }.into());
    Ok(facts![amount, available])
}

/// Sets a new deadline for a hold.
pub fn extend(state: &State, command: &AccountExtend, now: TimeMs, events: &mut Vec<Event>) -> Verdict {
    let AccountExtend { account, hold, ttl_ms } = command;
    let (slot, _) = state.accounts.existing(account)?;
    open_hold(state, slot, hold, now)?;
    let deadline = deadline_after(now, *ttl_ms);
    events.push(HoldExtended { account: account.clone(), hold: hold.clone(), deadline }.into());
    Ok(facts![deadline])
}

/// Ends a hold whose deadline has passed.
pub fn expire(state: &State, slot: Slot, hold: &Id, events: &mut Vec<Event>) {
    let accounts = &state.accounts;
    let found = accounts.accounts.key_at(slot).zip(accounts.accounts.at(slot));
    if let (Some((account, source)), Some(record)) = (found, accounts.holds.get(&(slot, hold.clone()))) {
        let amount = record.amount;
        let (held, available) = (source.held - amount, source.available() + signed(amount));
        events.push(
            HoldExpired { account: account.clone(), hold: hold.clone(), amount, held, available }.into(),
        );
    }
}

/// The hold, unless it ended so long ago that its name can be used again.
pub(super) fn visible<'a>(state: &'a State, slot: Slot, hold: &Id, now: TimeMs) -> Option<&'a Hold> {
    let found = state.accounts.holds.get(&(slot, hold.clone()))?;
    let seen = found.status == HoldStatus::Open || state.is_retained(found.ended_at, now);
    seen.then_some(found)
}

fn open_hold<'a>(state: &'a State, slot: Slot, hold: &Id, now: TimeMs) -> Result<&'a Hold, Refusal> {
    let found =
        visible(state, slot, hold, now).ok_or_else(|| Refusal::new(Code::HoldNotFound, facts![hold]))?;
    match status_at(found, state.settled(now)) {
        HoldStatus::Open => Ok(found),
        HoldStatus::Captured => Err(Refusal::new(Code::HoldCaptured, facts![hold])),
        HoldStatus::Voided => Err(Refusal::new(Code::HoldVoided, facts![hold])),
        HoldStatus::Expired => Err(Refusal::new(Code::HoldExpired, facts![hold, found.deadline])),
    }
}

/// The status at `now`: a hold has ended once its deadline has passed, whether or not an event has
/// recorded that.
pub(super) fn status_at(hold: &Hold, now: TimeMs) -> HoldStatus {
    let due = hold.deadline.is_some_and(|deadline| now >= deadline);
    if hold.status == HoldStatus::Open && due { HoldStatus::Expired } else { hold.status }
}
