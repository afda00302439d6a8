//! `cargo xtask bench`: the same load on this machine, in turn, against Scarce and Redis.

mod cases;
mod redis;
mod report;

use std::error::Error;
use std::process::Command;

use clap::{Args, ValueEnum};

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
    /// Write docs/benchmarks.md, or docs/benchmarks-redis.md.
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
    redis_memory: Server,
    redis_synced: Server,
    script: String,
}

/// Measures all cases in turn, and prints a table.
pub fn run(options: &Options) -> Ended {
    if !place::has_program("redis-benchmark") || !place::has_program("redis-server") {
        return Err("redis-server and redis-benchmark are needed: apt-get install redis-server".into());
    }
    let mut build = Command::new("cargo");
    process::must(build.args(["build", "--release", "--package", "scarce"]).current_dir(place::root()))?;
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

impl Servers {
    fn start() -> Result<Self, Box<dyn Error>> {
        let scarce = Server::scarce("bench-scarce")?;
        let memory = ["--save", "", "--appendonly", "no"];
        let redis_memory = Server::redis("bench-redis-memory", &memory)?;
        let synced = ["--save", "", "--appendonly", "yes", "--appendfsync", "always"];
        let redis_synced = Server::redis("bench-redis-synced", &synced)?;
        cli(&scarce, &["ACCOUNT.OPEN", "bench", "USD", "OVERDRAFT", "9007199254740991"])?;
        let mut script = String::new();
        for redis in [&redis_memory, &redis_synced] {
            cli(redis, &["HSET", "bench", "balance", "9007199254740991"])?;
            script = cli(redis, &["SCRIPT", "LOAD", cases::SCRIPT])?.trim().to_owned();
        }
        Ok(Self { scarce, redis_memory, redis_synced, script })
    }

    fn measure(&self, case: &Case, requests: u64) -> Result<Measured, Box<dyn Error>> {
        let server = match case.on {
            On::Scarce => &self.scarce,
            On::RedisMemory => &self.redis_memory,
            On::RedisSynced => &self.redis_synced,
        };
        let requests = if case.pipeline == 1 { requests / 5 } else { requests };
        let mut command = Command::new("redis-benchmark");
        command.args(["-h", "127.0.0.1", "-p", server.port(), "--csv", "-c", "50", "-r", "1000000000"]);
        command.args(["-n", &requests.to_string(), "-P", &case.pipeline.to_string()]);
        let words = case.load.words(&self.script);
        Measured::read(&process::must(command.args(words))?)
    }
}

fn cli(server: &Server, words: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut command = Command::new("redis-cli");
    process::must(command.args(["-h", "127.0.0.1", "-p", server.port(), "-e"]).args(words))
}
