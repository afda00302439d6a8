//! Whether stamps rise with sequences, from one move of the clock to the next.

use sqlx::Error;

use super::compare::{Difference, RowPlace};
use super::sums::{Text, WrongRows, cells};
use crate::store::Link;

/// Rows with a stamp before that of the row before, where no move of the clock is between them. What earlier releases wrote,
/// which recorded no moves, is left out, and so are opening balances: their stamp is that of the state.
const FALLING: &str = "\
    FROM (SELECT e.partition_id, e.sequence, e.account_id, e.at_ms, \
        LAG(e.at_ms) OVER (PARTITION BY e.partition_id ORDER BY e.sequence) AS before_ms, \
        LAG(e.sequence) OVER (PARTITION BY e.partition_id ORDER BY e.sequence) AS before_sequence \
        FROM entries AS e WHERE e.kind <> 'opening') AS s \
    LEFT JOIN cursors AS c ON c.partition_id = s.partition_id \
    WHERE s.at_ms < s.before_ms AND s.before_sequence > COALESCE(c.complete_after, 0) AND NOT EXISTS \
        (SELECT 1 FROM clock_moves AS m WHERE m.partition_id = s.partition_id \
        AND m.sequence > s.before_sequence AND m.sequence <= s.sequence)";

/// The first entries whose stamps fall, up to a number, and how many there are.
pub(super) async fn check(link: &mut Link, limit: usize) -> Result<(Vec<Difference>, u64), Error> {
    let text = Text(link.dialect());
    let key = text.list(&["s.partition_id", "s.sequence", "s.account_id"]);
    let columns = format!("{key}, {}, {}", text.of("s.at_ms"), text.of("s.before_ms"));
    let (rows, count) = WrongRows { columns, from: FALLING.to_owned() }.fetch(link, limit).await?;
    let difference = |row: &Vec<_>| {
        let [key, tables, before] = cells(row);
        let log = before.map(|before| format!("no time before {before}, since the clock was not moved"));
        let key = key.unwrap_or_default();
        Difference { table: "entries", key, column: Some("at_ms"), tables, log, place: RowPlace::default() }
    };
    Ok((rows.iter().map(difference).collect(), count))
}
