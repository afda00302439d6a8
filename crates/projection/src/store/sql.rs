//! The statements, in each dialect.

use scarce_sql::{put, put_arrays, put_marks};

use super::Dialect;
use crate::table::{Column, Manner, Table};

/// The statements about tables.
pub(crate) trait Statements: Sized {
    /// Writes several rows.
    fn write(self, table: &Table, manner: Manner, rows: usize) -> String;
    /// Reads the rows of several keys, the last use of each.
    fn read(self, table: &Table, keys: usize) -> String;
    /// Reads, for each item and serial, the last returned range before it.
    fn read_returned(self, keys: usize) -> String;
}

impl Statements for Dialect {
    fn write(self, table: &Table, manner: Manner, rows: usize) -> String {
        if self == Dialect::Postgres && manner == Manner::Replace {
            return update(table);
        }
        // A refused row ends the transaction anyway; so SQLite need not save every page before the change,
        // which would cost as much as the write itself.
        let verb = if self == Dialect::Sqlite { "INSERT OR FAIL" } else { "INSERT" };
        let mut sql = format!("{verb} INTO {} (", table.name);
        put_names(&mut sql, table.columns, "");
        sql.push_str(") ");
        match self {
            Dialect::Postgres => {
                sql.push_str("SELECT * FROM ");
                put_arrays(&mut sql, table.columns);
            }
            Dialect::Sqlite | Dialect::MySql => {
                sql.push_str("VALUES ");
                put_marks(&mut sql, table.columns.len(), rows);
            }
        }
        if manner == Manner::Replace {
            put_replacement(self, &mut sql, table);
        }
        sql
    }

    fn read(self, table: &Table, keys: usize) -> String {
        let mut sql = String::new();
        let lookup = table.lookup();
        if self == Dialect::Sqlite {
            sql.push_str("WITH k (");
            put_names(&mut sql, lookup, "");
            sql.push_str(") AS (VALUES ");
            put_marks(&mut sql, lookup.len(), keys);
            sql.push_str(") ");
        }
        sql.push_str("SELECT ");
        put_names(&mut sql, table.columns, "t.");
        match self {
            // The join order is fixed: first the few keys, then the row of each by the index.
            Dialect::Sqlite => put(&mut sql, format_args!(" FROM k CROSS JOIN {} AS t ON ", table.name)),
            Dialect::Postgres => {
                sql.push_str(" FROM ");
                put_arrays(&mut sql, lookup);
                sql.push_str(" AS k (");
                put_names(&mut sql, lookup, "");
                put(&mut sql, format_args!(") JOIN {} AS t ON ", table.name));
            }
            Dialect::MySql => put(&mut sql, format_args!(" FROM {} AS t WHERE ", table.name)),
        }
        match self {
            Dialect::Sqlite | Dialect::Postgres => put_equal(&mut sql, lookup, "k"),
            Dialect::MySql => put_choices(&mut sql, lookup, keys),
        }
        if table.has_uses {
            let (name, last) = (table.name, table.columns[table.key_columns - 1].name);
            put(&mut sql, format_args!(" AND t.{last} = (SELECT MAX(u.{last}) FROM {name} AS u WHERE "));
            put_equal(&mut sql, lookup, "u");
            sql.push(')');
        }
        sql
    }

    fn read_returned(self, keys: usize) -> String {
        let is_last = "r.first_serial = (SELECT MAX(u.first_serial) FROM stock_returns AS u \
                       WHERE u.sku = r.sku AND u.first_serial < ";
        let figures = "SELECT r.sku, r.first_serial, r.quantity FROM";
        match self {
            Dialect::Sqlite => {
                let mut sql = "WITH k (sku, serial) AS (VALUES ".to_owned();
                put_marks(&mut sql, 2, keys);
                sql + &format!(
                    ") {figures} k CROSS JOIN stock_returns AS r ON r.sku = k.sku AND {is_last}k.serial)"
                )
            }
            Dialect::Postgres => format!(
                "{figures} UNNEST($1::text[], $2::bigint[]) AS k (sku, serial) \
                 JOIN stock_returns AS r ON r.sku = k.sku AND {is_last}k.serial)"
            ),
            Dialect::MySql => {
                let one = "(SELECT sku, first_serial, quantity FROM stock_returns WHERE sku = ? \
                           AND first_serial < ? ORDER BY first_serial DESC LIMIT 1)";
                vec![one; keys].join(" UNION ALL ")
            }
        }
    }
}

/// Updates existing rows in PostgreSQL: that is cheaper than to check, row by row, that none is new.
fn update(table: &Table) -> String {
    let mut sql = format!("UPDATE {} AS t SET ", table.name);
    for (at, Column { name, .. }) in table.columns[table.key_columns..].iter().enumerate() {
        let comma = if at > 0 { ", " } else { "" };
        put(&mut sql, format_args!("{comma}{name} = k.{name}"));
    }
    sql.push_str(" FROM ");
    put_arrays(&mut sql, table.columns);
    sql.push_str(" AS k (");
    put_names(&mut sql, table.columns, "");
    sql.push_str(") WHERE ");
    put_equal(&mut sql, table.key(), "k");
    sql
}

/// The clause that replaces an existing row.
fn put_replacement(dialect: Dialect, sql: &mut String, table: &Table) {
    let rest = table.columns[table.key_columns..].iter().map(|column| column.name);
    let (head, (left, right)) = match dialect {
        Dialect::Sqlite | Dialect::Postgres => {
            let mut head = " ON CONFLICT (".to_owned();
            put_names(&mut head, table.key(), "");
            head.push_str(") DO UPDATE SET ");
            (head, (" = excluded.", ""))
        }
        // MariaDB has no other syntax for the values of the new row.
        Dialect::MySql => (" ON DUPLICATE KEY UPDATE ".to_owned(), (" = VALUES(", ")")),
    };
    sql.push_str(&head);
    for (at, name) in rest.enumerate() {
        let comma = if at > 0 { ", " } else { "" };
        put(sql, format_args!("{comma}{name}{left}{name}{right}"));
    }
}

fn put_names(sql: &mut String, columns: &[Column], prefix: &str) {
    for (at, column) in columns.iter().enumerate() {
        let comma = if at > 0 { ", " } else { "" };
        put(sql, format_args!("{comma}{prefix}{}", column.name));
    }
}

/// `t.a = k.a AND t.b = k.b`.
fn put_equal(sql: &mut String, columns: &[Column], other: &str) {
    for (at, Column { name, .. }) in columns.iter().enumerate() {
        let and = if at > 0 { " AND " } else { "" };
        put(sql, format_args!("{and}t.{name} = {other}.{name}"));
    }
}

/// `((t.a = ? AND t.b = ?) OR (t.a = ? AND t.b = ?))`, for which every MySQL and MariaDB uses the index.
fn put_choices(sql: &mut String, columns: &[Column], keys: usize) {
    if let [Column { name, .. }] = columns {
        put(sql, format_args!("t.{name} IN ({})", vec!["?"; keys].join(", ")));
        return;
    }
    let parts: Vec<String> = columns.iter().map(|column| format!("t.{} = ?", column.name)).collect();
    let choice = format!("({})", parts.join(" AND "));
    put(sql, format_args!("({})", vec![choice; keys].join(" OR ")));
}
