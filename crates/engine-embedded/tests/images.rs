//! A state that is read row by row from a snapshot: it takes no second copy in memory, is of one moment, and damage in it shows.

use std::collections::BTreeMap;
use std::sync::Arc;

use scarce_core::command::table::find;
use scarce_core::command::{Body, Command, Envelope};
use scarce_core::machine::StateRow;
use scarce_engine::{Engine, Failure, Image, Log, Request};
use scarce_engine_embedded::storage::FaultyDisk;
use scarce_engine_embedded::{
    DeploymentFiles, Embedded, EmbeddedSettings, MemoryBudget, MemoryMeter, Running, SilentPort, open_files,
};

const MAX: u64 = 1 << 20;

/// More accounts than would fit a second time.
const ACCOUNTS: u64 = 2_000;

/// A process that takes most of what it may.
#[derive(Debug)]
struct NearlyAll;

impl MemoryMeter for NearlyAll {
    fn used_bytes(&self) -> Option<u64> {
        Some(MAX / 100 * 80)
    }
}

struct Bench {
    disk: FaultyDisk,
    engine: Arc<Embedded>,
    running: Option<Running>,
}

impl Bench {
    fn start() -> Self {
        let (root, disk) = (FaultyDisk::new(), FaultyDisk::new());
        let memory = MemoryBudget { max_bytes: MAX, meter: Arc::new(NearlyAll) };
        let settings =
            EmbeddedSettings { segment_bytes: 64 << 10, memory: Some(memory), ..EmbeddedSettings::default() };
        let files = DeploymentFiles { root: root.storage(), partitions: vec![disk.storage()] };
        let recovered = open_files(&files, &settings, &mut |_| {}).expect("recovery");
        let (engine, running) = recovered.start(|_, _| Ok(Box::new(SilentPort::default()))).expect("a start");
        Self { disk, engine, running: Some(running) }
    }

    fn ask(&self, lines: impl Iterator<Item = String>) {
        let requests: Vec<Request> = lines.map(|line| request(&line)).collect();
        for batch in requests.chunks(500) {
            assert!(self.engine.call(0, batch.to_vec()).iter().all(Result::is_ok));
        }
    }

    fn credit_all(&self) {
        self.ask((0..ACCOUNTS).map(|n| format!("ACCOUNT.CREDIT a{n} 1")));
    }

    fn snapshots(&self) -> Vec<String> {
        let names = self.disk.storage().list().expect("names");
        names.into_iter().filter(|name| name.starts_with("snapshot-")).collect()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.shut_down().expect("a clean end");
        }
    }
}

fn request(line: &str) -> Request {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let (command, common) =
        Command::parse(find(words[0]).expect("a command"), &words[1..]).expect("well-formed");
    Request::Write(Envelope::new("", common, Body::Single(command), &[0; 32]).expect("an envelope"))
}

/// The balances of all accounts but those of the world.
fn balances(image: &mut dyn Image) -> Result<BTreeMap<String, i64>, Failure> {
    let mut balances = BTreeMap::new();
    image.rows(&mut |row| match row {
        StateRow::Account(id, account) if !id.as_str().starts_with('$') => {
            balances.insert(id.to_string(), account.balance);
        }
        _ => {}
    })?;
    Ok(balances)
}

#[test]
fn a_state_is_read_where_there_is_no_room_for_a_second_one_and_stays_of_its_moment() {
    let bench = Bench::start();
    bench.ask((0..ACCOUNTS).map(|n| format!("ACCOUNT.OPEN a{n} EUR")));
    bench.credit_all();
    let sequence = bench.engine.snapshot(0).expect("a snapshot").sequence;
    let first = bench.snapshots();
    let mut image = bench.engine.image(0).expect("a state");
    assert_eq!(image.moment().position.sequence, sequence);
    for _ in 0..3 {
        bench.credit_all();
        bench.engine.snapshot(0).expect("a snapshot");
    }
    assert!(bench.snapshots().iter().all(|name| !first.contains(name)), "its file was removed meanwhile");
    for _ in 0..2 {
        let found = balances(&mut *image).expect("rows");
        assert_eq!((found.len() as u64, found.values().sum::<i64>()), (ACCOUNTS, ACCOUNTS.cast_signed()));
    }
    let machine = image.into_machine().expect("the whole state");
    assert_eq!(machine.sequence(), sequence);
    let mut now = bench.engine.image(0).expect("a state");
    let found = balances(&mut *now).expect("rows");
    assert_eq!(found.values().sum::<i64>(), 4 * ACCOUNTS.cast_signed());
}

#[test]
fn a_state_that_is_damaged_while_it_is_read_is_not_taken_for_whole() {
    let bench = Bench::start();
    bench.ask((0..ACCOUNTS).map(|n| format!("ACCOUNT.OPEN a{n} EUR")));
    bench.engine.snapshot(0).expect("a snapshot");
    let mut image = bench.engine.image(0).expect("a state");
    let name = bench.snapshots().pop().expect("a snapshot");
    assert!(bench.disk.flip_bit(&name, 600, 3));
    let failure = balances(&mut *image).expect_err("it is damaged").to_string();
    assert!(failure.contains("is corrupt at offset"), "{failure}");
}
