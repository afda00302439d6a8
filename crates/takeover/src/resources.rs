//! What the rows of a snapshot come together to: one value for each account, item, campaign and coupon.

use std::collections::BTreeMap;

use crate::error::Problem;
use crate::rules::OwnLimit;

/// All that is to be made.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Resources {
    pub(crate) accounts: BTreeMap<String, Account>,
    pub(crate) items: BTreeMap<String, Item>,
    pub(crate) campaigns: BTreeMap<String, Campaign>,
    pub(crate) coupons: BTreeMap<String, Coupon>,
    /// What cannot be made, and why. Nothing is made while there is any.
    pub problems: Vec<Problem>,
}

/// Where something stands: the line of the map, and the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) key: String,
}

impl Place {
    pub(crate) fn problem(&self, reason: impl Into<String>) -> Problem {
        Problem { line: self.line, key: crate::error::shown(&self.key), reason: reason.into() }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) place: Place,
    pub(crate) asset: String,
    pub(crate) balance: i64,
    pub(crate) overdraft: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) place: Place,
    pub(crate) left: u64,
    pub(crate) per_owner_max: Option<u64>,
    pub(crate) taken: Vec<(String, u64)>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Campaign {
    pub(crate) place: Place,
    pub(crate) asset: String,
    /// The amounts that are left, the next one first.
    pub(crate) left: Vec<u64>,
    pub(crate) taken: Vec<(String, u64)>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Coupon {
    pub(crate) place: Place,
    pub(crate) max: u64,
    pub(crate) limit: Option<OwnLimit>,
    pub(crate) taken: Vec<(String, u64)>,
}

/// What has been taken in all.
pub(crate) fn sum(taken: &[(String, u64)]) -> u64 {
    taken.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))
}
