//! Changes that are decided where they were read, in lock-step with the general way: the same requests get the same
//! bytes in answer, and leave the same bytes in the journal.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use scarce_core::command::Envelope;
use scarce_core::command::plain::Plain;
use scarce_core::event::{Entry, EntryHead};
use scarce_core::outcome::Receipt;
use scarce_engine::clock::ManualClock;
use scarce_engine::stop::Waker;
use scarce_engine::{Engine, Request};
use scarce_engine_embedded::journal::{self, JournalSettings};
use scarce_engine_embedded::storage::FaultyDisk;
use scarce_engine_embedded::{
    ClockChoice, DeploymentFiles, EmbeddedSettings, Owner, PendingAnswer, Port, open_files,
};
use scarce_gateway::{Access, ConnectionPlaces};
use scarce_sim::random::{Sequence, Step};

use super::local::Local;
use super::{Aside, Reactor, RespShared, bind};

/// How the changes of a play are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Where they were read.
    InPlace,
    General,
    /// In place, with a fault: now and then an answer lacks a value.
    OtherAnswer,
    /// In place, with a fault: entries have a namespace that nobody gave.
    OtherEntry,
    /// In place, with a fault in the plain way: the last bit of an answer is another.
    OtherPlain,
}

/// An owner whose changes are decided in one way.
struct Decider<'a> {
    owner: &'a mut Owner,
    way: Way,
    in_place: &'a AtomicU64,
    plain: &'a AtomicU64,
}

impl Local for Decider<'_> {
    fn owns(&self, partition: u32) -> bool {
        Local::owns(self.owner, partition)
    }

    fn serve(&mut self, request: &Request) -> PendingAnswer {
        self.owner.serve(request)
    }

    fn decide(&mut self, envelope: &Envelope, take: &mut dyn FnMut(&Receipt, u64)) -> bool {
        let is_decided = match self.way {
            Way::General => false,
            Way::InPlace | Way::OtherPlain => self.owner.decide(envelope, take),
            Way::OtherAnswer => self.owner.decide(envelope, &mut |receipt, after| {
                let mut receipt = receipt.clone();
                if receipt.sequence_last.is_multiple_of(20) {
                    receipt.outcome.facts.pop();
                }
                take(&receipt, after);
            }),
            Way::OtherEntry => {
                let mut other = envelope.clone();
                other.namespace = "x".into();
                self.owner.decide(&other, take)
            }
        };
        self.in_place.fetch_add(u64::from(is_decided), Ordering::Relaxed);
        is_decided
    }

    fn decide_plain(&mut self, plain: &Plain<'_>) -> Option<([i64; 2], u64)> {
        let decided = match self.way {
            Way::General | Way::OtherAnswer | Way::OtherEntry => None,
            Way::InPlace => self.owner.decide_plain(plain),
            Way::OtherPlain => {
                self.owner.decide_plain(plain).map(|([first, second], after)| ([first, second ^ 1], after))
            }
        };
        self.plain.fetch_add(u64::from(decided.is_some()), Ordering::Relaxed);
        decided
    }

    fn disk_reads(&self) -> u64 {
        Local::disk_reads(self.owner)
    }

    fn has_room(&self) -> bool {
        self.owner.has_room()
    }

    fn durable(&self) -> u64 {
        self.owner.durable()
    }

    fn failure(&self) -> Option<String> {
        self.owner.failure()
    }

    fn begin_turn(&mut self) {
        self.owner.begin_turn();
    }
}

struct DecidingPort {
    reactor: Reactor,
    way: Way,
    in_place: Arc<AtomicU64>,
    plain: Arc<AtomicU64>,
}

impl Port for DecidingPort {
    fn turn(&mut self, owner: &mut Owner, timeout: Option<Duration>) -> std::io::Result<()> {
        let mut local = Decider { owner, way: self.way, in_place: &self.in_place, plain: &self.plain };
        self.reactor.turn_with(&mut local, timeout)
    }

    fn send(&mut self, owner: &mut Owner) {
        Port::send(&mut self.reactor, owner);
    }

    fn close(&mut self, owner: &mut Owner) {
        Port::close(&mut self.reactor, owner);
    }

    fn waker(&self) -> Waker {
        self.reactor.waker()
    }
}

/// What a play came to.
struct Played {
    answers: Vec<u8>,
    /// The bytes of the entries of all batches, one after the other: which batch they are in is a matter of time.
    journal: Vec<u8>,
    /// How many changes were decided where they were read.
    in_place: u64,
    /// How many of them in the plain way.
    plain: u64,
}

const SEGMENT_BYTES: u64 = 1 << 20;

/// A deployment without commands, of which each play has a copy: its secret cuts packets.
struct Deployment {
    root: FaultyDisk,
    disk: FaultyDisk,
}

impl Deployment {
    fn new() -> Self {
        let deployment = Self { root: FaultyDisk::new(), disk: FaultyDisk::new() };
        let nothing = Sequence { seed: 0, settings: EmbeddedSettings::default().state, steps: Vec::new() };
        deployment.play(&nothing, Way::General);
        deployment
    }

    fn fork(&self) -> Self {
        Self { root: self.root.fork(), disk: self.disk.fork() }
    }

    fn play(&self, sequence: &Sequence, way: Way) -> Played {
        let clock = ManualClock::default();
        let [in_place, plain] = [Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0))];
        let settings = EmbeddedSettings {
            state: sequence.settings.clone(),
            segment_bytes: SEGMENT_BYTES,
            clock: ClockChoice::Manual(clock.clone()),
            ..EmbeddedSettings::default()
        };
        let files = DeploymentFiles { root: self.root.storage(), partitions: vec![self.disk.storage()] };
        let recovered = open_files(&files, &settings, &mut |_| {}).expect("recovery");
        let deployment_id = recovered.deployment().deployment_id;
        let listener = bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a port");
        let address = listener.local_addr().expect("an address");
        let port = |_, engine: &Arc<_>| -> std::io::Result<Box<dyn Port>> {
            let engine: Arc<dyn Engine> = Arc::clone(engine) as _;
            let reactor = Reactor::new(listener.try_clone()?, shared(engine, clock.clone()))?;
            let (in_place, plain) = (in_place.clone(), plain.clone());
            Ok(Box::new(DecidingPort { reactor, way, in_place, plain }))
        };
        let (engine, running) = recovered.start(port).expect("start");
        let answers = ask(address, &*engine, &clock, sequence);
        running.shut_down().expect("a clean end");
        let settings =
            JournalSettings { segment_bytes: SEGMENT_BYTES, ..JournalSettings::new(deployment_id, 0) };
        let mut entries = Vec::new();
        let mut on_frame = |frame: &journal::Frame<'_>| {
            put_entries(frame.payload, &mut entries);
            Ok(())
        };
        journal::read(&*self.disk.storage(), &settings, 0, 0, &mut on_frame, &mut |_| {}).expect("a journal");
        let [in_place, plain] = [in_place, plain].map(|count| count.load(Ordering::Relaxed));
        Played { answers, journal: entries, in_place, plain }
    }
}

/// Appends the entries of a batch with the same epoch for all plays: that of a start has random bits.
fn put_entries(payload: &[u8], out: &mut Vec<u8>) {
    let mut same = Vec::new();
    for Entry { head, outcome, events } in Entry::read_all(payload).expect("entries") {
        Entry::write(&mut same, &head, outcome.as_ref(), &events);
        Entry::write(out, &EntryHead { epoch: 1, ..head }, outcome.as_ref(), &events);
    }
    assert!(same == payload, "entries have one encoding");
}

fn shared(engine: Arc<dyn Engine>, clock: ManualClock) -> Arc<RespShared> {
    Arc::new(RespShared {
        handshakes: None,
        push: scarce_push::Hub::new(engine.clone()),
        access: Access::new(None, Vec::new()),
        engine,
        manual_clock: Some(clock),
        connection_ids: AtomicU64::new(1),
        connections_open: AtomicU64::new(0),
        latencies: Arc::default(),
        drain: Arc::default(),
        statuses: Arc::default(),
        places: ConnectionPlaces::new(10, 1 << 30),
        snapshot_runs: Arc::default(),
        cuts: Aside::start("cuts", 1).expect("a thread"),
        reads: Aside::start("reads", 1).expect("a thread"),
        unread_max: Duration::from_mins(5),
        started_at: Instant::now(),
    })
}

/// Sends all steps of a time at once, and returns the bytes of all answers.
fn ask(address: SocketAddr, engine: &dyn Engine, clock: &ManualClock, sequence: &Sequence) -> Vec<u8> {
    let mut socket = TcpStream::connect(address).expect("a connection");
    let (mut answers, mut requests, mut last) = (Vec::new(), Vec::new(), 0);
    for step in &sequence.steps {
        match step {
            Step::Submit { clock: now, options, lines, .. } => {
                if *now != last {
                    answers.append(&mut answers_to(&mut socket, &mut requests));
                    clock.set(*now);
                    last = *now;
                }
                write(lines, options, &mut requests);
            }
            Step::Expire { clock: now, limit } => {
                answers.append(&mut answers_to(&mut socket, &mut requests));
                clock.set(*now);
                last = *now;
                engine.call(0, vec![Request::Expire(*limit)]).remove(0).expect("no failure");
            }
            Step::Reload | Step::Fold => {}
        }
    }
    answers.append(&mut answers_to(&mut socket, &mut requests));
    answers
}

/// Appends a command with its options, or a batch.
fn write(lines: &[String], options: &str, requests: &mut Vec<u8>) {
    match lines {
        [line] => put(&format!("{line} {options}"), requests),
        lines => {
            put("MULTI", requests);
            lines.iter().for_each(|line| put(line, requests));
            put("EXEC", requests);
        }
    }
}

fn put(line: &str, requests: &mut Vec<u8>) {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    requests.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
    for word in words {
        requests.extend_from_slice(format!("${}\r\n{word}\r\n", word.len()).as_bytes());
    }
}

/// Sends requests, and reads to the answer of a last one.
fn answers_to(socket: &mut TcpStream, requests: &mut Vec<u8>) -> Vec<u8> {
    const LAST: &[u8] = b"$8\r\nthe-last\r\n";
    put("ECHO the-last", requests);
    socket.write_all(requests).expect("sent");
    requests.clear();
    let (mut answers, mut buffer) = (Vec::new(), [0; 16 << 10]);
    while !answers.ends_with(LAST) {
        let read = socket.read(&mut buffer).expect("read");
        assert!(read > 0, "the connection was closed");
        answers.extend_from_slice(&buffer[..read]);
    }
    answers
}

#[test]
fn both_ways_give_the_same_bytes_for_random_sequences() {
    let deployment = Deployment::new();
    let number = |name, usual| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (first, count) = (number("SCARCE_SEED", 1), number("SCARCE_SEQUENCES", 25));
    let (mut in_place, mut plain) = (0, 0);
    for seed in first..first + count {
        let sequence = Sequence::random(seed, 200);
        let [lean, general] = [Way::InPlace, Way::General].map(|way| deployment.fork().play(&sequence, way));
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(shown(&lean.answers), shown(&general.answers), "seed {seed}: answers");
        assert!(lean.answers == general.answers && lean.journal == general.journal, "seed {seed}");
        assert_eq!((general.in_place, general.plain), (0, 0));
        in_place += lean.in_place;
        plain += lean.plain;
    }
    assert!(in_place > 60 * count, "only {in_place} changes were decided in place");
    assert!(plain > 2 * count, "only {plain} changes were decided in the plain way");
}

#[test]
fn a_way_that_differs_by_a_byte_is_found() {
    let deployment = Deployment::new();
    let sequence = Sequence::random(1, 200);
    let play = |way| deployment.fork().play(&sequence, way);
    let general = play(Way::General);
    assert!(play(Way::OtherAnswer).answers != general.answers);
    assert!(play(Way::OtherEntry).journal != general.journal);
    assert!(play(Way::OtherPlain).answers != general.answers);
}
