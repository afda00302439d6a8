//! The log is kept for the slowest consumer, but not forever.

use std::time::Duration;

use scarce_core::event::Position;
use scarce_engine::Failure;
use scarce_engine::clock::ManualClock;
use scarce_engine::consumers::{ConsumerName, Lease};
use scarce_engine_embedded::{ClockChoice, EmbeddedSettings};
use scarce_outflow::{Cursor, CursorError, Start, State, run};

use super::engines::{Bench, wait_until};
use super::recorder::{Record, plan};

fn name(text: &str) -> ConsumerName {
    ConsumerName::parse(text).expect("a name")
}

fn at(sequence: u64) -> Position {
    Position { epoch: 0, sequence }
}

/// Trims the log as far as possible.
fn trim(bench: &Bench) {
    if bench.keeps_files() {
        // One snapshot more than needed is kept, so a second one makes the first the oldest.
        for _ in 0..3 {
            bench.engine.snapshot(0).expect("a snapshot");
            let account = bench.account_in(0);
            bench.credit(&account, 1);
        }
    }
}

/// Fills the log of partition 0 and trims its beginning; gives the account that was credited.
fn log_without_beginning(bench: &Bench) -> String {
    let account = bench.account_in(0);
    bench.keep_log();
    bench.credit(&account, 20_000);
    bench.engine.confirm(0, &name("fast"), "", at(20_000)).expect("it is noted");
    bench.release_log();
    wait_until("nothing was trimmed", || {
        trim(bench);
        bench.engine.first_sequence(0).expect("a sequence") > 1
    });
    account
}

#[test]
fn the_log_is_trimmed_behind_the_slowest_only() {
    Bench::each(None, |bench| {
        let account = bench.account_in(0);
        let (fast, slow) = (name("fast"), name("slow"));
        bench.keep_log();
        bench.credit(&account, 20_000);
        bench.engine.confirm(0, &slow, "", at(6_000)).expect("it is noted");
        bench.engine.confirm(0, &fast, "", at(19_000)).expect("it is noted");
        bench.release_log();
        let first = || bench.engine.first_sequence(0).expect("a sequence");
        wait_until("nothing was trimmed", || {
            trim(bench);
            first() > 1
        });
        assert!(first() <= 6_001, "{} was still needed", first());
        let mut cursor = Cursor::new(bench.engine.clone(), 0, at(6_000));
        let batch = cursor.next_batch(1).expect("it is there").expect("there is more");
        assert_eq!(batch.events().next().map(|(sequence, ..)| sequence), Some(6_001));
        assert!(bench.engine.forget_consumer(0, &slow).expect("it is noted"));
        wait_until("the log was kept for nobody", || {
            trim(bench);
            first() > 10_000
        });
        assert!(first() <= 19_001, "{} was still needed", first());
        let before = first();
        let trimmed = Cursor::new(bench.engine.clone(), 0, at(6_000)).next_batch(1);
        let Err(CursorError::Trimmed { begins_at, .. }) = trimmed else { panic!("{trimmed:?}") };
        assert!((before..=first()).contains(&begins_at), "{begins_at} from {before}, while it is trimmed");
    });
}

#[test]
fn who_comes_too_late_says_so_or_begins_with_what_is_there() {
    Bench::each(None, |bench| {
        log_without_beginning(bench);
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let (all, rest) = (Record::default(), Record::default());
        let begin = |name: &str, start, record: &Record| {
            run(runtime.handle(), bench.engine.clone(), &plan(name, "a", start), |_| record.consumer())
        };
        let (late, modest) = (begin("late", Start::Beginning, &all), begin("modest", Start::Oldest, &rest));
        let is_told = || match late.statuses()[0].state() {
            State::Troubled { reason, .. } => {
                reason.contains("'scarce consumers rebase late' says what it misses")
            }
            _ => false,
        };
        wait_until("it was not told", is_told);
        let known = bench.engine.consumers(0).expect("the consumers");
        assert!(known.iter().all(|its| its.name != name("late")), "the log is kept for nothing: {known:?}");
        wait_until("the rest was not taken", || {
            rest.sequences(0).last().copied() == bench.engine.durable_through(0).ok()
        });
        assert!(all.sequences(0).is_empty());
        runtime.block_on(async {
            late.stop().await;
            modest.stop().await;
        });
    });
}

#[test]
fn who_takes_the_state_begins_with_it_once_and_misses_nothing_behind_it() {
    Bench::each(None, |bench| {
        let account = log_without_beginning(bench);
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let record = Record::taking_images();
        let begin = |holder| {
            let plan = plan("late", holder, Start::Beginning);
            run(runtime.handle(), bench.engine.clone(), &plan, |_| record.consumer())
        };
        let (one, other) = (begin("a"), begin("b"));
        wait_until("it did not begin", || record.images(0).len() == 1);
        bench.credit(&account, 300);
        let through = || bench.engine.durable_through(0).expect("a sequence");
        wait_until("not all was taken", || record.sequences(0).last() == Some(&through()));
        runtime.block_on(async { one.stop().await });
        runtime.block_on(async { other.stop().await });
        // What is begun stays begun.
        let again = begin("c");
        bench.credit(&account, 1);
        wait_until("it did not go on", || record.sequences(0).last() == Some(&through()));
        runtime.block_on(async { again.stop().await });
        let images = record.images(0);
        let (position, credited) = (images[0].0, images[0].1);
        assert_eq!(images.len(), 1, "{images:?}");
        assert_eq!(record.sequences(0).first(), Some(&(position.sequence + 1)), "{position}");
        let balance = bench.send(&[format!("ACCOUNT.GET {account}")]).remove(0).expect("the account");
        let later = record.times(0, "account.credited");
        let balance_then = format!("{}", credited + i64::try_from(later).expect("a count"));
        assert_eq!(balance.outcome.facts[2].to_string(), balance_then, "{balance:?}");
    });
}

#[test]
fn events_stay_for_as_long_as_they_are_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let (begun, hour, clock) = (1_700_000_000_000, 3_600_000, ManualClock::default());
    clock.set(begun);
    let settings = EmbeddedSettings {
        log_retention: Duration::from_hours(1),
        clock: ClockChoice::Manual(clock.clone()),
        ..EmbeddedSettings::default()
    };
    let bench = Bench::with(folder.path(), settings);
    let account = bench.account_in(0);
    let through = || bench.engine.durable_through(0).expect("a sequence");
    let first = || bench.engine.first_sequence(0).expect("a sequence");
    bench.credit(&account, 10_000);
    trim(&bench);
    assert_eq!(first(), 1, "all of it is of this hour");
    let early = through();
    clock.set(begun + hour / 2);
    bench.credit(&account, 10_000);
    trim(&bench);
    assert_eq!(first(), 1);
    clock.set(begun + hour + 1_000);
    trim(&bench);
    assert!(first() > 1 && first() <= early + 1, "{} of {early}, which are of the hour before", first());
    let reach = &bench.engine.metrics(0).expect("the metrics").log_reach;
    assert_eq!(reach.first_sequence(), first());
    assert!([begun, begun + hour / 2].contains(&reach.oldest_at_ms()), "{reach:?}");
}

#[test]
fn commands_are_refused_while_too_much_waits() {
    Bench::each(Some(1_000), |bench| {
        let account = bench.account_in(0);
        bench.engine.confirm(0, &name("slow"), "", at(0)).expect("it is noted");
        let mut refused = 0;
        wait_until("nothing was refused", || {
            refused += bench.credit(&account, 200);
            refused > 0
        });
        let line = format!("ACCOUNT.CREDIT {account} 1 ID late");
        let overloaded = Failure::Overloaded { queue: "outflow" };
        assert_eq!(bench.send(std::slice::from_ref(&line))[0].as_ref().err(), Some(&overloaded));
        assert!(bench.send(&[format!("ACCOUNT.GET {account}")])[0].is_ok(), "reads go on");
        let through = bench.engine.durable_through(0).expect("a sequence");
        bench.engine.confirm(0, &name("slow"), "", at(through)).expect("it is noted");
        wait_until("it is still refused", || bench.send(std::slice::from_ref(&line))[0].is_ok());
    });
}

#[test]
fn a_lease_keeps_others_out_until_it_ends() {
    Bench::each(None, |bench| {
        let (engine, its) = (&bench.engine, name("one"));
        bench.keep_log();
        let account = bench.account_in(1);
        bench.credit(&account, 10);
        bench.release_log();
        let minute = std::time::Duration::from_secs(60);
        assert!(engine.lease(1, &its, "a", minute).is_err(), "nobody knows it yet");
        assert_eq!(engine.confirm(1, &its, "a", at(3)), Ok(Lease::Held));
        assert_eq!(engine.lease(1, &its, "a", minute), Ok(Lease::Held));
        let taken = Lease::HeldBy("a".to_owned());
        assert_eq!(engine.lease(1, &its, "b", minute), Ok(taken.clone()));
        assert_eq!(engine.confirm(1, &its, "b", at(9)), Ok(taken));
        assert_eq!(engine.confirm(1, &its, "a", at(2)), Ok(Lease::Held));
        let known = engine.consumers(1).expect("the consumers");
        assert_eq!((known.len(), known[0].confirmed), (1, at(3)), "{known:?}");
        assert_eq!(known[0].holder.as_deref(), Some("a"));
        assert_eq!(
            engine.lease(1, &its, "b", std::time::Duration::from_millis(1)),
            engine.lease(1, &its, "b", minute)
        );
        assert_eq!(engine.lease(1, &its, "a", std::time::Duration::from_millis(1)), Ok(Lease::Held));
        wait_until("the lease did not end", || engine.lease(1, &its, "b", minute) == Ok(Lease::Held));
        assert!(engine.consumers(0).expect("the consumers").is_empty(), "each partition has its own");
    });
}

#[test]
fn another_history_is_noticed() {
    Bench::each(None, |bench| {
        bench.keep_log();
        let account = bench.account_in(0);
        bench.credit(&account, 100);
        let mut cursor = Cursor::new(bench.engine.clone(), 0, Position::default());
        let batch = cursor.next_batch(1).expect("it is there").expect("there is more");
        let Position { epoch, sequence } = batch.end();
        let behind = |epoch, sequence| Cursor::new(bench.engine.clone(), 0, Position { epoch, sequence });
        assert_eq!(behind(epoch, sequence).check(), Ok(()));
        assert!(behind(epoch, sequence).next_batch(1).expect("it is there").is_some());
        // Another epoch at that sequence, and a sequence beyond the end of the log.
        for (epoch, sequence) in [(epoch + 1, sequence), (epoch, 1_000_000)] {
            let mut other = behind(epoch, sequence);
            assert!(
                matches!(other.next_batch(1), Err(CursorError::OtherHistory { .. })),
                "{epoch}.{sequence}"
            );
            assert!(matches!(other.check(), Err(CursorError::OtherHistory { .. })), "{epoch}.{sequence}");
        }
    });
}
