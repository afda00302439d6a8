//! Movements of money and units of stock, read from the log: what outside books are compared with where there are no tables.

use std::collections::BTreeMap;

use scarce_core::accounts::Accounts;
use scarce_core::event::{AccountEvent as E, Entry, Event};
use scarce_core::types::{Id, signed};

use crate::ReconcileError;
use crate::source::LogSource;

/// Whose movements are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Those of an account.
    Account(Id),
    /// All by which money of an asset came in from outside or went out.
    Asset(Id),
}

/// One side of a movement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogMovement<'e> {
    /// The partition.
    pub partition: u32,
    /// The event.
    pub sequence: u64,
    /// When.
    pub at_ms: i64,
    /// The account.
    pub account: &'e Id,
    /// How much came in; below zero if it went out.
    pub amount: i64,
    /// The operation.
    pub operation: Option<&'e str>,
    /// The hold that was captured.
    pub hold: Option<&'e Id>,
    /// The other account; none if it was the outside world.
    pub other: Option<&'e Id>,
}

/// Gets movements in the order of each partition, and says what is wrong with them.
type Take<'t> = &'t mut dyn FnMut(&LogMovement<'_>) -> Result<(), ReconcileError>;

/// Reads movements within a span of time: from, and before. The log must reach back to a third time.
///
/// # Errors
/// When the log cannot be read or does not reach back.
pub fn movements(
    log: &mut dyn LogSource,
    wanted: &Wanted,
    (from_ms, to_ms, needed_ms): (i64, i64, i64),
    take: Take<'_>,
) -> Result<(), ReconcileError> {
    for partition in 0..log.partitions() {
        let base = log.base(partition)?;
        check_reach(partition, base.sequence(), signed(base.now()), needed_ms)?;
        let mut assets = Assets { base: &base.state().accounts, opened: BTreeMap::new() };
        log.read(partition, base.sequence() + 1, &mut |entries| {
            for entry in &entries {
                let at_ms = signed(entry.head.at);
                assets.learn(wanted, entry);
                // An operator may have put the clock back: later entries may be of the span again.
                if (from_ms..to_ms).contains(&at_ms) {
                    sides(partition, entry, &mut |side| {
                        if is_wanted(wanted, side, &assets) { take(side) } else { Ok(()) }
                    })?;
                }
            }
            Ok(true)
        })?;
    }
    Ok(())
}

fn check_reach(partition: u32, sequence: u64, begins_ms: i64, needed_ms: i64) -> Result<(), ReconcileError> {
    if sequence == 0 || begins_ms < needed_ms {
        return Ok(());
    }
    let begins = jiff::Timestamp::from_millisecond(begins_ms).map(|its| its.to_string()).unwrap_or_default();
    Err(ReconcileError::Broken {
        what: format!(
            "the log of partition {partition} begins at {begins}, and what is compared is older; take the tables that it is \
             projected into, with --sql"
        ),
    })
}

/// Which asset each account keeps.
struct Assets<'b> {
    base: &'b Accounts,
    opened: BTreeMap<Id, Id>,
}

impl Assets<'_> {
    fn learn(&mut self, wanted: &Wanted, entry: &Entry) {
        for event in &entry.events {
            if let (Wanted::Asset(_), Event::Account(E::AccountOpened(its))) = (wanted, event) {
                self.opened.insert(its.account.clone(), its.asset.clone());
            }
        }
    }

    fn of(&self, account: &Id) -> Option<&Id> {
        self.opened.get(account).or_else(|| self.base.get(account).map(|its| &its.asset))
    }
}

fn is_wanted(wanted: &Wanted, its: &LogMovement<'_>, assets: &Assets<'_>) -> bool {
    match wanted {
        Wanted::Account(account) => its.account == account,
        Wanted::Asset(asset) => its.other.is_none() && assets.of(its.account) == Some(asset),
    }
}

/// The sides of the movements in an entry.
fn sides(partition: u32, entry: &Entry, take: Take<'_>) -> Result<(), ReconcileError> {
    let (at_ms, operation) =
        (signed(entry.head.at), entry.head.operation.as_ref().map(|mark| mark.id.as_str()));
    for (sequence, event) in (entry.head.sequence_first..).zip(&entry.events) {
        let Event::Account(event) = event else { continue };
        let mut side = |account, amount, other, hold| {
            take(&LogMovement { partition, sequence, at_ms, account, amount, operation, hold, other })
        };
        match event {
            E::AccountCredited(its) => side(&its.account, signed(its.amount), None, None)?,
            E::AccountDebited(its) => side(&its.account, -signed(its.amount), None, None)?,
            E::AccountTransferred(its) => {
                side(&its.from, -signed(its.amount), Some(&its.to), None)?;
                side(&its.to, signed(its.amount), Some(&its.from), None)?;
            }
            E::HoldCaptured(its) => {
                side(&its.account, -signed(its.amount), its.to.as_ref(), Some(&its.hold))?;
                if let Some(to) = &its.to {
                    side(to, signed(its.amount), Some(&its.account), None)?;
                }
            }
            E::AccountOpened(_)
            | E::AccountFrozen(_)
            | E::AccountUnfrozen(_)
            | E::AccountClosed(_)
            | E::AccountOverdraftSet(_)
            | E::HoldPlaced(_)
            | E::HoldVoided(_)
            | E::HoldExpired(_)
            | E::HoldExtended(_) => {}
        }
    }
    Ok(())
}

/// The units of each item after everything up to a moment: unsold, and how many of these were reserved.
///
/// # Errors
/// When the log cannot be read or does not reach back.
pub fn units_then(
    log: &mut dyn LogSource,
    at_ms: i64,
    take: &mut dyn FnMut(&Id, u64, u64) -> Result<(), ReconcileError>,
) -> Result<(), ReconcileError> {
    for partition in 0..log.partitions() {
        let mut machine = log.base(partition)?;
        check_reach(partition, machine.sequence(), signed(machine.now()), at_ms.saturating_add(1))?;
        let from = machine.sequence() + 1;
        log.read(partition, from, &mut |entries| {
            for entry in &entries {
                if entry.sequence_last() <= machine.sequence() {
                    continue;
                }
                if signed(entry.head.at) > at_ms {
                    return Ok(false);
                }
                machine.apply(entry);
            }
            Ok(true)
        })?;
        for (sku, item) in machine.state().stock.iter() {
            take(sku, item.available + item.reserved, item.reserved)?;
        }
    }
    Ok(())
}
