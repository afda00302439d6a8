//! The cursor of a partition in the database.

use scarce_core::event::Position;
use scarce_core::types::signed;

use super::BatchFailure;
use crate::ProjectionError;
use crate::fold::{AskedCommand, LogCursor, OpenSteps};
use crate::projection::{MARK, Projection};
use crate::rows::CommandName;
use crate::store::Link;
use crate::table::{Cell, ColumnKind, Field, Text};

/// When the tables were written to last, as the cursor says. A repair changes it without moving the cursor, so that nobody goes on
/// with rows in memory from before it.
pub(super) type WrittenAt = i64;

/// Reads the cursor, and when the tables were written to last; without one it is at the beginning of the log.
pub(super) async fn look(
    link: &mut Link,
    projection: &Projection,
    partition: u32,
) -> Result<(LogCursor, WrittenAt), BatchFailure> {
    let cursor = find(link, projection, partition).await?;
    check(link, projection).await?;
    Ok(cursor.unwrap_or_default())
}

/// Reads the cursor within a transaction that will move it; creates it if it is missing.
pub(super) async fn read(
    link: &mut Link,
    projection: &Projection,
    partition: u32,
) -> Result<(LogCursor, WrittenAt), BatchFailure> {
    let cursor = match find(link, projection, partition).await? {
        Some(cursor) => cursor,
        None => {
            let columns = ["deployment_id", "partition_id", "epoch", "sequence", "updated_at_ms"];
            let sql = link.dialect().insert_if_missing("cursors", &columns);
            let [deployment_id, partition_id] = key(projection, partition);
            let now = super::now_ms();
            let values = [deployment_id, partition_id, 0.into(), 0.into(), now.into()];
            link.execute(&sql, &values).await?;
            (LogCursor::default(), now)
        }
    };
    // Only now: from here on, a rebuild that empties the tables waits for this transaction, or has already
    // set its mark.
    check(link, projection).await?;
    Ok(cursor)
}

async fn find(
    link: &mut Link,
    projection: &Projection,
    partition: u32,
) -> Result<Option<(LogCursor, WrittenAt)>, BatchFailure> {
    const KINDS: [ColumnKind; 7] = {
        let mut kinds = [ColumnKind::Integer; 7];
        (kinds[5], kinds[6]) = (ColumnKind::Text, ColumnKind::Text);
        kinds
    };
    let sql = "SELECT epoch, sequence, step_sequence, at_ms, updated_at_ms, step_command, step_arguments FROM cursors \
               WHERE deployment_id = ? AND partition_id = ?";
    let rows = link.fetch(sql, &key(projection, partition), &KINDS).await?;
    Ok(rows.first().map(|row| cursor(row)))
}

fn key(projection: &Projection, partition: u32) -> [Cell; 2] {
    [Cell::from(projection.store().deployment_id()), Cell::from(i64::from(partition))]
}

/// Checks that the tables belong to this deployment, and are not being emptied.
async fn check(link: &mut Link, projection: &Projection) -> Result<(), BatchFailure> {
    let sql = "SELECT name, value FROM meta WHERE name IN ('deployment_id', ?)";
    let database = || projection.store().address().to_string();
    let mut found = "-".to_owned();
    for row in link.fetch(sql, &[Cell::from(MARK)], &[ColumnKind::Text; 2]).await? {
        match row.as_slice() {
            [name, _] if name.text() == Some(MARK) => {
                return Err(ProjectionError::Rebuilding { database: database() }.into());
            }
            [_, value] => found = value.to_string(),
            _ => {}
        }
    }
    if found == projection.store().deployment_id() {
        return Ok(());
    }
    Err(projection.store().others(found).into())
}

fn cursor(row: &[Cell]) -> (LogCursor, WrittenAt) {
    let number = |at: usize| match row.get(at) {
        Some(Cell::Integer(value)) => u64::try_from(*value).ok(),
        _ => None,
    };
    let position = Position { epoch: number(0).unwrap_or(0), sequence: number(1).unwrap_or(0) };
    let written_at = row.get(4).and_then(Cell::integer).unwrap_or(0);
    let cell = |at: usize| row.get(at).cloned().unwrap_or(Cell::Null);
    let asked = || AskedCommand {
        command: CommandName::read(cell(5)),
        arguments: Option::<Text>::read(cell(6)).unwrap_or_default(),
    };
    let step = number(2).map(|sequence| OpenSteps { sequence, asked: asked() });
    (LogCursor { position, step, at_ms: number(3) }, written_at)
}

/// Moves the cursor, unless it has changed since it was read, or rows were put right since.
pub(super) async fn advance(
    link: &mut Link,
    projection: &Projection,
    partition: u32,
    ((from, written_at), to): ((LogCursor, WrittenAt), LogCursor),
    now_ms: i64,
) -> Result<(), BatchFailure> {
    // A text that is not there is passed as an empty one: PostgreSQL takes no number for it, not even one that is not there.
    let sql = "UPDATE cursors SET epoch = ?, sequence = ?, step_sequence = ?, step_command = NULLIF(?, ''), \
               step_arguments = NULLIF(?, ''), at_ms = ?, updated_at_ms = ? \
               WHERE deployment_id = ? AND partition_id = ? AND epoch = ? AND sequence = ? AND updated_at_ms = ?";
    let place =
        |position: Position| [Cell::from(signed(position.epoch)), Cell::from(signed(position.sequence))];
    let optional = |number: Option<u64>| number.map_or(Cell::Null, |number| Cell::from(signed(number)));
    let mut values = Vec::from(place(to.position));
    let AskedCommand { command, arguments } =
        to.step.as_ref().map(|step| step.asked.clone()).unwrap_or_default();
    values.push(optional(to.step.map(|step| step.sequence)));
    values.push(command.map_or(Cell::Word(""), Field::cell));
    values.push(arguments.map_or(Cell::Word(""), Cell::Text));
    values.extend([optional(to.at_ms), now_ms.into()]);
    values.extend([Cell::from(projection.store().deployment_id()), Cell::from(i64::from(partition))]);
    values.extend(place(from.position));
    values.push(written_at.into());
    if link.execute(sql, &values).await? == 1 { Ok(()) } else { Err(BatchFailure::Overtaken) }
}
