//! `INFO [section ...]`, in the form that tools for Redis read.

use std::fmt::{self, Write};

use scarce_access::Need;
use scarce_core::command::COMMANDS;
use scarce_core::outcome::Code;
use scarce_engine::Engine;
use scarce_engine::metrics::{DURATION_BOUNDS, PartitionMetrics};
use scarce_gateway::latencies::{Histogram, measured};
use scarce_gateway::process;

use super::RespShared;
use super::session::{Session, Turn};

/// The Redis version whose replies clients may expect.
pub(super) const REDIS_VERSION: &str = "7.4.0";

type WriteSection = fn(&RespShared, &mut String) -> fmt::Result;

/// A part of `INFO`.
struct Section {
    name: &'static str,
    /// Whether any caller may see it, and not only those who operate the server.
    is_open: bool,
    /// Whether it is shown where no section is asked for.
    is_usual: bool,
    write: WriteSection,
}

const fn section(name: &'static str, write: WriteSection) -> Section {
    Section { name, is_open: false, is_usual: true, write }
}

const SECTIONS: [Section; 9] = [
    Section { is_open: true, ..section("Server", server) },
    section("Clients", clients),
    section("Memory", memory),
    Section { is_open: true, ..section("Replication", replication) },
    section("Partitions", partitions),
    section("Commandstats", command_stats),
    section("Errorstats", error_stats),
    section("Latencystats", latency_stats),
    Section { is_usual: false, ..section("Latencyhistograms", latency_histograms) },
];

impl Session {
    /// `INFO [section ...]`. A section that does not exist is empty, as in Redis.
    pub(super) fn info(&mut self, asked: &[&[u8]], turn: &mut Turn<'_>) {
        let may_operate = self.caller.as_ref().is_some_and(|caller| caller.may(Need::OPERATE));
        let text = text(turn.shared, asked, may_operate);
        self.say(turn, |replies| replies.bulk(text.as_bytes()));
    }
}

fn text(shared: &RespShared, asked: &[&[u8]], may_operate: bool) -> String {
    let names = |name: &str| asked.iter().any(|its| its.eq_ignore_ascii_case(name.as_bytes()));
    let (all, usual) = (names("all") || names("everything"), asked.is_empty() || names("default"));
    let is_asked = |its: &Section| all || usual && its.is_usual || names(its.name);
    let mut text = String::new();
    for section in SECTIONS.iter().filter(|its| (its.is_open || may_operate) && is_asked(its)) {
        let _ = write!(text, "# {}\r\n", section.name);
        // Writing to a string cannot fail.
        let _ = (section.write)(shared, &mut text);
    }
    text
}

fn server(shared: &RespShared, out: &mut String) -> fmt::Result {
    write!(
        out,
        "redis_version:{REDIS_VERSION}\r\nscarce_version:{}\r\nredis_mode:standalone\r\nprocess_id:{}\r\nuptime_in_seconds:{}\r\nloading:0\r\n",
        env!("CARGO_PKG_VERSION"),
        std::process::id(),
        shared.started_at.elapsed().as_secs(),
    )
}

fn clients(shared: &RespShared, out: &mut String) -> fmt::Result {
    let connected = shared.connections_open.load(std::sync::atomic::Ordering::Relaxed);
    write!(out, "connected_clients:{connected}\r\nmaxclients:{}\r\n", shared.places.max())?;
    write!(out, "connections:open={},refused={}\r\n", shared.places.open(), shared.places.refused())
}

fn memory(shared: &RespShared, out: &mut String) -> fmt::Result {
    let max_bytes = shared.engine.memory().map_or(0, |levels| levels.max_bytes);
    let resident_bytes = process::resident_bytes().unwrap_or(0);
    write!(out, "used_memory_rss:{resident_bytes}\r\nmaxmemory:{max_bytes}\r\n")
}

fn replication(_: &RespShared, out: &mut String) -> fmt::Result {
    out.write_str("role:master\r\n")
}

fn partitions(shared: &RespShared, out: &mut String) -> fmt::Result {
    let engine = &shared.engine;
    write!(out, "deployment_id:{}\r\npartitions:{}\r\n", engine.deployment_id(), engine.partitions())?;
    for partition in 0..engine.partitions() {
        let extent = (engine.first_sequence(partition), engine.durable_through(partition));
        if let ((Ok(first), Ok(through)), Ok(metrics)) = (extent, engine.metrics(partition)) {
            let levels = metrics.levels();
            write!(
                out,
                "partition_{partition}:first_sequence={first},durable_sequence={through},inbox_batches={},journal_bytes={},lag_events={},ready={}\r\n",
                levels.inbox,
                metrics.log_bytes.get(),
                levels.outflow_lag,
                u8::from(engine.check_ready(partition).is_ok())
            )?;
        }
    }
    Ok(())
}

fn counters(engine: &dyn Engine) -> Vec<&PartitionMetrics> {
    (0..engine.partitions()).filter_map(|partition| engine.metrics(partition).ok()).collect()
}

fn count(of: &[&PartitionMetrics], number: u16, code: Code) -> u64 {
    of.iter().map(|metrics| metrics.outcomes(number, code)).sum()
}

/// Calls and refusals over all ports, time over RESP and HTTP.
fn command_stats(shared: &RespShared, out: &mut String) -> fmt::Result {
    let counters = counters(&*shared.engine);
    for (number, name) in measured() {
        let calls: u64 = Code::ALL.iter().map(|code| count(&counters, number, *code)).sum();
        if calls == 0 {
            continue;
        }
        let refused = calls - count(&counters, number, Code::Applied);
        let taken = shared.latencies.of(number);
        let took_us = taken.sum().as_micros();
        let per_call = took_us / u128::from(taken.count().max(1));
        write!(
            out,
            "cmdstat_{name}:calls={calls},usec={took_us},usec_per_call={per_call},rejected_calls=0,failed_calls={refused}\r\n"
        )?;
    }
    Ok(())
}

fn error_stats(shared: &RespShared, out: &mut String) -> fmt::Result {
    let counters = counters(&*shared.engine);
    let numbers = || std::iter::once(0).chain(COMMANDS.iter().map(|spec| spec.number));
    for code in Code::ALL.iter().filter(|code| **code != Code::Applied) {
        let refused: u64 = numbers().map(|number| count(&counters, number, *code)).sum();
        if refused > 0 {
            write!(out, "errorstat_{}:count={refused}\r\n", code.word())?;
        }
    }
    let failures: u64 = counters.iter().map(|metrics| metrics.failures.get()).sum();
    if failures > 0 { write!(out, "undecided_commands:{failures}\r\n") } else { Ok(()) }
}

fn latencies(shared: &RespShared) -> impl Iterator<Item = (&'static str, Histogram)> {
    let all = measured().map(|(number, name)| (name, shared.latencies.of(number)));
    all.filter(|(_, taken)| taken.count() > 0)
}

/// The bounds below which so many were since the start.
fn latency_stats(shared: &RespShared, out: &mut String) -> fmt::Result {
    for (name, taken) in latencies(shared) {
        let [p50, p99] = [50, 99].map(|percent| taken.percentile_us(percent).unwrap_or(0));
        write!(out, "latency_percentiles_usec_{name}:p50={p50},p99={p99}\r\n")?;
    }
    Ok(())
}

/// How many fell into each bucket, by its bound in microseconds, so that two looks show what was between them.
fn latency_histograms(shared: &RespShared, out: &mut String) -> fmt::Result {
    for (name, taken) in latencies(shared) {
        write!(out, "latency_histogram_{name}:")?;
        for (bound, count) in DURATION_BOUNDS.iter().zip(taken.counts()) {
            write!(out, "{:.0}={count},", bound * 1e6)?;
        }
        write!(out, "inf={}\r\n", taken.counts()[DURATION_BOUNDS.len()])?;
    }
    Ok(())
}
