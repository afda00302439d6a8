use super::super::tests::{Bench, Dice};
use super::*;

fn check(levels: &Levels) {
    let rows: Vec<_> = levels.rows.iter().map(|(rank, level)| (*rank, level.quantity)).collect();
    if !levels.runs.is_empty() {
        assert_eq!(levels.runs.values().map(|run| run.levels).sum::<usize>(), rows.len());
        assert!(levels.runs.values().all(|run| run.levels <= levels.run_max), "{:?}", levels.runs);
    }
    let mut total = 0;
    for (rank, quantity) in rows {
        assert_eq!(levels.units(Rank(rank.0 - 1), u64::MAX), total);
        total += quantity;
        assert_eq!(levels.units(rank, u64::MAX), total);
        assert!((total..=total + 9).contains(&levels.units(Rank(u64::MAX), total)), "no more than wanted");
    }
}

#[test]
fn sums_follow_every_change_and_every_change_that_is_taken_back() {
    let mut dice = Dice(0x5EED);
    for _ in 0..20 {
        let mut levels = Levels { run_max: 16, ..Levels::new() };
        let mut undo = Vec::new();
        for step in 0..400 {
            let (rank, quantity) = (Rank(1 + dice.below(120)), 1 + dice.below(9));
            // First the side grows, then it shrinks.
            let grows = dice.below(10) < if step < 200 { 8 } else { 2 };
            let before = levels.change(rank, |level| {
                (level.quantity, level.orders) = if grows { (quantity, 1) } else { (0, 0) };
            });
            if !grows && before.is_none() {
                // A level that never had an order is no level.
                levels.restore(rank, None);
            }
            undo.push((rank, before));
            check(&levels);
        }
        for (rank, before) in undo.into_iter().rev() {
            levels.restore(rank, before);
            check(&levels);
        }
        assert!(levels.rows.is_empty());
    }
}

/// How many levels the deep book has.
const DEEP: u64 = 20_000;

fn offers(count: u64) -> Bench {
    let mut bench = Bench::open();
    for price in 1..=count {
        let answer = bench.run(&[&format!("ORDER.PLACE m s{price} x SELL LIMIT {price} 2")]);
        assert!(answer.starts_with("APPLIED"), "{answer}");
    }
    bench
}

#[test]
fn a_fill_or_kill_order_looks_at_few_levels_of_a_deep_book_and_knows_what_it_would_get() {
    let mut bench = offers(DEEP);
    for own in [5, DEEP / 2] {
        assert!(bench.run(&[&format!("ORDER.PLACE m me{own} me SELL LIMIT {own} 7")]).starts_with("APPLIED"));
    }
    let all = 2 * DEEP;
    for (line, expected) in [
        (format!("BUY MARKET {} TIF FOK", all + 15), format!("WOULD_NOT_FILL {} {}", all + 14, all + 15)),
        (format!("BUY LIMIT 15000 {all} TIF FOK"), format!("WOULD_NOT_FILL 30014 {all}")),
        (format!("BUY LIMIT 3 {all} TIF FOK"), format!("WOULD_NOT_FILL 6 {all}")),
        (format!("BUY LIMIT 15000 {all} TIF FOK STP CANCEL_MAKER"), format!("WOULD_NOT_FILL 30000 {all}")),
        (format!("BUY LIMIT 15000 {all} TIF FOK STP CANCEL_TAKER"), format!("WOULD_NOT_FILL 10 {all}")),
        (format!("BUY LIMIT 15000 {all} TIF FOK STP DECREMENT"), format!("WOULD_NOT_FILL 10 {all}")),
    ] {
        let line = format!("ORDER.PLACE m t me {line}");
        let (answer, rows) = visits::count(|| bench.foretell(&line));
        assert_eq!(answer, expected, "{line}");
        assert!(rows < 2 * RUN_MAX as u64, "{line}: {rows} of {DEEP} levels");
    }
    let (answer, rows) = visits::count(|| bench.foretell("ORDER.PLACE m t you BUY LIMIT 15000 3 TIF FOK"));
    assert!(answer.starts_with("APPLIED"), "{answer}");
    assert!(rows < 64, "{rows} rows for a fill at the front");
}

#[test]
fn an_owner_of_many_orders_does_not_make_its_order_look_at_all_others() {
    let mut bench = offers(2_000);
    for n in 1..=300 {
        let line = format!("ORDER.PLACE m me{n} me SELL LIMIT {} 1", 2_000 + n);
        assert!(bench.run(&[&line]).starts_with("APPLIED"));
    }
    for (stp, expected) in [("CANCEL_MAKER", 4_000), ("CANCEL_TAKER", 4_000), ("NONE", 4_300)] {
        let line = format!("ORDER.PLACE m t me BUY MARKET 9000 TIF FOK STP {stp}");
        let (answer, rows) = visits::count(|| bench.foretell(&line));
        assert_eq!(answer, format!("WOULD_NOT_FILL {expected} 9000"), "{stp}");
        // Those of the owner, as many makers as a step touches, and the levels of two runs; the book has 4 300 orders.
        assert!(rows < 4 * RUN_MAX as u64, "{stp}: {rows} rows");
    }
}

#[test]
fn an_order_that_would_be_looked_at_for_long_is_refused_after_a_bounded_look() {
    let mut bench = Bench::open();
    let most = super::super::LOOKED_MAX as u64;
    for n in 0..2 * most {
        let line = format!("ORDER.PLACE m a{n} x SELL LIMIT 10 1");
        assert!(bench.run(&[&line]).starts_with("APPLIED"));
    }
    assert!(bench.run(&["ORDER.PLACE m own me SELL LIMIT 10 1"]).starts_with("APPLIED"));
    for stp in ["CANCEL_TAKER", "CANCEL_BOTH", "DECREMENT"] {
        let line = format!("ORDER.PLACE m t me BUY MARKET 9000 TIF FOK STP {stp}");
        let (answer, rows) = visits::count(|| bench.foretell(&line));
        assert_eq!(answer, format!("STEP_LIMIT {most}"), "{stp}");
        // An entry of the book and the order's record for each; the queue has twice as many.
        assert!(rows < 2 * most + 64, "{stp}: {rows} rows");
    }
    for n in 0..2 * most {
        let line = format!("ORDER.PLACE m b{n} me BUY LIMIT 1 1");
        assert!(bench.run(&[&line]).starts_with("APPLIED"));
    }
    let (answer, rows) =
        visits::count(|| bench.foretell("ORDER.PLACE m t me BUY MARKET 9 TIF FOK STP CANCEL_MAKER"));
    assert_eq!(answer, format!("STEP_LIMIT {most}"));
    assert!(rows < 64, "{rows} rows");
}

#[test]
fn ranks_turn_bids_around() {
    for side in [Side::Buy, Side::Sell] {
        for price in [1, 2, INTEGER_MAX] {
            assert_eq!(Rank::of(side, price).price(side), price);
        }
    }
    assert!(Rank::of(Side::Buy, 9) < Rank::of(Side::Buy, 8));
    assert!(Rank::of(Side::Sell, 8) < Rank::of(Side::Sell, 9));
}
