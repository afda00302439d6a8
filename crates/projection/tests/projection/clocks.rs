//! Times that a clock gave while it was ahead, before it was put right.

use scarce_core::state::StateSettings;

use crate::kit::{Database, DatabaseKind, Log, open, take};
use crate::verifying::wrong_sums;

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

#[tokio::test]
async fn an_id_may_be_used_again_soon_after_its_first_time_if_the_clock_was_moved_in_between() {
    let settings =
        StateSettings { window_ms: WINDOW_MS, window_ms_min: WINDOW_MS, ..StateSettings::default() };
    let mut log = Log::new(settings, 0);
    log.run("ACCOUNT.OPEN a EUR");
    log.run("ACCOUNT.CREDIT a 1 ID k");
    // Back by so much that the time of the second use is a little later than that of the first one.
    log.put_back(4 * WINDOW_MS);
    (0..4 * WINDOW_MS).for_each(|number| log.run(&format!("ACCOUNT.CREDIT a 1 ID n{number}")));
    let before = log.entries.len();
    log.run("ACCOUNT.CREDIT a 1 ID k");
    assert_eq!(log.entries.len(), before + 1, "the engine has forgotten it");
    for kind in DatabaseKind::ALL {
        let database = Database::new(kind);
        let projection = open(&database, WINDOW_MS).await;
        for piece in log.pieces(30) {
            // Each begins with what is in the database.
            take(&mut projection.consumer(0), &piece).await;
        }
        let uses = database.figure("COUNT(*)", "FROM operations WHERE operation_id = 'k'").await;
        assert_eq!(uses, "2", "{kind:?}");
    }
}

#[tokio::test]
async fn stamps_that_fall_are_reported_unless_the_clock_was_moved() {
    for kind in DatabaseKind::ALL {
        let database = Database::new(kind);
        let projection = open(&database, 5).await;
        let mut log = Log::new(StateSettings::default(), 0);
        for line in ["ACCOUNT.OPEN a EUR", "ACCOUNT.CREDIT a 1", "ACCOUNT.CREDIT a 2"] {
            log.run(line);
        }
        log.put_back(1_000);
        log.run("ACCOUNT.CREDIT a 3");
        log.run("ACCOUNT.CREDIT a 4");
        take(&mut projection.consumer(0), &log.all()).await;
        assert_eq!(database.figure("from_ms - to_ms", "FROM clock_moves").await, "1000", "{kind:?}");
        assert_eq!(wrong_sums(&projection).await, [], "{kind:?}");
        database.run("UPDATE entries SET at_ms = at_ms - 10 WHERE amount = 4").await;
        assert_eq!(wrong_sums(&projection).await, [("entries", Some("at_ms"))], "{kind:?}");
        database.run("UPDATE entries SET at_ms = at_ms + 10 WHERE amount = 4").await;
        database.run("DELETE FROM clock_moves").await;
        assert_eq!(wrong_sums(&projection).await, [("entries", Some("at_ms"))], "{kind:?}: the move is lost");
        // As an earlier release would have left them.
        database.run("UPDATE cursors SET complete_after = sequence").await;
        assert_eq!(wrong_sums(&projection).await, [], "{kind:?}");
    }
}
