//! The commands that list resources of a kind by name, over all partitions.

use super::table::{AccountList, Command, CouponList, MarketList, PacketList, StockList};
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
        }
    };
}

lists!(AccountList, StockList, PacketList, CouponList, MarketList);
