//! A connection to a database, whichever it is.

use sqlx::mysql::MySqlConnection;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnection;
use sqlx::{ConnectOptions, Connection, Error};

use crate::sqlite::floor_power_of_two;
use crate::{Address, Cell, Column, Dialect, Kind, mysql, postgres, sqlite};

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
    pub async fn open(address: &Address) -> Result<Self, Error> {
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
    pub async fn begin(&mut self) -> Result<(), Error> {
        self.run(self.dialect().begin()).await
    }

    /// Keeps what the transaction did. After an error nobody knows whether it was kept.
    ///
    /// # Errors
    /// When the database does not answer, or refuses.
    pub async fn commit(&mut self) -> Result<(), Error> {
        self.run("COMMIT").await
    }

    /// Takes back what the transaction did.
    ///
    /// # Errors
    /// When the database does not answer, or refuses.
    pub async fn roll_back(&mut self) -> Result<(), Error> {
        self.run("ROLLBACK").await
    }

    /// Runs a statement without values.
    ///
    /// # Errors
    /// When the database does not answer, or refuses.
    pub async fn run(&mut self, sql: &'static str) -> Result<(), Error> {
        let query = sqlx::raw_sql(sql);
        match self {
            Self::Sqlite(connection) => query.execute(&mut **connection).await.map(drop),
            Self::Postgres(connection) => query.execute(&mut **connection).await.map(drop),
            Self::MySql(connection) => query.execute(&mut **connection).await.map(drop),
        }
    }

    /// Runs a statement whose values are marked by `?`; gives how many rows it changed.
    ///
    /// # Errors
    /// When the database does not answer, or refuses.
    pub async fn execute(&mut self, sql: &str, values: &[Cell]) -> Result<u64, Error> {
        let sql = self.dialect().marked(sql);
        match self {
            Self::Sqlite(connection) => sqlite::execute(connection, sql, values).await,
            Self::Postgres(connection) => postgres::execute(connection, sql, values).await,
            Self::MySql(connection) => mysql::execute(connection, sql, values).await,
        }
    }

    /// Reads rows of columns of these kinds; values are marked by `?`.
    ///
    /// # Errors
    /// When the database does not answer, or refuses.
    pub async fn fetch(
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

    /// Adds rows, each unless there is one of its key; `cells` are the values row after row. The first of the
    /// columns is one of the key. Gives how many rows it added.
    ///
    /// # Errors
    /// When the database does not answer, or refuses.
    pub async fn insert_missing(
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
    pub async fn close(self) {
        // It ends either way.
        let _ = match self {
            Self::Sqlite(connection) => connection.close().await,
            Self::Postgres(connection) => connection.close().await,
            Self::MySql(connection) => connection.close().await,
        };
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
