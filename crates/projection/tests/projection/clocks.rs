//! Times that a clock gave while it was ahead, before it was put right.

use scarce_core::state::StateSettings;

use crate::kit::{Database, DatabaseKind, Log, open, take};

const WINDOW_MS: u64 = 20;

#[tokio::test]
async fn an_id_that_was_used_while_the_clock_was_ahead_may_be_used_again() {
    let settings =
        StateSettings { window_ms: WINDOW_MS, window_ms_min: WINDOW_MS, ..StateSettings::default() };
    let mut log = Log::new(settings, 0);
    log.run("ACCOUNT.OPEN a EUR");
    log.run("ACCOUNT.CREDIT a 1 ID k");
    log.put_back(1_000 * WINDOW_MS);
    // With every command the engine forgets some of what it may.
    (0..4 * WINDOW_MS).for_each(|number| log.run(&format!("ACCOUNT.CREDIT a 1 ID n{number}")));
    let before = log.entries.len();
    log.run("ACCOUNT.CREDIT a 1 ID k");
    assert_eq!(log.entries.len(), before + 1, "the engine has forgotten it");
    let database = Database::new(DatabaseKind::Sqlite);
    let projection = open(&database, WINDOW_MS).await;
    let mut consumer = projection.consumer(0);
    for piece in log.pieces(30) {
        take(&mut consumer, &piece).await;
    }
    let uses =
        database.ask(&["use_number"], "FROM operations WHERE operation_id = 'k' ORDER BY use_number").await;
    assert_eq!(uses, [["1".to_owned()], ["2".to_owned()]]);
}
