//! Lists of resting orders: each that stays is listed once, however the others change, and a page looks at no more than it has.

use crate::markets::tests::{Bench, Dice};
use crate::store::visits;

/// The names of a page, and the place behind which the next one begins.
fn page(bench: &Bench, line: &str) -> (Vec<String>, Option<String>) {
    let answer = bench.ask(line);
    let rows = answer.strip_prefix("APPLIED [").and_then(|rest| rest.strip_suffix(']')).expect("a list");
    let rows = rows.split("] [").filter(|row| !row.is_empty());
    let rows: Vec<Vec<&str>> = rows.map(|row| row.trim_matches(['[', ']']).split(' ').collect()).collect();
    let place = rows.last().map(|row| row[9].to_owned());
    (rows.iter().map(|row| row[0].to_owned()).collect(), place)
}

/// All pages one after the other; between them something happens.
fn walk(bench: &mut Bench, list: &str, mut between: impl FnMut(&mut Bench)) -> Vec<String> {
    let (mut names, mut after) = (Vec::new(), String::new());
    loop {
        let (found, place) = page(bench, &format!("{list}{after} COUNT 3"));
        let Some(place) = place else { return names };
        names.extend(found);
        after = format!(" AFTER {place}");
        between(bench);
    }
}

#[test]
fn orders_that_stay_are_listed_once_while_others_come_go_and_move() {
    for (seed, list) in (1..=20).flat_map(|seed| [(seed, "ORDER.LIST m OWNER ann"), (seed, "ORDER.LIST m")]) {
        let mut bench = Bench::open();
        let mut dice = Dice(seed);
        let mut sells = Vec::new();
        for n in 0..60 {
            let (name, side) = (if n % 3 == 0 { "stays" } else { "goes" }, dice.one_of(&["BUY", "SELL"]));
            let price = if side == "BUY" { 1 + dice.below(5) } else { 11 + dice.below(5) };
            sells.push(side == "SELL");
            bench.run(&[&format!("ORDER.PLACE m {name}{n} ann {side} LIMIT {price} 9")]);
        }
        let mut placed = 60;
        let names = walk(&mut bench, list, |bench| {
            for _ in 0..8 {
                let n = dice.below(placed);
                let is_sell = |n: u64| usize::try_from(n).is_ok_and(|n| sells.get(n) == Some(&true));
                let line = match dice.below(4) {
                    0 => format!("ORDER.CANCEL m goes{n} ann"),
                    // On its own side, where it meets none that stays.
                    1 => format!("ORDER.REPLACE m goes{n} ann {} 9", if is_sell(n) { 12 } else { 2 }),
                    2 => format!("ORDER.REDUCE m stays{n} ann 1"),
                    _ => {
                        placed += 1;
                        format!("ORDER.PLACE m goes{placed} ann BUY LIMIT {} 9", 1 + dice.below(5))
                    }
                };
                bench.run(&[&line]);
            }
        });
        let mut stayed: Vec<&String> = names.iter().filter(|name| name.starts_with("stays")).collect();
        let listed = stayed.len();
        stayed.sort_unstable();
        stayed.dedup();
        assert_eq!((stayed.len(), listed), (20, 20), "{list}, seed {seed}: {names:?}");
    }
}

#[test]
fn a_page_looks_at_what_is_on_it_wherever_it_begins() {
    let mut bench = Bench::open();
    for n in 1..=5_000 {
        bench.run(&[&format!("ORDER.PLACE m b{n} ann BUY LIMIT 10 1")]);
    }
    for list in ["ORDER.LIST m OWNER ann", "ORDER.LIST m"] {
        for n in [1, 2_500, 4_990] {
            let line = format!("{list} AFTER BUY-10-{n}-b{n} COUNT 5");
            let ((names, _), looked) = visits::count(|| page(&bench, &line));
            assert_eq!(names.first(), Some(&format!("b{}", n + 1)));
            assert!(looked <= 30, "{line}: {looked} rows");
        }
    }
}
