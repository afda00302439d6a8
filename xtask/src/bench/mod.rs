//! `cargo xtask bench`: the same load on this machine, in turn, against Scarce and Redis.

mod cases;
pub mod instructions;
mod orders;
mod redis;
mod report;
mod sizes;
mod streams;
mod sweep;
mod writer;

use std::error::Error;
use std::process::Command;

use clap::{Args, ValueEnum};
use scarce_launch::{Options as Launch, Server as Redis};

use crate::process::{self, Server};
use crate::{Ended, place, screen};
use cases::{CASES, Case, Measured, On};

/// How much to measure.
#[derive(Debug, Args)]
pub struct Options {
    /// How often each case is run, all in turn.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// How many requests of each case at 64 in the pipeline; a fifth of it at 1.
    #[arg(long, default_value_t = 1_500_000, value_parser = clap::value_parser!(u64).range(1000..))]
    requests: u64,
    /// Which engine is compared with Redis.
    #[arg(long, default_value = "embedded")]
    engine: Engine,
    /// Count machine instructions per command with callgrind instead, and compare with those that are kept.
    #[arg(long, conflicts_with_all = ["rounds", "requests", "engine"])]
    instructions: bool,
    /// Measure a writer beside a thousand streams of events instead, many of them unread.
    #[arg(long, conflicts_with_all = ["requests", "engine", "instructions"])]
    streams: bool,
    /// Measure a writer while 200 000 reservations end together instead, and when all are back.
    #[arg(long, conflicts_with_all = ["requests", "engine", "instructions", "streams"])]
    sweep: bool,
    /// Compare flows of orders in memory with exchange-core on a JVM instead; `--requests` says how many commands each has.
    #[arg(long, conflicts_with_all = ["engine", "instructions", "streams", "sweep"])]
    orders: bool,
    /// Measure what records take in memory, in the log and in snapshots instead; `--requests` says how many of each kind.
    #[arg(long, conflicts_with_all = ["rounds", "engine", "instructions", "streams", "sweep", "orders"])]
    sizes: bool,
    /// Write docs/benchmarks.md, or docs/benchmarks-redis.md, docs/benchmarks-streams.md, docs/benchmarks-sweep.md,
    /// docs/benchmarks-orders.md, docs/benchmarks-sizes.md, or the counts to compare with.
    #[arg(long)]
    write: bool,
}

/// An engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// On the machine's disk.
    Embedded,
    /// Inside a Redis.
    Redis,
}

/// The servers that are compared.
struct Servers {
    scarce: Server,
    redis_memory: Redis,
    redis_synced: Redis,
    script: String,
}

/// Measures all cases in turn, and prints a table.
pub fn run(options: &Options) -> Ended {
    if options.instructions {
        return instructions::run(options.write);
    }
    if options.orders {
        return orders::run(options.rounds, options.requests, options.write);
    }
    if options.sizes {
        build()?;
        return sizes::run(options.requests, options.write);
    }
    if options.streams {
        build()?;
        return streams::run(options.rounds, options.write);
    }
    if options.sweep {
        build()?;
        return sweep::run(options.rounds, options.write);
    }
    if !place::has_program("redis-benchmark") || !place::has_program("redis-server") {
        return Err(
            "redis-server and redis-benchmark are not installed; run: apt-get install redis-server".into()
        );
    }
    build()?;
    if options.engine == Engine::Redis {
        return redis::run(
            &redis::Amount { rounds: options.rounds, requests: options.requests },
            options.write,
        );
    }
    let servers = Servers::start()?;
    let mut measured: Vec<Vec<Measured>> = CASES.iter().map(|_| Vec::new()).collect();
    for round in 1..=options.rounds {
        for (case, results) in CASES.iter().zip(&mut measured) {
            let result = servers.measure(case, options.requests)?;
            screen::say(&format!(
                "round {round}/{}: {:<58} {:>10.0} per second",
                options.rounds,
                case.shown(),
                result.per_second
            ));
            results.push(result);
        }
    }
    let lines = report::lines(&measured);
    screen::say(&format!("\n{}", report::screen(&lines)));
    if options.write {
        let path = place::root().join("docs").join("benchmarks.md");
        std::fs::write(&path, report::page(&lines, options.rounds, options.requests)?)?;
        screen::say("\nwrote docs/benchmarks.md");
    }
    Ok(true)
}

fn build() -> Result<(), Box<dyn Error>> {
    let mut build = Command::new("cargo");
    process::must(build.args(["build", "--release", "--package", "scarce"]).current_dir(place::root()))
        .map(drop)
}

impl Servers {
    fn start() -> Result<Self, Box<dyn Error>> {
        let scarce = Server::scarce("bench-scarce")?;
        // On the same disk.
        let launch = Launch::new().in_folder(&place::work("bench-redis")?);
        let redis_memory = Redis::start(launch.clone().with("appendonly", "no"))?;
        let redis_synced = Redis::start(launch.with("appendfsync", "always"))?;
        cli(scarce.port(), &["ACCOUNT.OPEN", "bench", "USD", "OVERDRAFT", "9007199254740991"])?;
        let mut script = String::new();
        for redis in [&redis_memory, &redis_synced] {
            redis.ask::<()>(&["HSET", "bench", "balance", "9007199254740991"])?;
            script = redis.ask(&["SCRIPT", "LOAD", cases::SCRIPT])?;
        }
        Ok(Self { scarce, redis_memory, redis_synced, script })
    }

    fn measure(&self, case: &Case, requests: u64) -> Result<Measured, Box<dyn Error>> {
        let port = match case.on {
            On::Scarce => self.scarce.port().to_owned(),
            On::RedisMemory => self.redis_memory.port().to_string(),
            On::RedisSynced => self.redis_synced.port().to_string(),
        };
        let requests = if case.pipeline == 1 { requests / 5 } else { requests };
        let mut command = Command::new("redis-benchmark");
        command.args(["-h", "127.0.0.1", "-p", &port, "--csv", "-c", "50", "-r", "1000000000"]);
        command.args(["-n", &requests.to_string(), "-P", &case.pipeline.to_string()]);
        let words = case.load.words(&self.script);
        Measured::read(&process::must(command.args(words))?)
    }
}

fn cli(port: &str, words: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut command = Command::new("redis-cli");
    process::must(command.args(["-h", "127.0.0.1", "-p", port, "-e"]).args(words))
}
