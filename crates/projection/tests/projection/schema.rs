//! The tables in every dialect, and in the documentation.

use std::collections::BTreeSet;

use crate::kit::{Database, DatabaseKind, columns, indexes, open, views};

#[tokio::test]
async fn every_view_can_be_read() {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres, DatabaseKind::MariaDb] {
        let database = Database::new(kind);
        drop(open(&database, 5).await);
        for view in views() {
            assert_eq!(database.figure("COUNT(*)", &format!("FROM {view}")).await, "0", "{view}");
        }
        assert_eq!(database.figure("value", "FROM meta WHERE name = 'schema_version'").await, "8");
    }
}

#[tokio::test]
async fn a_version_that_was_interrupted_is_applied_again() {
    let database = Database::new(DatabaseKind::MariaDb);
    drop(open(&database, 5).await);
    for version in 3..=8 {
        database.run(&format!("DELETE FROM _sqlx_migrations WHERE version > {version}")).await;
        database.run(&format!("UPDATE _sqlx_migrations SET success = FALSE WHERE version = {version}")).await;
        drop(open(&database, 5).await);
    }
    let left = database.figure("COUNT(*)", "FROM _sqlx_migrations WHERE success = FALSE").await;
    assert_eq!(left, "0");
}

/// The section of a table or view on the page.
fn section<'p>(page: &'p str, name: &str) -> &'p str {
    let heading = format!("### {name}\n");
    let section = page.split_once(&heading).unwrap_or_else(|| panic!("{name} is not on the page")).1;
    section.split("\n## ").next().unwrap_or_default().split("\n### ").next().unwrap_or_default()
}

/// The names in the first cells of the rows in a table's or view's section of the page.
fn documented(page: &str, name: &str) -> BTreeSet<String> {
    let cell = |line: &str| Some(line.strip_prefix("| `")?.split('`').next()?.to_owned());
    section(page, name).lines().filter_map(cell).collect()
}

/// The columns of the indexes that the section of a table names.
fn documented_indexes(page: &str, name: &str) -> BTreeSet<String> {
    let Some((_, list)) = section(page, name).split_once(" Index: ") else { return BTreeSet::new() };
    let list = list.split(".\n").next().unwrap_or_default().replace('`', "");
    list.split("; ").map(str::to_owned).collect()
}

#[test]
fn every_table_column_index_and_view_is_on_the_page_and_nothing_else() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/reference/sql.md");
    let page = std::fs::read_to_string(path).expect("the page");
    for (table, columns) in columns() {
        let columns: BTreeSet<String> = columns.into_iter().collect();
        assert_eq!(documented(&page, &table), columns, "{table}");
        assert_eq!(documented_indexes(&page, &table), indexes(&table), "indexes of {table}");
    }
    for view in views() {
        assert!(page.contains(&format!("| `{view}` |")), "{view} is not on the page");
    }
}
