//! Making the tables, and bringing older ones up to date.

use std::sync::LazyLock;

use scarce_sql::{MigrationFault, Migrations};

use crate::ProjectionError;
use crate::store::{Address, Link, describe};
use crate::table::{Cell, Kind};

static MIGRATIONS: LazyLock<Migrations> = LazyLock::new(|| {
    let texts: [&[&str]; 3] = [
        &[
            include_str!("../migrations/sqlite/0001_tables.sql"),
            include_str!("../migrations/sqlite/0002_views.sql"),
        ],
        &[
            include_str!("../migrations/postgres/0001_tables.sql"),
            include_str!("../migrations/postgres/0002_views.sql"),
        ],
        &[
            include_str!("../migrations/mysql/0001_tables.sql"),
            include_str!("../migrations/mysql/0002_views.sql"),
        ],
    ];
    Migrations::new("_sqlx_migrations", texts)
});

/// Makes what tables are missing, and notes whose log they hold, or refuses another's.
pub(crate) async fn prepare(
    link: &mut Link,
    address: &Address,
    deployment_id: &str,
) -> Result<(), ProjectionError> {
    if let Err(fault) = MIGRATIONS.run(link).await {
        return Err(refusal(fault, address));
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

fn refusal(fault: MigrationFault, address: &Address) -> ProjectionError {
    let database = address.to_string();
    match fault {
        MigrationFault::Newer { found, known } => ProjectionError::Newer { database, found, known },
        MigrationFault::Tables { what } => ProjectionError::Tables { database, what },
        MigrationFault::Database(source) => failure(address, &source),
    }
}

/// An error of the database with its text for people.
pub(crate) fn failure(address: &Address, source: &sqlx::Error) -> ProjectionError {
    ProjectionError::Database { database: address.to_string(), what: describe(source) }
}
