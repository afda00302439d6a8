//! Rows of the table of settlements that were changed by hand.

use scarce_core::event::Entry;
use scarce_core::machine::{ClockChange, Machine};
use scarce_core::state::StateSettings;
use scarce_delivery::Delivery;
use scarce_reconcile::{CheckKind, LogSource, ReconcileError, Report, Served, Take};
use scarce_testkit::{Database, DatabaseKind, wait_until};
use tokio::runtime::Runtime;

use crate::kit::{
    Bench, Copied, LINES, PARTITIONS, compare_settlements, database, first_of, of, runtime, told,
};

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

/// What the check of settlements notes.
fn notes(report: &Report) -> String {
    let check = report.checks.iter().find(|its| its.kind == CheckKind::Settlement).expect("its check");
    check.notes.join("\n")
}

/// Two claims, and a table with their settlements.
fn claimed(runtime: &Runtime) -> (Bench, Database, Delivery) {
    let bench = Bench::embedded();
    LINES.iter().for_each(|line| bench.send(line));
    let database = database(runtime, DatabaseKind::Sqlite);
    let delivery = bench.note_claims(runtime, &database);
    (bench, database, delivery)
}

#[test]
fn what_is_to_be_known_of_settlements_and_is_no_difference_is_counted() {
    let runtime = runtime();
    let (bench, database, delivery) = claimed(&runtime);
    let compare = || compare_settlements(&runtime, &mut Served::new(bench.engine.clone()), &delivery);
    let report = compare();
    assert!(
        notes(&report).contains("2 settlements are not done, the oldest of a claim of 20"),
        "{report:#?}"
    );
    // After a rollback and a rebase: paid, and the claim was not made again.
    let lost = "UPDATE delivery_settlements SET packet = 3, state = 'settled', route = 'engine', lost_at_ms = 1 \
                WHERE packet = 2";
    runtime.block_on(database.run(lost));
    // As if the consumer had begun behind the claims.
    runtime.block_on(database.run("UPDATE delivery_epochs SET first_sequence = 1000000"));
    let report = compare();
    assert_eq!(report.differences(), 0, "{report:#?}");
    let said = notes(&report);
    assert!(said.contains("1 settlements are of claims that were lost"), "{said}");
    assert!(said.contains("1 claims have neither a settlement nor a credit"), "{said}");
}

#[test]
fn a_state_of_a_row_that_no_settlement_has_is_a_difference() {
    let runtime = runtime();
    let (bench, database, delivery) = claimed(&runtime);
    for (change, expected) in [
        ("state = 'settled', route = NULL", ("route of packet 1", Some("engine or outside"), None)),
        ("state = 'pending', next_at_ms = 32503680000000", {
            ("next attempt of packet 1", Some("within a month"), Some("3000-01-01T00:00:00Z"))
        }),
    ] {
        runtime.block_on(database.run(&format!("UPDATE delivery_settlements SET {change} WHERE packet = 1")));
        let report = compare_settlements(&runtime, &mut Served::new(bench.engine.clone()), &delivery);
        let found: Vec<_> = of(&report, CheckKind::Settlement).into_iter().map(told).collect();
        let values: Vec<_> = found.iter().map(|its| (its.1, its.2, its.3)).collect();
        assert_eq!(values, [expected], "{report:#?}");
    }
}

/// A log whose beginning is gone up to a claim, and the state there.
struct Shortened {
    whole: Copied,
    /// The last entry that is gone, by partition.
    gone: Vec<usize>,
}

impl LogSource for Shortened {
    fn partitions(&self) -> u32 {
        self.whole.partitions()
    }

    fn deployment_id(&self) -> &str {
        self.whole.deployment_id()
    }

    fn base(&mut self, partition: u32) -> Result<Machine, ReconcileError> {
        let mut machine = self.whole.base(partition)?;
        let at = partition as usize;
        self.whole.entries[at][..self.gone[at]].iter().for_each(|entry| machine.apply(entry));
        Ok(machine)
    }

    fn read(&mut self, partition: u32, from: u64, take: Take<'_>) -> Result<(), ReconcileError> {
        self.whole.read(partition, from, take)
    }

    fn end(&mut self, partition: u32) -> Result<Option<u64>, ReconcileError> {
        self.whole.end(partition)
    }
}

#[test]
fn without_the_beginning_of_the_log_credits_of_later_claims_are_missed_all_the_same() {
    let runtime = runtime();
    let (bench, database, delivery) = claimed(&runtime);
    let whole = bench.copy();
    let (partition, first) = whole.find(|event, _| event == "packets.claimed");
    let mut gone: Vec<usize> = vec![0; whole.entries.len()];
    gone[partition] = first + 1;
    let mut log = Shortened { whole, gone };
    runtime.block_on(database.run("UPDATE delivery_settlements SET state = 'settled', route = 'engine'"));
    let report = compare_settlements(&runtime, &mut log, &delivery);
    let found: Vec<_> = of(&report, CheckKind::Settlement).into_iter().map(told).collect();
    let values: Vec<_> = found.iter().map(|its| (its.1, its.2, its.3)).collect();
    assert_eq!(values, [("credit of packet 2", Some("20"), None)], "{report:#?}");
}

#[test]
fn long_texts_of_rows_are_cut_in_the_report() {
    let runtime = runtime();
    let (bench, database, delivery) = claimed(&runtime);
    let long =
        "UPDATE delivery_settlements SET user_id = replace(hex(zeroblob(250000)), '0', 'x') WHERE packet = 1";
    runtime.block_on(database.run(long));
    let report = compare_settlements(&runtime, &mut Served::new(bench.engine.clone()), &delivery);
    let found = of(&report, CheckKind::Settlement);
    let text = found[0].found.as_deref().expect("a text");
    assert!(text.ends_with("… (500000 bytes)") && text.len() < 400, "{}: {text}", text.len());
}

/// Claims of a campaign that is closed, and that have left memory where the log begins.
fn left(runtime: &Runtime) -> (Bench, Shortened) {
    let bench = Bench::embedded_with(StateSettings { receipt_retention_ms: 1, ..StateSettings::default() });
    ["PACKET.CREATE p EUR AMOUNTS 3 30 20 10", "PACKET.CLAIM p u1", "PACKET.CLAIM p u2", "PACKET.CLOSE p"]
        .iter()
        .for_each(|line| bench.send(line));
    let has_left = |entries: &[Entry]| {
        entries.iter().flat_map(|entry| &entry.events).any(|event| event.spec().name == "packets.forgotten")
    };
    let have_left = || std::future::ready(bench.copy().entries.iter().any(|its| has_left(its)));
    runtime.block_on(wait_until("claims leave memory", have_left));
    let whole = bench.copy();
    let (partition, last) = whole.find(|event, _| event == "packets.forgotten");
    let mut gone: Vec<usize> = vec![0; whole.entries.len()];
    gone[partition] = last + 1;
    (bench, Shortened { whole, gone })
}

#[test]
fn claims_that_left_memory_and_are_not_settled_are_named() {
    let runtime = runtime();
    let (bench, mut log) = left(&runtime);
    let database = database(&runtime, DatabaseKind::Sqlite);
    let delivery = bench.note_claims(&runtime, &database);
    let report = compare_settlements(&runtime, &mut log, &delivery);
    assert_eq!(report.differences(), 0, "they are going to be settled: {report:#?}");
    runtime.block_on(database.run("DELETE FROM delivery_settlements WHERE packet = 2"));
    let report = compare_settlements(&runtime, &mut log, &delivery);
    let found: Vec<_> = of(&report, CheckKind::Settlement).into_iter().map(told).collect();
    let field = "settled of packets 1 to 3, which have left memory";
    assert_eq!(found, [(Some("p"), field, Some("50"), Some("30"), None)], "{report:#?}");
    // As if the consumer had begun behind the claims.
    runtime.block_on(database.run("UPDATE delivery_epochs SET first_sequence = 1000000"));
    let report = compare_settlements(&runtime, &mut log, &delivery);
    assert_eq!(report.differences(), 0, "{report:#?}");
    assert!(notes(&report).contains("'p' up to packet 3: 30 of 50"), "{report:#?}");
}

#[test]
fn a_claim_of_a_clock_that_was_ahead_is_not_taken_for_one_of_after_the_beginning() {
    let runtime = runtime();
    let (bench, database, delivery) = claimed(&runtime);
    bench.send_in("settlement", "ACCOUNT.CREDIT {a}u1 30 ID settle:c1:1");
    bench.send_in("settlement", "ACCOUNT.CREDIT {a}u2 20 ID settle:c1:2");
    runtime.block_on(database.run("UPDATE delivery_settlements SET state = 'settled', route = 'engine'"));
    // Everything up to the credits was made by a clock that was ahead, and is gone from the log.
    let mut whole = bench.copy();
    let gone: Vec<usize> = whole.entries.iter().map(Vec::len).collect();
    let moved: Vec<Entry> = (0..PARTITIONS).map(|partition| put_back(&mut whole, partition)).collect();
    whole.entries.iter_mut().zip(moved).for_each(|(entries, moved)| entries.push(moved));
    let gone = gone.into_iter().map(|count| count + 1).collect();
    let report = compare_settlements(&runtime, &mut Shortened { whole, gone }, &delivery);
    assert_eq!(report.differences(), 0, "{report:#?}");
}

/// The entry by which the clock of a partition is put back by a day.
fn put_back(log: &mut Copied, partition: u32) -> Entry {
    let mut machine = log.base(partition).expect("a state");
    log.entries[partition as usize].iter().for_each(|entry| machine.apply(entry));
    let (from_ms, mut bytes) = (machine.now(), Vec::new());
    let change = ClockChange::Moved { from_ms, to_ms: from_ms - 86_400_000 };
    machine.change_clock(change, &mut bytes);
    Entry::read_all(&bytes).expect("the log").remove(0)
}
