//! How fast a mirror follows, beside how fast the engine makes what it follows.

use std::time::Instant;

use scarce_core::event::Position;
use scarce_core::state::StateSettings;
use scarce_engine::Request;
use scarce_outflow::{Consumer, Cursor};
use scarce_sim::compare::envelope;

use super::bench::{Bench, server};

/// How many events are made and mirrored.
const EVENTS: usize = 200_000;

/// How many commands are handed in together.
const TOGETHER: usize = 500;

/// Between how many accounts.
const ACCOUNTS: usize = 10_000;

#[test]
#[ignore = "it measures; run it alone, with --ignored --nocapture"]
#[allow(clippy::print_stdout, reason = "it measures, and says what")]
fn a_mirror_keeps_up_with_the_engine() {
    let (bench, server) = (Bench::new(&StateSettings::default()), server());
    (0..ACCOUNTS).for_each(|number| drop(bench.send(&format!("ACCOUNT.OPEN a{number} EUR"))));
    let (mirror, log) = (bench.mirror(&server.url()), bench.log());
    let mut consumer = mirror.consumer(&log, 0, "one");
    let mut cursor = Cursor::new(log, 0, Position::default());
    bench.runtime.block_on(consumer.position()).expect("a position");
    while let Some(batch) = cursor.next_batch(256 << 10).expect("the log") {
        bench.runtime.block_on(consumer.consume(&batch)).expect("it is written");
    }
    let requests: Vec<Request> = (0..EVENTS)
        .map(|number| format!("ACCOUNT.CREDIT a{} 1", number * 7_919 % ACCOUNTS))
        .map(|line| Request::Write(envelope("", "", &[line]).expect("a command")))
        .collect();
    let begun = Instant::now();
    for requests in requests.chunks(TOGETHER) {
        assert!(bench.engine.call(0, requests.to_vec()).iter().all(Result::is_ok));
    }
    let made = begun.elapsed();
    let begun = Instant::now();
    while let Some(batch) = cursor.next_batch(256 << 10).expect("the log") {
        bench.runtime.block_on(consumer.consume(&batch)).expect("it is written");
    }
    let mirrored = begun.elapsed();
    let rate = |seconds: f64| EVENTS as f64 / seconds;
    println!(
        "made {:.0}/s, mirrored {:.0}/s: {:.2} of the time",
        rate(made.as_secs_f64()),
        rate(mirrored.as_secs_f64()),
        mirrored.as_secs_f64() / made.as_secs_f64()
    );
}
