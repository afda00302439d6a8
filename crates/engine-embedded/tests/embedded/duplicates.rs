//! A duplicate gets the answer of the first one, also while nothing new is taken.

use scarce_core::event::Position;
use scarce_core::outcome::Receipt;
use scarce_engine::consumers::ConsumerName;
use scarce_engine::{Failure, Log};

use crate::support::Bench;

/// A duplicate of each kind of remembered operation, and the outcome of the first one.
const APPLIED: [(&str, &str); 3] = [
    ("ACCOUNT.CREDIT a 100 ID credit", "APPLIED 100 100"),
    ("ACCOUNT.DEBIT a 900 ID refused", "INSUFFICIENT_FUNDS a 100 900"),
    ("STOCK.TAKE s 1 u ID take", "APPLIED 1 4999"),
];

/// Applies the operations, each once.
fn apply(bench: &Bench) -> Vec<Receipt> {
    bench.check("STOCK.CREATE s 5000 ID s", "APPLIED 5000");
    bench.check("ACCOUNT.OPEN a EUR ID a", "APPLIED 0");
    let first = |(line, outcome): &(&str, &str)| {
        bench.check(line, outcome);
        Receipt { replayed: false, ..bench.ask(line).expect("a receipt") }
    };
    APPLIED.iter().map(first).collect()
}

/// Checks that new work is refused, and duplicates receive the answer of the first one.
fn check_duplicates(bench: &Bench, first: &[Receipt]) {
    let refused = bench.ask("ACCOUNT.CREDIT a 1 ID new");
    assert!(matches!(refused, Err(Failure::Overloaded { .. } | Failure::Unavailable { .. })), "{refused:?}");
    for ((line, _), first) in APPLIED.iter().zip(first) {
        let again = bench.ask(line).unwrap_or_else(|failure| panic!("{line}: {failure}"));
        assert_eq!(again, Receipt { replayed: true, ..first.clone() }, "{line}");
    }
    bench.check("ACCOUNT.CREDIT a 101 ID credit", "ID_REUSED credit");
    let resolved = bench.ask("OPERATION.RESOLVE take ON s").expect("an outcome").outcome.to_string();
    assert!(resolved.starts_with("APPLIED APPLIED"), "{resolved}");
    let unknown = bench.ask("OPERATION.RESOLVE new ON s");
    assert!(unknown.is_err(), "a mark of absence needs room: {unknown:?}");
}

#[test]
fn on_a_full_disk_a_duplicate_gets_the_answer_of_the_first_one() {
    let mut bench = Bench::new();
    let first = apply(&bench);
    bench.fill_disk();
    check_duplicates(&bench, &first);
    bench.disk.set_capacity(None);
    bench.stop();
}

#[test]
fn above_the_lag_limit_a_duplicate_gets_the_answer_of_the_first_one() {
    let mut bench = Bench::new();
    bench.stop();
    bench.outflow_lag_max = 10;
    bench.start();
    let first = apply(&bench);
    let name = ConsumerName::parse("slow").expect("a name");
    bench
        .engine()
        .confirm(0, &name, "", Position { epoch: first[0].epoch, sequence: 1 })
        .expect("registered");
    let is_refused = (0..20).any(|unit| bench.ask(&format!("STOCK.TAKE s 1 u ID {unit}")).is_err());
    assert!(is_refused, "the consumer lags behind");
    check_duplicates(&bench, &first);
    bench.stop();
}
