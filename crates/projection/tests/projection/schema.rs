//! The tables in every dialect, and in the documentation.

use std::collections::BTreeSet;

use crate::kit::{Database, DatabaseKind, columns, open, views};

#[tokio::test]
async fn every_view_can_be_read() {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres, DatabaseKind::MariaDb] {
        let database = Database::new(kind);
        drop(open(&database, 5).await);
        for view in views() {
            assert_eq!(database.figure("COUNT(*)", &format!("FROM {view}")).await, "0", "{view}");
        }
        assert_eq!(database.figure("value", "FROM meta WHERE name = 'schema_version'").await, "2");
    }
}

/// The names in the first cells of the rows in a table's or view's section of the page.
fn documented(page: &str, name: &str) -> BTreeSet<String> {
    let heading = format!("### {name}\n");
    let section = page.split_once(&heading).unwrap_or_else(|| panic!("{name} is not on the page")).1;
    let section =
        section.split("\n## ").next().unwrap_or_default().split("\n### ").next().unwrap_or_default();
    let cell = |line: &str| Some(line.strip_prefix("| `")?.split('`').next()?.to_owned());
    section.lines().filter_map(cell).collect()
}

#[test]
fn every_table_column_and_view_is_on_the_page_and_nothing_else() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/sql.md");
    let page = std::fs::read_to_string(path).expect("the page");
    for (table, columns) in columns() {
        let columns: BTreeSet<String> = columns.into_iter().collect();
        assert_eq!(documented(&page, &table), columns, "{table}");
    }
    for view in views() {
        assert!(page.contains(&format!("| `{view}` |")), "{view} is not on the page");
    }
}
