//! Runs the conformance tables against the real binary over RESP: every scenario ends with a restart,
//! alternately a clean one and one by SIGKILL.

mod support;

use std::path::Path;

use redis::Value;
use scarce_client::{Client, text};
use scarce_core::command::{AnswerLayout, table};
use scarce_core::outcome::Code;
use scarce_launch::Server as RedisServer;
use scarce_sim::conformance::{BatchHead, Setup, Suite, Target};
use support::{Server, playing, redis_server};
use tempfile::TempDir;

struct RespTarget {
    /// The engine's Redis, and the number of scenarios so far: each has its own keys.
    redis: Option<(RedisServer, u64)>,
    setup: Setup,
    data: TempDir,
    server: Option<Server>,
    client: Option<Client>,
    clock: u64,
    events_read: Vec<i64>,
    restarts: u64,
}

impl RespTarget {
    fn new(redis: Option<(RedisServer, u64)>) -> Self {
        Self {
            redis,
            setup: Setup::default(),
            data: TempDir::new().expect("a temporary folder"),
            server: None,
            client: None,
            clock: 0,
            events_read: Vec::new(),
            restarts: 0,
        }
    }

    fn start(&mut self) {
        let options: Vec<String> = match &self.redis {
            None => Vec::new(),
            Some((redis, number)) => vec![
                "--engine=redis".to_owned(),
                format!("--redis-url={}", redis.url()),
                format!("--redis-prefix=scenario-{number}:"),
            ],
        };
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let server = playing::start(self.data.path(), &self.setup, &options);
        self.client = Some(server.connect());
        self.server = Some(server);
        self.set_clock(self.clock);
    }

    fn client(&mut self) -> &mut Client {
        self.client.as_mut().expect("started")
    }

    fn call(&mut self, words: &[&str]) -> Value {
        self.client().call(words).expect("an answer")
    }

    fn digests(&mut self) -> String {
        let Value::Array(rows) = self.call(&["DIGEST"]) else { panic!("DIGEST answers rows") };
        let digest = |row: &Value| match row {
            Value::Array(fields) => text(&fields[2]).expect("a digest"),
            other => panic!("{other:?}"),
        };
        rows.iter().map(digest).collect::<Vec<_>>().join(" ")
    }
}

/// A value in the text form of outcomes.
fn shown(value: &Value) -> String {
    match value {
        Value::Nil => "-".to_owned(),
        Value::Int(value) => value.to_string(),
        Value::Array(values) => format!("[{}]", values.iter().map(shown).collect::<Vec<_>>().join(" ")),
        other => text(other).unwrap_or_else(|| format!("{other:?}")),
    }
}

fn outcome(code: &str, facts: &[Value]) -> String {
    facts.iter().fold(code.to_owned(), |line, fact| format!("{line} {}", shown(fact)))
}

/// The outcome that an error of the server stands for.
fn error(code: &str, details: &str) -> String {
    if code == "OVERLOADED" {
        let queue = details.split('\'').nth(1).unwrap_or_default();
        let wait_ms = details.rsplit_once("retry_after_ms=").map_or("-", |(_, wait_ms)| wait_ms);
        return format!("OVERLOADED {queue} {wait_ms}");
    }
    if details.starts_with("unknown command") {
        return format!("INVALID command is unknown: {details}");
    }
    let problem = details.split(". Usage:").next().unwrap_or(details);
    if problem.starts_with("INVALID") { problem.to_owned() } else { format!("INVALID {problem}") }
}

/// Whether an answer is a refusal: 0 and a code first.
fn refused(values: &[Value]) -> Option<(Code, &[Value])> {
    let [Value::Int(0), word, facts @ ..] = values else { return None };
    Some((Code::from_word(&text(word)?)?, facts))
}

fn answer(words: &[&str], value: &Value) -> String {
    let spec = words.first().and_then(|name| table::find(name.as_bytes()));
    match (value, spec.map(|spec| spec.answer)) {
        (Value::ServerError(problem), _) => error(problem.code(), problem.details().unwrap_or_default()),
        (Value::Array(values), Some(_)) if refused(values).is_some() => {
            refused(values).map(|(code, facts)| outcome(code.word(), facts)).unwrap_or_default()
        }
        (Value::Array(values), Some(AnswerLayout::Array)) => outcome("APPLIED", &values[1..]),
        (Value::Array(pairs), Some(AnswerLayout::Map)) => {
            let values: Vec<Value> = pairs.iter().skip(1).step_by(2).cloned().collect();
            outcome("APPLIED", &values)
        }
        (Value::Array(lists), Some(AnswerLayout::Bare)) if spec.is_some_and(|spec| spec.reply.len() > 1) => {
            outcome("APPLIED", lists)
        }
        (value, _) => outcome("APPLIED", std::slice::from_ref(value)),
    }
}

/// Combines the answers to a batch's lines into the outcome of the batch.
fn batch_answer(lines: &[Value]) -> String {
    let refusals: Vec<_> = lines
        .iter()
        .map(|line| match line {
            Value::Array(values) => refused(values),
            other => panic!("a line was answered {other:?}"),
        })
        .collect();
    let whole =
        [Code::IdReused, Code::IdExpired, Code::DeadlinePassed, Code::ResolvedAbsent, Code::CrossPartition];
    match refusals
        .iter()
        .position(|refusal| matches!(refusal, Some((code, _)) if *code != Code::BatchRefused))
    {
        None => outcome("APPLIED", lines),
        Some(at) => {
            let (code, facts) = refusals[at].expect("it was found");
            if whole.contains(&code) {
                return outcome(code.word(), facts);
            }
            for (other, refusal) in refusals.iter().enumerate().filter(|(other, _)| *other != at) {
                let (word, named) =
                    refusal.unwrap_or_else(|| panic!("line {other} was applied in a refused batch"));
                assert_eq!(
                    (word, shown(&named[0]), shown(&named[1])),
                    (Code::BatchRefused, at.to_string(), code.word().to_owned())
                );
            }
            format!("BATCH_REFUSED {at} {} {}", code.word(), shown(&Value::Array(facts.to_vec())))
        }
    }
}

impl Target for RespTarget {
    fn supports(&self, feature: &str) -> bool {
        matches!(feature, "settings" | "partitions")
    }

    fn reset(&mut self, setup: &Setup) -> Result<(), String> {
        let redis = self.redis.take().map(|(redis, number)| (redis, number + 1));
        *self = Self { restarts: self.restarts, setup: setup.clone(), ..Self::new(redis) };
        self.events_read = vec![0; setup.partitions as usize];
        self.start();
        Ok(())
    }

    fn set_clock(&mut self, now: u64) {
        self.clock = now;
        let set = self.call(&["DEBUG.CLOCK", &now.to_string()]);
        assert_eq!(set, Value::Okay);
    }

    fn command(&mut self, words: &[&str]) -> String {
        let value = self.call(words);
        answer(words, &value)
    }

    fn batch(&mut self, id: Option<&str>, deadline: Option<&str>, lines: &[Vec<&str>]) -> String {
        let mut commands = vec![vec!["MULTI"]];
        let deadline = deadline.map(|deadline| vec!["DEADLINE", deadline]).unwrap_or_default();
        match id {
            Some(id) => commands.push([vec!["BATCH.ID", id], deadline].concat()),
            None => commands.extend(deadline.get(1).map(|at| vec!["BATCH.DEADLINE", *at])),
        }
        let first = commands.len();
        commands.extend(lines.iter().cloned());
        commands.push(vec!["EXEC"]);
        let answers = self.client().pipeline(&commands).expect("answers");
        let queued = &answers[1..answers.len() - 1];
        for (at, answer) in queued.iter().enumerate() {
            if let Value::ServerError(problem) = answer {
                let text = error(problem.code(), problem.details().unwrap_or_default());
                // A command that cannot be part of a batch is refused when queued, not when decided.
                let misplaced = text.contains("cannot be part of an atomic batch");
                return if misplaced { format!("BATCH_REFUSED {} {text}", at + 1 - first) } else { text };
            }
        }
        match answers.last().expect("an answer to EXEC") {
            Value::Array(values) => batch_answer(&values[first - 1..]),
            Value::ServerError(problem) => error(problem.code(), problem.details().unwrap_or_default()),
            other => panic!("EXEC was answered {other:?}"),
        }
    }

    fn dry_run(&mut self, batch: Option<BatchHead<'_>>, lines: &[Vec<&str>]) -> Option<String> {
        let (None, [words]) = (batch, lines) else { return None };
        let value = self.call(&[&["DRYRUN"], words.as_slice()].concat());
        // The real command shows whether it exists.
        if matches!(value, Value::ServerError(_)) { None } else { Some(answer(words, &value)) }
    }

    fn expire(&mut self, limit: usize) -> usize {
        match self.call(&["DEBUG.EXPIRE", &limit.to_string()]) {
            Value::Int(count) => usize::try_from(count).expect("a count"),
            other => panic!("{other:?}"),
        }
    }

    fn restart(&mut self) -> Result<(), String> {
        let before = self.digests();
        self.restarts += 1;
        let mut server = self.server.take().expect("started");
        if self.restarts.is_multiple_of(2) {
            server.kill();
        } else {
            server.stop();
        }
        self.start();
        let after = self.digests();
        if before == after { Ok(()) } else { Err(format!("the digest was {before} and is {after}")) }
    }

    fn events(&mut self) -> Vec<String> {
        let mut names = Vec::new();
        for partition in 0..self.events_read.len() {
            loop {
                let after = self.events_read[partition].to_string();
                let page = self.call(&["EVENTS", &partition.to_string(), "0", &after, "COUNT", "10000"]);
                let Value::Array(events) = page else { panic!("{page:?}") };
                let Some(last) = events.last() else { break };
                let field = |event: &Value, at: usize| match event {
                    Value::Array(fields) => fields[at].clone(),
                    other => panic!("{other:?}"),
                };
                let Value::Int(sequence) = field(last, 2) else { panic!("{last:?}") };
                self.events_read[partition] = sequence;
                names.extend(events.iter().filter_map(|event| text(&field(event, 5))));
            }
        }
        names
    }

    fn digest(&mut self) -> String {
        self.digests()
    }
}

#[test]
fn the_server_answers_as_the_tables_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let suite = Suite::load(&folder).unwrap_or_else(|failures| panic!("{failures:?}"));
    let report = suite.run(&mut RespTarget::new(None));
    eprintln!("{report}");
    assert!(report.failures.is_empty(), "{} rows are not as the tables say", report.failures.len());
}

#[test]
fn the_server_before_redis_answers_as_the_tables_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let suite = Suite::load(&folder).unwrap_or_else(|failures| panic!("{failures:?}"));
    let report = suite.run(&mut RespTarget::new(Some((redis_server(&[("appendfsync", "always")]), 0))));
    eprintln!("{report}");
    assert!(report.failures.is_empty(), "{} rows are not as the tables say", report.failures.len());
}
