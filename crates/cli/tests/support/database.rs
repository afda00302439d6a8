//! Real databases for the projection, and their content.

#![allow(dead_code, reason = "shared by tests that each use a part of it")]

use std::collections::BTreeMap;

use scarce_launch::{MariaDb, MariaDbOptions, Postgres, PostgresOptions};
use sqlx::{Connection, Row, SqliteConnection};
use tempfile::TempDir;

/// The name of the database on its server.
const NAME: &str = "pipeline";

/// A database into which the log is projected.
pub struct Database {
    kind: Kind,
    url: String,
}

enum Kind {
    Postgres(Postgres),
    MariaDb(MariaDb),
    Sqlite { _folder: TempDir },
}

impl Database {
    pub fn postgres() -> Self {
        let server = Postgres::start(&PostgresOptions::new()).expect("PostgreSQL");
        let url = server.create_database(NAME).expect("a database");
        Self { kind: Kind::Postgres(server), url }
    }

    pub fn mariadb() -> Self {
        let server = MariaDb::start(&MariaDbOptions::new()).expect("MariaDB");
        let url = server.create_database(NAME).expect("a database");
        Self { kind: Kind::MariaDb(server), url }
    }

    /// A file that only the server uses.
    pub fn sqlite() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("sqlite://{}", folder.path().join("projection.db").display());
        Self { kind: Kind::Sqlite { _folder: folder }, url }
    }

    /// The value for `--sql`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Whether it is a separate process.
    pub fn can_be_killed(&self) -> bool {
        !matches!(self.kind, Kind::Sqlite { .. })
    }

    pub fn kill(&mut self) {
        match &mut self.kind {
            Kind::Postgres(server) => server.kill().expect("it is killed"),
            Kind::MariaDb(server) => server.kill().expect("it is killed"),
            Kind::Sqlite { .. } => {}
        }
    }

    pub fn start_again(&mut self) {
        match &mut self.kind {
            Kind::Postgres(server) => server.start_again().expect("it starts again"),
            Kind::MariaDb(server) => server.start_again().expect("it starts again"),
            Kind::Sqlite { .. } => {}
        }
    }

    /// Rows of a text and a number, or of two texts.
    pub fn pairs(&self, sql: &str) -> Vec<(String, String)> {
        let by_separator = |text: String, separator: char| {
            let rows = text.lines().map(|line| line.split_once(separator).expect("two columns"));
            rows.map(|(left, right)| (left.to_owned(), right.to_owned())).collect()
        };
        match &self.kind {
            Kind::Postgres(server) => by_separator(server.query(NAME, sql).expect("rows"), '|'),
            Kind::MariaDb(server) => by_separator(server.query(NAME, sql).expect("rows"), '\t'),
            Kind::Sqlite { .. } => sqlite_pairs(&self.url, sql),
        }
    }

    /// Names with their numbers.
    pub fn figures(&self, sql: &str) -> BTreeMap<String, i64> {
        let rows = self.pairs(sql).into_iter();
        rows.map(|(name, figure)| (name, figure.parse().expect("a figure"))).collect()
    }
}

fn sqlite_pairs(url: &str, sql: &str) -> Vec<(String, String)> {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let mut connection = SqliteConnection::connect(url).await.expect("the file");
        let sql = sqlx::AssertSqlSafe(sql);
        let rows = sqlx::query(sql).fetch_all(&mut connection).await.expect("rows");
        let text = |row: &sqlx::sqlite::SqliteRow, column: usize| {
            row.try_get::<i64, _>(column)
                .map_or_else(|_| row.get::<String, _>(column), |figure| figure.to_string())
        };
        rows.iter().map(|row| (text(row, 0), text(row, 1))).collect()
    })
}
