//! How fast the log is projected: prints events per second for each database and several mixes of commands.
//!
//! `cargo run --release -p scarce-projection --example projection_rate -- [sqlite|postgres|mariadb …]`
//! with `SCARCE_EVENTS` for how many events each mix has, `SCARCE_BATCH` for how many entries a batch has,
//! `SCARCE_PARTITIONS` for how many partitions share them.
#![allow(clippy::print_stdout, reason = "a program for people")]

use std::time::Instant;

use scarce_core::event::{Entry, Position};
use scarce_core::machine::Machine;
use scarce_core::state::StateSettings;
use scarce_launch::{MariaDb, MariaDbOptions, Postgres, PostgresOptions};
use scarce_outflow::{Batch, Consumer};
use scarce_projection::{Projection, ProjectionOptions};
use scarce_sim::compare::envelope;
use scarce_sim::random::Random;

const DEPLOYMENT: &str = "00112233445566778899aabbccddeeff";
const ACCOUNTS: u64 = 10_000;
const BEGUN_MS: u64 = 1_700_000_000_000;

/// A mix of commands: preparations, and the measured part.
struct Mix {
    name: &'static str,
    before: fn(&mut Random) -> Vec<String>,
    line: fn(&mut Random, u64) -> String,
}

const MIXES: &[Mix] = &[
    Mix {
        name: "debits, ids in order of time",
        before: accounts,
        line: |random, number| {
            format!("ACCOUNT.DEBIT a{} 1 ID {}", random.below(ACCOUNTS), uuid_v7(random, number))
        },
    },
    Mix {
        name: "debits, random ids",
        before: accounts,
        line: |random, _| format!("ACCOUNT.DEBIT a{} 1 ID {}", random.below(ACCOUNTS), uuid_v4(random)),
    },
    Mix {
        name: "transfers, ids in order of time",
        before: accounts,
        line: |random, number| {
            let from = random.below(ACCOUNTS);
            let to = (from + 1 + random.below(ACCOUNTS - 1)) % ACCOUNTS;
            format!("ACCOUNT.TRANSFER a{from} a{to} 1 ID {}", uuid_v7(random, number))
        },
    },
    Mix {
        name: "sales of 100 items, ids in order of time",
        before: items,
        line: |random, number| {
            format!(
                "STOCK.TAKE s{} 1 o{} ID {}",
                random.below(100),
                random.below(50_000),
                uuid_v7(random, number)
            )
        },
    },
    Mix {
        name: "orders in 10 markets, ids in order of time",
        before: markets,
        line: |random, number| {
            let side = if random.percent(50) { "BUY" } else { "SELL" };
            let (market, owner) = (random.below(10), random.below(1_000));
            let (price, quantity) = (95 + random.below(11), 1 + random.below(10));
            let id = uuid_v7(random, number);
            format!("ORDER.PLACE m{market} w{number} o{owner} {side} LIMIT {price} {quantity} ID {id}")
        },
    },
];

fn accounts(_random: &mut Random) -> Vec<String> {
    let open = (0..ACCOUNTS).map(|account| format!("ACCOUNT.OPEN a{account} EUR"));
    open.chain((0..ACCOUNTS).map(|account| format!("ACCOUNT.CREDIT a{account} 1000000"))).collect()
}

fn items(_random: &mut Random) -> Vec<String> {
    (0..100).map(|item| format!("STOCK.CREATE s{item} 1000000000")).collect()
}

fn markets(_random: &mut Random) -> Vec<String> {
    (0..10).map(|market| format!("MARKET.CREATE m{market}")).collect()
}

fn uuid_v7(random: &mut Random, number: u64) -> String {
    // A new millisecond for every fifty commands.
    let at = BEGUN_MS + number / 50;
    let (a, b) = (random.number(), random.number());
    format!(
        "{:08x}-{:04x}-7{:03x}-8{:03x}-{:012x}",
        at >> 16,
        at & 0xffff,
        a & 0xfff,
        a >> 20 & 0xfff,
        b >> 16
    )
}

fn uuid_v4(random: &mut Random) -> String {
    let (a, b) = (random.number(), random.number());
    format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
        a >> 32,
        a >> 16 & 0xffff,
        a & 0xfff,
        b >> 52,
        b & 0xffff_ffff_ffff
    )
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// The log of a partition: preparations, and the measured part.
struct Log {
    before: Vec<Batch>,
    measured: Vec<Batch>,
}

/// The log of a mix with about this many events.
fn log(mix: &Mix, partition: u32, events: u64) -> Log {
    let mut random = Random::new(7 + u64::from(partition));
    let mut machine = Machine::new(StateSettings::default(), partition);
    let mut run = |lines: &mut dyn Iterator<Item = String>, events: u64| {
        let mut log = Vec::new();
        let until = machine.sequence() + events;
        for (number, line) in (0..).zip(lines) {
            let envelope = envelope("", "", &[of_partition(&line, partition)]).expect("a command");
            machine.submit(&envelope, BEGUN_MS + number / 50, &mut log);
            if machine.sequence() >= until {
                break;
            }
        }
        Entry::read_all(&log).expect("the log")
    };
    let before = run(&mut (mix.before)(&mut random).into_iter(), u64::MAX / 2);
    let measured = run(&mut (0..).map(|number| (mix.line)(&mut random, number)), events);
    let mut after = Position::default();
    let mut cut = |entries: &[Entry]| batches(partition, entries, &mut after);
    Log { before: cut(&before), measured: cut(&measured) }
}

/// A command whose accounts, items or markets belong to a partition.
fn of_partition(line: &str, partition: u32) -> String {
    let rename = |(at, word): (usize, &str)| {
        let is_named = at == 1 || (at == 2 && line.starts_with("ACCOUNT.TRANSFER"));
        if is_named { format!("p{partition}-{word}") } else { word.to_owned() }
    };
    line.split(' ').enumerate().map(rename).collect::<Vec<_>>().join(" ")
}

fn batches(partition: u32, entries: &[Entry], after: &mut Position) -> Vec<Batch> {
    let size = usize::try_from(number("SCARCE_BATCH", 20_000)).expect("a size");
    let cut = |entries: &[Entry]| {
        let batch = Batch { partition, after: *after, entries: entries.to_vec() };
        *after = batch.end();
        batch
    };
    entries.chunks(size).map(cut).collect()
}

/// How much processor time this process has used so far.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks: f64 = fields[11..=12].iter().filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    ticks / 100.0
}

async fn measure(database: &str, url: &str, mix: &Mix) {
    let partitions = u32::try_from(number("SCARCE_PARTITIONS", 1)).expect("a number of partitions");
    let events_wanted = number("SCARCE_EVENTS", 400_000) / u64::from(partitions);
    let projection =
        Projection::open(url, DEPLOYMENT, ProjectionOptions::default()).await.expect("the database");
    let (mut events, mut tasks) = (0, Vec::new());
    for partition in 0..partitions {
        let Log { before, measured } = log(mix, partition, events_wanted);
        let mut consumer = projection.consumer(partition);
        for batch in before {
            consumer.consume(&batch).await.expect("a batch");
        }
        events += measured.iter().map(|batch| batch.events().count()).sum::<usize>();
        tasks.push(async move {
            for batch in &measured {
                consumer.consume(batch).await.expect("a batch");
            }
        });
    }
    let (begun, cpu) = (Instant::now(), cpu_seconds());
    let tasks: Vec<_> = tasks.into_iter().map(tokio::spawn).collect();
    for task in tasks {
        task.await.expect("a partition");
    }
    let (seconds, cpu) = (begun.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    let rate = |seconds: f64| events as f64 / seconds;
    println!(
        "{database:<10} {:<42} {:>9.0} events/s, {:>9.0} per second of this process's CPU",
        mix.name,
        rate(seconds),
        rate(cpu)
    );
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    let only = number("SCARCE_MIX", u64::MAX);
    let mixes = || (0..).zip(MIXES).filter(move |(at, _)| only == u64::MAX || *at == only);
    if is_wanted("sqlite") {
        for (at, mix) in mixes() {
            let folder = tempfile::tempdir().expect("a folder");
            let url = format!("sqlite://{}", folder.path().join(format!("{at}.db")).display());
            measure("sqlite", &url, mix).await;
        }
    }
    if is_wanted("postgres") {
        let options =
            PostgresOptions::new().synced().with("max_wal_size", "4GB").with("shared_buffers", "512MB");
        let server = Postgres::start(&options).expect("PostgreSQL");
        for (at, mix) in mixes() {
            measure("postgres", &server.create_database(&format!("d{at}")).expect("a database"), mix).await;
        }
    }
    if is_wanted("mariadb") {
        let options = MariaDbOptions::new()
            .synced()
            .with("innodb-buffer-pool-size", "512M")
            .with("innodb-log-file-size", "512M");
        let server = MariaDb::start(&options).expect("MariaDB");
        for (at, mix) in mixes() {
            measure("mariadb", &server.create_database(&format!("d{at}")).expect("a database"), mix).await;
        }
    }
}
