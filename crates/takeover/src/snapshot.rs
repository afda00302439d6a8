//! What was read of the source: a row for each value that a rule of the map reads, and what was passed over.

use std::collections::BTreeSet;

use redis::{Cmd, Value, cmd};

use crate::cells::Cells;
use crate::error::{Problem, TakeoverError, shown};
use crate::map::Map;
use crate::pattern::Captures;
use crate::rules::{Reading, Rule};

/// How many values are read at most: they are kept in memory until they are put together.
const ROWS_MAX: usize = 5_000_000;

/// How many keys of each kind are named as examples.
const EXAMPLES_MAX: usize = 5;

/// All that was read at one moment.
#[derive(Debug, Default)]
pub struct Snapshot {
    pub(crate) rows: Vec<Row>,
    pub(crate) problems: Vec<Problem>,
    /// Keys that were read: one that moves within the server's table while that is walked may be named twice.
    seen: BTreeSet<String>,
    /// For each rule of the map, the line, the pattern and how many keys it has read.
    pub keys: Vec<(usize, String, u64)>,
    /// Keys that no rule reads.
    pub unmatched: Tally,
    /// Keys that a pattern of `ignore` names.
    pub ignored: Tally,
    /// Keys that were read and expire by themselves; what they become does not.
    pub expiring: Tally,
}

/// How many keys, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many.
    pub count: u64,
    /// Some of them.
    pub examples: Vec<String>,
}

/// A value that was read, in the words of the map.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) rule: usize,
    pub(crate) key: String,
    pub(crate) id: String,
    pub(crate) user: Option<String>,
    pub(crate) number: String,
    pub(crate) asset: Option<String>,
    pub(crate) overdraft: Option<String>,
}

/// A key that a rule reads.
#[derive(Debug)]
pub(crate) struct Matched {
    pub(crate) rule: usize,
    pub(crate) key: String,
    captures: Captures,
}

impl Tally {
    fn add(&mut self, key: &str) {
        self.count += 1;
        if self.examples.len() < EXAMPLES_MAX {
            self.examples.push(shown(key));
        }
    }
}

impl Snapshot {
    pub(crate) fn new(map: &Map) -> Self {
        let keys = map.rules.iter().map(|rule| (rule.line, rule.key.to_string(), 0)).collect();
        Self { keys, ..Self::default() }
    }

    /// The rule that reads a key. One that two rules would read is wrong.
    pub(crate) fn sort(&mut self, map: &Map, key: &[u8]) -> Option<Matched> {
        let Ok(text) = str::from_utf8(key) else {
            self.unmatched.add(&String::from_utf8_lossy(key));
            return None;
        };
        let mut found = map.rules.iter().enumerate().filter_map(|(rule, its)| {
            Some(Matched { rule, key: text.to_owned(), captures: its.key.captures(text)? })
        });
        let (first, second) = (found.next(), found.next());
        let is_ignored = || map.ignored.iter().any(|pattern| pattern.captures(text).is_some());
        match (first, second) {
            (Some(first), Some(second)) => {
                let lines = [first.rule, second.rule].map(|rule| map.rules[rule].line);
                let reason = format!("is read by line {} of the map too", lines[1]);
                self.problems.push(Problem { line: lines[0], key: shown(text), reason });
                None
            }
            (Some(_), None) if is_ignored() => {
                self.ignored.add(text);
                None
            }
            (Some(_), None) if !self.seen.insert(text.to_owned()) => None,
            (Some(first), None) => {
                self.keys[first.rule].2 += 1;
                Some(first)
            }
            (None, _) if is_ignored() => {
                self.ignored.add(text);
                None
            }
            (None, _) => {
                self.unmatched.add(text);
                None
            }
        }
    }

    /// Adds what a key has, and whether it expires.
    pub(crate) fn add(
        &mut self,
        map: &Map,
        matched: &Matched,
        value: Value,
        ttl: &Value,
    ) -> Result<(), TakeoverError> {
        let rule = &map.rules[matched.rule];
        if matches!(ttl, Value::Int(left) if *left >= 0) {
            self.expiring.add(&matched.key);
        }
        match read(rule, matched, value) {
            Ok(rows) => self.rows.extend(rows),
            Err(reason) => {
                let key = shown(&matched.key);
                self.problems.push(Problem { line: rule.line, key, reason });
            }
        }
        if self.rows.len() > ROWS_MAX {
            return Err(TakeoverError::TooMuch { most: ROWS_MAX });
        }
        Ok(())
    }
}

impl Reading {
    /// The command that reads a key.
    pub(crate) fn command(&self, key: &str) -> Cmd {
        let mut command = cmd(match self {
            Self::String => "GET",
            Self::Fields => "HGETALL",
            Self::Record(_) => "HMGET",
            Self::List => "LRANGE",
            Self::Set => "SMEMBERS",
            Self::Zset => "ZRANGE",
        });
        command.arg(key);
        match self {
            Self::Record(fields) => command.arg(fields.as_slice()),
            Self::List => command.arg(0).arg(-1),
            Self::Zset => command.arg(0).arg(-1).arg("WITHSCORES"),
            Self::String | Self::Fields | Self::Set => &mut command,
        };
        command
    }
}

/// The rows of a key; none if it is gone.
fn read(rule: &Rule, matched: &Matched, value: Value) -> Result<Vec<Row>, String> {
    let value = match value {
        Value::ServerError(error) if error.code() == "WRONGTYPE" => {
            return Err(format!("is not a {}", rule.reading.word()));
        }
        Value::ServerError(error) => {
            return Err(format!("cannot be read: {} {}", error.code(), error.details().unwrap_or_default()));
        }
        Value::Nil => return Ok(Vec::new()),
        value => value,
    };
    let all = match &rule.reading {
        Reading::String => vec![vec![("value".to_owned(), text(&value)?)]],
        Reading::Fields => pairs(&value, "field", "value")?,
        Reading::Zset => pairs(&value, "member", "score")?,
        Reading::Set => {
            texts(&value)?.into_iter().map(|member| vec![("member".to_owned(), member)]).collect()
        }
        Reading::List => {
            let numbered = texts(&value)?.into_iter().enumerate();
            let cells = |(index, value): (usize, String)| {
                vec![("value".to_owned(), value), ("index".to_owned(), index.to_string())]
            };
            numbered.map(cells).collect()
        }
        Reading::Record(fields) => {
            let Value::Array(values) = &value else { return Err("has no fields".to_owned()) };
            let given = fields.iter().zip(values).filter(|(_, value)| **value != Value::Nil);
            let cells = given.map(|(field, value)| Ok((format!("hash.{field}"), text(value)?)));
            vec![cells.collect::<Result<_, String>>()?]
        }
    };
    all.into_iter().map(|values| fill(rule, matched, values)).collect()
}

fn fill(rule: &Rule, matched: &Matched, values: Vec<(String, String)>) -> Result<Row, String> {
    let cells = Cells { captures: &matched.captures, values };
    let templates = &rule.templates;
    let fill = |pattern: &crate::pattern::Pattern| pattern.fill(|name| cells.get(name));
    let maybe = |pattern: &Option<crate::pattern::Pattern>| pattern.as_ref().map(fill).transpose();
    Ok(Row {
        rule: matched.rule,
        key: matched.key.clone(),
        id: fill(&templates.id)?,
        user: maybe(&templates.user)?,
        number: fill(&templates.number)?,
        asset: maybe(&templates.asset)?,
        overdraft: maybe(&templates.overdraft)?,
    })
}

fn text(value: &Value) -> Result<String, String> {
    match value {
        Value::BulkString(bytes) => {
            String::from_utf8(bytes.clone()).map_err(|_| "has a value that is not text".to_owned())
        }
        Value::SimpleString(text) => Ok(text.clone()),
        Value::Int(number) => Ok(number.to_string()),
        Value::Double(number) => Ok(number.to_string()),
        _ => Err("has a value that is not text".to_owned()),
    }
}

fn texts(value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::Array(values) | Value::Set(values) => values.iter().map(text).collect(),
        _ => Err("has something else than was asked for".to_owned()),
    }
}

fn pairs(value: &Value, first: &str, second: &str) -> Result<Vec<Vec<(String, String)>>, String> {
    let all: Vec<String> = match value {
        Value::Map(pairs) => {
            let flat = pairs.iter().flat_map(|(name, value)| [name, value]);
            flat.map(text).collect::<Result<_, _>>()?
        }
        value => texts(value)?,
    };
    let pair =
        |pair: &[String]| vec![(first.to_owned(), pair[0].clone()), (second.to_owned(), pair[1].clone())];
    Ok(all.chunks_exact(2).map(pair).collect())
}
