//! What the answer to a read shows on a channel, and what differs between two answers.

use std::collections::BTreeMap;

use scarce_api::answer;
use scarce_core::command::CommandSpec;
use scarce_core::outcome::Value as Figure;
use scarce_core::outcome::shape::ValueSpec;
use serde_json::{Map, Value};

use super::channel::Contents;

/// The values of an answer; none while there is no such resource.
pub(crate) type View = Option<Vec<Figure>>;

/// Each message says its sequence itself.
const SEQUENCE: &str = "sequence";

/// All values by their names.
pub(crate) fn all(read: &CommandSpec, view: Option<&Vec<Figure>>) -> Value {
    view.map_or(Value::Null, |values| {
        let shown = specs(read, values).map(|(spec, value)| (spec.name.to_owned(), show(spec, value)));
        Value::Object(shown.collect())
    })
}

/// The values that differ, by their names. None if nothing does.
pub(crate) fn changes(
    read: &CommandSpec,
    contents: Contents,
    before: &[Figure],
    now: &[Figure],
) -> Option<Map<String, Value>> {
    let mut changes = Map::new();
    for ((spec, now), before) in specs(read, now).zip(specs(read, before).map(|(_, before)| before)) {
        if now == before {
            continue;
        }
        let shown = match (contents, before, now) {
            (Contents::Levels, Figure::List(before), Figure::List(now)) => {
                show(spec, &Figure::List(levels(before, now)))
            }
            _ => show(spec, now),
        };
        changes.insert(spec.name.to_owned(), shown);
    }
    (!changes.is_empty()).then_some(changes)
}

fn specs<'a>(
    read: &CommandSpec,
    values: &'a [Figure],
) -> impl Iterator<Item = (&'static ValueSpec, &'a Figure)> {
    read.reply.iter().zip(values).filter(|(spec, _)| spec.name != SEQUENCE)
}

fn show(spec: &ValueSpec, value: &Figure) -> Value {
    answer::shown(spec.value_type, value)
}

/// The levels of one side that differ; those that are gone have no quantity.
fn levels(before: &[Figure], now: &[Figure]) -> Vec<Figure> {
    let mut gone: BTreeMap<i64, &Figure> =
        before.iter().filter_map(|level| Some((price(level)?, level))).collect();
    let mut is_same = |level: &Figure| price(level).and_then(|price| gone.remove(&price)) == Some(level);
    let mut changed: Vec<Figure> = now.iter().filter(|level| !is_same(level)).cloned().collect();
    changed
        .extend(gone.keys().map(|price| {
            Figure::List(vec![Figure::Integer(*price), Figure::Integer(0), Figure::Integer(0)])
        }));
    changed
}

fn price(level: &Figure) -> Option<i64> {
    match level {
        Figure::List(values) => match values.first() {
            Some(Figure::Integer(price)) => Some(*price),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use scarce_core::command::table;
    use scarce_core::facts;
    use serde_json::json;

    use super::*;

    fn side(levels: &[[i64; 3]]) -> Figure {
        let row = |level: &[i64; 3]| Figure::List(level.iter().copied().map(Figure::Integer).collect());
        Figure::List(levels.iter().map(row).collect())
    }

    #[test]
    fn levels_that_are_gone_have_no_quantity_and_those_that_stay_are_not_told() {
        let read = table::find(b"MARKET.DEPTH").expect("a command");
        let book = |bids: &[[i64; 3]], sequence: i64| {
            vec![side(bids), side(&[[110, 1, 1]]), Figure::Integer(sequence)]
        };
        let before = book(&[[100, 5, 2], [99, 1, 1], [98, 7, 3]], 10);
        let now = book(&[[101, 4, 1], [100, 5, 2], [99, 2, 1]], 12);
        let told = changes(read, Contents::Levels, &before, &now).expect("changes");
        let level = |price: i64, quantity: i64, orders: i64| json!({ "price": price, "quantity": quantity, "orders": orders });
        assert_eq!(
            Value::Object(told),
            json!({ "bids": [level(101, 4, 1), level(99, 2, 1), level(98, 0, 0)] })
        );
        assert_eq!(
            changes(read, Contents::Levels, &now, &book(&[[101, 4, 1], [100, 5, 2], [99, 2, 1]], 13)),
            None
        );
    }

    #[test]
    fn figures_that_changed_are_told_with_their_new_values() {
        let read = table::find(b"ACCOUNT.GET").expect("a command");
        let account = |balance: i64, status: &str| {
            facts!["a", "USD", balance, 0_i64, balance, 0_i64, status].into_vec()
        };
        let told =
            changes(read, Contents::Figures, &account(5, "open"), &account(7, "open")).expect("changes");
        assert_eq!(Value::Object(told), json!({ "balance": 7, "available": 7 }));
        assert_eq!(all(read, None), Value::Null);
        assert_eq!(all(read, Some(&account(5, "open")))["asset"], "USD");
    }
}
