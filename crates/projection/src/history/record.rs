//! What is read out of a table.

use crate::table::{Cell, Kind};

/// A row as it is shown.
pub(crate) trait Record: Sized {
    const TABLE: &'static str;
    const COLUMNS: &'static [(&'static str, Kind)];

    fn kinds() -> Vec<Kind> {
        Self::COLUMNS.iter().map(|(_, kind)| *kind).collect()
    }

    fn read(cells: Vec<Cell>) -> Option<Self>;
}

/// Declares what is shown of a table's rows.
macro_rules! record {
    ($(#[$doc:meta])* $name:ident of $table:literal { $($(#[$fdoc:meta])* $field:ident: $type:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
        pub struct $name { $($(#[$fdoc])* pub $field: $type),* }

        impl $crate::history::record::Record for $name {
            const TABLE: &'static str = $table;
            const COLUMNS: &'static [(&'static str, $crate::table::Kind)] =
                &[$((stringify!($field), <$type as $crate::table::Field>::KIND)),*];

            fn read(cells: Vec<$crate::table::Cell>) -> Option<Self> {
                let mut cells = cells.into_iter();
                Some(Self { $($field: $crate::table::Field::read(cells.next()?)?),* })
            }
        }
    };
}

pub(super) use record;
