//! Statements against movements, one after the other.

mod history;
mod stages;

use super::{Comparing, Matcher, Movement};
use crate::day::Day;
use crate::map::Map;
use crate::report::{Matter, Report};
use crate::state::{Again, State};
use crate::statement::{Reading, Statement};

const MAP: &str = "here.account = 'bank'\nhere.operation_prefixes = ['pay:']\namounts.scale = 2\n\
    [columns]\ndate = 'date'\namount = 'amount'\noperation = 'id'\nreferences = ['text']\n";

const COUNT: &str = "kind = 'count'\n[columns]\nsku = 'sku'\nquantity = 'counted'\n";

fn map(text: &str) -> Map {
    Map::read(text).unwrap_or_else(|error| panic!("{error}"))
}

/// A day of November 2026, or after it.
fn day(day: i32) -> Day {
    "2026-10-31".parse::<Day>().unwrap_or(Day(0)).plus(day)
}

/// Our movements: day, amount, operation, hold, party.
type Ours<'t> = (i32, i64, &'t str, &'t str, &'t str);

fn movement<'t>(place: &'t str, (its_day, amount, operation, hold, party): Ours<'t>) -> Movement<'t> {
    let at_ms = day(its_day).start_ms(0) + 36_000_000;
    Movement { place, at_ms, amount, operation, hold, party }
}

fn run(map: &Map, lines: &str, ours: &[Ours<'_>], state: Option<State>) -> (Report, State) {
    run_days(map, lines, None, ours, state)
}

/// With a file that is about these days.
fn run_days(
    map: &Map,
    lines: &str,
    days: Option<(Day, Day)>,
    ours: &[Ours<'_>],
    state: Option<State>,
) -> (Report, State) {
    try_run_days(map, lines, days, ours, state).unwrap_or_else(|error| panic!("{error}"))
}

fn try_run(
    map: &Map,
    lines: &str,
    ours: &[Ours<'_>],
    state: Option<State>,
) -> Result<(Report, State), String> {
    try_run_days(map, lines, None, ours, state)
}

fn try_run_days(
    map: &Map,
    lines: &str,
    days: Option<(Day, Day)>,
    ours: &[Ours<'_>],
    state: Option<State>,
) -> Result<(Report, State), String> {
    try_run_as(Again::Same, map, lines, days, ours, state)
}

fn try_run_as(
    again: Again,
    map: &Map,
    lines: &str,
    days: Option<(Day, Day)>,
    ours: &[Ours<'_>],
    state: Option<State>,
) -> Result<(Report, State), String> {
    let (from, through) = days.unzip();
    let reading = Reading { today: day(60), limit: 10, from, through };
    let text = |error: crate::BookError| error.to_string();
    let statement = Statement::read(lines.as_bytes(), map, reading).map_err(text)?;
    let comparing = Comparing { file: "f.csv".to_owned(), limit: 10, again };
    let state = state.unwrap_or_else(|| State::new(map));
    let mut matcher = Matcher::new(map, statement, state, comparing).map_err(text)?;
    let (from_ms, to_ms) = matcher.span();
    for (at, its) in ours.iter().enumerate() {
        let place = format!("0/{at}");
        let its = movement(&place, *its);
        if map.kind == crate::Kind::Count || (from_ms..to_ms).contains(&its.at_ms) {
            matcher.take(&its).map_err(text)?;
        }
    }
    let (report, state) = matcher.finish();
    Ok((report, state.ok_or("too much is open")?))
}

/// What is wrong, the line, and both amounts.
type Found = (Matter, Option<u32>, Option<i64>, Option<i64>);

fn found(report: &Report) -> Vec<Found> {
    report.findings.iter().map(|its| (its.matter, its.line, its.there, its.here)).collect()
}

fn matched(report: &Report) -> [u64; 3] {
    let its = report.matched;
    [its.operation, its.reference, its.amount_and_day]
}

#[test]
fn operations_come_before_references_and_these_before_amounts_and_days() {
    let lines = "date,amount,id,text\n2026-11-10,5.00,op-1,\n2026-11-10,5.00,,thanks pay:17 (late)\n2026-11-12,5.00,,\n\
        2026-11-11,5.00,,Customer U1\n2026-11-10,7.00,INV-00018,\n2026-11-10,8.00,,hold-5\n";
    let ours = [
        (10, 500, "x", "", ""),
        (10, 500, "y", "", "u1"),
        (9, 500, "pay:17", "", ""),
        (10, 500, "op-1", "", ""),
        (10, 700, "pay:inv-00018", "", ""),
        (12, 800, "z", "hold-5", ""),
    ];
    let (report, _) = run(&map(MAP), lines, &ours, None);
    assert_eq!((matched(&report), report.differences()), ([1, 4, 1], 0), "{report:#?}");
}

#[test]
fn what_is_missing_different_doubled_or_in_transit_is_named() {
    let lines = "date,amount,id,text\n2026-11-10,5.00,op-1,\n2026-11-10,5.00,op-1,\n2026-11-11,6.01,op-2,\n2026-11-12,7.00,,fee\n\
        2026-11-20,8.00,op-4,\n2026-11-20,1.00,op-5,\n";
    let ours = [
        (10, 500, "op-1", "", ""),
        (11, 600, "op-2", "", ""),
        (11, -300, "op-3", "", ""),
        (12, 800, "op-4", "", ""),
        (19, 900, "op-6", "", ""),
        (20, 100, "op-5", "", ""),
        (21, 100, "op-7", "", ""),
        (9, 100, "op-8", "", ""),
    ];
    let (report, _) = run(&map(MAP), lines, &ours, None);
    assert_eq!(
        found(&report),
        [
            (Matter::MissingHere, Some(5), Some(700), None),
            (Matter::MissingThere, None, None, Some(-300)),
            (Matter::Different, Some(4), Some(601), Some(600)),
            (Matter::Different, Some(6), Some(800), Some(800)),
            (Matter::Doubled, Some(3), Some(500), None),
            (Matter::InTransit, None, None, Some(900)),
        ]
    );
    assert_eq!(report.differences(), 5, "what is in transit is no difference");
    let sums: Vec<i128> = report.tallies.values().map(|its| its.sum).collect();
    assert_eq!(sums, [700, 300, 1, 500, -900]);
    let with_tolerance = map(&format!("{MAP}[match]\ntolerance_amount = 1\ntolerance_days = 8\n"));
    let (report, _) = run(&with_tolerance, lines, &ours, None);
    assert!(report.findings.iter().all(|its| its.matter != Matter::Different), "{report:#?}");
}

#[test]
fn equal_amounts_find_the_nearest_days_whatever_their_order() {
    let map = map(MAP);
    let lines =
        "date,amount,id,text\n2026-11-12,5.00,,\n2026-11-11,5.00,,\n2026-11-10,5.00,,\n2026-11-20,5.00,,\n";
    let ours = [(11, 500, "", "", ""), (10, 500, "", "", ""), (12, 500, "", "", ""), (15, 500, "", "", "")];
    let (report, _) = run(&map, lines, &ours, None);
    assert_eq!(matched(&report), [0, 0, 3]);
    assert_eq!(report.findings.iter().map(|its| its.day).collect::<Vec<_>>(), [day(20), day(15)]);
}

#[test]
fn what_was_open_is_carried_on_until_it_is_found_or_closed() {
    let map = map(MAP);
    let ours = [
        (10, 500, "op-1", "", ""),
        (30, 600, "op-2", "", ""),
        (32, 700, "op-3", "", ""),
        (5, 900, "op-4", "", ""),
    ];
    let first = "date,amount,id,text\n2026-11-01,1.00,,fee\n2026-11-10,5.00,op-1,\n2026-11-30,7.00,,op-3\n";
    let (report, state) = run(&map, first, &ours, None);
    let names = |report: &Report| {
        let name = |its: &crate::Finding| (its.matter, its.operation.clone(), its.since);
        report.findings.iter().map(name).collect::<Vec<_>>()
    };
    let end = day(30);
    assert_eq!(
        names(&report),
        [
            (Matter::MissingHere, String::new(), end),
            (Matter::MissingThere, "op-4".into(), end),
            (Matter::InTransit, "op-2".into(), end)
        ]
    );
    // The same file again says the same.
    let (report, mut state) = run(&map, first, &ours, Some(state));
    assert_eq!(report.differences(), 2);
    let fee = report.findings[0].id.clone();
    // The next one overlaps; what went before its first day is known, and what was in transit has come.
    let next = "date,amount,id,text\n2026-11-30,7.00,,op-3\n2026-12-03,6.00,op-2,\n";
    let (report, next_state) = run(&map, next, &ours, Some(state.clone()));
    let open = [(Matter::MissingHere, String::new(), end), (Matter::MissingThere, "op-4".into(), end)];
    assert_eq!(names(&report), open);
    assert_eq!((report.matched.carried, report.settled), (1, 1));
    let tally = report.tallies[&Matter::MissingThere];
    assert_eq!((tally.count, tally.carried), (1, 1));
    // The order counts, and what is closed does not come back, not even if the file is read again.
    assert!(try_run(&map, first, &ours, Some(next_state)).is_err_and(|why| why.contains("in their order")));
    assert!(state.close("there:0", "?", day(31)).is_err());
    state.close(&fee, "a fee of the bank", day(31)).unwrap_or_else(|error| panic!("{error}"));
    assert!(state.close(&fee, "again", day(31)).is_err());
    for file in [first, next] {
        let (report, after) = run(&map, file, &ours, Some(state));
        assert_eq!(names(&report)[0].1, "op-4", "{report:#?}");
        state = after;
    }
}

#[test]
fn a_state_is_read_as_it_was_written_and_for_its_map_only() {
    let first = "date,amount,id,text\n2026-11-10,5.00,op-1,\n2026-11-10,6.00,op-2,\n2026-11-10,6.00,op-2,\n";
    let (_, state) = run(&map(MAP), first, &[(10, 700, "op-2", "", "")], None);
    let mut bytes = Vec::new();
    state.write(&mut bytes).unwrap_or_else(|error| panic!("{error}"));
    let read = State::read(&bytes, &map(MAP)).unwrap_or_else(|error| panic!("{error}"));
    let next = "date,amount,id,text\n2026-11-20,1.00,op-3,\n";
    let (report, _) = run(&map(MAP), next, &[], Some(read));
    assert_eq!(
        found(&report)[1..],
        [
            (Matter::MissingHere, Some(2), Some(100), None),
            (Matter::Different, None, Some(600), Some(700)),
            (Matter::Doubled, None, Some(600), None),
        ][..]
    );
    for (bytes, other) in [(&b"{}"[..], MAP.to_owned()), (&bytes, MAP.replace("'bank'", "'other'"))] {
        assert!(State::read(bytes, &map(&other)).is_err());
    }
}

#[test]
fn a_count_is_compared_item_by_item() {
    let lines = "sku,counted\na,10\nb,4\nb,5\nSKU-c,7\nd,0\n";
    let ours = [
        (0, 10, "a", "", ""),
        (0, 9, "b", "", ""),
        (0, 7, "sku-c", "", ""),
        (0, 0, "e", "", ""),
        (0, 3, "f", "", ""),
    ];
    let (report, state) = run(&map(COUNT), lines, &ours, None);
    assert_eq!(
        found(&report),
        [
            (Matter::MissingHere, Some(5), Some(7), None),
            (Matter::MissingThere, None, None, Some(3)),
            (Matter::MissingThere, None, None, Some(7)),
            (Matter::Different, Some(3), Some(4), Some(9)),
            (Matter::Doubled, Some(4), Some(5), None),
        ]
    );
    let adds = map(&format!("{COUNT}[match]\nadds_lines = true\n"));
    let (report, _) = run(&adds, lines, &ours, None);
    assert_eq!((report.matched.operation, report.differences()), (2, 3), "{report:#?}");
    // The same day again; then what still differs has done so since then.
    let (report, _) = run(&map(COUNT), lines, &ours, Some(state));
    assert_eq!(report.findings[0].since, day(60));
}
