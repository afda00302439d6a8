//! The differences between the databases.

use std::fmt::Write;

use crate::{Column, ColumnKind};

/// A dialect of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// MySQL and MariaDB.
    MySql,
}

impl Dialect {
    /// Rewrites the `?` placeholders of a statement into the dialect's own.
    #[must_use]
    pub fn marked(self, sql: &str) -> String {
        if self != Self::Postgres {
            return sql.to_owned();
        }
        let mut marked = String::with_capacity(sql.len() + 16);
        let mut parts = sql.split('?');
        marked.push_str(parts.next().unwrap_or_default());
        for (number, part) in (1..).zip(parts) {
            put(&mut marked, format_args!("${number}{part}"));
        }
        marked
    }

    /// Starts a transaction that is going to write.
    #[must_use]
    pub fn begin(self) -> &'static str {
        match self {
            // A writer takes its lock, and waits for it, here: in the middle of a transaction SQLite may fail
            // instead of waiting.
            Self::Sqlite => "BEGIN IMMEDIATE",
            Self::Postgres | Self::MySql => "BEGIN",
        }
    }

    /// Adds a row unless one with its key exists; the first column is part of the key.
    #[must_use]
    pub fn insert_if_missing(self, table: &str, columns: &[&str]) -> String {
        let marks = vec!["?"; columns.len()].join(", ");
        let otherwise = self.unless_there(columns.first().copied().unwrap_or_default());
        format!("INSERT INTO {table} ({}) VALUES ({marks}) {otherwise}", columns.join(", "))
    }

    /// Adds several rows, each unless a row with its key exists; the first column is part of the key.
    /// PostgreSQL takes the values as one array for each column.
    #[must_use]
    pub fn insert_all_missing(self, table: &str, columns: &[Column], rows: usize) -> String {
        let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
        let mut sql = format!("INSERT INTO {table} ({}) ", names.join(", "));
        match self {
            Self::Postgres => {
                sql.push_str("SELECT * FROM ");
                put_arrays(&mut sql, columns);
            }
            Self::Sqlite | Self::MySql => {
                sql.push_str("VALUES ");
                put_marks(&mut sql, columns.len(), rows);
            }
        }
        put(&mut sql, format_args!(" {}", self.unless_there(names.first().copied().unwrap_or_default())));
        sql
    }

    /// Leaves existing rows unchanged; `key` is a column of their key.
    fn unless_there(self, key: &str) -> String {
        match self {
            Self::Sqlite | Self::Postgres => "ON CONFLICT DO NOTHING".to_owned(),
            Self::MySql => format!("ON DUPLICATE KEY UPDATE {key} = {key}"),
        }
    }

    /// The end of a `SELECT` that protects its rows from removal until the transaction ends.
    #[must_use]
    pub fn keep_rows(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres => "FOR KEY SHARE",
            // MariaDB has no other syntax for it.
            Self::MySql => "LOCK IN SHARE MODE",
        }
    }

    /// The end of a `SELECT` that claims rows, so that concurrent claims get different ones. Only within a
    /// transaction. SQLite has one writer at a time anyway.
    #[must_use]
    pub fn skip_locked(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres | Self::MySql => "FOR UPDATE SKIP LOCKED",
        }
    }
}

/// Adds a text to a statement.
pub fn put(sql: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a text cannot fail.
    let _ = sql.write_fmt(text);
}

/// Adds the placeholders of columns and rows: `(?, ?), (?, ?)`.
pub fn put_marks(sql: &mut String, columns: usize, rows: usize) {
    let row = format!("({})", vec!["?"; columns].join(", "));
    for at in 0..rows {
        sql.push_str(if at > 0 { ", " } else { "" });
        sql.push_str(&row);
    }
}

/// Adds columns as arrays, as PostgreSQL takes them: `UNNEST($1::bigint[], $2::text[])`.
pub fn put_arrays(sql: &mut String, columns: &[Column]) {
    sql.push_str("UNNEST(");
    for (number, column) in (1..).zip(columns) {
        let comma = if number > 1 { ", " } else { "" };
        let kind = match column.kind {
            ColumnKind::Integer => "bigint",
            ColumnKind::Text => "text",
        };
        put(sql, format_args!("{comma}${number}::{kind}[]"));
    }
    sql.push(')');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_numbered_where_the_dialect_numbers_them() {
        assert_eq!(Dialect::Postgres.marked("a = ? AND b = ?"), "a = $1 AND b = $2");
        assert_eq!(Dialect::Sqlite.marked("a = ? AND b = ?"), "a = ? AND b = ?");
    }

    #[test]
    fn rows_that_are_there_are_left_alone_in_each_dialect() {
        let columns =
            [Column { name: "a", kind: ColumnKind::Integer }, Column { name: "b", kind: ColumnKind::Text }];
        let sql = |dialect: Dialect| dialect.insert_all_missing("t", &columns, 2);
        assert_eq!(sql(Dialect::Sqlite), "INSERT INTO t (a, b) VALUES (?, ?), (?, ?) ON CONFLICT DO NOTHING");
        assert_eq!(
            sql(Dialect::Postgres),
            "INSERT INTO t (a, b) SELECT * FROM UNNEST($1::bigint[], $2::text[]) ON CONFLICT DO NOTHING"
        );
        assert_eq!(
            sql(Dialect::MySql),
            "INSERT INTO t (a, b) VALUES (?, ?), (?, ?) ON DUPLICATE KEY UPDATE a = a"
        );
    }
}
