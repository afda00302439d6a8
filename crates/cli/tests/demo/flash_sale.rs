//! `scarce demo flash-sale`.

use super::Demo;

pub(super) const SALE: Demo =
    Demo { arguments: &["flash-sale", "--units", "120", "--buyers", "1500", "--ttl-ms", "300"] };

#[test]
fn a_sale_that_is_killed_in_its_middle_keeps_every_promise() {
    let proof = SALE.holds();
    assert_eq!(proof.figure("never oversold", "sold"), 120);
}

#[test]
fn the_table_is_for_people() {
    SALE.shows(&["ok      never oversold", "all 11 promises were kept"]);
}

#[test]
fn a_lost_sale_breaks_the_proof() {
    SALE.breaks("lost-sale", &["acknowledged is durable"]);
}

#[test]
fn a_sale_made_twice_breaks_the_proof() {
    SALE.breaks("double-sale", &["never oversold", "one id, one effect"]);
}
