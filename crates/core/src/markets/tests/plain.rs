//! The plain way of orders gives what the general way gives, byte for byte.

use super::random::{bench, line};
use super::{Bench, Dice, snapshot};
use crate::markets::plain;

/// Whether a line is decided in the plain way.
fn is_plain(bench: &Bench, line: &str) -> bool {
    let envelope = Bench::envelope(&[line]).expect("an envelope");
    plain::decide(bench.machine.state(), &envelope.commands()[0], bench.clock).is_some()
}

#[test]
fn both_ways_give_the_same_bytes_for_random_sequences() {
    let mut plain = [0, 0];
    for seed in 1..=12 {
        let mut dice = Dice(seed * 15_485_863);
        let (mut quick, mut general) = (bench(128), bench(128));
        general.machine.is_general = true;
        for number in 0..1_500 {
            let mut line = line(&mut dice);
            match dice.below(4) {
                0 => line.push_str(&format!(" ID order-{number}-of-a-customer")),
                1 => line.push_str(&format!(" ID {}", dice.below(900))),
                _ => {}
            }
            plain[usize::from(is_plain(&quick, &line))] += 1;
            let (wait, before) = (dice.below(12), quick.log.len());
            quick.clock += wait;
            general.clock += wait;
            assert_eq!(quick.run(&[&line]), general.run(&[&line]), "{line} of seed {seed}");
            assert_eq!(quick.log[before..], general.log[before..], "{line} of seed {seed}");
        }
        assert_eq!(snapshot(&quick.machine), snapshot(&general.machine));
        assert_eq!(quick.digest(), general.digest());
        quick.check_fold();
    }
    assert!(plain.iter().all(|count| *count > 2_000), "general and plain: {plain:?}");
}

#[test]
fn the_longest_names_and_numbers_have_room() {
    let long = |letter: char| letter.to_string().repeat(64);
    let (market, order, owner, id) = (long('m'), long('o'), long('u'), "i".repeat(128));
    let price = crate::types::INTEGER_MAX;
    let (mut quick, mut general) = (Bench::new(), Bench::new());
    general.machine.is_general = true;
    for bench in [&mut quick, &mut general] {
        bench.clock = price - 1;
        bench.check(&format!("MARKET.CREATE {market}"), "APPLIED open");
        let quantity = price - 1;
        bench.check(
            &format!("ORDER.PLACE {market} {order} {owner} SELL LIMIT {price} {quantity} ID {id}"),
            &format!("APPLIED open 0 {quantity} []"),
        );
        bench.check(
            &format!("ORDER.REPLACE {market} {order} {owner} {price} {price} ID {id}2").replace("i2", "j"),
            &format!("APPLIED open 0 {price} []"),
        );
    }
    assert_eq!(quick.log, general.log);
    assert_eq!(snapshot(&quick.machine), snapshot(&general.machine));
}
