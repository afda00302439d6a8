//! An owner's turns: no batch keeps its thread from the sockets.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use scarce_engine::{Engine, Request};
use scarce_engine_embedded::{Owner, Port, SilentPort};

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
