//! What must hold in any state, whatever led there.

mod money;
mod shares;
mod tallies;
mod units;

use scarce_core::state::State;
use scarce_core::types::Id;

pub(crate) use tallies::Tallies;

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Breach {
    /// Of which resource; of which asset.
    pub(crate) resource: Id,
    /// What is compared.
    pub(crate) field: &'static str,
    /// What must be.
    pub(crate) expected: String,
    /// What is.
    pub(crate) found: String,
}

/// Takes breaches.
type Report<'r> = &'r mut dyn FnMut(Breach);

/// Checks every invariant of a state; returns how many resources were looked at.
pub(crate) fn check(state: &State, tallies: &Tallies, report: Report<'_>) -> u64 {
    let accounts = money::check(state, report);
    let items = units::check(state, report);
    let campaigns = shares::check(state, report);
    accounts + items + campaigns + tallies.check(state, report)
}

/// Notes two figures that must be the same.
fn same<T: PartialEq + ToString + Copy>(
    report: Report<'_>,
    resource: &Id,
    field: &'static str,
    expected: T,
    found: T,
) {
    if expected != found {
        let (expected, found) = (expected.to_string(), found.to_string());
        report(Breach { resource: resource.clone(), field, expected, found });
    }
}

/// Notes what must be so.
fn holds(report: Report<'_>, is_so: bool, breach: impl FnOnce() -> Breach) {
    if !is_so {
        report(breach());
    }
}
