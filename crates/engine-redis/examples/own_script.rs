//! A script of one's own on the servers that the engine uses: a bucket of tokens that fills by itself.
//!
//!     cargo run --release -p scarce-engine-redis --example own_script -- redis://127.0.0.1:6379

use std::io::Write;

use scarce_engine_redis::RedisSettings;
use scarce_engine_redis::script::{Call, Script, Scripts};

/// Takes a token from a bucket that holds so many and gains so many a second; gives what is left, or −1. The
/// time is the server's, so that all callers go by one clock.
const TAKE_TOKEN: &str = "
    local size, per_second = tonumber(ARGV[1]), tonumber(ARGV[2])
    local time = redis.call('TIME')
    local now = tonumber(time[1]) + tonumber(time[2]) / 1e6
    local kept = redis.call('HMGET', KEYS[1], 'tokens', 'at')
    local tokens, at = tonumber(kept[1]) or size, tonumber(kept[2]) or now
    tokens = math.min(size, tokens + (now - at) * per_second)
    if tokens < 1 then return -1 end
    redis.call('HSET', KEYS[1], 'tokens', string.format('%.6f', tokens - 1), 'at', string.format('%.6f', now))
    return math.floor(tokens - 1)";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| RedisSettings::default().url);
    let scripts = Scripts::open(&RedisSettings { url, ..RedisSettings::default() }).await?;
    let take_token = Script::new("take_token", TAKE_TOKEN)?;
    // Other programs, and 'scarce scripts run take_token', find it by its name; they keep keys in this namespace.
    for loaded in scripts.load(&take_token).await? {
        writeln!(std::io::stdout(), "{} has it as {}", loaded.server, loaded.called_by)?;
    }
    let call = Call::on(&scripts.key_of_client("bucket:{api-7}")).argument("3").argument("0.5");
    for left in scripts.run_all::<i64>(&take_token, &vec![call; 5]).await {
        let left = left?;
        let word = if left < 0 { "refused".to_owned() } else { format!("taken, {left} left") };
        writeln!(std::io::stdout(), "{word}")?;
    }
    Ok(())
}
