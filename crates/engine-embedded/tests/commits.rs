//! Which thread makes a batch durable, and that nothing is answered before, whichever it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use scarce_core::command::table::find;
use scarce_core::command::{Body, Command, Envelope};
use scarce_core::outcome::Receipt;
use scarce_engine::stop::Waker;
use scarce_engine::{Engine, Request};
use scarce_engine_embedded::storage::FaultyDisk;
use scarce_engine_embedded::{
    DeploymentFiles, Embedded, EmbeddedSettings, Owner, Port, Running, SilentPort, open_files,
};

/// A port without sockets that counts how often it was to send what the owner's thread made durable.
#[derive(Default)]
struct CountingPort {
    silent: SilentPort,
    here: Arc<AtomicUsize>,
}

impl Port for CountingPort {
    fn turn(&mut self, owner: &mut Owner, timeout: Option<Duration>) -> std::io::Result<()> {
        self.silent.turn(owner, timeout)
    }

    fn send(&mut self, _owner: &mut Owner) {
        self.here.fetch_add(1, Ordering::SeqCst);
    }

    fn close(&mut self, owner: &mut Owner) {
        self.silent.close(owner);
    }

    fn waker(&self) -> Waker {
        self.silent.waker()
    }
}

struct Bench {
    root: FaultyDisk,
    disk: FaultyDisk,
    /// How many batches were made durable on the owner's thread.
    here: Arc<AtomicUsize>,
    engine: Arc<Embedded>,
    running: Running,
}

impl Bench {
    fn on(root: FaultyDisk, disk: FaultyDisk) -> Self {
        let settings = EmbeddedSettings { segment_bytes: 1 << 20, ..EmbeddedSettings::default() };
        let files = DeploymentFiles { root: root.storage(), partitions: vec![disk.storage()] };
        let here = Arc::new(AtomicUsize::new(0));
        let port = || CountingPort { here: here.clone(), ..CountingPort::default() };
        let recovered = open_files(&files, &settings, &mut |_| {}).expect("recovery");
        let (engine, running) = recovered.start(|_, _| Ok(Box::new(port()))).expect("start");
        Self { root, disk, here, engine, running }
    }

    fn new() -> Self {
        let bench = Self::on(FaultyDisk::new(), FaultyDisk::new());
        assert_eq!(bench.ask("ACCOUNT.OPEN a EUR OVERDRAFT 1000000").outcome.to_string(), "APPLIED 0");
        bench
    }

    fn ask(&self, line: &str) -> Receipt {
        self.engine.call(0, vec![request(line)]).remove(0).expect("no failure")
    }

    fn here(&self) -> usize {
        self.here.load(Ordering::SeqCst)
    }

    /// Asks one thing after the other until so many batches more were made durable on the owner's thread; a busy
    /// machine has slow syncs, after which the committer has its turn.
    fn ask_until_here(&self, name: &str, count: usize, mut answered: impl FnMut(&str, &Receipt)) {
        let enough = self.here() + count;
        for number in 0..10_000 {
            if self.here() >= enough {
                return;
            }
            let line = format!("ACCOUNT.DEBIT a 1 ID {name}-{number}");
            answered(&line, &self.ask(&line));
        }
        panic!("the owner's thread commits nothing");
    }
}

fn request(line: &str) -> Request {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let spec = find(words[0]).expect("a command");
    let (command, common): (Command, _) = Command::parse(spec, &words[1..]).expect("well-formed");
    Request::Write(Envelope::new("", common, Body::Single(command), &[0; 32]).expect("an envelope"))
}

#[test]
fn what_the_owners_thread_answered_survives_a_power_cut_at_once() {
    let bench = Bench::new();
    bench.ask_until_here("x", 40, |line, first| {
        let crashed = bench.disk.fork();
        crashed.crash(first.sequence_last);
        let after = Bench::on(bench.root.fork(), crashed);
        let again = after.ask(line);
        assert!(again.replayed, "{line} was answered and is gone");
        assert_eq!((&again.outcome, again.sequence_last), (&first.outcome, first.sequence_last));
        after.running.shut_down().expect("a clean end");
    });
    bench.running.shut_down().expect("a clean end");
}

#[test]
fn nothing_leaves_while_the_owners_thread_syncs() {
    let bench = Bench::new();
    bench.ask_until_here("x", 1, |_, _| {});
    let here = bench.here();
    bench.disk.block_syncs();
    let (sender, receiver) = mpsc::channel();
    let listener = sender.clone();
    let answered = move |_| listener.send(1).expect("a listener");
    bench.engine.submit(0, vec![request("ACCOUNT.DEBIT a 1")], Box::new(answered));
    bench.disk.wait_for_blocked_syncs(1);
    // What comes meanwhile waits for its turn.
    let answered = move |_| sender.send(2).expect("a listener");
    bench.engine.submit(0, vec![request("ACCOUNT.DEBIT a 1")], Box::new(answered));
    assert!(receiver.recv_timeout(Duration::from_millis(50)).is_err(), "an answer left before the sync");
    bench.disk.release_syncs();
    assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
    assert!(bench.here() <= here + 1, "after a slow sync the next one is the committer's");
    bench.ask_until_here("y", 1, |_, _| {});
    bench.running.shut_down().expect("a clean end");
}

#[test]
fn many_at_a_time_are_handed_over() {
    let bench = Bench::new();
    bench.ask_until_here("x", 1, |_, _| {});
    let here = bench.here();
    for round in 0..20 {
        let debits = (0..64).map(|at| request(&format!("ACCOUNT.DEBIT a 1 ID {round}-{at}"))).collect();
        let answers = bench.engine.call(0, debits);
        assert!(answers.iter().all(Result::is_ok));
    }
    assert_eq!(bench.here(), here, "the next ones are decided beside the sync");
    bench.running.shut_down().expect("a clean end");
}
