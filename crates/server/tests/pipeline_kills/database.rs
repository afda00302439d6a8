//! The databases, and what must be in them in the end.

use std::collections::BTreeMap;

use redis::Value;
use scarce::client::{Client, integer};
use scarce_launch::{MariaDb, MariaDbOptions, Postgres, PostgresOptions};
use sqlx::{Connection, Row, SqliteConnection};
use tempfile::TempDir;

use crate::load::{ACCOUNTS, Acknowledged};

const NAME: &str = "pipeline";

/// A database that the log is projected into.
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

    /// A file, which is only touched by the server.
    pub fn sqlite() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("sqlite://{}", folder.path().join("projection.db").display());
        Self { kind: Kind::Sqlite { _folder: folder }, url }
    }

    /// What `--sql` takes.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Whether it is a process of its own.
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
    fn pairs(&self, sql: &str) -> Vec<(String, String)> {
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

    fn figures(&self, sql: &str) -> BTreeMap<String, i64> {
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

/// Holds the tables against the engine, and against what callers were told.
pub fn check(database: &Database, client: &mut Client, acknowledged: &Acknowledged) {
    let balances = database.figures("SELECT account_id, balance FROM accounts");
    let summed = database.figures("SELECT account_id, SUM(amount) FROM entries GROUP BY account_id");
    assert_eq!(balances.len() as u64, ACCOUNTS);
    assert_eq!(balances, summed, "each balance is the sum of its entries");
    let sold = database.figures("SELECT sku, SUM(quantity) FROM receipts GROUP BY sku");
    for number in 0..ACCOUNTS {
        let account = format!("account-{number}");
        let of_engine = figure(client, &["ACCOUNT.GET", &account], "balance");
        assert_eq!(balances.get(&account), Some(&of_engine), "{account}");
        let sku = format!("sku-{number}");
        let of_engine = figure(client, &["STOCK.GET", &sku], "sold");
        assert_eq!(sold.get(&sku).copied().unwrap_or_default(), of_engine, "{sku}");
    }
    let operations = database.pairs("SELECT operation_id, outcome FROM operations ORDER BY operation_id");
    let by_id: BTreeMap<_, _> = operations.iter().cloned().collect();
    assert_eq!(by_id.len(), operations.len(), "each operation is there once");
    // Refusals of stock are not remembered by the engine either.
    for (id, outcome) in acknowledged {
        assert_eq!(by_id.get(id), Some(outcome), "{id}");
    }
    assert_eq!(by_id.len(), acknowledged.len(), "nothing is there that nobody asked for");
}

/// A figure of an answer that has names, as RESP2 gives them: by turns.
fn figure(client: &mut Client, words: &[&str], name: &str) -> i64 {
    let answer = client.call(words).expect("an answer");
    let Value::Array(values) = &answer else { panic!("{answer:?}") };
    let is_name = |value: &Value| matches!(value, Value::BulkString(text) if text == name.as_bytes());
    let flat: Vec<&Value> = values
        .iter()
        .flat_map(|value| match value {
            Value::Array(inner) => inner.iter().collect::<Vec<_>>(),
            other => vec![other],
        })
        .collect();
    let at =
        flat.iter().position(|value| is_name(value)).unwrap_or_else(|| panic!("no {name} in {answer:?}"));
    integer(flat[at + 1]).expect("a figure")
}
