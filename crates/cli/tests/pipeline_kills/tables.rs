//! The expected content of the database at the end.

use std::collections::BTreeMap;

use redis::Value;
use scarce_client::{Client, integer};

use crate::database::Database;
use crate::load::{ACCOUNTS, Acknowledged};

/// Compares the tables with the engine, and with what callers were told.
pub fn compare(database: &Database, client: &mut Client, acknowledged: &Acknowledged) {
    let balances = database.figures("SELECT account_id, balance FROM accounts");
    let summed = database.figures("SELECT account_id, SUM(amount) FROM entries GROUP BY account_id");
    assert_eq!(balances.len() as u64, ACCOUNTS);
    assert_eq!(balances, summed, "each balance is the sum of its entries");
    let sold = database.figures("SELECT sku, SUM(quantity) FROM receipts GROUP BY sku");
    for number in 0..ACCOUNTS {
        let account = format!("account-{number}");
        let of_engine = figure(client, &["ACCOUNT.GET", &account], "balance");
        assert_eq!(balances.get(&account), Some(&of_engine), "{account}");
        let sku = format!("sku-{number}");
        let of_engine = figure(client, &["STOCK.GET", &sku], "sold");
        assert_eq!(sold.get(&sku).copied().unwrap_or_default(), of_engine, "{sku}");
    }
    let operations = database.pairs("SELECT operation_id, outcome FROM operations ORDER BY operation_id");
    let by_id: BTreeMap<_, _> = operations.iter().cloned().collect();
    assert_eq!(by_id.len(), operations.len(), "each operation is there once");
    // Refusals of stock are not remembered by the engine either.
    for (id, outcome) in acknowledged {
        assert_eq!(by_id.get(id), Some(outcome), "{id}");
    }
    assert_eq!(by_id.len(), acknowledged.len(), "nothing is there that nobody asked for");
}

/// A named number in an answer; RESP2 lists names and values alternately.
fn figure(client: &mut Client, words: &[&str], name: &str) -> i64 {
    let answer = client.call(words).expect("an answer");
    let Value::Array(values) = &answer else { panic!("{answer:?}") };
    let is_name = |value: &Value| matches!(value, Value::BulkString(text) if text == name.as_bytes());
    let flat: Vec<&Value> = values
        .iter()
        .flat_map(|value| match value {
            Value::Array(inner) => inner.iter().collect::<Vec<_>>(),
            other => vec![other],
        })
        .collect();
    let at =
        flat.iter().position(|value| is_name(value)).unwrap_or_else(|| panic!("no {name} in {answer:?}"));
    integer(flat[at + 1]).expect("a figure")
}
