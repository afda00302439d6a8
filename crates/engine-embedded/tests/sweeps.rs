//! Reservations that end together come back at once, in steps of a bounded size with commands in between.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use scarce_core::command::table::find;
use scarce_core::command::{Body, Command, Envelope};
use scarce_core::event::Entry;
use scarce_engine::clock::ManualTimeSource;
use scarce_engine::{Engine, Log, Request};
use scarce_engine_embedded::storage::FaultyDisk;
use scarce_engine_embedded::{
    ClockChoice, DeploymentFiles, Embedded, EmbeddedSettings, SilentPort, SystemClock, open_files,
};

const RESERVATIONS: usize = 200_000;
const TTL: Duration = Duration::from_hours(1);
const BEGUN: Duration = Duration::from_hours(24 * 20_000);

/// How many records one decision of the sweeper may end.
const STEP_RECORDS_MAX: usize = 512;

/// How much of the log is read at a time.
const READ_BYTES: u64 = 1 << 20;

fn write(line: &str) -> Request {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let spec = find(words[0]).expect("a command");
    let (command, common) = Command::parse(spec, &words[1..]).expect("well-formed");
    Request::Write(Envelope::new("", common, Body::Single(command), &[0; 32]).expect("an envelope"))
}

fn insist(engine: &Embedded, lines: impl Iterator<Item = String>) {
    for answer in engine.call(0, lines.map(|line| write(&line)).collect()) {
        let receipt = answer.expect("an answer");
        assert!(receipt.outcome.is_applied(), "{}", receipt.outcome);
    }
}

fn reservations(numbers: Range<usize>) -> impl Iterator<Item = String> {
    let ttl_ms = TTL.as_millis();
    numbers.map(move |number| format!("STOCK.RESERVE s r{number} 1 o{number} {ttl_ms}"))
}

/// How many reservations an entry ends.
fn ended(entry: &Entry) -> usize {
    entry.events.iter().filter(|event| event.spec().name == "reservation.expired").count()
}

/// Everything that is logged from a sequence on until all reservations have ended, while a caller sends one command after the other.
fn log_until_all_ended(engine: &Embedded, first: u64) -> Vec<Entry> {
    let (mut entries, mut next, mut count) = (Vec::new(), first, 0);
    let begun = Instant::now();
    while count < RESERVATIONS {
        assert!(begun.elapsed() < Duration::from_secs(60), "only {count} have ended");
        insist(engine, std::iter::once("ACCOUNT.CREDIT a 1".to_owned()));
        for entry in engine.entries(0, next, READ_BYTES).expect("the log") {
            (next, count) = (entry.sequence_last() + 1, count + ended(&entry));
            entries.push(entry);
        }
    }
    entries
}

#[test]
fn two_hundred_thousand_reservations_that_end_together_are_back_within_a_second_in_small_steps() {
    let source = ManualTimeSource::default();
    source.set(|reading| {
        (reading.wall, reading.boot) = (BEGUN, Duration::from_hours(24));
    });
    let system = SystemClock { source: Arc::new(source.clone()), ..SystemClock::default() };
    let settings = EmbeddedSettings { clock: ClockChoice::System(system), ..EmbeddedSettings::default() };
    let files =
        DeploymentFiles { root: FaultyDisk::new().storage(), partitions: vec![FaultyDisk::new().storage()] };
    let recovered = open_files(&files, &settings, &mut |_| {}).expect("recovery");
    let (engine, running) =
        recovered.start(|_, _| Ok(Box::new(SilentPort::default()))).expect("a running engine");
    insist(&engine, ["ACCOUNT.OPEN a EUR".to_owned(), format!("STOCK.CREATE s {RESERVATIONS}")].into_iter());
    for first in (0..RESERVATIONS).step_by(1_000) {
        insist(&engine, reservations(first..first + 1_000));
    }
    let deadline = BEGUN + TTL;
    let first = engine.metrics(0).expect("metrics").levels().sequence + 1;
    // From here on the clock stands still: a sweeper that rested between its steps would never come to the end.
    source.pass(TTL);

    let entries = log_until_all_ended(&engine, first);
    let (mut steps, mut commands_between) = (0, 0);
    let mut last_ms = 0;
    for entry in &entries {
        match ended(entry) {
            0 => commands_between += usize::from(steps > 0),
            records => {
                assert!(records <= STEP_RECORDS_MAX, "{records} records in one step");
                (steps, last_ms) = (steps + 1, entry.head.at);
            }
        }
    }
    assert!(steps >= RESERVATIONS / STEP_RECORDS_MAX, "{steps} steps");
    assert!(commands_between > 0, "no command was decided between {steps} steps");
    assert!(u128::from(last_ms) < deadline.as_millis() + 1_000, "the last one is back at {last_ms}");
    running.shut_down().expect("a clean end");
}
