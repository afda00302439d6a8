//! The commands that list resources of a kind by name, over all partitions.

use super::table::{AccountList, Command, CouponList, MarketList, PacketList, StockList};
use crate::outcome::{Outcome, Value};
use crate::types::{Id, RowCount, Text};

/// Which page of a list is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page<'a> {
    /// What the names begin with.
    pub prefix: Option<&'a str>,
    /// The last name of the page before; it need not exist any more.
    pub after: Option<&'a Id>,
    /// The maximum number of rows.
    pub count: RowCount,
}

/// The same for every command that lists.
macro_rules! lists {
    ($($list:ident),*) => {
        $(impl $list {
            pub(crate) fn page(&self) -> Page<'_> {
                Page { prefix: self.prefix.as_ref().map(Text::as_str), after: self.after.as_ref(), count: self.count }
            }
        })*

        impl Command {
            /// The page that a command asks for which lists resources.
            #[must_use]
            pub fn page(&self) -> Option<Page<'_>> {
                match self {
                    $(Self::$list(list) => Some(list.page()),)*
                    _ => None,
                }
            }

            /// The same list of other names: those that begin with a prefix, up to so many of them.
            #[must_use]
            pub fn with_names(mut self, prefix: Option<Text>, count: RowCount) -> Self {
                match &mut self {
                    $(Self::$list(list) => (list.prefix, list.count) = (prefix, count),)*
                    _ => {}
                }
                self
            }
        }
    };
}

lists!(AccountList, StockList, PacketList, CouponList, MarketList);

/// One page of the pages of several partitions: their rows in the order of the names, each once, as far as `is_shown`
/// says so.
#[must_use]
pub fn merge<'a>(
    pages: impl Iterator<Item = &'a Outcome>,
    count: RowCount,
    is_shown: impl Fn(&str) -> bool,
) -> Outcome {
    let rows = pages.filter_map(|page| match page.facts.first() {
        Some(Value::List(rows)) => Some(rows),
        _ => None,
    });
    let mut rows: Vec<&Value> = rows.flatten().filter(|row| name_of(row).is_some_and(&is_shown)).collect();
    rows.sort_by(|one, other| name_of(one).cmp(&name_of(other)));
    rows.dedup_by(|one, other| name_of(one) == name_of(other));
    rows.truncate(count.rows());
    Outcome::applied(crate::facts![rows.into_iter().cloned().collect::<Vec<Value>>()])
}

/// The name in a row of a list, which is its first value.
fn name_of(row: &Value) -> Option<&str> {
    match row {
        Value::List(values) => match values.first() {
            Some(Value::Text(name)) => Some(name.as_str()),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{COMMANDS, table};

    #[test]
    fn every_command_that_lists_resources_has_pages() {
        for spec in COMMANDS.iter().filter(|spec| spec.is_list()) {
            let (command, _) = Command::parse(spec, &[b"PREFIX", b"a", b"AFTER", b"ab", b"COUNT", b"2"])
                .unwrap_or_else(|error| panic!("{}: {error}", spec.name));
            let page = command.page().unwrap_or_else(|| panic!("{} has no pages", spec.name));
            assert_eq!(page.prefix, Some("a"));
            assert_eq!((page.after.map(Id::as_str), page.count.get()), (Some("ab"), 2));
        }
        assert_eq!(COMMANDS.iter().filter(|spec| spec.is_list()).count(), 5);
        let get = table::find(b"ACCOUNT.GET").expect("a command");
        assert!(!get.is_list());
    }

    #[test]
    fn pages_of_partitions_become_one_page() {
        let page = |names: &[&str]| {
            let row = |name: &&str| Value::List(vec![Value::from(*name), Value::from(1_u64)]);
            Outcome::applied(crate::facts![names.iter().map(row).collect::<Vec<_>>()])
        };
        let pages = [page(&["b", "d", "x"]), page(&[]), page(&["a", "c", "e"]), page(&["a"])];
        let count = RowCount::parse(b"4", "count").expect("a count");
        let merged = merge(pages.iter(), count, |name| name != "c");
        assert_eq!(merged, page(&["a", "b", "d", "e"]));
    }
}
