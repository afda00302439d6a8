//! `scarce demo wallet`.

use super::Demo;

pub(super) const WALLET: Demo =
    Demo { arguments: &["wallet", "--accounts", "60", "--operations", "1500", "--ttl-ms", "200"] };

#[test]
fn every_cent_is_accounted_for_across_a_kill() {
    let proof = WALLET.holds();
    let settled = |name| proof.figure("the uncertain is settled", name);
    assert!(settled("resolved") > 0 && settled("sent_again") > 0, "{proof:?}");
    assert_eq!(settled("resolved"), settled("applied") + settled("refused") + settled("absent"));
    assert!(proof.figure("holds are conserved", "expired") > 0, "{proof:?}");
    assert!(proof.figure("holds are conserved", "open") > 0, "{proof:?}");
    assert_eq!(proof.figure("balances are the log's", "same"), 60);
}

#[test]
fn the_table_shows_the_hot_accounts() {
    WALLET.shows(&["{wallet}:shop-0 ┤█", "how holds ended", "all 12 promises were kept"]);
}

#[test]
fn a_lost_transfer_breaks_the_proof() {
    WALLET.breaks("lost-transfer", &["acknowledged is durable"]);
}

#[test]
fn a_transfer_made_twice_breaks_the_proof() {
    WALLET.breaks("double-transfer", &["one id, one effect", "balances are the log's"]);
}

#[test]
fn a_cent_from_nowhere_breaks_the_proof() {
    WALLET.breaks("extra-cent", &["money sums to zero", "balances are the log's"]);
}

#[test]
fn a_hold_that_does_not_let_go_breaks_the_proof() {
    WALLET.breaks("stuck-hold", &["holds are conserved"]);
}
