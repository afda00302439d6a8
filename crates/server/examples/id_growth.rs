//! Debits with new IDs in process: what an ID takes of memory while more and more are remembered, and the longest
//! decisions. `id_growth [IDS [MAX [huge]]]`: how many are sent, how many are remembered at most, and whether the kernel may
//! give huge pages. The time for which the thread had no core is not counted.

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::time::Instant;

use scarce_core::command::plain::Plain;
use scarce_core::command::{Body, Command, CommandSpec, Envelope, table};
use scarce_core::machine::Machine;
use scarce_core::state::StateSettings;
use scarce_server::serve::machine::refuse_huge_pages;

/// As in the server itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How many come in a millisecond.
const PER_MILLISECOND: u64 = 30;
/// From so many IDs on, memory is looked at each time that a fifth was added.
const FIRST: u64 = 250_000;
/// Decisions that take longer than these microseconds are counted.
const LIMITS_US: [u64; 6] = [50, 100, 200, 500, 1_000, 5_000];

/// How long this thread was ready to run and did not, in nanoseconds.
struct Waiting(File);

impl Waiting {
    fn ns(&self) -> Option<u64> {
        let mut bytes = [0; 96];
        let length = self.0.read_at(&mut bytes, 0).ok()?;
        std::str::from_utf8(&bytes[..length]).ok()?.split_whitespace().nth(1)?.parse().ok()
    }
}

/// The process's own pages in memory.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:")?.split_whitespace().next()?.parse().ok());
    kib.unwrap_or(0_u64) << 10
}

/// How long decisions took.
#[derive(Default)]
struct Times {
    total_ns: u64,
    over: [u64; LIMITS_US.len()],
    longest: Vec<(u64, u64)>,
}

impl Times {
    fn note(&mut self, ns: u64, number: u64) {
        self.total_ns += ns;
        for (count, limit) in self.over.iter_mut().zip(LIMITS_US) {
            *count += u64::from(ns > limit * 1_000);
        }
        if ns > LIMITS_US[0] * 1_000 {
            self.longest.push((ns / 1_000, number));
        }
    }
}

/// A machine, and its log, which is thrown away.
struct Bench {
    machine: Machine,
    log: Vec<u8>,
    debit: &'static CommandSpec,
    waiting: Waiting,
}

impl Bench {
    fn new(operations_max: usize) -> Result<Self, Box<dyn Error>> {
        let settings = StateSettings { operations_max, window_ms_min: 1, ..StateSettings::default() };
        let (mut machine, mut log) = (Machine::new(settings, 0), Vec::with_capacity(1 << 20));
        for line in ["ACCOUNT.OPEN a EUR OVERDRAFT 9007199254740991", "ACCOUNT.CREDIT a 100000000"] {
            let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
            let spec = table::find(words[0]).ok_or("no such command")?;
            let (command, common) = Command::parse(spec, &words[1..]).map_err(|_| "not well-formed")?;
            let envelope =
                Envelope::new("", common, Body::Single(command), &[0; 32]).map_err(|_| "no envelope")?;
            machine.submit(&envelope, 1, &mut log);
        }
        let debit = table::find(b"ACCOUNT.DEBIT").ok_or("no such command")?;
        Ok(Self { machine, log, debit, waiting: Waiting(File::open("/proc/thread-self/schedstat")?) })
    }

    /// A debit with an ID of its own, and how many nanoseconds it took.
    fn debit(&mut self, number: u64) -> Result<u64, Box<dyn Error>> {
        let (amount, id) = ((number % 90 + 1).to_string(), format!("order-{number:012}-of-a-customer"));
        if self.log.len() > 1 << 16 {
            self.log.clear();
        }
        let before = self.waiting.ns();
        let start = Instant::now();
        let plain = Plain::read(self.debit, &[b"a", amount.as_bytes(), b"ID", id.as_bytes()]);
        let clock = 1_000_000 + number / PER_MILLISECOND;
        let answer = plain.and_then(|plain| self.machine.submit_plain(&plain, clock, &mut self.log));
        let ns = u64::try_from(start.elapsed().as_nanos())?;
        answer.ok_or("not decided in the plain way")?;
        let waited = self.waiting.ns().zip(before).map_or(0, |(after, before)| after - before);
        Ok(ns.saturating_sub(waited))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let mut words = std::env::args().skip(1);
    let count = words.next().map_or(Ok(4_000_000), |word| word.parse::<u64>())?;
    let max = words.next().map_or(Ok(16_000_000), |word| word.parse())?;
    if words.next().is_none() {
        refuse_huge_pages();
    }
    let (mut bench, mut times) = (Bench::new(max)?, Times::default());
    let (before, mut next) = (resident_bytes(), FIRST);
    for number in 1..=count {
        times.note(bench.debit(number)?, number);
        if number == next || number == count {
            next += next / 5;
            let remembered = bench.machine.state().operations.len() as u64;
            let tenths = resident_bytes().saturating_sub(before) * 10 / remembered;
            writeln!(
                out,
                "{number:>9} sent, {remembered} remembered: {}.{} bytes each",
                tenths / 10,
                tenths % 10
            )?;
        }
    }
    times.longest.sort_unstable_by(|one, other| other.cmp(one));
    times.longest.truncate(10);
    writeln!(out, "{} ns each; longer than {LIMITS_US:?} us: {:?}", times.total_ns / count, times.over)?;
    writeln!(out, "the longest, in us, and when: {:?}", times.longest)?;
    Ok(())
}
