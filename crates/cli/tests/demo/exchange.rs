//! `scarce demo exchange`.

use super::Demo;

pub(super) const EXCHANGE: Demo = Demo { arguments: &["exchange", "--commands", "2400"] };

#[test]
fn a_plain_book_makes_the_same_trades_across_a_kill() {
    let proof = EXCHANGE.holds();
    assert!(proof.figure("what is bought is sold", "trades") > 0, "{proof:?}");
    assert!(proof.figure("best price, then time", "matched") > 0, "{proof:?}");
    assert_eq!(proof.figure("best price, then time", "same_books"), 3);
    // Self-trades must have been possible, otherwise the run proves nothing about their prevention.
    assert!(proof.figure("no trade with oneself", "prevented") > 0, "{proof:?}");
    let orders = |name| proof.figure("orders add up", name);
    let parts = ["filled", "open", "cancelled", "reduced"].map(orders);
    assert_eq!(orders("quantity"), parts.iter().sum::<u64>());
    assert!(parts.iter().all(|part| *part > 0), "{proof:?}");
}

#[test]
fn the_table_shows_the_books() {
    EXCHANGE.shows(&["BTC-EUR (", "█│", "all 12 promises were kept"]);
}

#[test]
fn a_lost_fill_breaks_the_proof() {
    EXCHANGE.breaks("lost-fill", &["acknowledged is durable"]);
}

#[test]
fn an_order_that_jumps_the_queue_breaks_the_proof() {
    EXCHANGE.breaks("queue-jump", &["best price, then time"]);
}

#[test]
fn a_trade_with_oneself_breaks_the_proof() {
    EXCHANGE.breaks("self-trade", &["no trade with oneself"]);
}

#[test]
fn a_trade_that_gives_more_than_it_takes_breaks_the_proof() {
    EXCHANGE.breaks("uneven-trade", &["what is bought is sold", "orders add up"]);
}
