//! Limits on the size of one statement.

use crate::{Cell, Dialect};

/// How many values SQLite accepts.
const SQLITE_VALUES_MAX: usize = 32_766;

/// How many rows a statement to SQLite has: more bring nothing, and the statement becomes long.
const SQLITE_ROWS_MAX: usize = 512;

/// How many rows a statement to PostgreSQL has, as arrays.
const POSTGRES_ROWS_MAX: usize = 4_096;

/// How many rows a statement to MySQL has.
const MYSQL_ROWS_MAX: usize = 256;

/// How many bytes of text go over the network at once: MySQL refuses packets of more than about 16 MB.
const BYTES_MAX: usize = 4 << 20;

impl Dialect {
    /// How many of the rows, whose values are listed row after row, go into one statement: a power of two, so
    /// that there are few distinct statements and prepared ones are reused.
    #[must_use]
    pub fn rows_at_once(self, columns: usize, cells: &[Cell]) -> usize {
        let rows_max = match self {
            Self::Sqlite => SQLITE_ROWS_MAX.min(SQLITE_VALUES_MAX / columns),
            Self::Postgres => POSTGRES_ROWS_MAX,
            Self::MySql => MYSQL_ROWS_MAX,
        };
        let mut rows = 1 << (cells.len() / columns).clamp(1, rows_max).ilog2();
        if self == Self::Sqlite {
            return rows;
        }
        while rows > 1 && text_bytes(&cells[..rows * columns]) > BYTES_MAX {
            rows /= 2;
        }
        rows
    }
}

/// The total length of the texts among the values.
fn text_bytes(cells: &[Cell]) -> usize {
    cells.iter().filter_map(Cell::text).map(str::len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_has_a_power_of_two_of_rows_and_not_too_many_bytes() {
        let numbers: Vec<Cell> = (0..3_000).map(Cell::Integer).collect();
        assert_eq!(Dialect::Sqlite.rows_at_once(3, &numbers), 512);
        assert_eq!(Dialect::Postgres.rows_at_once(3, &numbers), 512);
        assert_eq!(Dialect::MySql.rows_at_once(3, &numbers), 256);
        assert_eq!(Dialect::Sqlite.rows_at_once(1_000, &numbers), 2);
        assert_eq!(Dialect::MySql.rows_at_once(3, &numbers[..9]), 2);
        let long = vec![Cell::from("x".repeat(BYTES_MAX / 3)); 8];
        assert_eq!(Dialect::MySql.rows_at_once(1, &long), 2);
        assert_eq!(Dialect::Sqlite.rows_at_once(1, &long), 8);
    }
}
