//! Creating tables, and migrating older ones.

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::mysql::MySqlConnection;
use sqlx::{AssertSqlSafe, Connection, Error, SqlSafeStr};

use crate::{Dialect, Doing, Link};

/// The versions of a set of tables, in one dialect.
#[derive(Debug)]
pub(crate) struct Migrations {
    migrator: Migrator,
    /// The same versions, as MySQL can apply them again after they were interrupted.
    again: Migrator,
    table: &'static str,
}

/// Why the tables could not be created.
#[derive(Debug)]
pub(crate) enum MigrationFault {
    /// They were made by a newer release.
    Newer {
        /// The version of the tables.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// They differ from those that this release creates.
    Tables {
        /// The difference.
        what: String,
    },
    /// The database did not answer, or refused.
    Database(Error),
}

impl Migrations {
    /// The tables of these descriptions (see [`Dialect::schema`]): version 1, and the changes of each further
    /// version. The named table records the applied versions, so that several sets can share a database.
    pub(crate) fn new(dialect: Dialect, table: &'static str, versions: &[&str]) -> Self {
        // Built at run time: the macro of sqlx that reads files would compile the drivers a second time, for
        // the compiler.
        let migration = |(version, description): (i64, &&str)| {
            let sql = AssertSqlSafe(dialect.schema(description)).into_sql_str();
            Migration::new(version, format!("version {version}").into(), MigrationType::Simple, sql, false)
        };
        let once: Vec<Migration> = (1..).zip(versions).map(migration).collect();
        let again = once.iter().map(repeatable).collect();
        let [migrator, again] = [once, again].map(|migrations| {
            let mut migrator = Migrator::with_migrations(migrations);
            // The caller never changes the name after its first release, which is the danger that the method's
            // name means.
            migrator.dangerous_set_table_name(table);
            migrator
        });
        Self { migrator, again, table }
    }

    /// Creates what is missing, or reports why it must not.
    pub(crate) fn run<'l>(&'l self, link: &'l mut Link) -> Doing<'l, (), MigrationFault> {
        Box::pin(async { self.migrate(link).await.map_err(|error| self.fault(error)) })
    }

    async fn migrate(&self, link: &mut Link) -> Result<(), MigrateError> {
        match link {
            Link::Sqlite(connection) => {
                // Two processes that start at the same time must not both create the tables.
                let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
                self.migrator.run_direct(None, &mut *transaction, false).await?;
                Ok(transaction.commit().await?)
            }
            Link::Postgres(connection) => self.migrator.run_direct(None, &mut **connection, false).await,
            Link::MySql(connection) => self.migrate_mysql(connection).await,
        }
    }

    /// MySQL does not roll back table definitions. Its statements can be repeated, so an interrupted version
    /// is applied again.
    async fn migrate_mysql(&self, connection: &mut MySqlConnection) -> Result<(), MigrateError> {
        match self.migrator.run_direct(None, &mut *connection, false).await {
            Err(MigrateError::Dirty(version)) => {
                let forget = format!("DELETE FROM {} WHERE version = ? AND success = FALSE", self.table);
                sqlx::query(AssertSqlSafe(forget)).bind(version).execute(&mut *connection).await?;
                self.again.run_direct(None, &mut *connection, false).await
            }
            ended => ended,
        }
    }

    fn fault(&self, error: MigrateError) -> MigrationFault {
        match error {
            MigrateError::VersionMissing(found) => {
                let known = self.migrator.iter().map(|migration| migration.version).max().unwrap_or(0);
                MigrationFault::Newer { found, known }
            }
            MigrateError::Execute(source) | MigrateError::ExecuteMigration(source, _) => {
                MigrationFault::Database(source)
            }
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

/// A version that may have been applied in part: a column that is there already is left as it is, in the words of
/// MariaDB, which MySQL takes for a comment. The checksum is that of the version itself.
fn repeatable(migration: &Migration) -> Migration {
    const ONCE: &str = "ADD COLUMN ";
    const AGAIN: &str = "ADD COLUMN /*M! IF NOT EXISTS */ ";
    // Some versions say so themselves.
    let sql = migration.sql.as_str().replace(AGAIN, ONCE).replace(ONCE, AGAIN);
    Migration { sql: AssertSqlSafe(sql).into_sql_str(), ..migration.clone() }
}
