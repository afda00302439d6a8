//! What finds what, and what must not.

use super::{MAP, found, map, matched, run};
use crate::report::Matter;

#[test]
fn a_payment_that_the_bank_made_twice_does_not_take_another_one() {
    let ours = [(10, 5_000, "pay-1", "", ""), (10, 5_000, "pay-2", "", "")];
    let head = "date,amount,id,text\n";
    for twice in ["2026-11-10,50.00,pay-1,\n", "2026-11-10,50.00,,re pay-1\n"] {
        let (report, _) = run(&map(MAP), &format!("{head}{twice}{twice}2026-11-20,1,,\n"), &ours, None);
        let matters: Vec<Matter> = report.findings.iter().map(|its| its.matter).collect();
        assert_eq!(matters, [Matter::MissingHere, Matter::MissingThere, Matter::Doubled], "{report:#?}");
    }
    // Another operation may be the bank's own name for it: that is said, and can be forbidden.
    let lines = format!("{head}2026-11-10,50.00,pay-1,\n2026-11-10,50.00,pay-9,\n");
    let (report, _) = run(&map(MAP), &lines, &ours, None);
    assert_eq!((matched(&report), report.matched.both_named, report.by_amount.len()), ([1, 0, 1], 1, 1));
    let json = report.json();
    let pair = &json["by_amount_and_day"][0];
    assert_eq!((&pair["operation"], &pair["here_operation"]), (&"pay-9".into(), &"pay-2".into()));
    let strict = map(&format!("{MAP}[match]\namount_and_day = false\n"));
    let (report, _) = run(&strict, &lines, &ours, None);
    assert_eq!((matched(&report), found(&report).len()), ([1, 0, 0], 2));
}

#[test]
fn what_only_looks_the_same_is_not_doubled() {
    // Two payments of one customer; the second has not come yet.
    let lines = "date,amount,id,text\n2026-11-10,50.00,d-1,from u1\n";
    let ours = [(10, 5_000, "d-1", "", "u1"), (10, 5_000, "d-2", "", "u1")];
    let (report, _) = run(&map(MAP), lines, &ours, None);
    assert_eq!(found(&report), [(Matter::InTransit, None, None, Some(5_000))]);
    // Two lines with one text and two operations, of which one is not booked here.
    let lines = "date,amount,id,text\n2026-11-10,50.00,d-1,thanks\n2026-11-10,50.00,d-7,thanks\n";
    let (report, _) = run(&map(MAP), lines, &ours[..1], None);
    assert_eq!(found(&report), [(Matter::MissingHere, Some(3), Some(5_000), None)]);
    // A reversal has the operation of what it reverses.
    let lines = "date,amount,id,text\n2026-11-10,5.00,r-1,\n2026-11-10,-5.00,r-1,\n";
    let (report, _) = run(&map(MAP), lines, &[(10, 500, "r-1", "", "")], None);
    assert_eq!(found(&report), [(Matter::MissingHere, Some(3), Some(-500), None)]);
    let ours = [(10, 500, "r-1", "", ""), (10, -500, "r-1-undo", "", "")];
    let (report, _) = run(&map(MAP), lines, &ours, None);
    assert_eq!(report.differences(), 0, "{report:#?}");
}

#[test]
fn a_reference_does_not_join_what_came_in_with_what_went_out() {
    let lines = "date,amount,id,text\n2026-11-10,-50.00,,refund order-77\n";
    let (report, _) = run(&map(MAP), lines, &[(10, 5_000, "order-77", "", "")], None);
    let expected =
        [(Matter::MissingHere, Some(2), Some(-5_000), None), (Matter::InTransit, None, None, Some(5_000))];
    assert_eq!(found(&report), expected);
}

#[test]
fn equal_amounts_find_as_many_as_there_can_be() {
    let lines = "date,amount,id,text\n2026-11-03,7.00,,\n2026-11-05,7.00,,\n";
    let (report, _) = run(&map(MAP), lines, &[(5, 700, "x-5", "", ""), (8, 700, "x-8", "", "")], None);
    assert_eq!((matched(&report), report.differences()), ([0, 0, 2], 0));
}
