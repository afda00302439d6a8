//! A log that has another history behind the same sequences is never taken for the one that was read.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use scarce_core::event::Position;
use scarce_engine::consumers::{ConsumerName, Consumption};
use scarce_engine::{Engine, Standing};
use scarce_engine_redis::keys::Keys;
use scarce_launch::{Options, Sentinels, Server};
use scarce_outflow::{Batch, Consumer, Outflow, Start, State, Trouble, run};
use tokio::runtime::Runtime;

use super::engines::{Bench, PARTITIONS, wait_until};
use super::recorder::plan;

const NAME: &str = "ledger";

/// The store of a consumer that keeps its own position, as a database does.
#[derive(Clone, Default)]
struct Ledger(Arc<Mutex<Vec<Position>>>);

impl Ledger {
    fn positions(&self) -> MutexGuard<'_, Vec<Position>> {
        self.0.lock().expect("no panic")
    }

    fn end(&self) -> Position {
        self.positions().last().copied().unwrap_or_default()
    }

    /// Serves every partition; only the log of the first one is of interest.
    fn serve(&self, runtime: &Runtime, bench: &Bench) -> Outflow {
        run(runtime.handle(), bench.engine.clone(), &plan(NAME, "a", Start::Beginning), |partition| Writer {
            ledger: if partition == 0 { self.clone() } else { Self::default() },
        })
    }

    /// Serves until everything was read.
    fn read_all(&self, runtime: &Runtime, bench: &Bench) {
        let outflow = self.serve(runtime, bench);
        wait_until("not all was read", || {
            self.end().sequence == bench.engine.durable_through(0).expect("a sequence")
        });
        runtime.block_on(outflow.stop());
    }
}

struct Writer {
    ledger: Ledger,
}

impl Consumer for Writer {
    async fn position(&mut self) -> Result<Option<Position>, Trouble> {
        Ok(self.ledger.positions().last().copied())
    }

    async fn consume(&mut self, batch: &Batch) -> Result<(), Trouble> {
        let read = batch.events().map(|(sequence, head, _)| Position { epoch: head.epoch, sequence });
        self.ledger.positions().extend(read);
        Ok(())
    }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

fn name() -> ConsumerName {
    ConsumerName::parse(NAME).expect("a name")
}

fn known(engine: &dyn Engine) -> Consumption {
    let known = engine.consumers(0).expect("the consumers");
    known.into_iter().find(|its| its.name == name()).expect("it is known")
}

/// Waits until the consumer says that it stands on another history, and checks that nothing is lost by that.
fn check_refused(outflow: &Outflow, bench: &Bench, held: Position) {
    let is_told = || match outflow.statuses()[0].state() {
        State::Troubled { reason, .. } => reason.contains("scarce consumers rebase ledger"),
        _ => false,
    };
    wait_until("it was not told", is_told);
    let its = known(&*bench.engine);
    assert_eq!(its.diverged, Some(held));
    let begins_at = bench.engine.first_sequence(0).expect("a sequence");
    assert!(begins_at <= its.confirmed.sequence + 1, "begins at {begins_at}: {its:?}");
}

/// Sets the consumer onto the log as a restored store would be, and reads the rest.
fn rebase(ledger: &Ledger, runtime: &Runtime, bench: &Bench) {
    let its = known(&*bench.engine);
    ledger.positions().retain(|position| position.sequence <= its.confirmed.sequence);
    bench.engine.rebase_consumer(0, &name(), its.confirmed).expect("it is noted");
    ledger.read_all(runtime, bench);
    let sequences: Vec<u64> = ledger.positions().iter().map(|position| position.sequence).collect();
    let through = bench.engine.durable_through(0).expect("a sequence");
    assert_eq!(sequences, (1..=through).collect::<Vec<_>>());
    assert_eq!(known(&*bench.engine).diverged, None);
}

fn copy(from: &Path, to: &Path) {
    let done = std::process::Command::new("cp").arg("-a").args([from, to]).status().expect("cp");
    assert!(done.success());
}

fn put_back(copy_of: &Path, folder: &Path) {
    std::fs::remove_dir_all(folder).expect("removed");
    copy(copy_of, folder);
}

#[test]
fn a_data_directory_that_is_put_back_is_another_history() {
    let (home, runtime, ledger) = (tempfile::tempdir().expect("a folder"), runtime(), Ledger::default());
    let (data, older) = (home.path().join("data"), home.path().join("older"));
    std::fs::create_dir(&data).expect("a folder");
    let events = |bench: &Bench| bench.credit(&bench.account_in(0), 60);
    for turn in 0..2 {
        let bench = Bench::in_folder(&data, None);
        events(&bench);
        ledger.read_all(&runtime, &bench);
        drop(bench);
        if turn == 0 {
            copy(&data, &older);
        }
    }
    let held = ledger.end();
    put_back(&older, &data);
    let bench = Bench::in_folder(&data, None);
    // Other events at the same sequences, and beyond.
    events(&bench);
    events(&bench);
    let outflow = ledger.serve(&runtime, &bench);
    check_refused(&outflow, &bench, held);
    runtime.block_on(outflow.stop());
    drop(bench);
    // It stays so after a restart, before the consumer says anything, and while events come and the log is trimmed.
    let bench = Bench::in_folder(&data, None);
    assert_eq!(known(&*bench.engine).diverged, Some(held));
    let refused = bench.engine.confirm(0, &name(), "a", bench_end(&bench)).expect_err("it must not confirm");
    assert!(refused.to_string().contains("scarce consumers rebase ledger"), "{refused}");
    let minute = std::time::Duration::from_secs(60);
    assert!(bench.engine.lease(0, &name(), "a", minute).is_err());
    for _ in 0..3 {
        bench.credit(&bench.account_in(0), 2_000);
        bench.engine.snapshot(0).expect("a snapshot");
    }
    let outflow = ledger.serve(&runtime, &bench);
    check_refused(&outflow, &bench, held);
    runtime.block_on(outflow.stop());
    assert_eq!(ledger.end(), held, "nothing of the other history was read");
    // What was published cannot be taken back: the store still says the position that is abandoned.
    let confirmed = known(&*bench.engine).confirmed;
    let count = ledger.positions().len();
    bench.engine.rebase_consumer(0, &name(), confirmed).expect("it is noted");
    drop(bench);
    let bench = Bench::in_folder(&data, None);
    assert_eq!(known(&*bench.engine).abandoned, Some(held));
    ledger.read_all(&runtime, &bench);
    assert_eq!(ledger.positions()[count].sequence, confirmed.sequence + 1);
    let its = known(&*bench.engine);
    assert_eq!((its.diverged, its.abandoned, its.confirmed), (None, None, ledger.end()));
}

/// The end of the log, in whatever epoch.
fn bench_end(bench: &Bench) -> Position {
    Position { epoch: 0, sequence: bench.engine.durable_through(0).expect("a sequence") }
}

#[test]
fn a_redis_whose_old_file_is_put_back_is_another_history() {
    let (home, runtime, ledger) = (tempfile::tempdir().expect("a folder"), runtime(), Ledger::default());
    let older = home.path().join("older");
    let mut server = Server::start(Options::new()).expect("a server");
    for turn in 0..2 {
        let bench = Bench::at_redis(&server.url());
        bench.credit(&bench.account_in(0), 60);
        ledger.read_all(&runtime, &bench);
        drop(bench);
        server.kill().expect("killed");
        if turn == 0 {
            copy(server.folder(), &older);
            server.restart().expect("a server");
        }
    }
    let held = ledger.end();
    put_back(&older, server.folder());
    server.restart().expect("a server");
    let bench = Bench::at_redis(&server.url());
    bench.credit(&bench.account_in(0), 120);
    let outflow = ledger.serve(&runtime, &bench);
    check_refused(&outflow, &bench, held);
    runtime.block_on(outflow.stop());
    assert_eq!(ledger.end(), held, "nothing of the other history was read");
    rebase(&ledger, &runtime, &bench);
}

#[test]
fn a_failover_that_loses_events_trims_none_of_the_new_ones() {
    let (runtime, ledger) = (runtime(), Ledger::default());
    let mut group = Sentinels::start(&Options::new(), 1, None).expect("sentinels");
    let bench = Bench::at_redis(&group.url());
    let account = bench.account_in(0);
    bench.credit(&account, 60);
    let former = group.primary().expect("a primary");
    let replica = group.servers.len() - 1 - former;
    wait_until("nothing is replicated", || {
        let [has, had] = [replica, former].map(|at| group.servers[at].ask::<u64>(&["DBSIZE"]).unwrap_or(0));
        has > 0 && has == had
    });
    let outflow = ledger.serve(&runtime, &bench);
    wait_until("not all was read", || ledger.end().sequence == 61);
    // The replica is gone while the consumer reads and confirms what will be lost.
    group.servers[replica].kill().expect("killed");
    bench.credit(&account, 6_000);
    wait_until("not all was read", || ledger.end().sequence == 6_061);
    wait_until("not all was confirmed", || known(&*bench.engine).confirmed.sequence == 6_061);
    group.servers[former].kill().expect("killed");
    group.servers[replica].restart().expect("a server");
    group.wait_for_failover(former).expect("another primary");
    let held = ledger.end();
    let mut done = 0;
    wait_until("the new primary takes nothing", || {
        done += 200 - bench.credit(&account, 200);
        done >= 7_000
    });
    check_refused(&outflow, &bench, held);
    // The log is trimmed every five seconds; the other partitions show that it was.
    let begun = std::time::Instant::now();
    wait_until("time passes", || begun.elapsed().as_secs() >= 11);
    check_refused(&outflow, &bench, held);
    runtime.block_on(outflow.stop());
    rebase(&ledger, &runtime, &bench);
}

#[test]
fn a_position_that_the_log_does_not_have_is_not_confirmed() {
    Bench::each(None, |bench| {
        bench.keep_log();
        bench.credit(&bench.account_in(0), 100);
        let entries = bench.engine.entries(0, 1, u64::MAX).expect("entries");
        let end = entries.last().expect("an entry").end();
        let beyond = Position { sequence: end.sequence + 1, ..end };
        let other = Position { epoch: end.epoch + 1, ..end };
        for position in [beyond, other, Position { epoch: 0, ..beyond }] {
            let refused = bench.engine.confirm(0, &name(), "a", position).expect_err("it is not there");
            assert!(refused.to_string().contains("another history"), "{refused}");
            assert!(bench.engine.consumers(0).expect("consumers").iter().all(|its| its.name != name()));
        }
        bench.engine.confirm(0, &name(), "a", end).expect("it is there");
        bench.engine.note_divergence(0, &name(), other).expect("it is noted");
        let its = known(&*bench.engine);
        assert_eq!((its.confirmed, its.diverged), (end, Some(other)));
        assert!(bench.engine.rebase_consumer(0, &name(), beyond).is_err());
        bench.engine.rebase_consumer(0, &name(), Position { epoch: 0, sequence: 7 }).expect("it is noted");
        let its = known(&*bench.engine);
        assert_eq!((its.confirmed.sequence, its.diverged), (7, None));
    });
}

/// The position of the last event.
fn end(bench: &Bench) -> Position {
    let through = bench.engine.durable_through(0).expect("a sequence");
    bench.engine.entries(0, through, 1).expect("an entry")[0].end()
}

/// Checks what is said of positions that the log no longer has: one that it had, and one of a lost history.
fn check_judged(bench: &Bench, had: Position, lost: Position) {
    let says = |position| bench.engine.standing(0, position).expect("an answer");
    let begins_at = bench.engine.first_sequence(0).expect("a sequence");
    assert!(begins_at > had.sequence.max(lost.sequence) + 1, "begins at {begins_at}: {had}, {lost}");
    let said = says(had);
    assert!(!matches!(said, Standing::Trimmed { .. } | Standing::Diverged { .. }), "{had}: {said:?}");
    let unseen = Position { epoch: lost.epoch, sequence: had.sequence };
    for position in [lost, unseen] {
        let said = says(position);
        assert!(matches!(said, Standing::Diverged { .. }), "{position}: {said:?}");
        assert!(bench.engine.confirm(0, &name(), "a", position).is_err(), "{position}");
    }
}

#[test]
fn positions_before_the_beginning_of_a_journal_are_judged_by_the_epochs_that_wrote_it() {
    let home = tempfile::tempdir().expect("a folder");
    let (data, older) = (home.path().join("data"), home.path().join("older"));
    std::fs::create_dir(&data).expect("a folder");
    let mut ends = Vec::new();
    for turn in 0..3 {
        let bench = Bench::in_folder(&data, None);
        bench.credit(&bench.account_in(0), 60);
        ends.push(end(&bench));
        drop(bench);
        if turn == 1 {
            copy(&data, &older);
        }
    }
    put_back(&older, &data);
    for _ in 0..2 {
        let bench = Bench::in_folder(&data, None);
        for _ in 0..3 {
            bench.credit(&bench.account_in(0), 2_000);
            bench.engine.snapshot(0).expect("a snapshot");
        }
        for had in &ends[..2] {
            check_judged(&bench, *had, ends[2]);
        }
    }
}

#[test]
fn positions_before_the_beginning_of_a_stream_are_judged_by_the_epochs_that_wrote_it() {
    let home = tempfile::tempdir().expect("a folder");
    let older = home.path().join("older");
    let mut server = Server::start(Options::new()).expect("a server");
    let mut ends = Vec::new();
    for turn in 0..3 {
        let bench = Bench::at_redis(&server.url());
        bench.keep_log();
        bench.credit(&bench.account_in(0), 60);
        ends.push(end(&bench));
        drop(bench);
        server.kill().expect("killed");
        if turn == 1 {
            copy(server.folder(), &older);
        }
        if turn == 2 {
            put_back(&older, server.folder());
        }
        server.restart().expect("a server");
    }
    let bench = Bench::at_redis(&server.url());
    bench.release_log();
    let account = bench.account_in(0);
    bench.credit(&account, 120);
    wait_until("the log is not trimmed", || {
        bench.credit(&account, 50);
        bench.engine.first_sequence(0).expect("a sequence") > ends[2].sequence + 1
    });
    for had in &ends[..2] {
        check_judged(&bench, *had, ends[2]);
    }
}

#[test]
fn what_rests_on_another_epoch_is_not_decided() {
    Bench::each(None, |bench| {
        let account = bench.account_in(0);
        let epoch = bench.engine.epoch(0).expect("an epoch");
        let through = || bench.engine.durable_through(0).expect("a sequence");
        let (before, line) = (through(), format!("ACCOUNT.CREDIT {account} 5 ID credit-1"));
        for other in [epoch + 1, epoch - 1, 0] {
            let refused = bench.send_within(&line, other);
            assert_eq!(refused.outcome.code.word(), "UNAVAILABLE", "{}", refused.outcome);
            let said = refused.outcome.to_string();
            assert!(
                said.contains(&format!("is in epoch {epoch}")) && said.contains("nothing was changed"),
                "{said}"
            );
            assert_eq!(through(), before, "nothing was logged, and no id is remembered");
        }
        let done = bench.send_within(&line, epoch);
        assert_eq!((done.outcome.to_string().as_str(), done.replayed), ("APPLIED 5 5", false));
        assert!(bench.send_within(&line, epoch).replayed);
        assert_eq!(through(), before + 1);
    });
}

#[test]
fn nothing_is_said_of_events_of_a_release_that_notes_no_epochs() {
    let mut server = Server::start(Options::new()).expect("a server");
    let bench = Bench::at_redis(&server.url());
    bench.keep_log();
    bench.credit(&bench.account_in(0), 60);
    let noted = end(&bench);
    // Such a release begins an epoch and leaves the list as it is.
    let meta = Keys::new("scarce:", 0, PARTITIONS).of("meta");
    let other = (noted.epoch + (1 << 32)).to_string();
    server.ask::<()>(&["HSET", &meta, "epoch", &other]).expect("set");
    bench.credit(&bench.account_in(0), 60);
    let unnoted = end(&bench);
    assert_eq!(unnoted.epoch.to_string(), other);
    drop(bench);
    server.kill().expect("killed");
    server.restart().expect("a server");
    let bench = Bench::at_redis(&server.url());
    bench.release_log();
    let account = bench.account_in(0);
    wait_until("the log is not trimmed", || {
        bench.credit(&account, 50);
        bench.engine.first_sequence(0).expect("a sequence") > unnoted.sequence + 1
    });
    for position in [noted, unnoted] {
        let said = bench.engine.standing(0, position).expect("an answer");
        assert!(matches!(said, Standing::Trimmed { .. }), "{position}: {said:?}");
        assert!(bench.engine.confirm(0, &name(), "a", position).is_err(), "{position}");
    }
}
