//! `scarce demo coupons`.

use super::Demo;

pub(super) const COUPONS: Demo = Demo { arguments: &["coupons", "--users", "300"] };

#[test]
fn no_limit_is_exceeded_across_a_kill_and_midnight() {
    let proof = COUPONS.holds();
    assert!(proof.figure("the day turns at midnight", "before") > 0, "{proof:?}");
    assert!(proof.figure("the day turns at midnight", "after") > 0, "{proof:?}");
    assert_eq!(proof.figure("counters are the recount", "checked"), 300);
    // Each of the four limits must have refused a claim, otherwise the run proves nothing about it.
    let stopped = proof.value("no limit is exceeded", "stopped").as_object().expect("limits").len();
    assert_eq!(stopped, 4, "{proof:?}");
}

#[test]
fn the_table_shows_what_the_limits_stopped() {
    COUPONS.shows(&["midnight", "device  ┤", "all 11 promises were kept"]);
}

#[test]
fn a_lost_claim_breaks_the_proof() {
    COUPONS.breaks("lost-claim", &["acknowledged is durable"]);
}

#[test]
fn a_claim_above_the_limit_breaks_the_proof() {
    COUPONS.breaks("over-limit", &["no limit is exceeded", "counters are the recount"]);
}

#[test]
fn a_claim_redeemed_twice_breaks_the_proof() {
    COUPONS.breaks("double-redemption", &["redeemed at most once", "one id, one effect"]);
}

#[test]
fn a_claim_counted_in_another_day_breaks_the_proof() {
    COUPONS.breaks("wrong-day", &["the day turns at midnight"]);
}
