//! What receipts of sales take of the process's memory, with the allocator of the server, and that it does not grow with
//! what was sold long ago.

use scarce_core::command::{Body, Command, Envelope, table};
use scarce_core::machine::{Machine, MachineAnswer};
use scarce_core::state::StateSettings;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How many sales there are in the time of one retention.
const SALES: u64 = 60_000;
const ROUNDS: u64 = 5;
const RETENTION_MS: u64 = 720_000;

fn run(machine: &mut Machine, line: &str, clock: u64, log: &mut Vec<u8>) {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let spec = table::find(words[0]).expect("a command");
    let (command, common) = Command::parse(spec, &words[1..]).expect("well-formed");
    let envelope = Envelope::new("", common, Body::Single(command), &[0; 32]).expect("an envelope");
    log.clear();
    match machine.submit(&envelope, clock, log) {
        MachineAnswer::Receipt(receipt) => {
            assert!(receipt.outcome.is_applied(), "{line}: {}", receipt.outcome);
        }
        MachineAnswer::Replay(_) => panic!("{line} is no repetition"),
    }
}

/// The process's own pages in memory.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the status of the process");
    let own = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("a figure");
    own.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}

/// Sells for one retention, on a few items, with a sweep now and then as a server makes them.
fn sell(machine: &mut Machine, round: u64, log: &mut Vec<u8>) {
    for sale in 0..SALES {
        let clock = 1_000_000 + round * RETENTION_MS + sale * RETENTION_MS / SALES;
        run(machine, &format!("STOCK.TAKE sku-{} 1 customer-{sale:07}", sale % 7), clock, log);
        if sale.is_multiple_of(100) {
            log.clear();
            machine.expire(512, clock, log);
        }
    }
}

#[test]
fn sales_of_long_ago_take_no_memory() {
    let settings = StateSettings { receipt_retention_ms: RETENTION_MS, ..StateSettings::default() };
    let mut machine = Machine::new(settings, 0);
    let mut log = Vec::with_capacity(64 << 10);
    for item in 0..7 {
        run(&mut machine, &format!("STOCK.CREATE sku-{item} 1000000"), 1, &mut log);
    }
    let before = resident_bytes();
    sell(&mut machine, 0, &mut log);
    let (records, bytes) = (machine.state().record_count(), resident_bytes() - before);
    eprintln!("{} bytes a receipt", bytes / SALES);
    for round in 1..ROUNDS {
        sell(&mut machine, round, &mut log);
    }
    let (records_then, bytes_then) = (machine.state().record_count(), resident_bytes() - before);
    eprintln!(
        "{records} records and {bytes} bytes, {ROUNDS} times the sales later {records_then} and {bytes_then}"
    );
    assert!(records_then < records * 11 / 10, "{records} records became {records_then}");
    assert!(bytes_then < bytes * 2, "{bytes} bytes became {bytes_then}");
}
