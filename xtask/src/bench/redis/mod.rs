//! `cargo xtask bench --engine redis`: Scarce in front of a Redis against hand-written scripts on the same
//! Redis.

mod book;
mod calls;
mod report;

use std::error::Error;
use std::process::Command;

use scarce_launch::{Cluster, Options as Launch, Server as Redis};

use super::cases::{Measured, SCRIPT};
use crate::process::{self, Server};
use crate::{Ended, place, screen};
use report::Duel;

/// How much to measure.
pub struct Amount {
    /// How often each pair is run, in turn.
    pub rounds: u32,
    /// How many requests of each with a pipeline of 64; a tenth of it without one.
    pub requests: u64,
}

/// The minimum number of debits when the cost of calls is measured: enough to hide the opening of accounts.
const DEBITS_MIN: u64 = 200_000;

/// The textbook's script as teams complete it: a repeated id gets the same answer as before, and the change
/// is appended to a stream. Keys: account, id, stream.
const LOGGING_SCRIPT: &str = "local known = redis.call('GET', KEYS[2]) if known then return known end \
     local b = tonumber(redis.call('HGET', KEYS[1], 'balance')) local a = tonumber(ARGV[1]) \
     local answer = 'INSUFFICIENT_FUNDS' \
     if b >= a then answer = string.format('%.0f', b - a) redis.call('HSET', KEYS[1], 'balance', answer) \
     redis.call('XADD', KEYS[3], '*', 'type', 'debited', 'account', KEYS[1], 'amount', ARGV[1], 'balance', answer, \
     'operation', KEYS[2]) end \
     redis.call('SET', KEYS[2], answer, 'EX', '86400') return answer";

/// How many accounts the debits to a cluster use.
const ACCOUNTS: u64 = 1_000;

/// The number of partitions in a cluster.
const PARTITIONS: &str = "12";

/// Measures all pairs in turn, prints tables, and writes the page if `write` is set.
pub fn run(amount: &Amount, write: bool) -> Ended {
    let ground = Ground::start()?;
    let mut duels = ground.duels(amount)?;
    duels.extend(book::duels(&ground, amount)?);
    let calls = calls::curve(&ground.redis, amount.requests.max(DEBITS_MIN))?;
    let sweep = book::sweep(&ground)?;
    drop(ground);
    let spread = spread(amount)?;
    let page = report::Page { duels, calls, sweep, spread };
    screen::say(&format!("\n{}", page.screen()));
    if write {
        std::fs::write(place::root().join("docs/benchmarks-redis.md"), page.markdown(amount)?)?;
        screen::say("\nwrote docs/benchmarks-redis.md");
    }
    Ok(true)
}

/// A Redis without persistence, and Scarce in front of it.
pub(super) struct Ground {
    pub(super) redis: Redis,
    pub(super) scarce: Server,
    script: String,
    logging_script: String,
}

impl Ground {
    fn start() -> Result<Self, Box<dyn Error>> {
        let redis = Redis::start(Launch::new().with("appendonly", "no"))?;
        let scarce = Server::scarce_with("bench-redis", &["--engine", "redis", "--redis-url", &redis.url()])?;
        cli(&scarce, &["ACCOUNT.OPEN", "bench", "USD", "OVERDRAFT", "9007199254740991"])?;
        cli(&scarce, &["STOCK.CREATE", "plenty", "9007199254740991"])?;
        cli(&scarce, &["STOCK.CREATE", "sold", "1"])?;
        cli(&scarce, &["STOCK.TAKE", "sold", "1", "first"])?;
        redis.ask::<()>(&["HSET", "bench", "balance", "9007199254740991"])?;
        let script: String = redis.ask(&["SCRIPT", "LOAD", SCRIPT])?;
        let logging_script: String = redis.ask(&["SCRIPT", "LOAD", LOGGING_SCRIPT])?;
        Ok(Self { redis, scarce, script, logging_script })
    }

    /// The processor time that Redis has used so far.
    pub(super) fn used_us(&self) -> Result<f64, Box<dyn Error>> {
        let info: String = self.redis.ask(&["INFO", "cpu"])?;
        let figure = |name: &str| -> Option<f64> {
            info.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok()
        };
        let seconds = figure("used_cpu_user:").zip(figure("used_cpu_sys:"));
        seconds.map(|(user, system)| (user + system) * 1e6).ok_or_else(|| "Redis tells no times".into())
    }

    /// The pairs that redis-benchmark measures: ours, theirs, and the wanted ratio.
    fn duels(&self, amount: &Amount) -> Result<Vec<Duel>, Box<dyn Error>> {
        let take = ["STOCK.TAKE", "plenty", "1", "u-__rand_int__", "ID", "op-__rand_int__"];
        let sold_out = ["STOCK.TAKE", "sold", "1", "u-__rand_int__", "ID", "op-__rand_int__"];
        let ours = self.scarce.port().to_owned();
        let mut duels = self.debits(amount)?;
        duels.push(Duel::run(
            ["STOCK.TAKE that is refused SOLD_OUT", "STOCK.TAKE that is applied"],
            64,
            Some(1.5),
            amount,
            || self.used_us(),
            [&|requests| load(&ours, &sold_out, 64, requests), &|requests| load(&ours, &take, 64, requests)],
        )?);
        Ok(duels)
    }

    /// A debit through Scarce against scripts that do a part of it, or nearly all of it.
    fn debits(&self, amount: &Amount) -> Result<Vec<Duel>, Box<dyn Error>> {
        let debit = ["ACCOUNT.DEBIT", "bench", "1", "ID", "op-__rand_int__"];
        let comparing = ["EVALSHA", &self.script, "1", "bench", "1"];
        let logging = ["EVALSHA", &self.logging_script, "3", "bench", "op-__rand_int__", "bench-log", "1"];
        let scripts = [
            ("the textbook's script, on the same Redis", &comparing[..], Some(1.0)),
            ("a script that remembers the id and logs, on the same Redis", &logging[..], None),
        ];
        let (ours, theirs) = (self.scarce.port().to_owned(), self.redis.port().to_string());
        let mut duels = Vec::new();
        for (shown, script, wanted) in scripts {
            for pipeline in [64, 1] {
                duels.push(Duel::run(
                    ["ACCOUNT.DEBIT with an id, through Scarce", shown],
                    pipeline,
                    wanted,
                    amount,
                    || self.used_us(),
                    [&|requests| load(&ours, &debit, pipeline, requests), &|requests| {
                        load(&theirs, script, pipeline, requests)
                    }],
                )?);
            }
        }
        Ok(duels)
    }
}

/// Debits of many accounts over 1, 2 and 3 primaries.
fn spread(amount: &Amount) -> Result<Vec<(usize, f64)>, Box<dyn Error>> {
    let mut rows = Vec::new();
    for primaries in 1..=3 {
        let cluster = Cluster::start(&Launch::new().with("appendonly", "no"), primaries, 0)?;
        let url = cluster.url();
        let words = ["--engine", "redis", "--redis-url", &url, "--partitions", PARTITIONS];
        let scarce = Server::scarce_with("bench-cluster", &words)?;
        for account in 0..ACCOUNTS {
            let name = format!("a-{account:012}");
            cli(&scarce, &["ACCOUNT.OPEN", &name, "USD", "OVERDRAFT", "9007199254740991"])?;
        }
        let debit = ["ACCOUNT.DEBIT", "a-__rand_int__", "1"];
        let mut speeds = Vec::new();
        for _ in 0..amount.rounds {
            let random = ACCOUNTS.to_string();
            speeds.push(load_from(scarce.port(), &debit, 64, amount.requests / 2, &random)?.per_second);
        }
        let median = report::median(&mut speeds);
        screen::say(&format!("{primaries} primaries: {median:.0} debits per second"));
        rows.push((primaries, median));
    }
    Ok(rows)
}

/// A load from 50 connections with unique ids.
fn load(port: &str, words: &[&str], pipeline: u32, requests: u64) -> Result<Measured, Box<dyn Error>> {
    load_from(port, words, pipeline, requests, "1000000000")
}

fn load_from(
    port: &str,
    words: &[&str],
    pipeline: u32,
    requests: u64,
    random: &str,
) -> Result<Measured, Box<dyn Error>> {
    let mut command = Command::new("redis-benchmark");
    command.args(["-h", "127.0.0.1", "-p", port, "--csv", "-c", "50", "-r", random]);
    command.args(["-n", &requests.to_string(), "-P", &pipeline.to_string()]);
    Measured::read(&process::must(command.args(words))?)
}

pub(super) fn cli(server: &Server, words: &[&str]) -> Result<String, Box<dyn Error>> {
    super::cli(server.port(), words)
}
