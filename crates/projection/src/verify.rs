//! Compares the tables with what the log makes of them: every row, at one position of each partition.

mod compare;
mod repair;
mod replay;
mod scope;
mod stamps;
mod sums;

use scarce_sql::Dialect;
use sqlx::Error;

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
    /// The last sequence of each partition of which a release wrote operations that did not write all of their columns.
    undescribed: Vec<(u32, u64)>,
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
        let undescribed = undescribed(&mut link).await.map_err(|error| store.failed(&error))?;
        Ok(Frozen { projection: self.clone(), link, positions, undescribed })
    }
}

async fn undescribed(link: &mut Link) -> Result<Vec<(u32, u64)>, Error> {
    let sql = "SELECT partition_id, complete_after FROM cursors WHERE complete_after IS NOT NULL";
    let rows = link.fetch(sql, &[], &[ColumnKind::Integer; 2]).await?;
    let pair = |row: &Vec<Cell>| match row.as_slice() {
        [Cell::Integer(partition), Cell::Integer(sequence)] => {
            Some((u32::try_from(*partition).ok()?, u64::try_from(*sequence).ok()?))
        }
        _ => None,
    };
    Ok(rows.iter().filter_map(pair).collect())
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
        let scope = self.within(scope);
        let compared = compare::compare(&mut self.link, &mut other, (&scope, limit), go_on, None).await;
        other.close().await;
        Ok(compared.map_err(|error| self.projection.store().failed(&error))?)
    }

    /// The scope without what earlier releases did not write.
    fn within(&self, scope: &Scope) -> Scope {
        let mut scope = scope.clone();
        self.undescribed
            .iter()
            .for_each(|(partition, through)| scope.leave_undescribed(*partition, *through));
        scope
    }

    /// Compares sums within the tables, and stamps with those before them: what they tell of themselves where the log no longer
    /// tells it. The first differences of each kind, up to `limit`, and how many there are.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn check_sums(&mut self, limit: usize) -> Result<(Vec<Difference>, u64), ProjectionError> {
        let failed = |error| self.projection.store().failed(&error);
        let (mut found, mut count) = sums::check(&mut self.link, limit).await.map_err(failed)?;
        let (falling, of_these) = stamps::check(&mut self.link, limit).await.map_err(failed)?;
        found.extend(falling);
        count += of_these;
        Ok((found, count))
    }

    /// Ends reading.
    pub async fn close(self) {
        self.link.close().await;
    }
}
