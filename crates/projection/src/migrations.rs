//! Making the tables, and bringing older ones up to date.

use sqlx::Connection;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::mysql::MySqlConnection;

use crate::ProjectionError;
use crate::store::{Address, Link, describe};
use crate::table::{Cell, Kind};

static SQLITE: Migrator = sqlx::migrate!("migrations/sqlite");
static POSTGRES: Migrator = sqlx::migrate!("migrations/postgres");
static MYSQL: Migrator = sqlx::migrate!("migrations/mysql");

/// Makes what tables are missing, and notes whose log they hold, or refuses another's.
pub(crate) async fn prepare(
    link: &mut Link,
    address: &Address,
    deployment_id: &str,
) -> Result<(), ProjectionError> {
    if let Err(error) = migrate(link).await {
        return Err(refusal(error, address));
    }
    let failed = |source: sqlx::Error| failure(address, &source);
    let sql = link.dialect().insert_if_missing("meta", &["name", "value"]);
    let values = [Cell::from("deployment_id"), Cell::from(deployment_id)];
    link.execute(&sql, &values).await.map_err(failed)?;
    match deployment(link).await.map_err(failed)? {
        Some(found) if found != deployment_id => Err(ProjectionError::OtherDeployment {
            database: address.to_string(),
            found,
            wanted: deployment_id.to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Whose log the tables hold.
pub(crate) async fn deployment(link: &mut Link) -> Result<Option<String>, sqlx::Error> {
    let sql = "SELECT value FROM meta WHERE name = 'deployment_id'";
    let rows = link.fetch(sql, &[], &[Kind::Text]).await?;
    Ok(rows.into_iter().flatten().next().map(|cell| cell.to_string()))
}

async fn migrate(link: &mut Link) -> Result<(), MigrateError> {
    match link {
        Link::Sqlite(connection) => {
            // Two processes that begin at the same time must not both make the tables.
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            SQLITE.run_direct(None, &mut *transaction, false).await?;
            Ok(transaction.commit().await?)
        }
        Link::Postgres(connection) => POSTGRES.run_direct(None, &mut **connection, false).await,
        Link::MySql(connection) => migrate_mysql(connection).await,
    }
}

/// MySQL takes back no table when a transaction is broken off. Its files say what is to be there in the end, so one
/// that was interrupted is begun anew.
async fn migrate_mysql(connection: &mut MySqlConnection) -> Result<(), MigrateError> {
    match MYSQL.run_direct(None, &mut *connection, false).await {
        Err(MigrateError::Dirty(version)) => {
            let forget = "DELETE FROM _sqlx_migrations WHERE version = ? AND success = FALSE";
            sqlx::query(forget).bind(version).execute(&mut *connection).await?;
            MYSQL.run_direct(None, &mut *connection, false).await
        }
        ended => ended,
    }
}

fn refusal(error: MigrateError, address: &Address) -> ProjectionError {
    let database = address.to_string();
    match error {
        MigrateError::VersionMissing(found) => {
            let known = SQLITE.iter().map(|migration| migration.version).max().unwrap_or(0);
            ProjectionError::Newer { database, found, known }
        }
        MigrateError::Execute(source) | MigrateError::ExecuteMigration(source, _) => {
            failure(address, &source)
        }
        MigrateError::Dirty(version) => {
            ProjectionError::Tables { database, what: format!("making version {version} was interrupted") }
        }
        MigrateError::VersionMismatch(version) => {
            ProjectionError::Tables { database, what: format!("version {version} was made differently") }
        }
        error => ProjectionError::Tables { database, what: error.to_string() },
    }
}

/// An error of the database with its text for people.
pub(crate) fn failure(address: &Address, source: &sqlx::Error) -> ProjectionError {
    ProjectionError::Database { database: address.to_string(), what: describe(source) }
}
