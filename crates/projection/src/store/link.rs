//! A connection to a database, whichever it is.

use sqlx::mysql::MySqlConnection;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnection;
use sqlx::{ConnectOptions, Connection, Error};

use super::{Address, Dialect, mysql, postgres, sqlite};
use crate::table::{Cell, Kind, Sheet, Table};

/// A connection.
#[derive(Debug)]
pub(crate) enum Link {
    Sqlite(Box<SqliteConnection>),
    Postgres(Box<PgConnection>),
    MySql(Box<MySqlConnection>),
}

impl Link {
    /// Connects.
    pub(crate) async fn open(address: &Address) -> Result<Self, Error> {
        Ok(match address {
            Address::Sqlite(options) => Self::Sqlite(Box::new(options.connect().await?)),
            Address::Postgres(options) => Self::Postgres(Box::new(options.connect().await?)),
            Address::MySql(options) => {
                let mut connection = options.connect().await?;
                mysql::set_up(&mut connection).await?;
                Self::MySql(Box::new(connection))
            }
        })
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
            Self::MySql(_) => Dialect::MySql,
        }
    }

    /// Starts a transaction.
    pub(crate) async fn begin(&mut self) -> Result<(), Error> {
        self.run(self.dialect().begin()).await
    }

    /// Keeps what the transaction did. After an error nobody knows whether it was kept.
    pub(crate) async fn commit(&mut self) -> Result<(), Error> {
        self.run("COMMIT").await
    }

    /// Takes back what the transaction did.
    pub(crate) async fn roll_back(&mut self) -> Result<(), Error> {
        self.run("ROLLBACK").await
    }

    /// Runs a statement without values.
    pub(crate) async fn run(&mut self, sql: &'static str) -> Result<(), Error> {
        let query = sqlx::raw_sql(sql);
        match self {
            Self::Sqlite(connection) => query.execute(&mut **connection).await.map(drop),
            Self::Postgres(connection) => query.execute(&mut **connection).await.map(drop),
            Self::MySql(connection) => query.execute(&mut **connection).await.map(drop),
        }
    }

    /// Runs a statement whose values are marked by `?`; gives how many rows it changed.
    pub(crate) async fn execute(&mut self, sql: &str, values: &[Cell]) -> Result<u64, Error> {
        let sql = self.dialect().marked(sql);
        match self {
            Self::Sqlite(connection) => sqlite::execute(connection, sql, values).await,
            Self::Postgres(connection) => postgres::execute(connection, sql, values).await,
            Self::MySql(connection) => mysql::execute(connection, sql, values).await,
        }
    }

    /// Reads rows of columns of these kinds; values are marked by `?`.
    pub(crate) async fn fetch(
        &mut self,
        sql: &str,
        values: &[Cell],
        kinds: &[Kind],
    ) -> Result<Vec<Vec<Cell>>, Error> {
        let sql = self.dialect().marked(sql);
        match self {
            Self::Sqlite(connection) => sqlite::fetch(connection, sql, values, kinds).await,
            Self::Postgres(connection) => postgres::fetch(connection, sql, values, kinds).await,
            Self::MySql(connection) => mysql::fetch(connection, sql, values, kinds).await,
        }
    }

    /// Reads the rows of these keys, as far as there are any; of each name its last use.
    pub(crate) async fn read(
        &mut self,
        table: &'static Table,
        keys: &[Vec<Cell>],
    ) -> Result<Vec<Vec<Cell>>, Error> {
        let kinds: Vec<Kind> = table.kinds().collect();
        let sql = |dialect: Dialect, keys| dialect.read(table, keys);
        self.read_by_keys(sql, keys, &kinds).await
    }

    /// Reads, for each item and serial, the last range before it that came back: item, first serial, quantity.
    pub(crate) async fn read_returned(&mut self, keys: &[Vec<Cell>]) -> Result<Vec<Vec<Cell>>, Error> {
        let kinds = [Kind::Text, Kind::Integer, Kind::Integer];
        self.read_by_keys(Dialect::read_returned, keys, &kinds).await
    }

    async fn read_by_keys(
        &mut self,
        sql: impl Fn(Dialect, usize) -> String,
        keys: &[Vec<Cell>],
        kinds: &[Kind],
    ) -> Result<Vec<Vec<Cell>>, Error> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let dialect = self.dialect();
        if let Self::Postgres(connection) = self {
            return postgres::read(connection, sql(dialect, keys.len()), keys, kinds).await;
        }
        let mut rows = Vec::new();
        for chunk in keys.chunks(KEYS_MAX) {
            // Few shapes of a statement, so that it is found prepared: what is missing is asked for twice.
            let count = chunk.len().next_power_of_two();
            let padded = chunk.iter().chain(std::iter::repeat(&chunk[0])).take(count);
            let values: Vec<Cell> = padded.flatten().cloned().collect();
            rows.extend(self.fetch(&sql(dialect, count), &values, kinds).await?);
        }
        Ok(rows)
    }

    /// Writes rows.
    pub(crate) async fn write(&mut self, sheet: &Sheet) -> Result<(), Error> {
        match self {
            Self::Sqlite(connection) => sqlite::write(connection, sheet).await,
            Self::Postgres(connection) => postgres::write(connection, sheet).await,
            Self::MySql(connection) => mysql::write(connection, sheet).await,
        }
    }

    /// Ends the connection in order.
    pub(crate) async fn close(self) {
        // It ends either way.
        let _ = match self {
            Self::Sqlite(connection) => connection.close().await,
            Self::Postgres(connection) => connection.close().await,
            Self::MySql(connection) => connection.close().await,
        };
    }
}

/// How many keys are asked for at once: so few that MySQL looks each up by the index.
const KEYS_MAX: usize = 256;
