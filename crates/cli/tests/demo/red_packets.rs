//! `scarce demo red-packets`.

use super::Demo;

pub(super) const PARTY: Demo = Demo { arguments: &["red-packets", "--users", "800", "--packets", "100"] };

#[test]
fn packets_are_given_and_paid_once_across_a_kill() {
    let proof = PARTY.holds();
    assert_eq!(proof.figure("one packet each", "guests"), 100);
    assert_eq!(proof.figure("every claim is paid once", "paid"), 888_800);
    assert!(proof.figure("asking again tells the same", "reminded") >= 100);
}

const PARTY_WITH_SQL: Demo =
    Demo { arguments: &["red-packets", "--users", "800", "--packets", "100", "--sql"] };

#[test]
fn the_server_itself_credits_every_claim_once_and_statements_from_sql_add_up() {
    let proof = PARTY_WITH_SQL.holds();
    let of_sql = |name| proof.figure("statements from SQL add up", name);
    assert_eq!([of_sql("settled"), of_sql("entries"), of_sql("sum"), of_sql("dead")], [100, 100, 888_800, 0]);
    assert_eq!(proof.figure("every claim is paid once", "pot"), 888_800);
    let checks = proof.value("reconciled", "checks").as_array().expect("checks");
    let compared =
        |name: &str| checks.iter().find(|its| its["check"] == name).expect("a check")["compared"].as_u64();
    assert_eq!(compared("settlement"), Some(100), "{proof:?}");
    assert!(compared("tables") > Some(800), "{proof:?}");
}

#[test]
fn every_method_gives_a_cut_that_can_be_made_again() {
    for method in ["EVEN", "LINE_CUT"] {
        let proof = PARTY.prove(&["--json", "--method", method], 0);
        assert_eq!(proof.figure("the seed gives the cut", "claims"), 100, "{method}");
    }
}

#[test]
fn more_packets_than_guests_leave_a_rest() {
    let demo = Demo { arguments: &["red-packets", "--users", "200", "--packets", "300"] };
    let proof = demo.holds();
    assert_eq!(proof.figure("the sum is exact", "given"), 200);
}

#[test]
fn the_table_has_a_histogram() {
    PARTY.shows(&["packets by what was in them", "┤█", "all 13 promises were kept"]);
}

#[test]
fn a_lost_claim_breaks_the_proof() {
    PARTY.breaks("lost-claim", &["acknowledged is durable"]);
}

#[test]
fn a_second_packet_breaks_the_proof() {
    PARTY.breaks("second-packet", &["one packet each"]);
}

#[test]
fn a_seed_that_was_not_committed_to_breaks_the_proof() {
    PARTY.breaks("swapped-seed", &["the cut was fixed before", "the seed gives the cut"]);
}

#[test]
fn a_packet_paid_twice_breaks_the_proof() {
    PARTY.breaks("double-payment", &["one id, one effect", "every claim is paid once"]);
}

#[test]
fn a_statement_that_says_another_amount_breaks_the_proof() {
    PARTY_WITH_SQL.breaks("altered-statement", &["statements from SQL add up"]);
}
