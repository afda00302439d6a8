//! Compares the tables with what the log makes of them: every row, at one position of each partition.

mod compare;
mod repair;
mod replay;
mod scope;
mod sums;

use scarce_sql::Dialect;

use crate::rows::TABLES;
use crate::store::Link;
use crate::table::{Cell, ColumnKind};
use crate::{ProjectedPosition, Projection, ProjectionError};
pub use compare::{Compared, Difference, RowPlace};
pub use repair::{Repair, Repaired};
pub use replay::Replay;
pub use scope::Scope;

/// How each database begins to read what is there now, whatever is written meanwhile.
const BEGINS: [(Dialect, &[&str]); 3] = [
    (Dialect::Sqlite, &["BEGIN"]),
    (Dialect::Postgres, &["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"]),
    (
        Dialect::MySql,
        &["SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION WITH CONSISTENT SNAPSHOT"],
    ),
];

/// The tables as they are at one moment.
#[derive(Debug)]
pub struct Frozen {
    projection: Projection,
    link: Link,
    positions: Vec<ProjectedPosition>,
}

impl Projection {
    /// Begins to read the tables as they are now. Consumers go on writing.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn freeze(&self) -> Result<Frozen, ProjectionError> {
        let store = self.store();
        let mut link = store.in_time(store.connect()).await?;
        let begins = BEGINS.iter().find(|(dialect, _)| *dialect == link.dialect());
        for sql in begins.map_or(&[][..], |(_, statements)| statements) {
            link.run(sql).await.map_err(|error| store.failed(&error))?;
        }
        let positions = self.positions_by(&mut link).await?;
        Ok(Frozen { projection: self.clone(), link, positions })
    }
}

impl Frozen {
    /// How far each partition's log is in the tables.
    #[must_use]
    pub fn positions(&self) -> &[ProjectedPosition] {
        &self.positions
    }

    /// Whether any table has a row of a partition.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn has_rows_of(&mut self, partition: u32) -> Result<bool, ProjectionError> {
        let of_partitions =
            TABLES.iter().filter(|table| table.columns.iter().any(|column| column.name == "partition_id"));
        for table in of_partitions {
            let sql = format!("SELECT partition_id FROM {} WHERE partition_id = ? LIMIT 1", table.name);
            let found =
                self.link.fetch(&sql, &[Cell::from(i64::from(partition))], &[ColumnKind::Integer]).await;
            if !found.map_err(|error| self.projection.store().failed(&error))?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Compares every row with those that the log was replayed into; the first differences, up to `limit`.
    ///
    /// # Errors
    /// When one of the databases does not answer.
    pub async fn compare(&mut self, replay: &Replay, limit: usize) -> Result<Compared, ProjectionError> {
        self.compare_within(replay, &Scope::default(), limit, &mut |_| true).await
    }

    /// The same, of what both sides can know. `go_on` gets the number of rows from time to time; where it answers no, what
    /// was compared until then is returned.
    ///
    /// # Errors
    /// When one of the databases does not answer.
    pub async fn compare_within(
        &mut self,
        replay: &Replay,
        scope: &Scope,
        limit: usize,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Compared, ProjectionError> {
        let made = replay.projection().store();
        let mut other = made.in_time(made.connect()).await?;
        let compared = compare::compare(&mut self.link, &mut other, (scope, limit), go_on, None).await;
        other.close().await;
        Ok(compared.map_err(|error| self.projection.store().failed(&error))?)
    }

    /// Compares sums within the tables: what they tell of themselves where the log no longer tells it. The first
    /// differences of each kind, up to `limit`, and how many there are.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn check_sums(&mut self, limit: usize) -> Result<(Vec<Difference>, u64), ProjectionError> {
        let found = sums::check(&mut self.link, limit).await;
        Ok(found.map_err(|error| self.projection.store().failed(&error))?)
    }

    /// Ends reading.
    pub async fn close(self) {
        self.link.close().await;
    }
}
