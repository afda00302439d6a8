//! Rows that were changed by hand are put right, and no others.

use scarce_projection::Repaired;
use scarce_reconcile::Served;
use scarce_testkit::{Database, DatabaseKind};
use tokio::runtime::Runtime;

use crate::kit::{Bench, LINES, compare, database, mend, runtime};

/// One row of each kind of wrong: another value, nothing where there is one and one where there is nothing, one that is
/// gone, and one too many.
const WRONG: [&str; 5] = [
    "UPDATE accounts SET balance = 500, available = 500 WHERE account_id = '{a}u2'",
    "UPDATE entries SET operation_id = NULL WHERE operation_id = 'pay-1'",
    "UPDATE entries SET operation_id = 'none' WHERE amount = -80",
    "DELETE FROM entries WHERE amount = -120",
    "INSERT INTO packet_claims (campaign_id, packet, partition_id, sequence, user_id, amount, at_ms) \
     SELECT campaign_id, 3, partition_id, 999, 'thief', 10, 1 FROM packet_campaigns",
];

const PUT_RIGHT: Repaired = Repaired { added: 1, changed: 3, removed: 1, left: 0 };

fn spoil(runtime: &Runtime, database: &Database) {
    WRONG.iter().for_each(|sql| runtime.block_on(database.run(sql)));
}

#[test]
fn rows_are_put_right_in_every_database_and_only_where_it_is_wanted() {
    let runtime = runtime();
    Bench::each(|bench| {
        for kind in DatabaseKind::ALL {
            let database = database(&runtime, kind);
            let projection = bench.project(&runtime, &database);
            let mut log = Served::new(bench.engine.clone());
            let untouched = mend(&runtime, &mut log, &projection, true);
            let repair = untouched.repair.clone().expect("a repair");
            assert_eq!((repair.is_done, repair.rows), (true, Repaired::default()), "{kind:?}");
            spoil(&runtime, &database);
            for commits in [false, true] {
                let report = mend(&runtime, &mut log, &projection, commits);
                assert!(report.differences() > 0, "{kind:?}: what was only shown is still wrong");
                let repair = report.repair.clone().expect("a repair");
                assert_eq!((repair.is_done, repair.rows), (commits, PUT_RIGHT), "{kind:?}: {report:#?}");
            }
            let report = compare(&runtime, &mut log, Some(bench), Some(&projection));
            assert_eq!(report.differences(), 0, "{kind:?}: {report:#?}");
            // The tables take what is written next.
            bench.send("ACCOUNT.CREDIT {a}u2 1");
            (0..crate::kit::PARTITIONS)
                .for_each(|partition| bench.project_on(&runtime, &projection, partition));
            let report = compare(&runtime, &mut log, Some(bench), Some(&projection));
            assert_eq!(report.differences(), 0, "{kind:?}: {report:#?}");
        }
    });
}

/// The rows of a log that contradicts itself are not what should be.
#[test]
fn nothing_is_put_right_by_a_log_that_is_broken() {
    let (runtime, bench) = (runtime(), Bench::embedded());
    LINES.iter().for_each(|line| bench.send(line));
    let database = database(&runtime, DatabaseKind::Sqlite);
    let projection = bench.project(&runtime, &database);
    let mut log = bench.copy();
    let place = log.find(|name, _| name == "account.debited");
    log.lose(place, false);
    let report = mend(&runtime, &mut log, &projection, true);
    let repair = report.repair.expect("a repair");
    assert!(!repair.is_done && repair.refused.is_some_and(|why| why.contains("log")), "{:#?}", report.checks);
    let mut log = Served::new(bench.engine.clone());
    let report = compare(&runtime, &mut log, Some(&bench), Some(&projection));
    assert_eq!(report.differences(), 0, "nothing was changed: {report:#?}");
}
