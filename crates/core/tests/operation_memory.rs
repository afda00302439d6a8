//! What a remembered operation takes of the process's memory, with the allocator of the server.

use scarce_core::command::{Body, Command, Envelope, table};
use scarce_core::machine::{Machine, MachineAnswer};
use scarce_core::state::StateSettings;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How many ids are remembered before the first measurement, and from one to the next.
const FIRST: u64 = 200_000;
const STEP: u64 = 20_000;
/// At this many a shard of the index has grown to the double since the first measurement.
const LAST: u64 = 500_000;

/// The most that an id may take, with the answer of a debit, its share of the index, and what the allocator rounds up to.
const BYTES_MAX: u64 = 46;
/// What the machine's buffers and the empty index take.
const FIXED_BYTES: u64 = 512 << 10;

fn run(machine: &mut Machine, line: &str, clock: u64, log: &mut Vec<u8>) -> bool {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let spec = table::find(words[0]).expect("a command");
    let (command, common) = Command::parse(spec, &words[1..]).expect("well-formed");
    let envelope = Envelope::new("", common, Body::Single(command), &[0; 32]).expect("an envelope");
    log.clear();
    match machine.submit(&envelope, clock, log) {
        MachineAnswer::Receipt(receipt) => receipt.outcome.is_applied(),
        MachineAnswer::Replay(_) => false,
    }
}

/// The process's own pages in memory.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the status of the process");
    let own = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("a figure");
    own.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}

#[test]
fn a_remembered_debit_takes_forty_six_bytes_at_most() {
    // As in the server itself.
    rustix::thread::disable_transparent_huge_pages(true).expect("the kernel can be told");
    let mut machine = Machine::new(StateSettings::default(), 0);
    let mut log = Vec::with_capacity(4 << 10);
    for line in ["ACCOUNT.OPEN a EUR", "ACCOUNT.CREDIT a 100000000"] {
        assert!(run(&mut machine, line, 1, &mut log), "{line}");
    }
    let (before, mut worst) = (resident_bytes(), 0);
    for count in 1..=LAST {
        // The ids of a busy second come in different milliseconds, and other entries come between them.
        let line = format!("ACCOUNT.DEBIT a {} ID order-{count}-of-a-customer", count % 90 + 1);
        assert!(run(&mut machine, &line, 1_000_000 + count / 30, &mut log), "{line}");
        if count.is_multiple_of(10) {
            assert!(run(&mut machine, "ACCOUNT.CREDIT a 1", 1_000_000 + count / 30, &mut log));
        }
        if count >= FIRST && count.is_multiple_of(STEP) {
            let taken = resident_bytes().saturating_sub(before);
            let tenths = taken.saturating_sub(FIXED_BYTES) * 10 / count;
            worst = worst.max(tenths);
        }
    }
    assert_eq!(machine.state().operations.len() as u64, LAST);
    assert!(worst <= BYTES_MAX * 10, "{worst} tenths of a byte");
}
