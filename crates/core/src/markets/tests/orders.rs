//! One rule per test.

use super::Bench;
use crate::state::StateSettings;
use crate::store::visits;

#[test]
fn price_comes_first_and_then_time_whatever_the_names() {
    let mut bench = Bench::open();
    for order in ["11", "9", "10"] {
        bench.check(&format!("ORDER.PLACE m {order} o{order} SELL LIMIT 5 2"), "APPLIED open 0 2 []");
    }
    bench.check("ORDER.PLACE m 8 o8 SELL LIMIT 4 1", "APPLIED open 0 1 []");
    bench.check(
        "ORDER.PLACE m t bo BUY LIMIT 5 6",
        "APPLIED filled 6 0 [[1 8 4 1 0] [2 11 5 2 0] [3 9 5 2 0] [4 10 5 1 1]]",
    );
    bench.see("ORDER.GET m 10", "APPLIED 10 o10 SELL 5 1 1 GTC NONE partially_filled -");
    bench.see("ORDER.GET m 9", "APPLIED 9 o9 SELL 5 0 2 GTC NONE filled -");
    bench.see("MARKET.GET m", "APPLIED m open 1 1 1 9007199254740991 - 5 1 4");
    bench.check("ORDER.PLACE m u bo BUY LIMIT 5 3", "APPLIED partially_filled 1 2 [[5 10 5 1 0]]");
    bench.see("MARKET.DEPTH m", "APPLIED [[5 2 1]] []");
    bench.check_fold();
}

#[test]
fn bids_trade_from_the_highest_down() {
    let mut bench = Bench::open();
    for (order, price) in [("a", 3), ("b", 7), ("c", 5), ("d", 7)] {
        bench.run(&[&format!("ORDER.PLACE m {order} o BUY LIMIT {price} 1")]);
    }
    bench.see("MARKET.DEPTH m LEVELS 2", "APPLIED [[7 2 2] [5 1 1]] []");
    bench.check(
        "ORDER.PLACE m t s SELL MARKET 9",
        "APPLIED cancelled 4 5 [[1 b 7 1 0] [2 d 7 1 0] [3 c 5 1 0] [4 a 3 1 0]]",
    );
    bench.see("ORDER.GET m t", "APPLIED t s SELL - 5 4 IOC NONE cancelled unfilled");
}

/// The answer to a taker of 5 whose owner's order of `own` units stands behind 2 units of another owner
/// and before 9 more, all at one price; and what remains of that order.
fn meet_own(tif: &str, stp: &str, own: u64) -> (String, String) {
    let mut bench = Bench::open();
    bench.run(&["ORDER.PLACE m a other SELL LIMIT 7 2"]);
    bench.run(&[&format!("ORDER.PLACE m b me SELL LIMIT 7 {own}")]);
    bench.run(&["ORDER.PLACE m c other SELL LIMIT 7 9"]);
    let answer = bench.run(&[&format!("ORDER.PLACE m t me BUY LIMIT 7 5 TIF {tif} STP {stp}")]);
    let left: Vec<String> = bench.ask("ORDER.GET m b").split(' ').map(str::to_owned).collect();
    bench.check_fold();
    (answer, format!("{} {}", left[5], left[9]))
}

#[test]
fn every_tif_with_every_stp_mode() {
    let table = [
        ("NONE", 2, "filled 5 0 [[1 a 7 2 0] [2 b 7 2 0] [3 c 7 1 8]]", "0 filled"),
        ("NONE", 4, "filled 5 0 [[1 a 7 2 0] [2 b 7 3 1]]", "1 partially_filled"),
        ("CANCEL_TAKER", 2, "cancelled 2 3 [[1 a 7 2 0]]", "2 open"),
        ("CANCEL_MAKER", 2, "filled 5 0 [[1 a 7 2 0] [2 c 7 3 6]]", "2 cancelled"),
        ("CANCEL_BOTH", 2, "cancelled 2 3 [[1 a 7 2 0]]", "2 cancelled"),
        ("DECREMENT", 2, "filled 3 0 [[1 a 7 2 0] [2 c 7 1 8]]", "2 cancelled"),
        ("DECREMENT", 3, "cancelled 2 3 [[1 a 7 2 0]]", "3 cancelled"),
        ("DECREMENT", 4, "cancelled 2 3 [[1 a 7 2 0]]", "1 open"),
    ];
    for (stp, own, figures, left) in table {
        let expected = (format!("APPLIED {figures}"), left.to_owned());
        for tif in ["GTC", "IOC"] {
            assert_eq!(meet_own(tif, stp, own), expected, "{tif} {stp} {own}");
        }
        let stopped = ("WOULD_NOT_FILL 2 5".to_owned(), format!("{own} open"));
        let expected = if stp.ends_with("MAKER") || stp == "NONE" { expected } else { stopped };
        assert_eq!(meet_own("FOK", stp, own), expected, "FOK {stp} {own}");
        let would_take = ("WOULD_TAKE 7".to_owned(), format!("{own} open"));
        assert_eq!(meet_own("POST", stp, own), would_take, "POST {stp} {own}");
    }
}

#[test]
fn self_trades_are_told_in_events() {
    let mut bench = Bench::open();
    bench.run(&["ORDER.PLACE m a me SELL LIMIT 7 2"]);
    let count = bench.events().len();
    bench.check("ORDER.PLACE m t me BUY LIMIT 7 5 STP DECREMENT", "APPLIED open 0 3 []");
    let names = ["order.placed", "order.cancelled", "order.reduced", "order.rested"];
    assert_eq!(bench.names_since(count), names);
    let count = bench.events().len();
    bench.check("ORDER.PLACE m u me SELL LIMIT 7 2 STP DECREMENT", "APPLIED cancelled 0 2 []");
    assert_eq!(bench.names_since(count), ["order.placed", "order.reduced", "order.cancelled"]);
    bench.see("MARKET.DEPTH m", "APPLIED [[7 1 1]] []");
    bench.see("ORDER.GET m u", "APPLIED u me SELL 7 2 0 GTC DECREMENT cancelled self_trade");
}

#[test]
fn fill_or_kill_is_whole_or_nothing() {
    let mut bench = Bench::open();
    bench.run(&["ORDER.PLACE m a x SELL LIMIT 5 3"]);
    bench.run(&["ORDER.PLACE m b me SELL LIMIT 6 3"]);
    bench.run(&["ORDER.PLACE m c x SELL LIMIT 6 3"]);
    let fok = |figures: &str, stp: &str| format!("ORDER.PLACE m t me BUY {figures} TIF FOK STP {stp}");
    bench.check(&fok("LIMIT 5 4", "NONE"), "WOULD_NOT_FILL 3 4");
    bench.check(&fok("LIMIT 6 10", "NONE"), "WOULD_NOT_FILL 9 10");
    bench.check(&fok("LIMIT 6 7", "CANCEL_MAKER"), "WOULD_NOT_FILL 6 7");
    bench.check(&fok("MARKET 4", "CANCEL_BOTH"), "WOULD_NOT_FILL 3 4");
    bench.check(&fok("MARKET 3", "CANCEL_BOTH"), "APPLIED filled 3 0 [[1 a 5 3 0]]");
    bench.check(
        "ORDER.PLACE m u me BUY LIMIT 6 3 TIF FOK STP CANCEL_MAKER",
        "APPLIED filled 3 0 [[2 c 6 3 0]]",
    );
    bench.see("ORDER.GET m b", "APPLIED b me SELL 6 3 0 GTC NONE cancelled self_trade");
    bench.check("ORDER.PLACE m v me BUY LIMIT 6 1 TIF FOK", "WOULD_NOT_FILL 0 1");
    bench.check_fold();
}

/// A book with orders of `me` at every other price, among those of others.
fn mixed(step_max: usize) -> Bench {
    let mut bench = Bench::with_steps(step_max);
    bench.check("MARKET.CREATE m", "APPLIED open");
    for n in 0..24 {
        let owner = if n % 5 == 1 || n == 14 { "me" } else { "x" };
        bench.run(&[&format!("ORDER.PLACE m a{n} {owner} SELL LIMIT {} {}", 5 + n / 4, 1 + n % 3)]);
        bench.run(&[&format!("ORDER.PLACE m b{n} {owner} BUY LIMIT {} 1", 1 + n % 4)]);
    }
    bench
}

#[test]
fn a_fill_or_kill_order_meets_the_same_however_many_orders_its_owner_may_have() {
    // With so few orders per step the owner has more than that, with so many fewer.
    let (mut few, mut many) = (mixed(1), mixed(1_000));
    for stp in ["NONE", "CANCEL_TAKER", "CANCEL_MAKER", "CANCEL_BOTH", "DECREMENT"] {
        for pricing in ["LIMIT 5", "LIMIT 7", "LIMIT 8", "MARKET"] {
            for quantity in 1..50 {
                let line = format!("ORDER.PLACE m t me BUY {pricing} {quantity} TIF FOK STP {stp}");
                assert_eq!(few.foretell(&line), many.foretell(&line), "{line}");
            }
        }
    }
}

#[test]
fn a_fill_or_kill_order_looks_at_no_more_if_its_owner_has_more_orders() {
    let rows = |orders: u64| {
        let mut bench = Bench::open();
        bench.run(&["ORDER.PLACE m a x SELL LIMIT 5 3"]);
        for n in 0..orders {
            bench.run(&[&format!("ORDER.PLACE m s{n} me SELL LIMIT {} 1", 6 + n)]);
        }
        let line = "ORDER.PLACE m t me BUY LIMIT 9 3 TIF FOK STP CANCEL_MAKER";
        visits::count(|| bench.foretell(line)).1
    };
    assert_eq!(rows(200), rows(2_000));
}

#[test]
fn an_own_order_behind_the_last_fill_stops_no_fill_or_kill() {
    let mut bench = Bench::open();
    bench.run(&["ORDER.PLACE m a x SELL LIMIT 5 3"]);
    bench.run(&["ORDER.PLACE m b me SELL LIMIT 5 3"]);
    let fok = "ORDER.PLACE m t me BUY LIMIT 5 3 TIF FOK STP DECREMENT";
    bench.check(fok, "APPLIED filled 3 0 [[1 a 5 3 0]]");
    bench.see("MARKET.DEPTH m", "APPLIED [] [[5 3 1]]");
}

#[test]
fn refusals_come_in_the_order_of_the_table() {
    let mut bench = Bench::open();
    bench.check("MARKET.CREATE m", "MARKET_EXISTS m");
    bench.check("MARKET.CREATE n TICK 5 LOT 2 MINQTY 4 MAXQTY 9007199254740990", "APPLIED open");
    let wrong = "ORDER.PLACE n a me BUY LIMIT 7 3";
    bench.check("ORDER.PLACE x a me BUY LIMIT 7 3", "MARKET_NOT_FOUND x");
    bench.check("MARKET.HALT n", "APPLIED halted");
    bench.check(wrong, "MARKET_HALTED n");
    bench.check("MARKET.RESUME n", "APPLIED open");
    bench.check("ORDER.PLACE n a me BUY LIMIT 10 4", "APPLIED open 0 4 []");
    bench.check(wrong, "ORDER_EXISTS a");
    bench.check("ORDER.PLACE n b me BUY LIMIT 7 3", "PRICE_INVALID 7 5");
    bench.check("ORDER.PLACE n b me BUY LIMIT 15 3", "QUANTITY_INVALID 3 2 4 9007199254740990");
    bench.check("ORDER.PLACE n b me BUY LIMIT 15 2", "QUANTITY_INVALID 2 2 4 9007199254740990");
    bench.check("ORDER.PLACE n b me BUY LIMIT 5 9007199254740990", "OVERFLOW quantity");
    bench.check("ORDER.PLACE n b me SELL LIMIT 10 9007199254740990 TIF POST", "WOULD_TAKE 10");
    bench.check("ORDER.PLACE n b me SELL LIMIT 10 6 TIF FOK", "WOULD_NOT_FILL 4 6");
    bench.check("ORDER.PLACE n b me BUY LIMIT 5 9007199254740986", "APPLIED open 0 9007199254740986 []");
    bench.check("ORDER.REPLACE n b me 15 9007199254740988", "OVERFLOW quantity");
    bench.check("ORDER.REPLACE n b me 15 9007199254740986", "APPLIED open 0 9007199254740986 []");
    for other in ["CANCEL n", "REDUCE n", "REPLACE n"] {
        let figures = if other.starts_with("REP") { " 7 3" } else { "" };
        let figures = if other.starts_with("RED") { " 3" } else { figures };
        bench.check(&format!("ORDER.{other} z me{figures}"), "ORDER_NOT_FOUND z");
        bench.check(&format!("ORDER.{other} a you{figures}"), "NOT_OWNER");
    }
    bench.check("ORDER.REDUCE n a me 3", "QUANTITY_INVALID 3 2 4 9007199254740990");
    bench.check("ORDER.REDUCE n a me 5", "APPLIED cancelled 4");
    bench.check("ORDER.CANCEL n a me", "ORDER_CLOSED a cancelled");
    bench.check("ORDER.CANCELALL x me", "MARKET_NOT_FOUND x");
    bench.check("ORDER.CANCELALL n you", "APPLIED 0");
    bench.check_fold();
}

#[test]
fn reducing_keeps_the_place_in_the_queue() {
    let mut bench = Bench::open();
    bench.run(&["ORDER.PLACE m a x SELL LIMIT 5 4"]);
    bench.run(&["ORDER.PLACE m b y SELL LIMIT 5 4"]);
    bench.check("ORDER.REDUCE m a x 3", "APPLIED open 1");
    bench.see("MARKET.DEPTH m", "APPLIED [] [[5 5 2]]");
    bench.check("ORDER.PLACE m t z BUY MARKET 2", "APPLIED filled 2 0 [[1 a 5 1 0] [2 b 5 1 3]]");
    bench.check("ORDER.REDUCE m a x 1", "ORDER_CLOSED a filled");
}

#[test]
fn replacing_keeps_the_place_only_at_its_price_and_with_less() {
    let replaced = |figures: &str| {
        let mut bench = Bench::open();
        bench.run(&["ORDER.PLACE m a x SELL LIMIT 5 4"]);
        bench.run(&["ORDER.PLACE m b y SELL LIMIT 5 4"]);
        bench.run(&["ORDER.PLACE m c z BUY LIMIT 3 2"]);
        let answer = bench.run(&[&format!("ORDER.REPLACE m a x {figures}")]);
        let after = bench.run(&["ORDER.PLACE m t t BUY LIMIT 9 2"]);
        bench.check_fold();
        format!("{answer} | {after}")
    };
    assert_eq!(replaced("5 3"), "APPLIED open 0 3 [] | APPLIED filled 2 0 [[1 a 5 2 1]]");
    assert_eq!(replaced("5 4"), "APPLIED open 0 4 [] | APPLIED filled 2 0 [[1 b 5 2 2]]");
    assert_eq!(replaced("5 5"), "APPLIED open 0 5 [] | APPLIED filled 2 0 [[1 b 5 2 2]]");
    assert_eq!(replaced("6 4"), "APPLIED open 0 4 [] | APPLIED filled 2 0 [[1 b 5 2 2]]");
    assert_eq!(replaced("4 1"), "APPLIED open 0 1 [] | APPLIED filled 2 0 [[1 a 4 1 0] [2 b 5 1 3]]");
    let taken = "APPLIED partially_filled 2 1 [[1 c 3 2 0]] | APPLIED filled 2 0 [[2 a 3 1 0] [3 b 5 1 3]]";
    assert_eq!(replaced("3 3"), taken);
    let filled = "APPLIED filled 1 0 [[1 c 3 1 1]] | APPLIED filled 2 0 [[2 b 5 2 2]]";
    assert_eq!(replaced("2 1"), filled);
}

#[test]
fn a_replaced_order_counts_on_and_keeps_its_rules() {
    let mut bench = Bench::open();
    bench.run(&["ORDER.PLACE m a x SELL LIMIT 5 4 TIF POST STP CANCEL_BOTH"]);
    bench.run(&["ORDER.PLACE m t y BUY LIMIT 5 1"]);
    bench.run(&["ORDER.PLACE m b x BUY LIMIT 3 2"]);
    bench.check("ORDER.REPLACE m a x 3 4", "WOULD_TAKE 3");
    bench.check("ORDER.REPLACE m a x 4 7", "APPLIED partially_filled 1 7 []");
    bench.see("ORDER.GET m a", "APPLIED a x SELL 4 7 1 POST CANCEL_BOTH partially_filled -");
    bench.check("ORDER.REPLACE m b x 4 1", "APPLIED filled 1 0 [[2 a 4 1 6]]");
    bench.run(&["ORDER.PLACE m c x SELL LIMIT 6 4 STP CANCEL_BOTH"]);
    bench.run(&["ORDER.PLACE m d x BUY LIMIT 2 2"]);
    bench.check("ORDER.REPLACE m c x 2 9", "APPLIED cancelled 0 9 []");
    bench.see("MARKET.DEPTH m", "APPLIED [] [[4 6 1]]");
}

#[test]
fn what_an_order_fills_in_all_its_lives_stays_an_exact_integer() {
    let mut bench = Bench::open();
    bench.run(&["ORDER.PLACE m a x SELL LIMIT 5 9"]);
    bench.run(&["ORDER.PLACE m t y BUY LIMIT 5 4"]);
    bench.check("ORDER.REPLACE m a x 5 9007199254740988", "OVERFLOW quantity");
    bench.check("ORDER.REPLACE m a x 5 9007199254740987", "APPLIED partially_filled 4 9007199254740987 []");
}

#[test]
fn a_halted_market_lets_orders_go_and_shrink() {
    let mut bench = Bench::open();
    for order in ["a", "b", "c"] {
        bench.run(&[&format!("ORDER.PLACE m {order} x SELL LIMIT 5 4")]);
    }
    let count = bench.events().len();
    bench.check("MARKET.HALT m", "APPLIED halted");
    bench.check("MARKET.HALT m", "APPLIED halted");
    assert_eq!(bench.names_since(count), ["market.halted"]);
    bench.check("ORDER.PLACE m d x SELL LIMIT 5 4", "MARKET_HALTED m");
    bench.check("ORDER.REPLACE m a x 6 4", "MARKET_HALTED m");
    bench.check("ORDER.REPLACE m a x 5 5", "MARKET_HALTED m");
    bench.check("ORDER.REPLACE m a x 5 3", "APPLIED open 0 3 []");
    bench.check("ORDER.REDUCE m a x 1", "APPLIED open 2");
    bench.check("ORDER.CANCEL m a x", "APPLIED 2");
    bench.see("MARKET.GET m", "APPLIED m halted 1 1 1 9007199254740991 - 5 2 0");
    bench.check("ORDER.CANCELALL m x", "APPLIED 2");
    bench.check("MARKET.RESUME m", "APPLIED open");
    bench.check_fold();
}

#[test]
fn ended_orders_answer_for_one_retention_window() {
    let mut bench = Bench::with(StateSettings { retention_ms: 100, ..StateSettings::default() });
    bench.run(&["MARKET.CREATE m"]);
    bench.run(&["ORDER.PLACE m a x SELL LIMIT 5 4"]);
    bench.clock = 2_000;
    bench.run(&["ORDER.CANCEL m a x"]);
    let seen = bench.digest();
    bench.clock = 2_099;
    bench.check("ORDER.PLACE m a x SELL LIMIT 5 4", "ORDER_EXISTS a");
    bench.see("ORDER.GET m a", "APPLIED a x SELL 5 4 0 GTC NONE cancelled requested");
    bench.clock = 2_100;
    bench.see("ORDER.GET m a", "ORDER_NOT_FOUND a");
    bench.check("ORDER.CANCEL m a x", "ORDER_NOT_FOUND a");
    bench.check("ORDER.PLACE m a y BUY LIMIT 3 1", "APPLIED open 0 1 []");
    assert_ne!(bench.digest(), seen);
    bench.see("ORDER.GET m a", "APPLIED a y BUY 3 1 0 GTC NONE open -");
    // The end of the replaced order must not drop the new one.
    bench.clock = 9_000;
    bench.run(&["ORDER.PLACE m b y BUY LIMIT 3 1"]);
    bench.see("MARKET.DEPTH m", "APPLIED [[3 2 2]] []");
    bench.check("ORDER.CANCEL m a y", "APPLIED 1");
    bench.clock = 10_000;
    bench.run(&["ORDER.PLACE m c y BUY LIMIT 3 1"]);
    assert_eq!(bench.machine.state().markets.orders.len(), 2);
    bench.check_fold();
}

#[test]
fn markets_do_not_mix() {
    let mut bench = Bench::open();
    bench.run(&["MARKET.CREATE n"]);
    bench.run(&["ORDER.PLACE m a x SELL LIMIT 5 4"]);
    bench.run(&["ORDER.PLACE n a x SELL LIMIT 6 1"]);
    let digest = bench.machine.state().digest(Some(&id("n")));
    bench.check("ORDER.PLACE n t y BUY LIMIT 5 1", "APPLIED open 0 1 []");
    bench.check("ORDER.CANCELALL m x", "APPLIED 1");
    bench.check("ORDER.CANCEL n t y", "APPLIED 1");
    bench.see("MARKET.DEPTH n", "APPLIED [] [[6 1 1]]");
    assert_ne!(bench.machine.state().digest(Some(&id("n"))), digest);
    bench.see("MARKET.DEPTH x", "MARKET_NOT_FOUND x");
    bench.see("ORDER.GET x a", "MARKET_NOT_FOUND x");
}

fn id(text: &str) -> crate::types::Id {
    crate::types::Id::parse(text.as_bytes(), "id").expect("an id")
}

#[test]
fn a_digest_does_not_depend_on_which_rows_of_forgotten_orders_are_still_there() {
    let mut bench = Bench::open();
    let place = |bench: &mut Bench, names: &str, count: usize| {
        for n in 0..count {
            bench.run(&[&format!("ORDER.PLACE m {names}{n} o SELL MARKET 1 TIF IOC")]);
        }
        bench.clock += 2 * StateSettings::default().retention_ms;
        bench.run(&["MARKET.HALT m"]);
        bench.run(&["MARKET.RESUME m"]);
    };
    // The places that they leave empty are not in a snapshot, so later orders get other ones.
    place(&mut bench, "before", 4);
    let mut restarted = bench.copy();
    place(&mut bench, "n", 200);
    place(&mut restarted, "n", 200);
    let rows = |bench: &Bench| bench.machine.state().markets.orders.iter().count();
    assert!((1..200).contains(&rows(&bench)), "some are dropped, and some are to be: {}", rows(&bench));
    assert_eq!(bench.digest(), restarted.digest());
}

#[test]
fn a_depth_says_through_which_event_it_is_true() {
    let mut bench = Bench::open();
    bench.run(&["ORDER.PLACE m o1 a BUY LIMIT 9 2"]);
    let last = bench.machine.sequence();
    assert_eq!(bench.run(&["MARKET.DEPTH m"]), format!("APPLIED [[9 2 1]] [] {last}"));
    bench.run(&["ORDER.CANCEL m o1 b"]);
    assert_eq!(bench.run(&["MARKET.DEPTH m"]), format!("APPLIED [[9 2 1]] [] {last}"));
    bench.run(&["ORDER.CANCEL m o1 a"]);
    assert_eq!(bench.run(&["MARKET.DEPTH m"]), format!("APPLIED [] [] {}", last + 1));
}
