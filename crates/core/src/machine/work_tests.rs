//! The work of every command in rows, on a small state and on one ten times as large.

use std::collections::BTreeSet;

use super::bench::Bench;
use crate::command::Effect;
use crate::command::table::{COMMANDS, find};
use crate::state::StateSettings;
use crate::store::visits;

/// A line for each command. Each has the same answer on both states.
pub(super) const LINES: &[&str] = &[
    "ACCOUNT.OPEN new EUR",
    "ACCOUNT.GET a",
    "ACCOUNT.CREDIT a 1",
    "ACCOUNT.DEBIT a 1",
    "ACCOUNT.TRANSFER a b 1",
    "ACCOUNT.HOLD a new 1",
    "ACCOUNT.CAPTURE a h1",
    "ACCOUNT.VOID a h1",
    "ACCOUNT.EXTEND a h1 5",
    "ACCOUNT.HOLDS a COUNT 5",
    "ACCOUNT.FREEZE a",
    "ACCOUNT.UNFREEZE a",
    "ACCOUNT.CLOSE b",
    "ACCOUNT.OVERDRAFT a 5",
    "ACCOUNT.WORLD EUR ON a",
    "ACCOUNT.LIST COUNT 5",
    "STOCK.CREATE new 5",
    "STOCK.GET s",
    "STOCK.RESTOCK s 1",
    "STOCK.ADJUST s 1 REASON found",
    "STOCK.TAKE s 1 o",
    "STOCK.RESERVE s new 1 o 5",
    "STOCK.CONFIRM s r1",
    "STOCK.RELEASE s r1",
    "STOCK.EXTEND s r1 5",
    "STOCK.RETURN s 1 1",
    "STOCK.CLOSE s",
    "STOCK.AUDIT s",
    "STOCK.RESERVATION s r1",
    "STOCK.LIST COUNT 5",
    "PACKET.CREATE new EUR PLAN 5 5 EVEN",
    "PACKET.CLAIM c new",
    "PACKET.GET c",
    "PACKET.CLOSE c",
    "PACKET.CLAIMED c u1",
    "PACKET.CLAIMS c COUNT 5",
    "PACKET.LIST COUNT 5",
    "COUPON.CREATE new LIMIT l 5 PER user WINDOW none",
    "COUPON.UPDATE k LIMIT l 2000000",
    "COUPON.CLAIM k USER new",
    "COUPON.CHECK k USER new",
    "COUPON.REDEEM k 1 u1",
    "COUPON.REVOKE k 1 GIVEBACK",
    "COUPON.CLAIMED k 1",
    "COUPON.GET k",
    "COUPON.LIST COUNT 5",
    "COUPON.PAUSE k",
    "COUPON.RESUME k",
    "MARKET.CREATE new",
    "MARKET.GET m",
    "MARKET.TICKER m",
    "MARKET.LIST COUNT 5",
    "MARKET.HALT m",
    "MARKET.RESUME m",
    "MARKET.DEPTH m LEVELS 3",
    "MARKET.TRADES m COUNT 3",
    "ORDER.PLACE m new o BUY LIMIT 100001 1",
    "ORDER.CANCEL m b1 o1",
    "ORDER.REDUCE m b1 o1 1",
    "ORDER.REPLACE m b1 o1 2 1",
    "ORDER.CANCELALL m o1",
    "ORDER.GET m b1",
    "ORDER.LIST m COUNT 5",
    "OPERATION.GET op1 ON a",
    "OPERATION.RESOLVE op1 ON a",
    // A resource of each kind, with one of each of its records.
    "DIGEST a1",
    "DIGEST s1",
    "DIGEST c1",
    "DIGEST k1",
    "DIGEST m1",
];

/// A state with `count` resources of each kind, and resources with `count` records of each kind.
pub(super) fn filled(count: u64) -> Bench {
    let settings = StateSettings { receipts_per_audit_max: 5, ..StateSettings::default() };
    let mut bench = Bench::with(settings);
    for line in [
        "ACCOUNT.OPEN a EUR",
        "ACCOUNT.OPEN b EUR",
        "ACCOUNT.CREDIT a 1000000",
        "STOCK.CREATE s 1000000",
        "PACKET.CREATE c EUR PLAN 2000 2000 EVEN",
        "COUPON.CREATE k LIMIT l 1000000 PER user WINDOW day",
        "MARKET.CREATE m",
    ] {
        assert!(bench.run(&[line]).starts_with("APPLIED"), "{line}");
    }
    for n in 1..=count {
        for line in [
            format!("ACCOUNT.OPEN a{n} EUR ID op{n}"),
            format!("ACCOUNT.CREDIT a{n} 10"),
            format!("ACCOUNT.HOLD a{n} h 1"),
            format!("ACCOUNT.HOLD a h{n} 1"),
            format!("STOCK.CREATE s{n} 10"),
            format!("STOCK.RESERVE s{n} r 1 o 100000"),
            format!("STOCK.TAKE s{n} 1 o"),
            format!("STOCK.RESERVE s r{n} 1 o{n} 100000"),
            format!("STOCK.TAKE s 1 o{n}"),
            format!("PACKET.CREATE c{n} EUR AMOUNTS 2 1 2"),
            format!("PACKET.CLAIM c{n} u"),
            format!("PACKET.CLAIM c u{n}"),
            format!("COUPON.CREATE k{n} LIMIT l 5 PER user WINDOW day"),
            format!("COUPON.CLAIM k{n} USER u"),
            format!("COUPON.CLAIM k USER u{n}"),
            format!("MARKET.CREATE m{n}"),
            format!("ORDER.PLACE m{n} x o BUY LIMIT 1 1"),
            format!("ORDER.PLACE m b{n} o{n} BUY LIMIT {n} 5"),
            format!("ORDER.PLACE m s{n} o{n} SELL LIMIT {} 5", 100_000 + n),
        ] {
            assert!(bench.run(&[&line]).starts_with("APPLIED"), "{line}");
        }
    }
    bench
}

/// Rows that a hash index may look at again because it grows just then.
const SLACK: u64 = 16;

#[test]
fn no_command_looks_at_more_rows_because_there_are_more() {
    let (mut small, mut large) = (filled(20), filled(200));
    for line in LINES {
        let (answer, rows_small) = visits::count(|| small.foretell(line));
        let (_, rows_large) = visits::count(|| large.foretell(line));
        assert!(answer.starts_with("APPLIED"), "{line}: {answer}");
        assert!(rows_large <= rows_small + SLACK, "{line}: {rows_small} rows, then {rows_large}");
    }
}

/// With what a dry run leaves out: applying the events, remembering the id, forgetting what is over.
#[test]
fn no_command_changes_more_rows_because_there_are_more() {
    let (small, large) = (filled(20), filled(200));
    for line in LINES.iter().filter(|line| writes(line)) {
        let line = if line.starts_with("OPERATION") { (*line).to_owned() } else { format!("{line} ID work") };
        let (mut small, mut large) = (small.copy(), large.copy());
        let (answer, rows_small) = visits::count(|| small.run(&[&line]));
        let (_, rows_large) = visits::count(|| large.run(&[&line]));
        assert!(answer.starts_with("APPLIED"), "{line}: {answer}");
        assert!(rows_large <= rows_small + SLACK, "{line}: {rows_small} rows, then {rows_large}");
    }
}

#[test]
fn the_first_command_after_a_quiet_week_does_not_forget_everything_at_once() {
    let rows = |count: u64| {
        let mut bench = filled(count);
        bench.clock += 7 * 86_400_000;
        let (answer, rows) = visits::count(|| bench.run(&["ACCOUNT.CREDIT a 1 ID late"]));
        assert!(answer.starts_with("APPLIED"), "{answer}");
        rows
    };
    let (small, large) = (rows(40), rows(400));
    assert!(large <= small + SLACK, "{small} rows, then {large}");
}

/// What one decision of the sweeper does for each record that it ends.
#[test]
fn a_sweep_looks_at_no_more_rows_because_more_is_due() {
    const RECORDS: usize = 64;
    const ROWS_PER_RECORD_MAX: u64 = 32;
    let rows = |count: u64| {
        let mut bench = Bench::new();
        bench.check(&format!("STOCK.CREATE s {count}"), &format!("APPLIED {count}"));
        for n in 0..count {
            let reserved = bench.run(&[&format!("STOCK.RESERVE s r{n} 1 o{n} 1000")]);
            assert!(reserved.starts_with("APPLIED"), "{reserved}");
        }
        let (clock, mut log) = (bench.clock + 1_000, Vec::new());
        let (ended, rows) = visits::count(|| bench.machine.expire(RECORDS, clock, &mut log));
        assert_eq!(ended, RECORDS);
        rows
    };
    let (small, large) = (rows(100), rows(10_000));
    assert!(large <= small + SLACK, "{small} rows, then {large}");
    assert!(large <= RECORDS as u64 * ROWS_PER_RECORD_MAX, "{large} rows for {RECORDS} records");
}

pub(super) fn writes(line: &str) -> bool {
    let name = line.split(' ').next().unwrap_or_default();
    find(name.as_bytes()).is_some_and(|spec| spec.effect == Effect::Write)
}

#[test]
fn there_is_a_line_for_every_command() {
    let of_lines: BTreeSet<_> = LINES.iter().filter_map(|line| line.split(' ').next()).collect();
    let of_table: BTreeSet<_> = COMMANDS.iter().map(|spec| spec.name).collect();
    assert_eq!(of_lines, of_table);
}
