//! The library is built once and kept, because a call costs a fraction of that: as a Function, and by EVALSHA
//! where the server is a Redis 6.2.

#[path = "redis/load.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod load;
#[path = "redis/servers.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod servers;

use load::told;
use scarce_engine_redis::{RedisEngine, RedisSettings, ScriptKind};
use servers::Server;

/// How many calls are measured.
const CALLS: u64 = 100;

fn open(server: &Server, script: ScriptKind) -> RedisEngine {
    let settings =
        RedisSettings { url: server.url(), partitions: 1, script: Some(script), ..RedisSettings::default() };
    let engine = RedisEngine::open(settings).expect("the engine");
    assert!(told(&engine, 0, "ACCOUNT.OPEN a EUR").is_ok());
    engine
}

/// How long the server took for calls by a command, in microseconds; before each call something is done.
fn cost_us(server: &Server, engine: &RedisEngine, command: &str, before: impl Fn()) -> u64 {
    server.ask::<()>(&["CONFIG", "RESETSTAT"]).expect("statistics");
    for _ in 0..CALLS {
        before();
        assert!(told(engine, 0, "ACCOUNT.CREDIT a 1").expect("an answer").starts_with("APPLIED"));
    }
    let statistics: String = server.ask(&["INFO", "commandstats"]).expect("statistics");
    let row = statistics.lines().find_map(|line| line.strip_prefix(&format!("cmdstat_{command}:")));
    let usec = row.and_then(|row| row.split(',').find_map(|field| field.strip_prefix("usec=")));
    usec.expect("the command was called").trim().parse().expect("a number")
}

fn has(server: &Server, command: &[&str]) -> bool {
    server.ask::<redis::Value>(command).is_ok_and(|answer| answer != redis::Value::Int(0))
}

/// Sandboxes of servers differ: Redis 6.2 keeps the library of a script, and others have Functions.
#[test]
fn the_library_is_kept_by_evalsha_or_as_a_function() {
    let server = servers::server();
    let keeps_scripts = has(&server, &["EVAL", "return rawget(_G, 'setfenv') and 1 or 0", "0"]);
    let by_sha = open(&server, ScriptKind::Evalsha);
    let forget = || server.ask::<()>(&["SCRIPT", "FLUSH"]).expect("no scripts");
    let built_us = cost_us(&server, &by_sha, "evalsha", forget);
    let kept_us = if keeps_scripts {
        cost_us(&server, &by_sha, "evalsha", || {})
    } else {
        let by_function = open(&server, ScriptKind::Functions);
        cost_us(&server, &by_function, "fcall", || {})
    };
    assert!(2 * kept_us < built_us, "{kept_us} µs kept, {built_us} µs built for each call");
}

/// As where a server is replaced by an older one. Its error for an `FCALL` repeats the arguments, whose bytes are not text:
/// the answer could not be read, and the outcome was unknown.
#[test]
fn a_server_without_functions_gets_no_calls_of_them_and_the_library_is_kept_by_evalsha() {
    let server = servers::server();
    let has_functions = has(&server, &["FUNCTION", "STATS"]);
    let engine = open(&server, ScriptKind::Functions);
    // A message of many kinds of bytes.
    for amount in [1_u64, 200, 70_000, 1 << 40] {
        let credited = told(&engine, 0, &format!("ACCOUNT.CREDIT a {amount} ID of-{amount}"));
        assert!(credited.expect("an answer").starts_with("APPLIED"), "{amount}");
    }
    let statistics: String = server.ask(&["INFO", "commandstats"]).expect("statistics");
    assert_eq!(statistics.contains("cmdstat_fcall:"), has_functions);
}
