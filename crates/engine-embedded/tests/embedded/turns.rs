//! An owner's turns: no batch keeps its thread from the sockets.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use scarce_core::outcome::Receipt;
use scarce_engine::{Engine, Request};
use scarce_engine_embedded::{Owner, Port, SilentPort};

use crate::old::wait_until;
use crate::support::Bench;

/// A port without sockets that counts its turns.
struct CountingPort {
    silent: SilentPort,
    turns: Arc<AtomicUsize>,
}

impl Port for CountingPort {
    fn turn(&mut self, owner: &mut Owner, timeout: Option<Duration>) -> std::io::Result<()> {
        self.turns.fetch_add(1, Ordering::SeqCst);
        self.silent.turn(owner, timeout)
    }

    fn send(&mut self, _owner: &mut Owner) {}

    fn close(&mut self, owner: &mut Owner) {
        self.silent.close(owner);
    }

    fn waker(&self) -> scarce_engine::stop::Waker {
        self.silent.waker()
    }
}

#[test]
fn a_batch_of_much_work_lets_sockets_in_between_and_keeps_its_order() {
    let turns = Arc::new(AtomicUsize::new(0));
    let mut bench = Bench::new();
    bench.stop();
    bench.start_with(|| Box::new(CountingPort { silent: SilentPort::default(), turns: turns.clone() }));
    bench.check("ACCOUNT.OPEN a EUR", "APPLIED 0");
    let ask = |line: &str| {
        let batch: Vec<Request> = (0..100)
            .map(|at| Bench::request(if at == 50 { "ACCOUNT.CREDIT a 5" } else { line }))
            .chain([Bench::request("ACCOUNT.GET a")])
            .collect();
        let before = turns.load(Ordering::SeqCst);
        let answers = bench.engine().call(0, batch);
        assert!(answers.iter().all(|answer| answer.as_ref().is_ok_and(|its| its.outcome.is_applied())));
        (answers, turns.load(Ordering::SeqCst) - before)
    };
    // A thousand rows are ten thousand units, and a turn has twenty thousand for mail.
    let (answers, turns_between) = ask("ACCOUNT.HOLDS a COUNT 1000");
    assert!(turns_between >= 30, "{turns_between} turns for a million units");
    let last = answers[100].as_ref().expect("applied").outcome.to_string();
    assert_eq!(last, "APPLIED a EUR 5 0 5 0 open", "what follows sees what came before");
    bench.stop();
}

#[test]
fn duplicates_that_are_looked_for_on_disk_let_sockets_in_between() {
    let turns = Arc::new(AtomicUsize::new(0));
    let mut bench = Bench::new();
    bench.stop();
    bench.operations_in_memory_max = 0;
    bench.start_with(|| Box::new(CountingPort { silent: SilentPort::default(), turns: turns.clone() }));
    bench.check("ACCOUNT.OPEN a EUR", "APPLIED 0");
    let credits: Vec<Request> =
        (0..100).map(|number| Bench::request(&format!("ACCOUNT.CREDIT a 1 ID {number}"))).collect();
    let first = bench.engine().call(0, credits.clone());
    let runs = || &bench.engine().metrics(0).expect("a partition").runs;
    wait_until(&bench, "all ids are on disk", || runs().files() > 0 && runs().in_memory() == 0);
    let before = turns.load(Ordering::SeqCst);
    let again = bench.engine().call(0, credits);
    let turns_between = turns.load(Ordering::SeqCst) - before;
    assert!(turns_between >= 4, "{turns_between} turns for a hundred looks at the disk");
    for (first, again) in first.into_iter().zip(again) {
        let (first, again) = (first.expect("applied"), again.expect("the first answer"));
        assert_eq!(again, Receipt { replayed: true, ..first });
    }
    bench.stop();
}
