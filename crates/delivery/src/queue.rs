//! Work queues in the database: claiming rows, and recording results. Both queue tables have the same columns
//! for this.
//!
//! A claim moves `next_at_ms` to the end of the lease, so that the rows of a dead worker become due by
//! themselves, and only the last worker that claimed a row can record its result.

use std::time::Duration;

use scarce_core::event::Position;
use scarce_core::types::signed;
use scarce_sql::{Cell, Column, ColumnKind, Database, DatabaseError, Link};
use sqlx::Error;

use crate::store::{millis, now_ms};

/// How many bytes of an error are kept.
const ERROR_BYTES_MAX: usize = 4 << 10;

/// How many rows are named in one statement.
const IDS_MAX: usize = 512;

/// A table with a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    /// The name, as metrics and people know it.
    pub(crate) name: &'static str,
    pub(crate) table: &'static str,
    /// The column with the row's number.
    pub(crate) id: &'static str,
    /// The state of a row that is done.
    pub(crate) done: &'static str,
}

/// The queue of webhook deliveries.
pub(crate) const WEBHOOKS: Queue =
    Queue { name: "webhooks", table: "delivery_webhooks", id: "delivery_id", done: "delivered" };

/// The queue of settlements.
pub(crate) const SETTLEMENTS: Queue =
    Queue { name: "settlement", table: "delivery_settlements", id: "settlement_id", done: "settled" };

/// How a failed attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failed {
    pub(crate) id: i64,
    /// When to retry; `None` makes it a dead letter.
    pub(crate) next_at_ms: Option<i64>,
    /// The status of an HTTP response.
    pub(crate) status: Option<u16>,
    /// What is wrong.
    pub(crate) reason: String,
    /// What is now known about the attempted operation.
    pub(crate) resolution: Resolution,
}

/// What is known, after an attempt, about whether the operation may have happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Resolution {
    /// No more than before.
    #[default]
    Open,
    /// Neither this attempt nor an earlier one had any effect, and the same id may be used again.
    NotDone,
    /// The id was refused and stays refused, so the next attempt uses another one.
    Refused,
    /// The same, and an attempt with a later id may have happened too.
    RefusedBefore,
}

/// Credits of one epoch of a partition's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Credits {
    /// The numbers of their rows.
    pub(crate) ids: Vec<i64>,
    pub(crate) partition: u32,
    /// The position of the last of them.
    pub(crate) through: Position,
    /// When to look again whether the log's consumer has passed them; `None` if it has.
    pub(crate) next_at_ms: Option<i64>,
}

/// The results of attempts.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    /// Of the successful ones, the row's number and the status of an HTTP response.
    pub(crate) done: Vec<(i64, Option<u16>)>,
    /// Those that the engine has credited.
    pub(crate) credited: Vec<Credits>,
    pub(crate) failed: Vec<Failed>,
}

impl Ended {
    /// Whether there is nothing to record.
    pub(crate) fn is_empty(&self) -> bool {
        self.done.is_empty() && self.credited.is_empty() && self.failed.is_empty()
    }

    /// Adds a credit.
    pub(crate) fn credit(&mut self, id: i64, partition: u32, at: Position) {
        let is_same = |its: &&mut Credits| its.partition == partition && its.through.epoch == at.epoch;
        match self.credited.iter_mut().find(is_same) {
            Some(credits) => {
                credits.ids.push(id);
                credits.through = credits.through.max(at);
            }
            None => {
                self.credited.push(Credits {
                    ids: vec![id],
                    partition,
                    through: at,
                    next_at_ms: Some(now_ms()),
                });
            }
        }
    }
}

/// What a settlement's row says once it has no credit, or that may be lost.
pub(crate) const NO_CREDIT: &str = "credit_partition_id = NULL, credit_epoch = NULL, credit_sequence = NULL";

/// Which due rows to claim.
pub(crate) struct Due<'d> {
    /// A further condition, with its values.
    pub(crate) condition: (&'static str, &'d [Cell]),
    /// The maximum number.
    pub(crate) limit: usize,
    /// The columns to read; the row's number comes first.
    pub(crate) columns: &'static [Column],
    /// Further columns to set, with their values.
    pub(crate) more: (&'d str, &'d [Cell]),
}

impl Queue {
    /// Claims due rows for a worker for the duration `lease`; returns them as they were before.
    pub(crate) async fn claim_due(
        self,
        store: &Database,
        (owner, lease): (&str, Duration),
        due: Due<'_>,
    ) -> Result<Vec<Vec<Cell>>, DatabaseError> {
        // Usually there are none, and a read alone locks nobody out.
        if !self.has_due(store, due.condition).await? {
            return Ok(Vec::new());
        }
        let (condition, values) = of_due(due.condition);
        let mut lent = store.lend_to_write().await?;
        let until = now_ms().saturating_add(millis(lease));
        let rows = self.lock_and_claim(&mut lent, (&condition, &values), (owner, until), due).await;
        let rows = rows.map_err(|error| store.failed(&error))?;
        lent.done();
        Ok(rows)
    }

    /// Whether there are due rows that a condition holds for.
    pub(crate) async fn has_due(
        self,
        store: &Database,
        condition: (&str, &[Cell]),
    ) -> Result<bool, DatabaseError> {
        let (condition, values) = of_due(condition);
        let sql = format!("SELECT {} FROM {} WHERE {condition} LIMIT 1", self.id, self.table);
        Ok(!store.fetch(&sql, &values, &[ColumnKind::Integer]).await?.is_empty())
    }

    async fn lock_and_claim(
        self,
        link: &mut Link,
        (condition, values): (&str, &[Cell]),
        owner: (&str, i64),
        due: Due<'_>,
    ) -> Result<Vec<Vec<Cell>>, Error> {
        let (names, kinds): (Vec<&str>, Vec<ColumnKind>) =
            due.columns.iter().map(|column| (column.name, column.kind)).unzip();
        link.begin().await?;
        let sql = format!(
            "SELECT {} FROM {} WHERE {condition} ORDER BY next_at_ms LIMIT {} {}",
            names.join(", "),
            self.table,
            due.limit,
            link.dialect().skip_locked()
        );
        let rows = link.fetch(&sql, values, &kinds).await?;
        let ids: Vec<i64> = rows.iter().filter_map(|row| row.first()?.integer()).collect();
        self.claim(link, &ids, owner, due.more).await?;
        link.commit().await?;
        Ok(rows)
    }

    /// Claims rows, within a transaction that has locked them. `more` are further columns to set.
    async fn claim(
        self,
        link: &mut Link,
        ids: &[i64],
        (owner, until_ms): (&str, i64),
        (more, more_values): (&str, &[Cell]),
    ) -> Result<(), Error> {
        for ids in ids.chunks(IDS_MAX) {
            let sql = format!(
                "UPDATE {} SET lease_owner = ?, next_at_ms = ?, attempts = attempts + 1{more} WHERE {} IN ({})",
                self.table,
                self.id,
                marks(padded_len(ids.len()))
            );
            let mut values = vec![owner.into(), until_ms.into()];
            values.extend_from_slice(more_values);
            values.extend(padded(ids.iter().copied()));
            link.execute(&sql, &values).await?;
        }
        Ok(())
    }

    /// Records the results of attempts, in one transaction. Rows that another worker has claimed since are
    /// left to it.
    pub(crate) async fn note(self, link: &mut Link, owner: &str, ended: &Ended) -> Result<(), Error> {
        link.begin().await?;
        let mut rest = ended.done.as_slice();
        while let Some((_, status)) = rest.first() {
            let same = rest.iter().take(IDS_MAX).take_while(|(_, its)| its == status).count();
            let (now, later) = rest.split_at(same);
            self.note_done(link, owner, now, *status).await?;
            rest = later;
        }
        for credits in &ended.credited {
            self.note_credited(link, owner, credits).await?;
        }
        for failed in &ended.failed {
            self.note_failed(link, owner, failed).await?;
        }
        link.commit().await
    }

    async fn note_done(
        self,
        link: &mut Link,
        owner: &str,
        done: &[(i64, Option<u16>)],
        status: Option<u16>,
    ) -> Result<(), Error> {
        let sql = format!(
            "UPDATE {} SET state = '{}', done_at_ms = ?, lease_owner = NULL, last_status = ?, last_error = NULL \
             WHERE {} IN ({}) AND lease_owner = ? AND state = 'pending'",
            self.table,
            self.done,
            self.id,
            marks(padded_len(done.len()))
        );
        let mut values = vec![now_ms().into(), status.map(i64::from).into()];
        values.extend(padded(done.iter().map(|(id, _)| *id)));
        values.push(owner.into());
        link.execute(&sql, &values).await.map(drop)
    }

    /// Records where credits are in the log; they are done once its consumer has passed them. Until then looking again is
    /// not another attempt.
    async fn note_credited(self, link: &mut Link, owner: &str, credits: &Credits) -> Result<(), Error> {
        let Credits { ids, partition, through, next_at_ms } = credits;
        let change = if next_at_ms.is_some() {
            "next_at_ms = ?, attempts = attempts - 1".to_owned()
        } else {
            format!("done_at_ms = ?, state = '{}'", self.done)
        };
        for ids in ids.chunks(IDS_MAX) {
            let sql = format!(
                "UPDATE {} SET {change}, credit_partition_id = ?, credit_epoch = ?, credit_sequence = ?, \
                 lease_owner = NULL, last_status = NULL, last_error = NULL \
                 WHERE {} IN ({}) AND lease_owner = ? AND state = 'pending'",
                self.table,
                self.id,
                marks(padded_len(ids.len()))
            );
            let mut values = vec![next_at_ms.unwrap_or_else(now_ms).into(), i64::from(*partition).into()];
            values.extend([through.epoch, through.sequence].map(|it| Cell::from(signed(it))));
            values.extend(padded(ids.iter().copied()));
            values.push(owner.into());
            link.execute(&sql, &values).await?;
        }
        Ok(())
    }

    async fn note_failed(self, link: &mut Link, owner: &str, failed: &Failed) -> Result<(), Error> {
        let state = if failed.next_at_ms.is_some() { "pending" } else { "dead" };
        let resolution = match failed.resolution {
            Resolution::Open => String::new(),
            Resolution::NotDone => format!(", first_tried_at_ms = NULL, {NO_CREDIT}"),
            Resolution::Refused => {
                format!(", first_tried_at_ms = NULL, operation_round = operation_round + 1, {NO_CREDIT}")
            }
            Resolution::RefusedBefore => format!(", operation_round = operation_round + 1, {NO_CREDIT}"),
        };
        let sql = format!(
            "UPDATE {} SET state = '{state}', next_at_ms = ?, lease_owner = NULL, last_status = ?, last_error = ?\
             {resolution} WHERE {} = ? AND lease_owner = ? AND state = 'pending'",
            self.table, self.id
        );
        let values = [
            failed.next_at_ms.unwrap_or_else(now_ms).into(),
            failed.status.map(i64::from).into(),
            clipped(&failed.reason).into(),
            failed.id.into(),
            owner.into(),
        ];
        link.execute(&sql, &values).await.map(drop)
    }
}

/// The condition of due rows, with its values.
fn of_due((condition, values): (&str, &[Cell])) -> (String, Vec<Cell>) {
    let due = format!("state = 'pending' AND next_at_ms <= ? AND {condition}");
    (due, [&[now_ms().into()], values].concat())
}

/// How many rows a statement names: a power of two, so that there are few distinct statements and prepared
/// ones are reused.
fn padded_len(count: usize) -> usize {
    count.next_power_of_two()
}

/// The numbers of rows, with the last one repeated.
fn padded(ids: impl ExactSizeIterator<Item = i64> + Clone) -> impl Iterator<Item = Cell> {
    let count = padded_len(ids.len());
    let last = ids.clone().last();
    ids.chain(std::iter::repeat_n(last, count).flatten()).take(count).map(Cell::from)
}

/// `?, ?, ?`.
pub(crate) fn marks(count: usize) -> String {
    vec!["?"; count].join(", ")
}

/// The part of a text that is kept, without the character that PostgreSQL cannot store.
pub(crate) fn clipped(text: &str) -> String {
    let mut end = text.len().min(ERROR_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].replace('\0', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_come_in_few_shapes() {
        let padded: Vec<Cell> = padded([7, 8, 9].into_iter()).collect();
        assert_eq!(padded, [7, 8, 9, 9].map(Cell::from));
        assert_eq!((padded_len(1), padded_len(4), padded_len(IDS_MAX)), (1, 4, IDS_MAX));
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let long = "é".repeat(3_000) + "\0";
        let kept = clipped(&long);
        assert!(kept.len() <= ERROR_BYTES_MAX && kept.chars().all(|character| character == 'é'));
        assert_eq!(clipped("a\0b"), "a b");
    }
}
