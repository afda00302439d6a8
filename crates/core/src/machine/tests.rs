use super::bench::Bench;
use super::work_tests::{LINES, filled, writes};
use super::*;

#[test]
fn replay_gives_the_same_digest_and_the_same_machine() {
    let mut bench = Bench::new();
    bench.check("ACCOUNT.OPEN a EUR ID 1", "APPLIED 0");
    bench.check("ACCOUNT.CREDIT a 100 ID 2", "APPLIED 100 100");
    bench.check("ACCOUNT.DEBIT a 30 ID 3", "APPLIED 70 70");
    bench.check("ACCOUNT.HOLD a h 50 TTL 10 ID 4", "APPLIED 20 1010");
    bench.check("STOCK.CREATE s 5 PEROWNER 3 ID 5", "APPLIED 5");
    bench.check("STOCK.TAKE s 2 o ID 6", "APPLIED 1 3");
    bench.check("STOCK.RESERVE s r 1 o 10 ID 7", "APPLIED 1010 2");
    bench.check("STOCK.RETURN s 2 1 ID 8", "APPLIED 1 3");
    bench.clock = 1_010;
    bench.check("ACCOUNT.DEBIT a 71 ID 9", "INSUFFICIENT_FUNDS a 70 71");
    bench.check("ACCOUNT.DEBIT a 71 ID 9", "INSUFFICIENT_FUNDS a 70 71");
    bench.check("ACCOUNT.DEBIT a 70 ID 9", "ID_REUSED 9");
    let mut again = Machine::new(StateSettings::default(), 0);
    for entry in Entry::read_all(&bench.log).expect("the log") {
        again.apply(&entry);
    }
    assert_eq!(again.state().digest(None), bench.machine.state().digest(None));
    let bytes = |machine: &Machine| {
        let mut out = Vec::new();
        machine.put(&mut out);
        out
    };
    assert_eq!(bytes(&again), bytes(&bench.machine));
    let loaded = Machine::load(StateSettings::default(), &bytes(&again)).expect("the snapshot");
    assert_eq!(bytes(&loaded), bytes(&again));
}

#[test]
fn a_refused_batch_leaves_no_trace() {
    let mut bench = Bench::new();
    bench.run(&["ACCOUNT.OPEN a EUR"]);
    bench.run(&["ACCOUNT.CREDIT a 10"]);
    bench.run(&["STOCK.CREATE s 3"]);
    let before = bench.machine.state().digest(None);
    let refused = bench.run(&["ACCOUNT.DEBIT a 4", "STOCK.TAKE s 2 o", "STOCK.TAKE s 2 o"]);
    assert_eq!(refused, "BATCH_REFUSED 2 INSUFFICIENT_STOCK [1 2]");
    assert_eq!(bench.machine.state().digest(None), before);
    let applied = bench.run(&["ACCOUNT.DEBIT a 4", "STOCK.TAKE s 2 o", "STOCK.TAKE s 1 o"]);
    assert_eq!(applied, "APPLIED [1 6 6] [1 1 1] [1 3 0]");
}

/// Each command is applied and then taken back, because a later line of its batch is refused; or it is only asked for.
#[test]
fn no_command_that_is_taken_back_leaves_a_trace_in_the_machine() {
    let mut bench = filled(20);
    let (image, logged) = (bench.image(), bench.log.len());
    for line in LINES.iter().filter(|line| writes(line)) {
        assert!(bench.foretell(line).starts_with("APPLIED"), "{line}");
        assert!(bench.image() == image && bench.log.len() == logged, "a dry run of {line} left a trace");
        let refused = bench.run(&[line, "STOCK.TAKE s1 1000000 o"]);
        assert!(
            refused.starts_with("BATCH_REFUSED ") || refused.starts_with("INVALID "),
            "{line}: {refused}"
        );
        assert!(
            bench.image() == image && bench.log.len() == logged,
            "a refused batch of {line} left a trace"
        );
    }
}

#[test]
fn an_id_declared_absent_stays_absent() {
    let mut bench = Bench::new();
    bench.run(&["ACCOUNT.OPEN a EUR"]);
    bench.check("OPERATION.RESOLVE late ON a", "APPLIED ABSENT -");
    bench.check("ACCOUNT.CREDIT a 1 ID late", "RESOLVED_ABSENT late");
    bench.check("OPERATION.RESOLVE late ON a", "APPLIED ABSENT -");
    bench.check("ACCOUNT.CREDIT a 1 ID kept", "APPLIED 1 1");
    bench.check("OPERATION.RESOLVE kept ON a", "APPLIED APPLIED [1 1 1]");
}

#[test]
fn a_request_older_than_the_remembered_ids_is_answered_again_or_expires() {
    let settings = StateSettings { window_ms: 1_000, window_ms_min: 100, ..StateSettings::default() };
    let mut bench = Bench::with(settings);
    bench.clock = 10_000;
    bench.run(&["ACCOUNT.OPEN a EUR"]);
    let mut credit = |id: &str, issued_at: u64, clock: u64| {
        let mut envelope = Bench::envelope(&[&format!("ACCOUNT.CREDIT a 1 ID {id}")]).expect("an envelope");
        envelope.issued_at = Some(issued_at);
        match bench.machine.submit(&envelope, clock, &mut bench.log) {
            MachineAnswer::Receipt(receipt) => (receipt.outcome.code, receipt.replayed),
            MachineAnswer::Replay(_) => (Code::Applied, true),
        }
    };
    assert_eq!(credit("one", 9_500, 10_000), (Code::Applied, false));
    assert_eq!(credit("one", 9_500, 10_600), (Code::Applied, true), "old, but still known");
    assert_eq!(credit("one", 9_500, 11_100), (Code::IdExpired, false), "forgotten, and perhaps applied");
    assert_eq!(credit("two", 10_110, 11_100), (Code::IdExpired, false), "within the lead");
    assert_eq!(credit("two", 10_111, 11_100), (Code::Applied, false));
    // An id with a time of its own counts by that.
    assert_eq!(credit("00000000-2b5c-7000-8000-000000000000", 1, 11_100), (Code::Applied, false));
}

#[test]
fn the_sweeper_logs_what_it_ends_and_nothing_twice() {
    let mut bench = Bench::new();
    bench.check("STOCK.CREATE s 5", "APPLIED 5");
    bench.check("STOCK.RESERVE s r 1 o 10", "APPLIED 1010 4");
    bench.check("STOCK.TAKE s 2 o", "APPLIED 1 2");
    assert_eq!(bench.machine.expire(10, 1_010, &mut bench.log), 1);
    assert_eq!(bench.machine.expire(10, 1_010, &mut bench.log), 0);
    let mut again = Machine::new(StateSettings::default(), 0);
    for entry in Entry::read_all(&bench.log).expect("the log") {
        again.apply(&entry);
    }
    assert_eq!(again.sequence(), 4);
    assert_eq!(again.state().digest(None), bench.machine.state().digest(None));
}

#[test]
fn a_batch_too_large_for_an_entry_is_refused_and_leaves_a_log_that_can_be_read() {
    let mut bench = Bench::new();
    let lines: Vec<String> =
        (0..600).map(|n| format!("PACKET.CREATE c{n} EUR PLAN 9007199254740991 1000 even ID b")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let refused = bench.run(&lines);
    assert!(refused.starts_with("BATCH_REFUSED ") && refused.contains("STEP_LIMIT"), "{refused}");
    assert!(bench.run(&lines[..100]).starts_with("APPLIED"));
    assert!(Entry::read_all(&bench.log).is_ok());
}

#[test]
fn what_ends_together_is_logged_in_entries_that_can_be_read() {
    let mut bench = Bench::new();
    for account in 0..30 {
        let account = format!("{account:0>64}");
        bench.run(&[&format!("ACCOUNT.OPEN {account} EUR")]);
        bench.run(&[&format!("ACCOUNT.CREDIT {account} 9007199254740")]);
        for hold in 0..1_000 {
            bench.run(&[&format!("ACCOUNT.HOLD {account} {hold:0>64} 1 TTL 10")]);
        }
    }
    assert_eq!(bench.machine.expire(usize::MAX, 1_010, &mut bench.log), 30_000);
    let mut again = Machine::new(StateSettings::default(), 0);
    for entry in Entry::read_all(&bench.log).expect("the log") {
        again.apply(&entry);
    }
    assert_eq!(again.state().digest(None), bench.machine.state().digest(None));
}

#[test]
fn an_order_that_meets_the_whole_book_leaves_a_log_that_can_be_read() {
    let mut bench = Bench::new();
    bench.run(&["MARKET.CREATE m"]);
    for order in 0..55_000 {
        bench.run(&[&format!("ORDER.PLACE m {order:0>64} o SELL LIMIT 9007199254740 1")]);
    }
    let all = bench.run(&["ORDER.PLACE m taker t BUY LIMIT 9007199254740 55000 ID sweep"]);
    assert!(all.starts_with("APPLIED filled 55000 0"), "{}", &all[..40]);
    let entries = Entry::read_all(&bench.log).expect("the log");
    assert_eq!(entries.last().map(Entry::sequence_last), Some(bench.machine.sequence()));
}

/// Folds an entry that no machine writes, such as a bug or a damaged disk might leave.
fn forge(bench: &mut Bench, event: Event) {
    let sequence_first = bench.machine.sequence() + 1;
    let head = EntryHead { epoch: 1, sequence_first, at: bench.clock, operation: None, more: false };
    bench.machine.apply(&Entry { head, outcome: None, events: vec![event] });
}

#[test]
fn an_audit_finds_serials_that_no_receipt_holds() {
    let mut bench = Bench::new();
    bench.check("STOCK.CREATE s 10", "APPLIED 10");
    bench.check("STOCK.TAKE s 2 o", "APPLIED 1 8");
    bench.check("STOCK.AUDIT s", "APPLIED CONSISTENT 2 2");
    let id = |text: &str| crate::types::Id::parse(text.as_bytes(), "id").expect("an id");
    let (sku, owner) = (id("s"), id("o"));
    let skipped =
        crate::event::StockTaken { sku, owner, quantity: 1, first_serial: 5, available: 7, sold: 3 };
    forge(&mut bench, skipped.into());
    bench.check("STOCK.AUDIT s", "STOCK_INCONSISTENT serial 2 3");
    bench.check("STOCK.AUDIT s", "STOCK_INCONSISTENT serial 2 3");
}

#[test]
fn an_audit_finds_units_that_came_back_twice() {
    let mut bench = Bench::new();
    bench.check("STOCK.CREATE s 10", "APPLIED 10");
    bench.check("STOCK.TAKE s 1 o", "APPLIED 1 9");
    bench.check("STOCK.TAKE s 4 o", "APPLIED 2 5");
    bench.check("STOCK.RETURN s 1 1", "APPLIED 1 6");
    let id = |text: &str| crate::types::Id::parse(text.as_bytes(), "id").expect("an id");
    let (sku, owner) = (id("s"), id("o"));
    let again =
        crate::event::StockReturned { sku, owner, receipt: 1, first: 1, count: 1, available: 7, sold: 3 };
    forge(&mut bench, again.into());
    bench.check("STOCK.AUDIT s", "STOCK_INCONSISTENT returned 2 1");
}

#[test]
fn the_epochs_that_wrote_the_log_are_in_the_snapshot_and_in_the_log() {
    let mut bench = Bench::new();
    bench.run(&["ACCOUNT.OPEN a EUR"]);
    for epoch in [20, 30, 40] {
        bench.machine.set_epoch(epoch);
        if epoch != 30 {
            bench.run(&["ACCOUNT.CREDIT a 1"]);
        }
    }
    let (image, _) = bench.image();
    let check = |machine: &Machine, oldest| {
        let has = |epoch, sequence| machine.histories().has(Position { epoch, sequence });
        assert_eq!([has(1, 1), has(20, 2), has(40, 3)], [oldest, oldest, Some(true)]);
        assert_eq!([has(30, 2), has(40, 2)], [oldest.map(|_| false), Some(oldest.is_none())]);
    };
    check(&bench.machine, Some(true));
    check(&Machine::load(StateSettings::default(), &image).expect("the snapshot"), Some(true));
    let mut again = Machine::new(StateSettings::default(), 0);
    Entry::read_all(&bench.log).expect("the log").iter().for_each(|entry| again.apply(entry));
    check(&again, Some(true));
    // Earlier releases ended a snapshot before operation IDs that left memory (three numbers), packets, receipts (one
    // each), and the epochs (their number, and two numbers for each of three).
    let cut = |kept: usize| Machine::load(StateSettings::default(), &image[..image.len() - kept]);
    for kept in [3, 4, 5] {
        check(&cut(kept).expect("a snapshot of when all of something was kept"), Some(true));
    }
    let mut older = cut(12).expect("the snapshot");
    check(&older, None);
    older.set_epoch(50);
    assert_eq!(older.histories().has(Position { epoch: 40, sequence: 3 }), None);
    assert_eq!(older.histories().last(), Some(Position { epoch: 50, sequence: 4 }));
    assert!(Machine::load(StateSettings::default(), &[&image[..], &[0]].concat()).is_err());
}
