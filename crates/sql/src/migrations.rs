//! Making tables, and bringing older ones up to date.

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::mysql::MySqlConnection;
use sqlx::{AssertSqlSafe, Connection, Error, SqlSafeStr};

use crate::{Doing, Link};

/// The files that make somebody's tables, for each dialect the same versions. Those for MySQL are written so
/// that they can be begun anew after any of their statements.
#[derive(Debug)]
pub struct Migrations {
    sqlite: Migrator,
    postgres: Migrator,
    mysql: Migrator,
    table: &'static str,
}

/// Why the tables could not be made.
#[derive(Debug, thiserror::Error)]
pub enum MigrationFault {
    /// They were made by a newer release.
    #[error("the tables are of version {found}, and this release knows them up to version {known}")]
    Newer {
        /// The version of the tables.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// They are not as this release made them.
    #[error("the tables are not as this release made them: {what}")]
    Tables {
        /// What is not so.
        what: String,
    },
    /// The database did not answer, or refused.
    #[error(transparent)]
    Database(#[from] Error),
}

impl Migrations {
    /// Migrations that are noted in a table of this name, so that several can share a database. The texts are those
    /// of version 1 and up, for SQLite, PostgreSQL and MySQL.
    #[must_use]
    pub fn new(table: &'static str, [sqlite, postgres, mysql]: [&[&'static str]; 3]) -> Self {
        let [sqlite, postgres, mysql] = [sqlite, postgres, mysql].map(|texts| migrator(table, texts));
        Self { sqlite, postgres, mysql, table }
    }

    /// Makes what is missing.
    ///
    /// # Errors
    /// When the tables are another release's, or the database does not let them be made.
    pub fn run<'l>(&'l self, link: &'l mut Link) -> Doing<'l, (), MigrationFault> {
        Box::pin(async { self.migrate(link).await.map_err(|error| self.fault(error)) })
    }

    async fn migrate(&self, link: &mut Link) -> Result<(), MigrateError> {
        match link {
            Link::Sqlite(connection) => {
                // Two processes that begin at the same time must not both make the tables.
                let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
                self.sqlite.run_direct(None, &mut *transaction, false).await?;
                Ok(transaction.commit().await?)
            }
            Link::Postgres(connection) => self.postgres.run_direct(None, &mut **connection, false).await,
            Link::MySql(connection) => self.migrate_mysql(connection).await,
        }
    }

    /// MySQL takes back no table when a transaction is broken off. Its files say what is to be there in the end, so
    /// one that was interrupted is begun anew.
    async fn migrate_mysql(&self, connection: &mut MySqlConnection) -> Result<(), MigrateError> {
        match self.mysql.run_direct(None, &mut *connection, false).await {
            Err(MigrateError::Dirty(version)) => {
                let forget = format!("DELETE FROM {} WHERE version = ? AND success = FALSE", self.table);
                sqlx::query(AssertSqlSafe(forget)).bind(version).execute(&mut *connection).await?;
                self.mysql.run_direct(None, &mut *connection, false).await
            }
            ended => ended,
        }
    }

    fn fault(&self, error: MigrateError) -> MigrationFault {
        match error {
            MigrateError::VersionMissing(found) => {
                let known = self.sqlite.iter().map(|migration| migration.version).max().unwrap_or(0);
                MigrationFault::Newer { found, known }
            }
            MigrateError::Execute(source) | MigrateError::ExecuteMigration(source, _) => source.into(),
            MigrateError::Dirty(version) => {
                MigrationFault::Tables { what: format!("making version {version} was interrupted") }
            }
            MigrateError::VersionMismatch(version) => {
                MigrationFault::Tables { what: format!("version {version} was made differently") }
            }
            error => MigrationFault::Tables { what: error.to_string() },
        }
    }
}

/// Built at run time: the macro of sqlx that reads the files would compile the drivers once more for the compiler.
fn migrator(table: &'static str, texts: &[&'static str]) -> Migrator {
    let migration = |(version, text): (i64, &&'static str)| {
        let description = format!("version {version}").into();
        Migration::new(version, description, MigrationType::Simple, text.into_sql_str(), false)
    };
    let mut migrator = Migrator::with_migrations((1..).zip(texts).map(migration).collect());
    // The name is fixed by the caller from its first release on, which is what the method warns of.
    migrator.dangerous_set_table_name(table);
    migrator
}
