//! Orders against a deep book: Scarce, which accesses only the orders that it fills, and a script that reads
//! the whole book.

use std::error::Error;
use std::time::Instant;

use super::report::{Duel, median};
use super::{Amount, Ground, cli, load};
use crate::process::Server;
use crate::screen;

/// How many resting orders the book has.
const MAKERS: u64 = 10_000;

/// How many takers of one unit are measured, against ours; each is followed by a new maker.
const TAKERS: u64 = 2_000;

/// Hand-written matching of a single order: the book is a sorted set, each order a hash. It has no ids, no
/// owners, no levels and no log.
const SCRIPT: &str = "local wanted = tonumber(ARGV[1]) local makers = redis.call('ZRANGE', KEYS[1], 0, -1) local filled = {} \
     for _, maker in ipairs(makers) do if wanted <= 0 then break end \
     local key = KEYS[1] .. ':' .. maker local rest = tonumber(redis.call('HGET', key, 'rest')) \
     local taken = math.min(rest, wanted) wanted = wanted - taken \
     if taken == rest then redis.call('ZREM', KEYS[1], maker) redis.call('DEL', key) \
     else redis.call('HSET', key, 'rest', rest - taken) end \
     filled[#filled + 1] = maker end return filled";

/// The duration of the sweep of the whole book.
pub struct Sweep {
    /// From the order to its answer, the median of all rounds.
    pub total_ms: f64,
    /// The longest time for which Redis was blocked.
    pub longest_ms: f64,
    /// The same for the script, which does everything in one call.
    pub script_ms: f64,
}

/// A small order against a deep book.
pub fn duels(ground: &Ground, amount: &Amount) -> Result<Vec<Duel>, Box<dyn Error>> {
    fill(&ground.scarce, "deep", MAKERS * 3)?;
    let script: String = ground.redis.ask(&["SCRIPT", "LOAD", SCRIPT])?;
    fill_script(ground, "deep", MAKERS * 3)?;
    let take = ["ORDER.PLACE", "deep", "t-__rand_int__", "taker", "BUY", "LIMIT", "20000", "1"];
    let by_script = ["EVALSHA", script.as_str(), "1", "deep", "1"];
    let (ours, theirs) = (ground.scarce.port().to_owned(), ground.redis.port().to_string());
    let few = Amount { rounds: amount.rounds, requests: TAKERS };
    let shown =
        ["an order for 1 unit, 10 000 or more makers, through Scarce", "a script that reads the whole book"];
    let duel = Duel::run(
        shown,
        16,
        Some(10.0),
        &few,
        || ground.used_us(),
        [&|requests| load(&ours, &take, 16, requests), &|requests| load(&theirs, &by_script, 16, requests)],
    )?;
    Ok(vec![duel])
}

/// Measures an order that takes all makers.
pub fn sweep(ground: &Ground) -> Result<Sweep, Box<dyn Error>> {
    let (mut totals, mut longest, mut scripts) = (Vec::new(), Vec::new(), Vec::new());
    let script: String = ground.redis.ask(&["SCRIPT", "LOAD", SCRIPT])?;
    ground.redis.ask::<()>(&["CONFIG", "SET", "slowlog-max-len", "4096"])?;
    for round in 0..3 {
        let market = format!("sweep-{round}");
        fill(&ground.scarce, &market, MAKERS)?;
        ground.redis.ask::<()>(&["CONFIG", "SET", "slowlog-log-slower-than", "200"])?;
        ground.redis.ask::<()>(&["SLOWLOG", "RESET"])?;
        let begun = Instant::now();
        cli(
            &ground.scarce,
            &["ORDER.PLACE", &market, "taker", "t", "BUY", "LIMIT", "20000", &MAKERS.to_string()],
        )?;
        totals.push(begun.elapsed().as_secs_f64() * 1e3);
        longest.push(longest_ms(ground)?);
        ground.redis.ask::<()>(&["CONFIG", "SET", "slowlog-log-slower-than", "10000"])?;
        fill_script(ground, &market, MAKERS)?;
        let begun = Instant::now();
        ground.redis.ask::<redis::Value>(&["EVALSHA", &script, "1", &market, &MAKERS.to_string()])?;
        scripts.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    let found = Sweep {
        total_ms: median(&mut totals),
        longest_ms: median(&mut longest),
        script_ms: median(&mut scripts),
    };
    screen::say(&format!("a sweep: {:.0} ms, the longest call {:.1} ms", found.total_ms, found.longest_ms));
    Ok(found)
}

fn longest_ms(ground: &Ground) -> Result<f64, Box<dyn Error>> {
    let entries: Vec<Vec<redis::Value>> = ground.redis.ask(&["SLOWLOG", "GET", "4096"])?;
    let took =
        |entry: Vec<redis::Value>| -> Option<u64> { redis::from_redis_value(entry.into_iter().nth(2)?).ok() };
    Ok(entries.into_iter().filter_map(took).max().unwrap_or(0) as f64 / 1e3)
}

/// Places makers at rising prices, each with one unit.
fn fill(scarce: &Server, market: &str, makers: u64) -> Result<(), Box<dyn Error>> {
    let mut connection = redis::Client::open(format!("redis://{}", scarce.address))?.get_connection()?;
    redis::cmd("MARKET.CREATE").arg(market).exec(&mut connection)?;
    let makers: Vec<u64> = (0..makers).collect();
    for some in makers.chunks(1_000) {
        let mut pipeline = redis::pipe();
        for maker in some {
            let place = pipeline.cmd("ORDER.PLACE").arg(market).arg(format!("m{maker}")).arg("maker");
            place.arg("SELL").arg("LIMIT").arg(100 + maker % 10_000).arg(1);
        }
        pipeline.exec(&mut connection)?;
    }
    Ok(())
}

fn fill_script(ground: &Ground, book: &str, makers: u64) -> Result<(), Box<dyn Error>> {
    let fill = "for at = 1, tonumber(ARGV[1]) do redis.call('ZADD', KEYS[1], 100 + at % 10000, 'm' .. at) \
         redis.call('HSET', KEYS[1] .. ':m' .. at, 'rest', 1) end";
    Ok(ground.redis.ask::<()>(&["EVAL", fill, "1", book, &makers.to_string()])?)
}
