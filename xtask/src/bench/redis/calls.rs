//! The cost of a debit inside Redis, by the number of debits in one call.

use std::error::Error;
use std::process::Command;

use scarce_launch::Server as Redis;

use crate::{place, process, screen};

/// How many debits are in flight, and so in a call.
const UNDER_WAY: [u32; 6] = [1, 4, 16, 64, 256, 1_024];

/// A point of the curve.
pub struct Point {
    /// How many debits were in flight.
    pub under_way: u32,
    /// How many were in one call.
    pub per_call: f64,
    /// The cost of each inside Redis.
    pub cost_us: f64,
    /// Debits per second.
    pub per_second: f64,
}

/// Measures the curve.
pub fn curve(redis: &Redis, requests: u64) -> Result<Vec<Point>, Box<dyn Error>> {
    let mut build = Command::new("cargo");
    build.args(["build", "--release", "--package", "scarce-engine-redis", "--example", "redis_debits"]);
    process::must(build.current_dir(place::root()))?;
    UNDER_WAY.iter().map(|under_way| point(redis, *under_way, requests)).collect()
}

fn point(redis: &Redis, under_way: u32, requests: u64) -> Result<Point, Box<dyn Error>> {
    let program = place::root().join("target/release/examples/redis_debits");
    let run = |requests: u64| {
        let (under_way, requests) = (under_way.to_string(), requests.to_string());
        process::must(Command::new(&program).args([&redis.url(), &under_way, &requests]))
    };
    // Opens the accounts and loads the library.
    run(1)?;
    redis.ask::<()>(&["CONFIG", "RESETSTAT"])?;
    let requests = requests.min(u64::from(under_way) * 20_000);
    let output = run(requests)?;
    let stats: String = redis.ask(&["INFO", "commandstats"])?;
    let line = stats.lines().find(|line| line.starts_with("cmdstat_fcall:")).ok_or("no call was counted")?;
    let figure = |name: &str| -> Option<f64> {
        line.split([':', ',']).find_map(|field| field.strip_prefix(name))?.parse().ok()
    };
    let (calls, spent_us) = (figure("calls=").unwrap_or(1.0), figure("usec=").unwrap_or(0.0));
    let words: Vec<&str> = output.split_whitespace().collect();
    let rate = words.iter().position(|word| *word == "a").and_then(|at| words[at - 1].parse().ok());
    let point = Point {
        under_way,
        per_call: requests as f64 / calls,
        cost_us: spent_us / requests as f64,
        per_second: rate.ok_or("the load gave no rate")?,
    };
    screen::say(&format!(
        "{under_way} under way: {:.1} µs each, {:.0} per second",
        point.cost_us, point.per_second
    ));
    Ok(point)
}
