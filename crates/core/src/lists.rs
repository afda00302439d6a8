//! Queries that list resources by name.

use std::ops::Bound;

use crate::command::lists::Page;
use crate::facts;
use crate::outcome::{Facts, Value, Verdict};
use crate::store::Table;
use crate::types::Id;

/// A page of a table's rows, in the order of the names.
pub(crate) fn page<V: Clone>(
    table: &Table<Id, V>,
    page: Page<'_>,
    shown: impl Fn(&Id, &V) -> Facts,
) -> Verdict {
    let prefix = page.prefix.unwrap_or_default();
    let from = match page.after.map(Id::as_str) {
        Some(after) if after >= prefix => Bound::Excluded(after),
        _ => Bound::Included(prefix),
    };
    let listed = table.listed(from).take_while(|(id, _)| id.as_str().starts_with(prefix));
    let rows = listed.take(page.count.rows()).map(|(id, row)| Value::List(shown(id, row).into_vec()));
    Ok(facts![rows.collect::<Vec<_>>()])
}
