//! Commands whose machine instructions are counted. `cargo xtask bench --instructions` runs `instructions CASE` for each
//! case under callgrind, which counts inside of [`counted_commands`] only: from the words of a request to its receipt
//! and its entry in the log. Without a case it prints the names of all, and how many commands each counts.

use std::io::Write;

use scarce_core::command::{Body, Command, Envelope, table};
use scarce_core::machine::{Machine, MachineAnswer};
use scarce_core::state::StateSettings;

/// Commands of one kind.
struct Case {
    name: &'static str,
    /// What is there before them.
    before: &'static [&'static str],
    /// Lines that are repeated before them, by their number.
    filled: fn(u64) -> Option<String>,
    /// The command of a number.
    line: fn(u64) -> String,
}

/// How many commands are run before the counted ones, so that tables and buffers have grown.
const WARMED: u64 = 1_000;
/// How many commands are counted.
const COUNTED: u64 = 2_000;
/// How many come in a millisecond.
const PER_MILLISECOND: usize = 256;

const ACCOUNTS: &[&str] =
    &["ACCOUNT.OPEN a EUR OVERDRAFT 9007199254740991", "ACCOUNT.OPEN b EUR OVERDRAFT 9007199254740991"];
const MARKET: &[&str] = &["MARKET.CREATE m"];

/// In place of a command: ends the next [`SWEPT`] records that are due.
const SWEEP: &str = "(sweep)";
const SWEPT: usize = 16;

/// The time of the first command, and how much later what a case has begun is due, in milliseconds.
const BEGUN: u64 = 1_000_000;
const SWEEP_LATER: u64 = 60_000;

const CASES: &[Case] = &[
    Case { name: "debit", before: ACCOUNTS, filled: none, line: |_| "ACCOUNT.DEBIT a 1".to_owned() },
    Case { name: "debit, id", before: ACCOUNTS, filled: none, line: |at| id("ACCOUNT.DEBIT a 1", at) },
    Case {
        name: "debit, UUID",
        before: ACCOUNTS,
        filled: none,
        line: |at| format!("ACCOUNT.DEBIT a 1 ID f47ac10b-58cc-4372-a567-{at:012x}"),
    },
    Case { name: "debit again", before: ACCOUNTS, filled: none, line: |_| id("ACCOUNT.DEBIT a 1", 1) },
    Case {
        name: "debit refused, id",
        before: &["ACCOUNT.OPEN a EUR"],
        filled: none,
        line: |at| id("ACCOUNT.DEBIT a 1", at),
    },
    Case {
        name: "transfer, id",
        before: ACCOUNTS,
        filled: none,
        line: |at| id("ACCOUNT.TRANSFER a b 1", at),
    },
    Case {
        name: "hold, id",
        before: ACCOUNTS,
        filled: none,
        line: |at| id(&format!("ACCOUNT.HOLD a h{at} 1 TTL 60000"), at),
    },
    Case {
        name: "take, id",
        before: &["STOCK.CREATE s 1000000 PEROWNER 5"],
        filled: none,
        line: |at| id(&format!("STOCK.TAKE s 1 u{at}"), at),
    },
    Case {
        name: "reserve, id",
        before: &["STOCK.CREATE s 1000000 PEROWNER 5"],
        filled: none,
        line: |at| id(&format!("STOCK.RESERVE s r{at} 1 u{at} 60000"), at),
    },
    Case {
        name: "16 reservations end",
        before: &["STOCK.CREATE s 1000000"],
        filled: |at| (at < 50_000).then(|| format!("STOCK.RESERVE s r{at} 1 u{at} 60000")),
        line: |_| SWEEP.to_owned(),
    },
    Case {
        name: "packet claim, id",
        before: &["PACKET.CREATE p EUR PLAN 1000000 5000 DOUBLE_MEAN"],
        filled: none,
        line: |at| id(&format!("PACKET.CLAIM p u{at}"), at),
    },
    Case {
        name: "coupon claim, id",
        before: &["COUPON.CREATE c LIMIT total 1000000 PER - WINDOW none LIMIT daily 2 PER user WINDOW day"],
        filled: none,
        line: |at| id(&format!("COUPON.CLAIM c USER u{at}"), at),
    },
    Case { name: "order rests", before: MARKET, filled: none, line: resting },
    Case { name: "order rests, id", before: MARKET, filled: none, line: |at| id(&resting(at), at) },
    Case {
        name: "order fills one",
        before: MARKET,
        filled: |at| {
            (at < 4_000)
                .then(|| format!("ORDER.PLACE m s{at} u{} SELL LIMIT {} 10", at % 100, 1_000 + at % 50))
        },
        line: |at| format!("ORDER.PLACE m b{at} t{} BUY LIMIT 1100 10", at % 100),
    },
    Case {
        name: "order sweeps 16",
        before: MARKET,
        filled: |at| {
            (at < 50_000)
                .then(|| format!("ORDER.PLACE m s{at} u{} SELL LIMIT {} 1", at % 100, 1_000 + at % 50))
        },
        line: |at| format!("ORDER.PLACE m b{at} t{} BUY LIMIT 1100 16", at % 100),
    },
    Case {
        name: "order flow",
        before: MARKET,
        filled: |at| (at < 1_000).then(|| flow_order(at)),
        line: flow,
    },
    Case {
        name: "order flow, id",
        before: MARKET,
        filled: |at| (at < 1_000).then(|| flow_order(at)),
        line: |at| id(&flow(at), at),
    },
];

const fn none(_: u64) -> Option<String> {
    None
}

fn id(line: &str, at: u64) -> String {
    format!("{line} ID op-{at:012}")
}

fn resting(at: u64) -> String {
    format!("ORDER.PLACE m o{at} u{} BUY LIMIT {} 10", at % 100, 900 - at * 7 % 50)
}

/// A number that looks random, the same in every run.
fn mixed(at: u64) -> u64 {
    let high = (at ^ (at >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (high ^ (high >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32
}

/// A passive price on one side of a book around 100 000.
fn flow_order(at: u64) -> String {
    let (side, price) = flow_price(at);
    format!("ORDER.PLACE m f{at} u{} {side} LIMIT {price} {}", at % 100, 1 + mixed(at) % 100)
}

fn flow_price(at: u64) -> (&'static str, u64) {
    let away = mixed(at + 7) % 375;
    if at.is_multiple_of(2) { ("BUY", 99_999 - away) } else { ("SELL", 100_001 + away) }
}

/// Mostly moves of orders, like a market maker's: 82 % moves, 9 % new orders, 6 % cancellations, 3 % takers.
fn flow(at: u64) -> String {
    let (new, old) = (1_000 + at, mixed(at) % (1_000 + at / 10));
    let owner = old % 100;
    match mixed(at + 13) % 100 {
        0..82 => {
            let (_, price) = flow_price(old + 2 * mixed(at + 3));
            format!("ORDER.REPLACE m f{old} u{owner} {price} {}", 1 + mixed(at) % 100)
        }
        82..91 => flow_order(1_000 + at / 10),
        91..97 => format!("ORDER.CANCEL m f{old} u{owner}"),
        _ => format!("ORDER.PLACE m t{new} u{owner} BUY LIMIT 100100 {} TIF IOC", 1 + mixed(at) % 300),
    }
}

/// Runs a request. What it was answered is looked at in no other way, so that nothing else is counted.
fn run(machine: &mut Machine, clock: u64, words: &[&[u8]], log: &mut Vec<u8>) -> bool {
    if words[0] == SWEEP.as_bytes() {
        return machine.expire(SWEPT, BEGUN + SWEEP_LATER + clock, log) == SWEPT;
    }
    let Some(spec) = table::find(words[0]) else { return false };
    let Ok((command, common)) = Command::parse(spec, &words[1..]) else { return false };
    let Ok(envelope) = Envelope::new("", common, Body::Single(command), &[0; 32]) else { return false };
    match machine.submit(&envelope, BEGUN + clock, log) {
        MachineAnswer::Receipt(receipt) => receipt.at > 0,
        MachineAnswer::Replay(_) => true,
    }
}

/// Callgrind counts what happens in here, and finds it by its name.
#[inline(never)]
fn counted_commands(machine: &mut Machine, first: u64, requests: &[Vec<&[u8]>], log: &mut Vec<u8>) -> usize {
    let mut answered = 0;
    for (at, words) in requests.iter().enumerate() {
        // A batch's buffer is used again.
        if log.len() > 1 << 16 {
            log.clear();
        }
        answered += usize::from(run(machine, first + clock(at), words, log));
    }
    answered
}

/// The time of a command, in milliseconds since the first.
fn clock(at: usize) -> u64 {
    (at / PER_MILLISECOND) as u64
}

fn words(line: &str) -> Vec<&[u8]> {
    line.split(' ').map(str::as_bytes).collect()
}

fn play(case: &Case) -> Result<(), String> {
    let mut machine = Machine::new(StateSettings::default(), 0);
    let mut log = Vec::new();
    let before = case.before.iter().map(|line| (*line).to_owned());
    let warming: Vec<String> =
        before.chain((0..).map_while(case.filled)).chain((0..WARMED).map(case.line)).collect();
    for (at, line) in warming.iter().enumerate() {
        if !run(&mut machine, clock(at), &words(line), &mut log) {
            return Err(format!("'{line}' is not well-formed"));
        }
    }
    let lines: Vec<String> = (WARMED..WARMED + COUNTED).map(case.line).collect();
    let first = clock(warming.len()) + 1;
    let requests: Vec<Vec<&[u8]>> = lines.iter().map(|line| words(line)).collect();
    log.clear();
    if counted_commands(&mut machine, first, &requests, &mut log) < requests.len() {
        return Err("not every command is well-formed".to_owned());
    }
    Ok(())
}

fn main() -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    let Some(name) = std::env::args().nth(1) else {
        return CASES
            .iter()
            .try_for_each(|case| writeln!(out, "{} {COUNTED}", case.name))
            .map_err(|error| error.to_string());
    };
    let case = CASES.iter().find(|case| case.name == name);
    play(case.ok_or_else(|| format!("there is no case '{name}'"))?)
}
