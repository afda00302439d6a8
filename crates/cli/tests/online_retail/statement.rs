//! The day in the database, as an accountant would query it: revenue by customer and units by item, in plain
//! SQL.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::database::Database;
use crate::importing::import;
use crate::reckoning::{Day, reckon};
use crate::support::Server;
use crate::{TAG, account, operations, sku};

/// The payments of each customer. Deposits before the shop opened, and refunds, are credits.
const REVENUE: &str = "SELECT account_id, SUM(-amount) FROM entries WHERE kind = 'debit' GROUP BY account_id";

/// The refunds: every credit except the deposits of the morning.
const REFUNDS: &str = "SELECT 'all', COALESCE(SUM(amount), 0) FROM entries WHERE kind = 'credit' AND operation_id NOT LIKE '%:%'";

/// How many units each item sold, minus returns.
const UNITS: &str = "SELECT sku, SUM(quantity - returned) FROM receipts GROUP BY sku";

/// Runs a day with its log projected into a database, and compares the database.
pub fn check(csv: &str, database: &Database, options: &[&str]) -> String {
    let day = reckon(csv);
    let folder = tempfile::tempdir().unwrap();
    let file = operations(csv, folder.path());
    let sql = ["--sql", database.url()];
    let serving = Server::start(&folder.path().join("data"), &[options, &sql].concat());
    let output = import(&serving.address, &file, &["--refusals-ok"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let imported = Instant::now();
    serving.wait_until_drained();
    let lag_ms = imported.elapsed().as_millis();
    compare(&day, database);
    format!("the same, {lag_ms} ms after the last command")
}

fn compare(day: &Day, database: &Database) {
    let named = |figures: &BTreeMap<String, i64>| -> BTreeMap<String, i64> {
        figures.iter().map(|(customer, paid)| (account(TAG, customer), *paid)).collect()
    };
    assert_eq!(database.figures(REVENUE), named(&day.paid), "revenue by customer");
    assert_eq!(
        database.figures("SELECT 'all', SUM(-amount) FROM entries WHERE kind = 'debit'")["all"],
        day.revenue
    );
    assert_eq!(database.figures(REFUNDS)["all"], day.refunds);
    let sold: BTreeMap<String, i64> =
        day.items.iter().map(|(code, item)| (sku(TAG, code), item.sold)).collect();
    let mut found = database.figures(UNITS);
    for name in sold.keys() {
        found.entry(name.clone()).or_default();
    }
    assert_eq!(found, sold, "units by item");
    assert_eq!(database.figures("SELECT account_id, balance FROM accounts"), named(&day.balances));
}
