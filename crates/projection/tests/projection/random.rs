//! Random logs, cut at random and repeated at random, with consumers that come and go.

use std::collections::BTreeMap;

use scarce_core::event::{Entry, Position};
use scarce_outflow::Batch;
use scarce_projection::Projection;
use scarce_sim::random::Random;

use crate::agreement;
use crate::kit::{Database, DatabaseKind, Log, batch, dump, number, open, position, split, take};

/// How long the random sequences of commands are.
const STEPS: usize = 200;

/// The time within which the random sequences do not reuse ids, by their settings.
const IDS_KEPT_MS_MIN: u64 = 5;

/// A batch that follows the position, or repeats earlier events, and begins or ends anywhere.
fn next(entries: &[Entry], reached: Position, random: &mut Random) -> Batch {
    let is_behind = |entry: &Entry| entry.sequence_last() <= reached.sequence;
    let known = entries.iter().take_while(|entry| is_behind(entry)).count();
    let first = known.saturating_sub(pick(random, 4) * usize::from(random.percent(30)));
    let last = (known + 1 + pick(random, 30)).min(entries.len());
    let mut pieces: Vec<Entry> = entries[first..last].to_vec();
    if random.percent(40)
        && let Some(end) = pieces.pop()
    {
        // It ends in the middle of an entry.
        let mut halves = split(&end, random);
        halves.truncate(1);
        pieces.append(&mut halves);
    }
    let before = pieces[0].head.sequence_first - 1;
    // Its beginning may be within its first entry.
    let sequence = (before + random.below(2)).min(reached.sequence);
    batch(&pieces, Position { epoch: reached.epoch, sequence })
}

fn pick(random: &mut Random, below: u64) -> usize {
    usize::try_from(random.below(below)).expect("a count")
}

/// Projects a log in random pieces, with new consumers in between.
async fn project(projection: &Projection, entries: &[Entry], random: &mut Random) {
    let mut consumer = projection.consumer(0);
    let mut reached = position(&mut consumer).await;
    let end = entries.last().map(Entry::end).unwrap_or_default();
    // The rest of an entry that was cut follows in the next piece.
    let mut pieces: Vec<Entry> = entries.iter().flat_map(|entry| split(entry, random)).collect();
    pieces.dedup();
    while reached.sequence < end.sequence {
        if random.percent(20) {
            consumer = projection.consumer(0);
        }
        let from = if random.percent(50) { entries } else { &pieces };
        let batch = next(from, reached, random);
        take(&mut consumer, &batch).await;
        reached = reached.max(batch.end());
        if random.percent(30) {
            assert_eq!(position(&mut consumer).await, reached);
        }
    }
}

/// All rows, but for what an operation did: of an entry that is cut, only the last piece is seen. No source cuts any.
async fn comparable(database: &Database) -> BTreeMap<String, Vec<String>> {
    let mut tables = dump(database).await;
    for row in tables.get_mut("operations").into_iter().flatten() {
        let columns: Vec<&str> = row.split(" | ").take(10).collect();
        *row = columns.join(" | ");
    }
    tables
}

async fn random_logs(kind: DatabaseKind, sequences: u64) {
    let (first, count) = (number("SCARCE_SEED", 1), number("SCARCE_SEQUENCES", sequences));
    let (whole, pieces) = (Database::new(kind), Database::new(kind));
    let (at_once, bit_by_bit) = (open(&whole, IDS_KEPT_MS_MIN).await, open(&pieces, IDS_KEPT_MS_MIN).await);
    for seed in first..first + count {
        let log = Log::random(seed, STEPS);
        at_once.rebuild().await.expect("the database");
        bit_by_bit.rebuild().await.expect("the database");
        take(&mut at_once.consumer(0), &log.all()).await;
        project(&bit_by_bit, &log.entries, &mut Random::new(seed)).await;
        assert_eq!(comparable(&whole).await, comparable(&pieces).await, "seed {seed}");
        agreement::check(&whole, &log).await;
    }
}

#[tokio::test]
async fn random_logs_come_out_as_the_machine_has_them_in_sqlite() {
    random_logs(DatabaseKind::Sqlite, 150).await;
}

#[tokio::test]
async fn random_logs_come_out_as_the_machine_has_them_in_postgres() {
    random_logs(DatabaseKind::Postgres, 30).await;
}

#[tokio::test]
async fn random_logs_come_out_as_the_machine_has_them_in_mariadb() {
    random_logs(DatabaseKind::MariaDb, 30).await;
}
