//! A connection to a database, whichever it is.

use std::pin::Pin;

use sqlx::mysql::MySqlConnection;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnection;
use sqlx::{ConnectOptions, Connection, Error};

use crate::sqlite::floor_power_of_two;
use crate::{Address, Cell, Column, Dialect, Kind, mysql, postgres, sqlite};

/// Something that a database is asked to do. It is boxed so that the drivers' code is compiled here, once, and not
/// again in each crate and test that waits for it.
pub type Doing<'l, T, E = Error> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'l>>;

/// A connection.
#[derive(Debug)]
pub enum Link {
    /// To SQLite.
    Sqlite(Box<SqliteConnection>),
    /// To PostgreSQL.
    Postgres(Box<PgConnection>),
    /// To MySQL or MariaDB.
    MySql(Box<MySqlConnection>),
}

impl Link {
    /// Connects.
    ///
    /// # Errors
    /// When the database does not answer, or refuses.
    pub fn open(address: &Address) -> Doing<'_, Self> {
        Box::pin(async move {
            Ok(match address {
                Address::Sqlite(options) => Self::Sqlite(Box::new(options.connect().await?)),
                Address::Postgres(options) => Self::Postgres(Box::new(options.connect().await?)),
                Address::MySql(options) => {
                    let mut connection = options.connect().await?;
                    mysql::set_up(&mut connection).await?;
                    Self::MySql(Box::new(connection))
                }
            })
        })
    }

    /// How it wants to be spoken to.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
            Self::MySql(_) => Dialect::MySql,
        }
    }

    /// Starts a transaction.
    ///
    /// # Errors
    /// When the database does not answer, or refuses.
    pub fn begin(&mut self) -> Doing<'_, ()> {
        self.run(self.dialect().begin())
    }

    /// Keeps what the transaction did. After an error nobody knows whether it was kept.
    ///
    /// # Errors
    /// When the database does not answer, or refuses.
    pub fn commit(&mut self) -> Doing<'_, ()> {
        self.run("COMMIT")
    }

    /// Takes back what the transaction did.
    ///
    /// # Errors
    /// When the database does not answer, or refuses.
    pub fn roll_back(&mut self) -> Doing<'_, ()> {
        self.run("ROLLBACK")
    }

    /// Runs a statement without values.
    ///
    /// # Errors
    /// When the database does not answer, or refuses.
    pub fn run(&mut self, sql: &'static str) -> Doing<'_, ()> {
        Box::pin(async move {
            let query = sqlx::raw_sql(sql);
            match self {
                Self::Sqlite(connection) => query.execute(&mut **connection).await.map(drop),
                Self::Postgres(connection) => query.execute(&mut **connection).await.map(drop),
                Self::MySql(connection) => query.execute(&mut **connection).await.map(drop),
            }
        })
    }

    /// Runs a statement whose values are marked by `?`; gives how many rows it changed.
    ///
    /// # Errors
    /// When the database does not answer, or refuses.
    pub fn execute<'l>(&'l mut self, sql: &str, values: &'l [Cell]) -> Doing<'l, u64> {
        let sql = self.dialect().marked(sql);
        Box::pin(async move {
            match self {
                Self::Sqlite(connection) => sqlite::execute(connection, sql, values).await,
                Self::Postgres(connection) => postgres::execute(connection, sql, values).await,
                Self::MySql(connection) => mysql::execute(connection, sql, values).await,
            }
        })
    }

    /// Reads rows of columns of these kinds; values are marked by `?`.
    ///
    /// # Errors
    /// When the database does not answer, or refuses.
    pub fn fetch<'l>(
        &'l mut self,
        sql: &str,
        values: &'l [Cell],
        kinds: &'l [Kind],
    ) -> Doing<'l, Vec<Vec<Cell>>> {
        let sql = self.dialect().marked(sql);
        Box::pin(async move {
            match self {
                Self::Sqlite(connection) => sqlite::fetch(connection, sql, values, kinds).await,
                Self::Postgres(connection) => postgres::fetch(connection, sql, values, kinds).await,
                Self::MySql(connection) => mysql::fetch(connection, sql, values, kinds).await,
            }
        })
    }

    /// Adds rows, each unless there is one of its key; `cells` are the values row after row. The first of the
    /// columns is one of the key. Gives how many rows it added.
    ///
    /// # Errors
    /// When the database does not answer, or refuses.
    pub fn insert_missing<'l>(
        &'l mut self,
        table: &'l str,
        columns: &'l [Column],
        cells: &'l [Cell],
    ) -> Doing<'l, u64> {
        Box::pin(self.insert_all_missing(table, columns, cells))
    }

    async fn insert_all_missing(
        &mut self,
        table: &str,
        columns: &[Column],
        cells: &[Cell],
    ) -> Result<u64, Error> {
        let mut added = 0;
        let dialect = self.dialect();
        let mut rest = cells;
        while !rest.is_empty() {
            let rows = rows_at_once(dialect, columns.len(), rest);
            let (now, later) = rest.split_at(rows * columns.len());
            let sql = dialect.insert_all_missing(table, columns, rows);
            added += match self {
                Self::Sqlite(connection) => sqlite::execute(connection, sql, now).await?,
                Self::Postgres(connection) => {
                    postgres::execute_columns(connection, sql, columns, now).await?
                }
                Self::MySql(connection) => mysql::execute(connection, sql, now).await?,
            };
            rest = later;
        }
        Ok(added)
    }

    /// Ends the connection in order.
    pub fn close(self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            // It ends either way.
            let _ = match self {
                Self::Sqlite(connection) => connection.close().await,
                Self::Postgres(connection) => connection.close().await,
                Self::MySql(connection) => connection.close().await,
            };
        })
    }
}

/// How many of the rows, whose values are given, go into one statement.
fn rows_at_once(dialect: Dialect, columns: usize, cells: &[Cell]) -> usize {
    let rows_max = match dialect {
        Dialect::Sqlite => sqlite::ROWS_MAX.min(sqlite::VALUES_MAX / columns),
        Dialect::MySql => mysql::ROWS_MAX,
        Dialect::Postgres => ROWS_MAX,
    };
    let mut rows = floor_power_of_two((cells.len() / columns).min(rows_max));
    let bytes = |rows| cells[..rows * columns].iter().filter_map(Cell::text).map(str::len).sum::<usize>();
    while rows > 1 && bytes(rows) > mysql::BYTES_MAX {
        rows /= 2;
    }
    rows
}

/// How many rows PostgreSQL is given at once, as arrays.
const ROWS_MAX: usize = 4_096;
