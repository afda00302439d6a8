//! Rows and keys that were changed by hand are named, with the event after which they part from the log.

use scarce_reconcile::{CheckKind, Served};
use scarce_testkit::DatabaseKind;

use crate::kit::{Bench, LINES, compare, database, first_of, last_event, of, runtime, told};

#[test]
fn a_row_that_is_changed_deleted_or_added_by_hand_is_named_with_its_event() {
    let (runtime, bench) = (runtime(), Bench::embedded());
    LINES.iter().for_each(|line| bench.send(line));
    for kind in DatabaseKind::ALL {
        let database = database(&runtime, kind);
        let projection = bench.project(&runtime, &database);
        let run = |sql: &str| {
            runtime.block_on(database.run(sql));
            let mut log = Served::new(bench.engine.clone());
            compare(&runtime, &mut log, Some(&bench), Some(&projection))
        };
        // Changed: no event says so, so that they part after the last one.
        let report = run("UPDATE stock SET available = 5, reserved = 3 WHERE sku = 'sku-1'");
        let (last, name) = last_event(&bench, "sku-1");
        let found = of(&report, CheckKind::Tables);
        let fields: Vec<_> = found.iter().map(|its| told(its)).collect();
        let part = Some((last, Some(name)));
        assert_eq!(
            fields,
            [
                (Some("sku-1"), "stock.available of 'sku-1'", Some("7"), Some("5"), part),
                (Some("sku-1"), "stock.reserved of 'sku-1'", Some("1"), Some("3"), part),
            ],
            "{kind:?}: {report:#?}"
        );
        // The sums in the tables find it, too.
        assert_eq!(of(&report, CheckKind::Sums).len(), 1, "{kind:?}: {report:#?}");
        run("UPDATE stock SET available = 7, reserved = 1 WHERE sku = 'sku-1'");
        // Deleted: the event that made the row.
        let report = run("DELETE FROM entries WHERE amount = -120");
        let debited = first_of(&bench, "account.debited");
        let deleted = told(of(&report, CheckKind::Tables)[0]);
        assert_eq!((deleted.0, deleted.3), (Some("{a}u1"), None), "{kind:?}: {report:#?}");
        assert_eq!(deleted.4, Some((debited, Some("account.debited"))), "{kind:?}: {report:#?}");
        // Added: no event makes it, so that they part after the last one of the campaign.
        let report = run(
            "INSERT INTO packet_claims (campaign_id, packet, partition_id, sequence, user_id, amount, at_ms) \
             SELECT campaign_id, 3, partition_id, 999, 'thief', 10, 1 FROM packet_campaigns",
        );
        let added = of(&report, CheckKind::Tables)
            .into_iter()
            .map(told)
            .find(|its| its.1.starts_with("packet_claims"))
            .expect("the row");
        let (last, name) = last_event(&bench, "c1");
        assert_eq!((added.0, added.2), (Some("c1"), None), "{kind:?}: {report:#?}");
        assert!(added.3.is_some_and(|row| row.contains("user_id=thief")), "{kind:?}: {report:#?}");
        assert_eq!(added.4, Some((last, Some(name))), "{kind:?}: {report:#?}");
        assert!(of(&report, CheckKind::Engine).is_empty(), "{kind:?}: {report:#?}");
    }
}

#[test]
fn a_key_that_was_changed_inside_redis_is_named_with_both_values() {
    let (runtime, bench) = (runtime(), Bench::redis());
    LINES.iter().for_each(|line| bench.send(line));
    let server = bench.server.as_ref().expect("a server");
    let account = "{a}u2";
    let keys: Vec<String> = server.ask(&["KEYS", "scarce:*accounts*"]).expect("keys");
    let mut changed = 0;
    for key in keys {
        let row = |name: &str| server.ask::<Option<String>>(&["HGET", &key, name]).ok().flatten();
        if let (Some(_), Some(other)) = (row(account), row("{a}u1")) {
            server.ask::<()>(&["HSET", &key, account, &other]).expect("changed");
            changed += 1;
        }
    }
    assert_eq!(changed, 1);
    let mut log = Served::new(bench.engine.clone());
    let report = compare(&runtime, &mut log, Some(&bench), None);
    let found: Vec<_> = of(&report, CheckKind::Engine).into_iter().map(told).collect();
    let (last, name) = last_event(&bench, account);
    let part = Some((last, Some(name)));
    assert!(
        found.contains(&(Some(account), "account.balance", Some("80"), Some("295"), part)),
        "{report:#?}"
    );
}

/// A packet that is credited under two ids of its settlement: the second one is where it went wrong.
#[test]
fn a_doubled_credit_of_a_claimed_packet_is_named_with_its_event() {
    let runtime = runtime();
    Bench::each(|bench| {
        bench.send_in("settlement", "ACCOUNT.CREDIT {a}u1 30 ID settle:c1:1");
        bench.send_in("settlement", "ACCOUNT.CREDIT {a}u2 20 ID settle:c1:2");
        let mut log = Served::new(bench.engine.clone());
        let report = compare(&runtime, &mut log, Some(bench), None);
        assert_eq!(report.differences(), 0, "{report:#?}");
        bench.send_in("settlement", "ACCOUNT.CREDIT {a}u2 20 ID settle:c1:2:2");
        let report = compare(&runtime, &mut log, Some(bench), None);
        let part = last_event(bench, "{a}u2");
        let expected = (
            Some("c1"),
            "credits of packet 2",
            Some("1 credit"),
            Some("2 credits"),
            Some((part.0, Some(part.1))),
        );
        let found: Vec<_> = of(&report, CheckKind::Settlement).into_iter().map(told).collect();
        assert_eq!(found, [expected], "{report:#?}");
        assert_eq!(report.differences(), 1, "{report:#?}");
        bench.send_in("settlement", "ACCOUNT.CREDIT {a}u1 10 ID settle:c1:3");
        let report = compare(&runtime, &mut log, Some(bench), None);
        let unclaimed = of(&report, CheckKind::Settlement).into_iter().map(told).next_back();
        assert_eq!(
            unclaimed.map(|its| (its.1, its.2, its.3)),
            Some(("credit of packet 3", None, Some("10")))
        );
    });
}
