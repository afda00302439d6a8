//! The tables as the migrations have them.

use std::collections::BTreeMap;

/// The columns of each table, in order.
pub type Columns = BTreeMap<String, Vec<String>>;

/// The tables of a dialect: `sqlite`, `postgres` or `mysql`.
pub fn columns(dialect: &str) -> Columns {
    let path = format!("{}/migrations/{dialect}/0001_tables.sql", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the migration");
    let mut tables = Columns::new();
    let mut table = None;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["CREATE", "TABLE", name, "("] | ["CREATE", "TABLE", "IF", "NOT", "EXISTS", name, "("] => {
                table = Some((*name).to_owned());
            }
            [first, ..] if first.starts_with(')') => table = None,
            ["PRIMARY" | "INDEX" | "CONSTRAINT" | "CHECK" | "AND" | "ELSE", ..] | [] => {}
            [column, ..] => {
                if let Some(table) = &table {
                    tables.entry(table.clone()).or_default().push((*column).to_owned());
                }
            }
        }
    }
    tables
}
