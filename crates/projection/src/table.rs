//! Tables in code: their columns, the conversion of rows, and the rows to write at a time.

use scarce_sql::Dialect;
pub(crate) use scarce_sql::{Cell, Column, ColumnKind, Text};

/// A table. Its columns begin with those of its key.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [Column],
    /// How many columns the key has.
    pub(crate) key_columns: usize,
    /// Whether names can be reused, so that the last column of the key counts their uses.
    pub(crate) has_uses: bool,
}

impl Table {
    /// The columns by which a row is looked up: the key without the count of uses; the last use counts.
    pub(crate) fn lookup(&self) -> &'static [Column] {
        &self.columns[..self.key_columns - usize::from(self.has_uses)]
    }

    pub(crate) fn key(&self) -> &'static [Column] {
        &self.columns[..self.key_columns]
    }

    pub(crate) fn kinds(&self) -> impl Iterator<Item = ColumnKind> {
        self.columns.iter().map(|column| column.kind)
    }
}

/// A type of field and its column.
pub(crate) trait Field: Sized {
    const KIND: ColumnKind;
    fn cell(self) -> Cell;
    /// Reads the field; `None` if the column holds an invalid value.
    fn read(cell: Cell) -> Option<Self>;
}

impl Field for i64 {
    const KIND: ColumnKind = ColumnKind::Integer;

    fn cell(self) -> Cell {
        Cell::Integer(self)
    }

    fn read(cell: Cell) -> Option<Self> {
        cell.integer()
    }
}

impl Field for Text {
    const KIND: ColumnKind = ColumnKind::Text;

    fn cell(self) -> Cell {
        Cell::Text(self)
    }

    fn read(cell: Cell) -> Option<Self> {
        match cell {
            Cell::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl Field for String {
    const KIND: ColumnKind = ColumnKind::Text;

    fn cell(self) -> Cell {
        Cell::Text(self.into())
    }

    fn read(cell: Cell) -> Option<Self> {
        cell.text().map(str::to_owned)
    }
}

impl Field for serde_json::Value {
    const KIND: ColumnKind = ColumnKind::Text;

    fn cell(self) -> Cell {
        Cell::Text(self.to_string().into())
    }

    fn read(cell: Cell) -> Option<Self> {
        serde_json::from_str(cell.text()?).ok()
    }
}

impl<T: Field> Field for Option<T> {
    const KIND: ColumnKind = T::KIND;

    fn cell(self) -> Cell {
        self.map_or(Cell::Null, Field::cell)
    }

    fn read(cell: Cell) -> Option<Self> {
        match cell {
            Cell::Null => Some(None),
            cell => T::read(cell).map(Some),
        }
    }
}

/// Stores enums in columns as words.
macro_rules! word_fields {
    ($($name:ty),* $(,)?) => {$(
        impl $crate::table::Field for $name {
            const KIND: $crate::table::ColumnKind = $crate::table::ColumnKind::Text;

            fn cell(self) -> $crate::table::Cell {
                $crate::table::Cell::Word(self.word())
            }

            fn read(cell: $crate::table::Cell) -> Option<Self> {
                Self::from_word(cell.text()?.as_bytes())
            }
        }
    )*};
}

/// A row of a table.
pub(crate) trait Row: Sized {
    const TABLE: &'static Table;
    /// Adds the values in the order of the columns.
    fn put(self, cells: &mut Vec<Cell>);
    /// Reads the values that [`Row::put`] adds; `None` if one of them is invalid.
    fn read(cells: Vec<Cell>) -> Option<Self>;
}

/// Declares a row with its table.
macro_rules! row {
    ($(#[$doc:meta])* $name:ident in $table:literal, key $keys:literal $(with $uses:ident)? {
        $($field:ident: $type:ty),* $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub(crate) struct $name { $(pub(crate) $field: $type),* }

        impl $crate::table::Row for $name {
            const TABLE: &'static $crate::table::Table = &$crate::table::Table {
                name: $table,
                columns: &[$($crate::table::Column {
                    name: stringify!($field),
                    kind: <$type as $crate::table::Field>::KIND,
                }),*],
                key_columns: $keys,
                has_uses: $crate::table::given!($($uses)?),
            };

            fn put(self, cells: &mut Vec<$crate::table::Cell>) {
                cells.extend([$($crate::table::Field::cell(self.$field)),*]);
            }

            fn read(cells: Vec<$crate::table::Cell>) -> Option<Self> {
                let mut cells = cells.into_iter();
                Some(Self { $($field: $crate::table::Field::read(cells.next()?)?),* })
            }
        }
    };
}

/// Whether the macro has an argument.
macro_rules! given {
    () => {
        false
    };
    ($given:ident) => {
        true
    };
}

pub(crate) use {given, row, word_fields};

/// How rows are written to their table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Manner {
    /// They are new; an existing row is a mistake.
    Insert,
    /// They replace existing rows.
    Replace,
}

/// Rows of a table to write.
#[derive(Debug)]
pub(crate) struct Sheet {
    pub(crate) table: &'static Table,
    pub(crate) manner: Manner,
    /// The values, row by row.
    cells: Vec<Cell>,
}

impl Sheet {
    pub(crate) fn new<R: Row>(manner: Manner, rows: impl IntoIterator<Item = R>) -> Self {
        let rows = rows.into_iter();
        let mut cells = Vec::with_capacity(rows.size_hint().0 * R::TABLE.columns.len());
        rows.for_each(|row| row.put(&mut cells));
        Self { table: R::TABLE, manner, cells }
    }

    /// Adds a row of its table.
    pub(crate) fn push<R: Row>(&mut self, row: R) {
        row.put(&mut self.cells);
    }

    pub(crate) fn rows(&self) -> usize {
        self.cells.len() / self.table.columns.len()
    }

    /// How many rows, starting with `from`, go into one statement.
    pub(crate) fn rows_at_once(&self, dialect: Dialect, from: usize) -> usize {
        dialect.rows_at_once(self.table.columns.len(), self.cells(from..self.rows()))
    }

    /// The values of some rows.
    pub(crate) fn cells(&self, rows: std::ops::Range<usize>) -> &[Cell] {
        let columns = self.table.columns.len();
        &self.cells[rows.start * columns..rows.end * columns]
    }

    /// The values of one column.
    pub(crate) fn column(&self, at: usize) -> impl Iterator<Item = &Cell> {
        self.cells.iter().skip(at).step_by(self.table.columns.len())
    }
}
