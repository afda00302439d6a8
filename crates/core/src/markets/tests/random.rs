//! Random commands, compared with the model and between different step sizes.

use super::model::{LOT, MAX, MIN, Model, TICK};
use super::{Bench, Dice};
use crate::event::{Event, OperationEvent};
use crate::state::StateSettings;

const STPS: &[&str] = &["NONE", "CANCEL_TAKER", "CANCEL_MAKER", "CANCEL_BOTH", "DECREMENT"];

/// Random commands mostly have valid values, so that few are refused for their values alone.
fn figure(dice: &mut Dice, unit: u64, most: u64) -> u64 {
    let figure = unit * (1 + dice.below(most));
    if dice.below(30) == 0 { figure + 1 } else { figure }
}

/// Most commands name an order that is likely to be open, by its owner, so that most have an effect.
pub(super) fn line(dice: &mut Dice) -> String {
    let number = dice.below(40);
    let id = format!("o{number}");
    let owners = ["ann", "bob", "cy"];
    let owner = if dice.below(12) == 0 {
        dice.one_of(&owners)
    } else {
        owners[usize::try_from(number % 3).expect("an index")]
    };
    let price = figure(dice, TICK, 8);
    match dice.below(80) {
        0 => "MARKET.HALT m".to_owned(),
        1..=9 => "MARKET.RESUME m".to_owned(),
        10..=13 => format!("ORDER.CANCEL m {id} {owner}"),
        14..=19 => format!("ORDER.REDUCE m {id} {owner} {}", figure(dice, LOT, 6)),
        20..=34 => format!("ORDER.REPLACE m {id} {owner} {price} {}", figure(dice, LOT, 12)),
        35 => format!("ORDER.CANCELALL m {owner}"),
        kind => {
            let side = dice.one_of(&["BUY", "SELL"]);
            let stp = dice.one_of(STPS);
            let quantity = figure(dice, LOT, 18);
            if kind < 39 {
                let tif = dice.one_of(&["IOC", "FOK"]);
                return format!("ORDER.PLACE m {id} {owner} {side} MARKET {quantity} TIF {tif} STP {stp}");
            }
            let tif = dice.one_of(&["GTC", "GTC", "GTC", "GTC", "POST", "POST", "IOC", "FOK"]);
            format!("ORDER.PLACE m {id} {owner} {side} LIMIT {price} {quantity} TIF {tif} STP {stp}")
        }
    }
}

const RETENTION_MS: u64 = 60;

pub(super) fn bench(step_max: usize) -> Bench {
    let mut bench =
        Bench::with(StateSettings { step_max, retention_ms: RETENTION_MS, ..StateSettings::default() });
    let create = format!("MARKET.CREATE m TICK {TICK} LOT {LOT} MINQTY {MIN} MAXQTY {MAX}");
    bench.check(&create, "APPLIED open");
    bench
}

#[test]
fn every_length_of_steps_does_what_the_model_does() {
    for seed in 1..=8 {
        let mut dice = Dice(seed * 7_919);
        let mut model = Model::new(RETENTION_MS);
        let mut benches = [1, 2, 128, usize::MAX].map(bench);
        for _ in 0..1_500 {
            let line = line(&mut dice);
            let wait = dice.below(12);
            let mut expected = None;
            for bench in &mut benches {
                bench.clock += wait;
                let expected = expected.get_or_insert_with(|| model.run(&line, bench.clock));
                assert_eq!(bench.run(&[&line]), *expected, "{line} of seed {seed}");
            }
            benches[0].see("MARKET.DEPTH m LEVELS 100", &model.depth());
        }
        let events = |bench: &Bench| {
            let mut events = bench.events();
            events.retain(|event| !matches!(event, Event::Operation(OperationEvent::OperationStepped(_))));
            events
        };
        for bench in &benches {
            assert_eq!(bench.digest(), benches[3].digest());
            assert!(events(bench) == events(&benches[3]));
            bench.check_fold();
        }
        assert!(benches[0].events().len() > benches[3].events().len());
    }
}

#[test]
fn refused_batches_leave_no_trace_and_others_do_what_their_lines_would() {
    for seed in 1..=8 {
        let mut dice = Dice(seed * 104_729);
        let mut model = Model::new(RETENTION_MS);
        let mut bench = bench(usize::MAX);
        for _ in 0..800 {
            bench.clock += dice.below(20);
            let count = 2 + dice.below(3);
            let lines: Vec<String> = (0..count).map(|_| line(&mut dice)).collect();
            let mut after = model.clone();
            let answers: Vec<String> = lines.iter().map(|line| after.run(line, bench.clock)).collect();
            let refused = answers.iter().position(|answer| !answer.starts_with("APPLIED"));
            let (before, digest) = (bench.snapshot(), bench.digest());
            let answer = bench.run(&lines.iter().map(String::as_str).collect::<Vec<_>>());
            if let Some(index) = refused {
                let (code, facts) = answers[index].split_once(' ').unwrap_or((&answers[index], ""));
                assert_eq!(answer, format!("BATCH_REFUSED {index} {code} [{facts}]"), "{lines:?}");
                assert_eq!((bench.snapshot(), bench.digest()), (before, digest));
            } else {
                let rows: Vec<String> =
                    answers.iter().map(|row| format!("[{}]", row.replacen("APPLIED", "1", 1))).collect();
                assert_eq!(answer, format!("APPLIED {}", rows.join(" ")), "{lines:?}");
                model = after;
            }
            bench.see("MARKET.DEPTH m LEVELS 100", &model.depth());
        }
        bench.check_fold();
    }
}
