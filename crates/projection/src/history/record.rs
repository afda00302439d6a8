//! Records: the rows that readers get.

use crate::table::{Cell, Column, ColumnKind};

/// A row as readers get it.
pub(crate) trait Record: Sized {
    const TABLE: &'static str;
    const COLUMNS: &'static [Column];

    fn kinds() -> Vec<ColumnKind> {
        Self::COLUMNS.iter().map(|column| column.kind).collect()
    }

    fn read(cells: Vec<Cell>) -> Option<Self>;
}

/// Declares a record with the fields that it shows of a table.
macro_rules! record {
    ($(#[$doc:meta])* $name:ident of $table:literal { $($(#[$fdoc:meta])* $field:ident: $type:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
        pub struct $name { $($(#[$fdoc])* pub $field: $type),* }

        impl $crate::history::record::Record for $name {
            const TABLE: &'static str = $table;
            const COLUMNS: &'static [$crate::table::Column] =
                &[$($crate::table::Column {
                    name: stringify!($field),
                    kind: <$type as $crate::table::Field>::KIND,
                }),*];

            fn read(cells: Vec<$crate::table::Cell>) -> Option<Self> {
                let mut cells = cells.into_iter();
                Some(Self { $($field: $crate::table::Field::read(cells.next()?)?),* })
            }
        }
    };
}

pub(super) use record;
