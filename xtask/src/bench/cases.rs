//! The cases of the benchmark.

use std::error::Error;

/// The measured server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// `scarce serve`: every answer is sent after its batch was synced.
    Scarce,
    /// redis-server without persistence.
    RedisMemory,
    /// redis-server with `appendfsync always`.
    RedisSynced,
}

/// The load on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Nothing.
    Ping,
    /// A debit of one account, each under a new id.
    Debit,
    /// The textbook's script: read, compare, write.
    Script,
}

/// One line of the comparison.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The measured server.
    pub on: On,
    /// The load on it.
    pub load: Load,
    /// The depth of the pipeline: how many requests are sent before waiting for an answer.
    pub pipeline: u32,
    /// What an answer has gone through, and what it has not.
    pub path: &'static str,
}

/// `HGET`, compare, `HSET`; answers the rest, or -1.
pub const SCRIPT: &str = "local b = tonumber(redis.call('HGET', KEYS[1], 'balance')) \
     local a = tonumber(ARGV[1]) if b < a then return -1 end \
     redis.call('HSET', KEYS[1], 'balance', string.format('%.0f', b - a)) return b - a";

const DEBIT: &str = "rules, operation id, journal, sync";
const SCRIPTED: &str = "compare only; no id, no log, no sync";
const SCRIPTED_SYNCED: &str = "compare, append-only file, sync; no id";
const PING: &str = "protocol only";

/// All lines, in the order in which a round measures them.
pub const CASES: &[Case] = &[
    Case { on: On::Scarce, load: Load::Debit, pipeline: 64, path: DEBIT },
    Case { on: On::RedisMemory, load: Load::Script, pipeline: 64, path: SCRIPTED },
    Case { on: On::RedisSynced, load: Load::Script, pipeline: 64, path: SCRIPTED_SYNCED },
    Case { on: On::Scarce, load: Load::Ping, pipeline: 64, path: PING },
    Case { on: On::RedisMemory, load: Load::Ping, pipeline: 64, path: PING },
    Case { on: On::Scarce, load: Load::Debit, pipeline: 1, path: DEBIT },
    Case { on: On::RedisMemory, load: Load::Script, pipeline: 1, path: SCRIPTED },
    Case { on: On::RedisSynced, load: Load::Script, pipeline: 1, path: SCRIPTED_SYNCED },
    Case { on: On::Scarce, load: Load::Ping, pipeline: 1, path: PING },
    Case { on: On::RedisMemory, load: Load::Ping, pipeline: 1, path: PING },
];

impl Load {
    /// The command as redis-benchmark sends it.
    pub fn words(self, script: &str) -> Vec<&str> {
        match self {
            Self::Ping => vec!["PING"],
            Self::Debit => vec!["ACCOUNT.DEBIT", "bench", "1", "ID", "op-__rand_int__"],
            Self::Script => vec!["EVALSHA", script, "1", "bench", "1"],
        }
    }
}

impl Case {
    /// The load and the server, for the table.
    pub fn shown(&self) -> String {
        let on = match self.on {
            On::Scarce => "Scarce",
            On::RedisMemory => "Redis, nothing written",
            On::RedisSynced => "Redis, appendfsync always",
        };
        let load = match self.load {
            Load::Ping => "PING",
            Load::Debit => "ACCOUNT.DEBIT with an id",
            Load::Script => "EVALSHA",
        };
        format!("{load} on {on}, pipeline {}", self.pipeline)
    }
}

/// A result of redis-benchmark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Requests per second.
    pub per_second: f64,
    /// The median latency in milliseconds.
    pub p50_ms: f64,
    /// The 99th percentile of the latency in milliseconds.
    pub p99_ms: f64,
}

impl Measured {
    /// Reads the last line of `redis-benchmark --csv`.
    pub fn read(output: &str) -> Result<Self, Box<dyn Error>> {
        let line =
            output.lines().rfind(|line| line.starts_with('"')).ok_or("redis-benchmark printed no result")?;
        let cells: Vec<&str> = line.split("\",\"").map(|cell| cell.trim_matches('"')).collect();
        // The test, requests per second, then average, minimum, p50, p95, p99 and maximum latency in
        // milliseconds.
        let cell = |at: usize| -> Result<f64, Box<dyn Error>> {
            let from_end = cells.len().checked_sub(at).and_then(|at| cells.get(at));
            Ok(from_end.ok_or("redis-benchmark printed unknown columns")?.parse()?)
        };
        Ok(Self { per_second: cell(7)?, p50_ms: cell(4)?, p99_ms: cell(2)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_the_last_line() {
        let output = "\"test\",\"rps\",\"avg_latency_ms\",\"min_latency_ms\",\"p50_latency_ms\",\"p95_latency_ms\",\
                      \"p99_latency_ms\",\"max_latency_ms\"\n\"PING\",\"100000.50\",\"0.2\",\"0.1\",\"0.207\",\"0.3\",\"0.447\",\"1.0\"\n";
        let expected = Measured { per_second: 100_000.5, p50_ms: 0.207, p99_ms: 0.447 };
        assert_eq!(Measured::read(output).unwrap(), expected);
    }
}
