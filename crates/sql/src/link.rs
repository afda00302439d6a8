//! A connection to a database of any kind.

use std::pin::Pin;

use sqlx::mysql::MySqlConnection;
use sqlx::postgres::{PgArguments, PgConnection};
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Error, MySql, Postgres, Sqlite};

use crate::values::{add_column, arguments, cells};
use crate::{Address, Cell, Column, ColumnKind, Dialect, mysql};

/// The future of a request to a database. It is boxed so that the drivers' code is compiled once, here, and not again
/// in each crate and test that awaits it.
pub type Doing<'l, T, E = Error> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'l>>;

/// How long PostgreSQL waits for a lock that another session holds.
const POSTGRES_SESSION: &str = "SET lock_timeout = '10s'";

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

/// Runs the same code for every kind of connection; each driver has its own types for it.
macro_rules! with_driver {
    ($link:expr, $connection:ident, $driver:ident => $does:expr) => {
        match $link {
            Link::Sqlite($connection) => {
                type $driver = Sqlite;
                $does
            }
            Link::Postgres($connection) => {
                type $driver = Postgres;
                $does
            }
            Link::MySql($connection) => {
                type $driver = MySql;
                $does
            }
        }
    };
}

impl Link {
    /// Connects.
    ///
    /// # Errors
    /// When the database does not answer, or refuses the connection.
    pub fn open(address: &Address) -> Doing<'_, Self> {
        Box::pin(async move {
            Ok(match address {
                Address::Sqlite(options) => Self::Sqlite(Box::new(options.connect().await?)),
                Address::Postgres(options) => {
                    let mut connection = options.connect().await?;
                    sqlx::raw_sql(POSTGRES_SESSION).execute(&mut connection).await?;
                    Self::Postgres(Box::new(connection))
                }
                Address::MySql(options) => {
                    let mut connection = options.connect().await?;
                    mysql::set_up(&mut connection).await?;
                    Self::MySql(Box::new(connection))
                }
            })
        })
    }

    /// Its dialect.
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

    /// Commits the transaction. After an error it is unknown whether it was committed.
    ///
    /// # Errors
    /// When the database does not answer, or refuses.
    pub fn commit(&mut self) -> Doing<'_, ()> {
        self.run("COMMIT")
    }

    /// Rolls the transaction back.
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

    /// Runs a statement with `?` placeholders; returns how many rows it changed.
    ///
    /// # Errors
    /// When the database does not answer, or refuses.
    pub fn execute<'l>(&'l mut self, sql: &str, values: &'l [Cell]) -> Doing<'l, u64> {
        let sql = AssertSqlSafe(traced(self.dialect().marked(sql)));
        Box::pin(async move {
            with_driver!(self, connection, Driver => {
                let query = sqlx::query_with::<Driver, _>(sql, arguments::<Driver>(values)?);
                Ok(query.execute(&mut **connection).await?.rows_affected())
            })
        })
    }

    /// Reads rows with columns of these kinds; values are marked by `?`.
    ///
    /// # Errors
    /// When the database does not answer, or refuses.
    pub fn fetch<'l>(
        &'l mut self,
        sql: &str,
        values: &'l [Cell],
        kinds: &'l [ColumnKind],
    ) -> Doing<'l, Vec<Vec<Cell>>> {
        let sql = AssertSqlSafe(traced(self.dialect().marked(sql)));
        Box::pin(async move {
            with_driver!(self, connection, Driver => {
                let query = sqlx::query_with::<Driver, _>(sql, arguments::<Driver>(values)?);
                query.fetch_all(&mut **connection).await?.iter().map(|row| cells(row, kinds)).collect()
            })
        })
    }

    /// Adds rows, each unless a row with its key exists; `cells` are the values row after row. The first
    /// column is part of the key. Returns how many rows it added.
    ///
    /// # Errors
    /// When the database does not answer, or refuses.
    pub fn insert_missing<'l>(
        &'l mut self,
        table: &'l str,
        columns: &'l [Column],
        cells: &'l [Cell],
    ) -> Doing<'l, u64> {
        Box::pin(async move {
            let (mut added, mut rest, dialect) = (0, cells, self.dialect());
            while !rest.is_empty() {
                let rows = dialect.rows_at_once(columns.len(), rest);
                let (now, later) = rest.split_at(rows * columns.len());
                let sql = dialect.insert_all_missing(table, columns, rows);
                added += match self {
                    Self::Postgres(connection) => execute_columns(connection, sql, columns, now).await?,
                    _ => self.execute(&sql, now).await?,
                };
                rest = later;
            }
            Ok(added)
        })
    }

    /// Closes the connection.
    pub fn close(self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            // It is closed either way.
            let _ = match self {
                Self::Sqlite(connection) => connection.close().await,
                Self::Postgres(connection) => connection.close().await,
                Self::MySql(connection) => connection.close().await,
            };
        })
    }
}

/// Shows a statement, without its values, to a subscriber at the level `trace`.
#[must_use]
pub fn traced(sql: String) -> String {
    tracing::trace!(target: "scarce_sql::statement", sql);
    sql
}

/// Runs a statement on PostgreSQL whose values are the columns of rows, each as an array.
async fn execute_columns(
    connection: &mut PgConnection,
    sql: String,
    columns: &[Column],
    cells: &[Cell],
) -> Result<u64, Error> {
    let mut arguments = PgArguments::default();
    for (at, column) in columns.iter().enumerate() {
        add_column(&mut arguments, column.kind, cells.iter().skip(at).step_by(columns.len()))?;
    }
    let query = sqlx::query_with(AssertSqlSafe(sql), arguments);
    Ok(query.execute(connection).await?.rows_affected())
}
