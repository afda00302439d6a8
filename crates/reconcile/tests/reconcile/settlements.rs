//! Rows of the table of settlements that were changed by hand.

use scarce_reconcile::{CheckKind, Served};
use scarce_testkit::DatabaseKind;

use crate::kit::{Bench, LINES, compare_settlements, database, first_of, of, runtime, told};

/// A value, what it must be and what it is.
type Values<'v> = (&'v str, Option<&'v str>, Option<&'v str>);

#[test]
fn rows_of_settlements_that_were_changed_are_named_with_their_claims() {
    let (runtime, bench) = (runtime(), Bench::embedded());
    LINES.iter().for_each(|line| bench.send(line));
    let claimed = first_of(&bench, "packets.claimed");
    for kind in DatabaseKind::ALL {
        let database = database(&runtime, kind);
        let delivery = bench.note_claims(&runtime, &database);
        let run = |sql: &str| {
            runtime.block_on(database.run(sql));
            compare_settlements(&runtime, &mut Served::new(bench.engine.clone()), &delivery)
        };
        let report = compare_settlements(&runtime, &mut Served::new(bench.engine.clone()), &delivery);
        assert_eq!(report.differences(), 0, "{kind:?}: {report:#?}");
        let of_first = "campaign = 'c1' AND packet = 1";
        let cases: [(&str, &str, Values<'_>); 6] = [
            ("amount = 31", "amount = 30", ("amount to be settled of packet 1", Some("30"), Some("31"))),
            ("user_id = 'thief'", "user_id = 'u1'", ("user of packet 1", Some("u1"), Some("thief"))),
            ("asset = 'USD'", "asset = 'EUR'", ("asset of packet 1", Some("EUR"), Some("USD"))),
            (
                "state = 'dead'",
                "state = 'pending'",
                ("settlement of packet 1", Some("settled"), Some("dead")),
            ),
            (
                "state = 'settled', route = 'engine'",
                "state = 'pending', route = NULL",
                ("credit of packet 1", Some("30"), None),
            ),
            ("packet = 3", "packet = 1", ("settlement of packet 1", Some("30"), None)),
        ];
        for (wrong, right, expected) in cases {
            let report = run(&format!("UPDATE delivery_settlements SET {wrong} WHERE {of_first}"));
            let found: Vec<_> = of(&report, CheckKind::Settlement).into_iter().map(told).collect();
            let (value, must, is) = expected;
            let part = Some((claimed, Some("packets.claimed")));
            assert_eq!(found.first(), Some(&(Some("c1"), value, must, is, part)), "{kind:?}: {report:#?}");
            let back = if wrong == "packet = 3" { "campaign = 'c1' AND packet = 3" } else { of_first };
            let report = run(&format!("UPDATE delivery_settlements SET {right} WHERE {back}"));
            assert_eq!(report.differences(), 0, "{kind:?}, {right}: {report:#?}");
        }
        // A row of a packet that nobody claimed is named beside the one that is missing for it.
        let report = run(&format!("UPDATE delivery_settlements SET packet = 3 WHERE {of_first}"));
        let found: Vec<_> = of(&report, CheckKind::Settlement).into_iter().map(told).collect();
        assert_eq!(
            (found.len(), found[1].1, found[1].3),
            (2, "settlement of packet 3", Some("30")),
            "{report:#?}"
        );
    }
}

/// The table says that the claimant was paid, and the log that it was another account.
#[test]
fn a_credit_of_another_account_than_the_table_names_is_a_difference() {
    let (runtime, bench) = (runtime(), Bench::embedded());
    LINES.iter().for_each(|line| bench.send(line));
    bench.send("ACCOUNT.OPEN u1 EUR");
    bench.send("ACCOUNT.OPEN u2 EUR");
    bench.send_in("settlement", "ACCOUNT.CREDIT u2 30 ID settle:c1:1");
    let database = database(&runtime, DatabaseKind::Sqlite);
    let delivery = bench.note_claims(&runtime, &database);
    runtime.block_on(database.run(
        "UPDATE delivery_settlements SET state = 'settled', route = 'engine', asset = 'EUR', \
         account_template = '{user}' WHERE packet = 1",
    ));
    let report = compare_settlements(&runtime, &mut Served::new(bench.engine.clone()), &delivery);
    let found: Vec<_> = of(&report, CheckKind::Settlement).into_iter().map(told).collect();
    let values = found.iter().map(|its| (its.1, its.2, its.3)).collect::<Vec<_>>();
    assert_eq!(values, [("account credited of packet 1", Some("u1"), Some("u2"))], "{report:#?}");
    assert_eq!(found[0].4.map(|part| part.1), Some(Some("account.credited")), "{report:#?}");
}
