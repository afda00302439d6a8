//! Zero sum per asset; held is what holds hold; nothing below the overdraft.

use std::collections::BTreeMap;

use scarce_core::accounts::HoldStatus;
use scarce_core::state::State;
use scarce_core::types::{Id, signed};

use super::{Breach, Report, holds, same};

pub(super) fn check(state: &State, report: Report<'_>) -> u64 {
    let mut sums: BTreeMap<&Id, i128> = BTreeMap::new();
    let mut held: BTreeMap<&Id, u64> = BTreeMap::new();
    for (account, _, hold) in state.accounts.holds().filter(|(.., hold)| hold.status == HoldStatus::Open) {
        *held.entry(account).or_default() += hold.amount;
    }
    let mut count = 0;
    for (id, account) in state.accounts.iter() {
        count += 1;
        *sums.entry(&account.asset).or_default() += i128::from(account.balance);
        if id.as_str().starts_with(Id::WORLD_PREFIX) {
            continue;
        }
        same(report, id, "held, the sum of its open holds", held.remove(id).unwrap_or(0), account.held);
        let floor = -signed(account.overdraft);
        holds(report, account.available() >= floor, || Breach {
            resource: id.clone(),
            field: "available, by its overdraft",
            expected: format!("{floor} or more"),
            found: account.available().to_string(),
        });
    }
    for (asset, sum) in sums {
        same(report, asset, "sum of all balances of the asset", 0, sum);
    }
    count
}
