//! The position of a consumer in a partition's log, in the database.

use scarce_core::event::Position;
use scarce_core::types::signed;
use scarce_sql::{Cell, ColumnKind, Database, DatabaseError, Lent, Link};
use sqlx::Error;

use crate::page::Taken;
use crate::store::now_ms;

/// The key of a cursor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) consumer: &'static str,
    pub(super) partition: u32,
}

impl Key {
    pub(super) fn cells(self) -> [Cell; 2] {
        [Cell::Word(self.consumer), i64::from(self.partition).into()]
    }
}

const FIND: &str = "SELECT epoch, sequence FROM delivery_cursors WHERE consumer = ? AND partition_id = ?";

/// The cursor, if there is one.
pub(super) async fn look(store: &Database, key: Key) -> Result<Option<Position>, DatabaseError> {
    Ok(position(store.fetch(FIND, &key.cells(), &[ColumnKind::Integer; 2]).await?))
}

fn position(rows: Vec<Vec<Cell>>) -> Option<Position> {
    let mut row = Taken::new(rows.into_iter().next()?);
    Some(Position { epoch: row.natural(), sequence: row.natural() })
}

/// Reads the cursor within a transaction that will move it; if it is missing, creates one at `first`.
pub(super) async fn read(link: &mut Link, key: Key, first: Position) -> Result<Position, Error> {
    if let Some(found) = position(link.fetch(FIND, &key.cells(), &[ColumnKind::Integer; 2]).await?) {
        return Ok(found);
    }
    let columns = ["consumer", "partition_id", "epoch", "sequence", "updated_at_ms"];
    let sql = link.dialect().insert_if_missing("delivery_cursors", &columns);
    let [consumer, partition] = key.cells();
    let [epoch, sequence] = place(first);
    link.execute(&sql, &[consumer, partition, epoch, sequence, now_ms().into()]).await?;
    Ok(first)
}

/// Creates a cursor at the beginning, if there is none.
pub(crate) async fn begin_anew(lent: &mut Lent, consumer: &'static str, partition: u32) -> Result<(), Error> {
    lent.begin().await?;
    read(lent, Key { consumer, partition }, Position::default()).await?;
    lent.commit().await
}

/// Up to which event the consumer may have done before what the tables do not know of; 0 if they know all.
pub(super) async fn forgotten_through(link: &mut Link, key: Key) -> Result<u64, Error> {
    let sql = "SELECT forgotten_through FROM delivery_cursors WHERE consumer = ? AND partition_id = ?";
    let row = link.fetch(sql, &key.cells(), &[ColumnKind::Integer]).await?.into_iter().next();
    Ok(row.and_then(|row| Taken::new(row).time()).unwrap_or(0))
}

/// Moves the cursor, unless it has changed since it was read.
pub(super) async fn advance(link: &mut Link, key: Key, from: Position, to: Position) -> Result<bool, Error> {
    let sql = "UPDATE delivery_cursors SET epoch = ?, sequence = ?, updated_at_ms = ? \
               WHERE consumer = ? AND partition_id = ? AND epoch = ? AND sequence = ?";
    let mut values = Vec::from(place(to));
    values.push(now_ms().into());
    values.extend(key.cells());
    values.extend(place(from));
    Ok(link.execute(sql, &values).await? == 1)
}

fn place(position: Position) -> [Cell; 2] {
    [signed(position.epoch).into(), signed(position.sequence).into()]
}
