//! Commands that take more than one step.

use super::{Bench, snapshot};
use crate::event::{Entry, Event, MarketEvent, OperationEvent};
use crate::machine::Machine;

/// A bench with `count` offers of one unit each, at ten prices, alternately from `ann` and `bob`.
fn offers(step_max: usize, count: u64) -> Bench {
    let mut bench = Bench::with_steps(step_max);
    bench.run(&["MARKET.CREATE m"]);
    for at in 0..count {
        let owner = if at % 2 == 0 { "ann" } else { "bob" };
        bench.run(&[&format!("ORDER.PLACE m o{at} {owner} SELL LIMIT {} 1", 1 + at % 10)]);
    }
    bench
}

fn steps(bench: &Bench) -> usize {
    bench
        .events()
        .iter()
        .filter(|event| matches!(event, Event::Operation(OperationEvent::OperationStepped(_))))
        .count()
}

#[test]
fn a_long_sweep_comes_to_what_one_step_would_do() {
    let commands = [
        "ORDER.PLACE m t zoe BUY LIMIT 9 850 ID 1",
        "ORDER.PLACE m u ann BUY LIMIT 10 90 STP CANCEL_MAKER ID 2",
        "ORDER.PLACE m v zoe SELL LIMIT 9 10 ID 3",
        "ORDER.REPLACE m t zoe 10 60 ID 4",
    ];
    let mut outcomes = Vec::new();
    for step_max in [1, 2, 128, 1_000_000] {
        let mut bench = offers(step_max, 1_000);
        let answers: Vec<String> = commands.iter().map(|command| bench.run(&[command])).collect();
        bench.check_fold();
        let mut events = bench.events();
        events.retain(|event| !matches!(event, Event::Operation(OperationEvent::OperationStepped(_))));
        outcomes.push((answers, bench.digest(), events));
        if step_max == 128 {
            // 850 makers in 7 steps, then 50 own ones and 90 others in 2.
            assert_eq!(steps(&bench), 7);
        }
    }
    assert!(outcomes[0].0[0].starts_with("APPLIED filled 850 0 [[1 o0 1 1 0] [2 o10 1 1 0]"));
    assert!(outcomes.iter().all(|outcome| *outcome == outcomes[3]));
}

#[test]
fn cancel_all_takes_orders_off_from_the_oldest_on() {
    let mut bench = offers(128, 600);
    bench.run(&["ORDER.REPLACE m o0 ann 9 1"]);
    let count = bench.events().len();
    bench.check("ORDER.CANCELALL m ann ID 1", "APPLIED 300");
    assert_eq!(steps(&bench), 2);
    let cancelled: Vec<String> = bench.events()[count..]
        .iter()
        .filter_map(|event| match event {
            Event::Market(MarketEvent::OrderCancelled(cancelled)) => Some(cancelled.order.to_string()),
            _ => None,
        })
        .collect();
    let expected: Vec<String> = (1..300).map(|at| format!("o{}", at * 2)).chain(["o0".to_owned()]).collect();
    assert_eq!(cancelled, expected);
    bench.see("MARKET.GET m", "APPLIED m open 1 1 1 9007199254740991 - 2 300 0");
    bench.check_fold();
}

/// Cuts the log after each entry, as a crash would, and lets a new machine finish the rest.
fn check_crashes(bench: &Bench, first: usize) {
    let entries = Entry::read_all(&bench.log).expect("the log");
    let mut prefix = Machine::new(bench.machine.state().settings.clone(), 0);
    let mut interrupted = 0;
    for (at, entry) in entries.iter().enumerate() {
        prefix.apply(entry);
        if at < first {
            continue;
        }
        let mut again =
            Machine::load(bench.machine.state().settings.clone(), &snapshot(&prefix)).expect("it");
        assert_eq!(again.state().unfinished.is_some(), entry.head.more);
        interrupted += usize::from(entry.head.more);
        let mut log = Vec::new();
        again.finish(&mut log);
        assert_eq!(again.state().digest(None), bench.digest());
        assert_eq!(again.sequence(), bench.machine.sequence());
        let last = Entry::read_all(&log).expect("the log").pop();
        if let Some(last) = last {
            assert_eq!(Some(&last), entries.last());
        }
    }
    assert!(interrupted > 2);
}

#[test]
fn a_crash_between_steps_is_finished_to_the_same_end() {
    let commands = [
        "ORDER.PLACE m t ann BUY LIMIT 8 70 STP DECREMENT ID 1",
        "ORDER.PLACE m t zoe BUY LIMIT 8 70 ID 1",
        "ORDER.CANCELALL m bob ID 1",
        "ORDER.CANCELALL m ann",
    ];
    for command in commands {
        let mut bench = offers(7, 100);
        let first = Entry::read_all(&bench.log).expect("the log").len();
        bench.run(&[command]);
        check_crashes(&bench, first);
    }
    let mut bench = offers(7, 100);
    bench.run(&["ORDER.PLACE m t zoe BUY LIMIT 8 70"]);
    bench.run(&["ORDER.PLACE m u zoe SELL LIMIT 11 200"]);
    bench.run(&["ORDER.PLACE m v joe BUY LIMIT 9 3"]);
    bench.run(&["ORDER.CANCEL m u zoe"]);
    for at in 0..40 {
        bench.run(&[&format!("ORDER.PLACE m w{at} joe BUY LIMIT 2 1")]);
    }
    let first = Entry::read_all(&bench.log).expect("the log").len();
    bench.run(&["ORDER.REPLACE m o99 bob 2 60"]);
    check_crashes(&bench, first);
}

#[test]
fn a_copy_gets_the_whole_receipt_again() {
    let mut bench = offers(10, 100);
    let line = "ORDER.PLACE m t zoe BUY LIMIT 9 25 ID 1";
    let first = bench.run(&[line]);
    let again = bench.run(&[line]);
    // Large receipts are read back from the log; the entry that ends the sweep contains all fills.
    let entry = Entry::read_all(&bench.log).expect("the log").pop().expect("an entry");
    assert!(again == first || again == "REPLAY");
    assert_eq!(entry.outcome.expect("an outcome").to_string(), first);
}

#[test]
fn a_batch_with_an_order_of_several_steps_leaves_no_trace() {
    let mut bench = offers(10, 100);
    let before = bench.snapshot();
    let depth = bench.ask("MARKET.DEPTH m");
    let lines = ["ORDER.CANCEL m o5 bob", "ORDER.PLACE m t zoe BUY LIMIT 9 11"];
    assert_eq!(bench.run(&lines), "BATCH_REFUSED 1 STEP_LIMIT [10]");
    let lines = ["MARKET.CREATE n", "ORDER.PLACE n t zoe BUY LIMIT 9 11", "ORDER.CANCELALL m ann"];
    assert_eq!(bench.run(&lines), "BATCH_REFUSED 2 STEP_LIMIT [10]");
    assert_eq!((bench.snapshot(), bench.ask("MARKET.DEPTH m")), (before, depth));
    bench.check("MARKET.CREATE k", "APPLIED open");
    let lines = ["ORDER.PLACE m t zoe BUY LIMIT 1 10", "ORDER.REPLACE m o1 bob 9 1"];
    assert!(bench.run(&lines).starts_with("APPLIED [1 filled 10 0 "));
    bench.check("ORDER.PLACE k t zoe BUY LIMIT 9 11", "APPLIED open 0 11 []");
    bench.check_fold();
}
