//! The tables as they are described.

use std::collections::{BTreeMap, BTreeSet};

use scarce_testkit::Database;

/// The columns of each table, in order.
pub type Columns = BTreeMap<String, Vec<String>>;

/// The tables with their columns.
pub fn columns() -> Columns {
    let mut tables = Columns::new();
    let mut table = None;
    let description =
        ["0001_tables", "0004_openings", "0005_support", "0006_commands", "0007_assets", "0008_clock_moves"]
            .map(description)
            .concat();
    // Statements for one dialect change what is there.
    let statements = description.split_inclusive(";\n").filter(|statement| !statement.contains("{only "));
    for line in statements.flat_map(str::lines) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["CREATE", "TABLE", name, "("] => table = Some((*name).to_owned()),
            [first, ..] if first.starts_with(')') => table = None,
            ["PRIMARY" | "CONSTRAINT" | "CHECK" | "AND" | "ELSE", ..] | [] => {}
            [column, ..] => {
                if let Some(table) = &table {
                    tables.entry(table.clone()).or_default().push((*column).to_owned());
                }
            }
        }
    }
    for line in description.lines() {
        let added =
            line.strip_prefix("{only sqlite}ALTER TABLE ").and_then(|rest| rest.split_once(" ADD COLUMN "));
        if let Some((table, column)) = added {
            let column = column.split(' ').next().unwrap_or_default();
            tables.entry(table.to_owned()).or_default().push(column.to_owned());
        }
    }
    tables
}

/// The names of the views.
pub fn views() -> Vec<String> {
    let description = ["0002_views", "0005_support", "0007_assets"].map(description).concat();
    let name = |line: &str| {
        let rest =
            line.strip_prefix("CREATE VIEW ").or_else(|| line.strip_prefix("CREATE {replacing} VIEW "))?;
        rest.strip_suffix(" AS").map(str::to_owned)
    };
    description.lines().filter_map(name).collect()
}

/// The columns of the indexes of a table.
pub fn indexes(table: &str) -> BTreeSet<String> {
    let descriptions = ["0001_tables", "0003_indexes"].map(description);
    let columns = |line: &str| {
        let (_, rest) = line.strip_prefix("CREATE INDEX ")?.split_once(" ON ")?;
        Some(rest.strip_prefix(table)?.strip_prefix(" (")?.strip_suffix(");")?.to_owned())
    };
    descriptions.iter().flat_map(|its| its.lines()).filter_map(columns).collect()
}

fn description(version: &str) -> String {
    let path = format!("{}/../migrations/{version}.sql", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the description")
}

/// Every row of every table that events are written to, in a fixed order.
pub async fn dump(database: &Database) -> BTreeMap<String, Vec<String>> {
    let mut dump = BTreeMap::new();
    for (table, columns) in columns() {
        if table == "meta" {
            continue;
        }
        let is_of_the_log = |column: &&String| *column != "updated_at_ms" || table != "cursors";
        let selected: Vec<&str> = columns.iter().filter(is_of_the_log).map(String::as_str).collect();
        let rows = database.ask(&selected, &format!("FROM {table}")).await;
        let mut rows: Vec<String> = rows.into_iter().map(|row| row.join(" | ")).collect();
        rows.sort();
        dump.insert(table, rows);
    }
    dump
}
