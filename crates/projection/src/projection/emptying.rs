//! Emptying the tables.

use sqlx::Error;

use crate::rows::TABLES;
use crate::store::{Dialect, Link};
use crate::table::Cell;

/// The key in `meta` while tables are being emptied one by one.
pub(crate) const MARK: &str = "rebuilding";

/// Empties every table, the cursors first: a consumer that is writing has locked its cursor before, and one
/// that comes later does not find its cursor.
pub(super) async fn empty(link: &mut Link) -> Result<(), Error> {
    match link.dialect() {
        Dialect::Sqlite => {
            link.begin().await?;
            link.execute("DELETE FROM cursors", &[]).await?;
            for table in TABLES {
                link.execute(&format!("DELETE FROM {}", table.name), &[]).await?;
            }
            link.commit().await
        }
        Dialect::Postgres => {
            let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
            link.begin().await?;
            // A consumer begins with its cursor, which may not exist yet.
            link.run("LOCK TABLE cursors IN EXCLUSIVE MODE").await?;
            link.execute("DELETE FROM cursors", &[]).await?;
            link.execute(&format!("TRUNCATE {}", names.join(", ")), &[]).await?;
            link.commit().await
        }
        Dialect::MySql => empty_by_steps(link).await,
    }
}

/// Empties the rows of some partitions, the cursors first for the same reason.
pub(super) async fn empty_partitions(link: &mut Link, partitions: &[u32]) -> Result<(), Error> {
    let marks = vec!["?"; partitions.len()].join(", ");
    let values: Vec<Cell> = partitions.iter().map(|partition| Cell::from(i64::from(*partition))).collect();
    link.begin().await?;
    if link.dialect() == Dialect::Postgres {
        link.run("LOCK TABLE cursors IN EXCLUSIVE MODE").await?;
    }
    for table in std::iter::once("cursors").chain(TABLES.iter().map(|table| table.name)) {
        link.execute(&format!("DELETE FROM {table} WHERE partition_id IN ({marks})"), &values).await?;
    }
    link.commit().await
}

/// MySQL cannot roll back a `TRUNCATE`. A mark stays until all tables are empty, so that no consumer fills
/// them before, and an interrupted rebuild is continued.
async fn empty_by_steps(link: &mut Link) -> Result<(), Error> {
    link.begin().await?;
    let sql = link.dialect().insert_if_missing("meta", &["name", "value"]);
    link.execute(&sql, &[Cell::from(MARK), Cell::from("yes")]).await?;
    link.execute("DELETE FROM cursors", &[]).await?;
    link.commit().await?;
    for table in TABLES {
        link.execute(&format!("TRUNCATE TABLE {}", table.name), &[]).await?;
    }
    link.execute("DELETE FROM meta WHERE name = ?", &[Cell::from(MARK)]).await.map(drop)
}
