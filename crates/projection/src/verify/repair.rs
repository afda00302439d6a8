//! Puts rows right that are not what the log makes of them: only those, in one transaction, at the position at which they
//! were compared.

use sqlx::Error;

use crate::store::Link;
use crate::table::{Cell, Table};
use crate::verify::{Frozen, Replay, Scope, compare, sums};
use crate::{Projection, ProjectionError};

/// How many rows were, or would be, put right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Rows that were missing.
    pub added: u64,
    /// Rows with another value.
    pub changed: u64,
    /// Rows that the log does not make.
    pub removed: u64,
    /// Rows that stay as they are, since the log no longer tells all of their values.
    pub left: u64,
}

/// What became of a repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// The rows are right now, or would be.
    Done(Repaired),
    /// The tables were written to since they were compared; nothing was changed.
    Moved,
    /// The sums within the tables agreed before and would not afterwards; nothing was changed. Then the rows are right, and
    /// not what they were compared with.
    Unbalanced,
}

impl Projection {
    /// Puts the rows right that a comparison at `compared` found, in one transaction. Consumers that run meanwhile wait, and
    /// forget the rows that they have in memory. Without `commits` the transaction is rolled back in the end, so that nothing is
    /// changed.
    ///
    /// # Errors
    /// When one of the databases does not answer, or refuses a row; then nothing was changed.
    pub async fn repair(
        &self,
        compared: &Frozen,
        replay: &Replay,
        scope: &Scope,
        commits: bool,
    ) -> Result<Repair, ProjectionError> {
        let (store, made) = (self.store(), replay.projection().store());
        let mut link = store.in_time(store.connect()).await?;
        let mut other = made.in_time(made.connect()).await?;
        let repaired = self.repair_by(&mut link, &mut other, compared, scope, commits).await;
        // What was not committed is rolled back with the connection.
        link.close().await;
        other.close().await;
        repaired
    }

    async fn repair_by(
        &self,
        link: &mut Link,
        made: &mut Link,
        compared: &Frozen,
        scope: &Scope,
        commits: bool,
    ) -> Result<Repair, ProjectionError> {
        let store = self.store();
        link.begin().await.map_err(|error| store.failed(&error))?;
        // Locks the cursors, so that no consumer writes before the end.
        let locked = link.run("UPDATE cursors SET updated_at_ms = updated_at_ms").await;
        locked.map_err(|error| store.failed(&error))?;
        if self.positions_by(link).await? != compared.positions() {
            return Ok(Repair::Moved);
        }
        let agreed = self.sums_agree(link).await?;
        let mut repaired = Repaired::default();
        let scope = compared.within(scope);
        let done = compare::compare(link, made, (&scope, 0), &mut |_| true, Some(&mut repaired)).await;
        done.map_err(|error| store.failed(&error))?;
        if agreed && !self.sums_agree(link).await? {
            return Ok(Repair::Unbalanced);
        }
        // So that consumers see that rows were changed.
        let marked = link.run("UPDATE cursors SET updated_at_ms = updated_at_ms + 1").await;
        marked.map_err(|error| store.failed(&error))?;
        let ended = if commits { link.commit().await } else { link.roll_back().await };
        ended.map_err(|error| store.failed(&error))?;
        Ok(Repair::Done(repaired))
    }

    async fn sums_agree(&self, link: &mut Link) -> Result<bool, ProjectionError> {
        let found = sums::check(link, 1).await;
        let (found, _) = found.map_err(|error| self.store().failed(&error))?;
        Ok(found.is_empty())
    }
}

impl Repaired {
    /// Puts one row right.
    pub(super) async fn put(
        &mut self,
        link: &mut Link,
        table: &Table,
        (its, made): (Option<&[Cell]>, Option<&[Cell]>),
        scope: &Scope,
    ) -> Result<(), Error> {
        if its != made && !scope.is_repairable(table, its, made) {
            self.left += u64::from(differs(table, its, made, scope));
            return Ok(());
        }
        let statement = match (its, made) {
            (Some(its), Some(made)) if its != made => {
                let differs =
                    |at: usize| its[at] != made[at] && scope.compares(table, table.columns[at].name, its);
                let columns: Vec<usize> = (0..table.columns.len()).filter(|at| differs(*at)).collect();
                if columns.is_empty() {
                    return Ok(());
                }
                self.changed += 1;
                update(table, &columns, made)
            }
            (None, Some(made)) => {
                if table.columns.iter().any(|column| !scope.compares(table, column.name, made)) {
                    self.left += 1;
                    return Ok(());
                }
                self.added += 1;
                insert(table, made)
            }
            (Some(its), None) => {
                self.removed += 1;
                let (condition, values) = key(table, its);
                (format!("DELETE FROM {}{condition}", table.name), values)
            }
            _ => return Ok(()),
        };
        link.execute(&statement.0, &statement.1).await.map(drop)
    }
}

/// Whether a row differs in what both sides can know.
fn differs(table: &Table, its: Option<&[Cell]>, made: Option<&[Cell]>, scope: &Scope) -> bool {
    let Some((its, made)) = its.zip(made) else { return true };
    let mut columns = table.columns.iter().zip(its).zip(made);
    columns.any(|((column, its_cell), made_cell)| {
        its_cell != made_cell && scope.compares(table, column.name, its)
    })
}

/// The condition of one row.
fn key(table: &Table, row: &[Cell]) -> (String, Vec<Cell>) {
    let columns: Vec<String> = table.key().iter().map(|column| format!("{} = ?", column.name)).collect();
    (format!(" WHERE {}", columns.join(" AND ")), row[..table.key_columns].to_vec())
}

/// A mark for a value; nothing is written out, since a database must know of what type it is not.
fn mark(cell: &Cell) -> &'static str {
    if *cell == Cell::Null { "NULL" } else { "?" }
}

fn update(table: &Table, columns: &[usize], made: &[Cell]) -> (String, Vec<Cell>) {
    let set: Vec<String> =
        columns.iter().map(|at| format!("{} = {}", table.columns[*at].name, mark(&made[*at]))).collect();
    let mut values: Vec<Cell> = columns.iter().map(|at| made[*at].clone()).collect();
    values.retain(|value| *value != Cell::Null);
    let (condition, key) = key(table, made);
    values.extend(key);
    (format!("UPDATE {} SET {}{condition}", table.name, set.join(", ")), values)
}

fn insert(table: &Table, made: &[Cell]) -> (String, Vec<Cell>) {
    let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    let marks: Vec<&str> = made.iter().map(mark).collect();
    let values = made.iter().filter(|value| **value != Cell::Null).cloned().collect();
    (format!("INSERT INTO {} ({}) VALUES ({})", table.name, columns.join(", "), marks.join(", ")), values)
}
