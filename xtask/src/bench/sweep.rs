//! `cargo xtask bench --sweep`: how long 200 000 reservations that end together take until they are back, and the latencies
//! of a writer meanwhile, in turn with the same writer alone.

use std::error::Error;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::writer::{Latencies, Writer, load_average, measured, median, page_table, ratio};
use crate::process::Server;
use crate::{Ended, place, screen};

const RESERVATIONS: u64 = 200_000;

/// How many requests are sent before their answers are read.
const PIPELINE: u64 = 500;

/// How often the writer sends a command, and how often another connection asks how much is back.
const INTERVAL: Duration = Duration::from_millis(1);
const LOOK_EVERY: u32 = 10;

/// How long making the reservations may take, and how long the writer writes alone.
const AHEAD: Duration = Duration::from_secs(15);
const ALONE: Duration = Duration::from_secs(3);

struct Round {
    alone: Latencies,
    beside: Latencies,
    /// From the deadline until all are back.
    back_ms: u64,
}

/// Measures, prints a table, and writes the page if asked to.
pub fn run(rounds: u32, is_written: bool) -> Ended {
    let load = load_average()?;
    let mut results = Vec::new();
    for round in 1..=rounds {
        let result = measure()?;
        screen::say(&format!(
            "round {round}/{rounds}: back after {} ms; the longest latency {} us meanwhile, {} us alone",
            result.back_ms,
            result.beside.longest(),
            result.alone.longest()
        ));
        results.push(result);
    }
    let rows = rows(&results);
    screen::say(&format!("\n{}", screen::table(&rows)));
    if is_written {
        std::fs::write(place::root().join("docs/benchmarks-sweep.md"), page(&rows, rounds, &load)?)?;
        screen::say("\nwrote docs/benchmarks-sweep.md");
    }
    Ok(true)
}

/// A round on a server of its own.
fn measure() -> Result<Round, Box<dyn Error>> {
    let server = Server::scarce("bench-sweep")?;
    let mut writer = Writer::connect(&server.address)?;
    let mut other = Writer::connect(&server.address)?;
    writer.call("ACCOUNT.OPEN bench USD")?;
    writer.call(&format!("STOCK.CREATE s {RESERVATIONS}"))?;
    let alone = writer.credit_until("bench", INTERVAL, |_, passed| Ok(passed >= ALONE))?;
    let deadline_ms = now_ms()? + u64::try_from(AHEAD.as_millis())?;
    reserve_all(&mut other, deadline_ms)?;
    while let Some(left_ms) = deadline_ms.checked_sub(now_ms()?).filter(|left_ms| *left_ms > 0) {
        std::thread::park_timeout(Duration::from_millis(left_ms));
    }
    let mut back_ms = 0;
    let beside = writer.credit_until("bench", INTERVAL, |at, _| {
        if at % LOOK_EVERY != 0 {
            return Ok(false);
        }
        back_ms = now_ms()?.saturating_sub(deadline_ms);
        Ok(reserved(&mut other)? == 0)
    })?;
    Ok(Round { alone, beside, back_ms })
}

/// Reserves everything in units of one until the deadline.
fn reserve_all(connection: &mut Writer, deadline_ms: u64) -> Result<(), Box<dyn Error>> {
    for first in (0..RESERVATIONS).step_by(usize::try_from(PIPELINE)?) {
        let left_ms = deadline_ms.checked_sub(now_ms()?).filter(|left_ms| *left_ms > 0);
        let ttl_ms = left_ms.ok_or("making the reservations took too long; the machine is busy")?;
        for number in first..first + PIPELINE {
            connection.send(&format!("STOCK.RESERVE s r{number} 1 o{number} {ttl_ms}"))?;
        }
        for _ in 0..PIPELINE {
            connection.answer()?;
        }
    }
    Ok(())
}

/// How many units are still reserved.
fn reserved(connection: &mut Writer) -> Result<u64, Box<dyn Error>> {
    let answer = connection.call("STOCK.GET s")?;
    let mut words = answer.iter().skip_while(|word| *word != "reserved");
    Ok(words.nth(1).ok_or("an answer without the reserved units")?.parse()?)
}

fn now_ms() -> Result<u64, Box<dyn Error>> {
    Ok(u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?)
}

fn rows(results: &[Round]) -> Vec<Vec<String>> {
    let of = |figure: fn(&Round) -> u64| median(results.iter().map(figure).collect());
    let ms = |us: u64| format!("{}.{:02}", us / 1_000, us % 1_000 / 10);
    let (alone, beside) = (of(|its| its.alone.longest()), of(|its| its.beside.longest()));
    vec![
        ["writer", "p50 ms", "p99 ms", "longest ms", "longest, ratio", "all are back after ms"]
            .map(str::to_owned)
            .to_vec(),
        vec![
            "alone".to_owned(),
            ms(of(|its| its.alone.at(50))),
            ms(of(|its| its.alone.at(99))),
            ms(alone),
            "1.00".to_owned(),
            String::new(),
        ],
        vec![
            format!("while {RESERVATIONS} reservations end"),
            ms(of(|its| its.beside.at(50))),
            ms(of(|its| its.beside.at(99))),
            ms(beside),
            ratio(beside, alone),
            of(|its| its.back_ms).to_string(),
        ],
    ]
}

fn page(rows: &[Vec<String>], rounds: u32, load: &str) -> Result<String, Box<dyn Error>> {
    let per_second = 1_000 / INTERVAL.as_millis();
    Ok(format!(
        "# Reservations that end together\n\n\
         {} {rounds} rounds, each on a server of its own: credits at {per_second} a second over one connection, alone and then \
         from the moment on at which {RESERVATIONS} reservations of one item are due. They end in steps of up to 512, with commands \
         in between. Each latency counts from the time at which its command was due, so that it contains the wait for the disk. \
         Figures are medians of the rounds.\n\n{}",
        measured("--sweep", load)?,
        page_table(rows),
    ))
}
