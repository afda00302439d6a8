//! The tables, as they are created in a database.

use scarce_sql::{Remedies, TableSet};

/// The tables of the projection.
pub(crate) static TABLES: TableSet = TableSet {
    application: "scarce-projection",
    meta: "meta",
    migrations: "_sqlx_migrations",
    versions: &[
        include_str!("../migrations/0001_tables.sql"),
        include_str!("../migrations/0002_views.sql"),
        include_str!("../migrations/0003_indexes.sql"),
        include_str!("../migrations/0004_openings.sql"),
        include_str!("../migrations/0005_support.sql"),
        include_str!("../migrations/0006_commands.sql"),
        include_str!("../migrations/0007_assets.sql"),
        include_str!("../migrations/0008_clock_moves.sql"),
    ],
    remedies: Remedies {
        what: "such projection",
        missing: "put the table or column back, or drop all tables of the projection and rebuild",
        unreadable: "put the schema back, or drop the tables and rebuild",
        contradiction: "an event contradicts the tables: if rows were changed by hand, put them back; otherwise rebuild",
        damaged: "the file is damaged or not an SQLite database; restore it, or remove it and rebuild",
        newer: "start the newer release, or drop the tables and rebuild",
        changed: "drop all tables of the projection, and they are made again",
        none: "name the database that 'scarce serve --sql' writes into",
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::TABLES as ROWS;
    use crate::table::ColumnKind;
    use scarce_sql::Dialect;

    #[test]
    fn the_tables_have_the_columns_of_the_rows_in_their_order() {
        let schema = Dialect::Sqlite.schema(&TABLES.versions.concat());
        for table in ROWS {
            let head = format!("CREATE TABLE {} (\n", table.name);
            let (_, body) = schema.split_once(&head).unwrap_or_else(|| panic!("no table {}", table.name));
            let kinds = [("INTEGER", ColumnKind::Integer), ("TEXT", ColumnKind::Text)];
            let column = |line: &str| {
                let mut words = line.trim().trim_end_matches(',').split(' ');
                let (name, kind) = (words.next()?.to_owned(), words.next()?);
                let (_, kind) = kinds.into_iter().find(|(word, _)| *word == kind)?;
                Some((name, kind))
            };
            let created: Vec<(String, ColumnKind)> = body.lines().map_while(column).collect();
            let adding = format!("ALTER TABLE {} ADD COLUMN ", table.name);
            let added =
                schema.lines().filter_map(|line| column(line.strip_prefix(&adding)?.trim_end_matches(';')));
            let columns: Vec<(String, ColumnKind)> = created.iter().cloned().chain(added).collect();
            let wanted: Vec<(String, ColumnKind)> =
                table.columns.iter().map(|column| (column.name.to_owned(), column.kind)).collect();
            assert_eq!(columns, wanted, "{}", table.name);
            let names: Vec<&str> = table.key().iter().map(|column| column.name).collect();
            let key = format!("    PRIMARY KEY ({})", names.join(", "));
            assert!(
                body.lines().nth(created.len()).is_some_and(|line| line.starts_with(&key)),
                "{}",
                table.name
            );
        }
    }

    #[test]
    fn every_word_is_known_in_every_dialect() {
        for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::MySql] {
            for version in TABLES.versions {
                assert!(!dialect.schema(version).contains('{'), "{dialect:?}");
            }
        }
    }
}
