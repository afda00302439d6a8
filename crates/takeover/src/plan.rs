//! The plan: all operations of a run, as a file of JSON lines. A run that was interrupted goes on from it, and does not
//! read the source again, which has moved on.

use std::io::{BufRead, Write};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::build::build;
use crate::error::{Problem, TakeoverError};
use crate::map::Map;
use crate::resources::Resources;

/// The number of the format.
const FORMAT: u32 = 1;

/// What a run does.
#[derive(Debug)]
pub struct Plan {
    /// Whose plan it is.
    pub heading: Heading,
    /// The resources that are made.
    pub made: Vec<Made>,
}

/// The first line of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heading {
    plan: u32,
    /// The name of the run.
    pub run: String,
    /// The digest of the map.
    pub map: String,
    /// Where it was read from.
    pub source: String,
    /// How many lines follow.
    pub resources: usize,
}

/// A resource that is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// `account`, `stock`, `packets` or `coupon`.
    pub kind: String,
    /// Its name.
    pub id: String,
    /// The line of the map by which it was read.
    pub line: usize,
    /// The key that it was read from.
    pub key: String,
    /// The command that shows it.
    pub read: Vec<String>,
    /// What that must show.
    pub expect: Value,
    /// The operations that make it, each after the one before.
    pub steps: Vec<Step>,
}

/// An operation: one command, or a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The operation's ID.
    pub id: String,
    /// Its commands.
    pub commands: Vec<Vec<String>>,
    /// What each must be answered, where that is not certain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Vec<u64>>,
}

/// How much is made of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// The kind, with the asset where it has one.
    pub kind: String,
    /// How many.
    pub count: u64,
    /// The sum of each value that they must show.
    pub values: Vec<(String, i128)>,
}

impl Plan {
    /// The plan of a run.
    ///
    /// # Errors
    /// What cannot be made, and why: all of it.
    pub fn new(resources: Resources, map: &Map, run: &str, source: &str) -> Result<Self, Vec<Problem>> {
        let (made, problems) = build(&resources, run);
        let mut all = resources.problems;
        all.extend(problems);
        if !all.is_empty() {
            all.sort();
            return Err(all);
        }
        let (run, source, resources) = (run.to_owned(), source.to_owned(), made.len());
        let heading = Heading { plan: FORMAT, run, map: map.digest.clone(), source, resources };
        Ok(Self { heading, made })
    }

    /// Writes it down.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, out: &mut impl Write) -> std::io::Result<()> {
        writeln!(out, "{}", serde_json::to_string(&self.heading)?)?;
        for made in &self.made {
            writeln!(out, "{}", serde_json::to_string(made)?)?;
        }
        Ok(())
    }

    /// Reads it again.
    ///
    /// # Errors
    /// When it is not whole.
    pub fn read(input: impl BufRead) -> Result<Self, TakeoverError> {
        let damaged = |what: String| TakeoverError::Plan { what };
        let mut lines = input.lines().enumerate().map(|(at, line)| {
            line.map_err(|error| damaged(format!("line {} cannot be read: {error}", at + 1)))
        });
        let first = lines.next().ok_or_else(|| damaged("it is empty".to_owned()))??;
        let heading: Heading =
            serde_json::from_str(&first).map_err(|error| damaged(format!("line 1: {error}")))?;
        if heading.plan != FORMAT {
            return Err(damaged(format!("it has format {}, and this version reads {FORMAT}", heading.plan)));
        }
        let mut made = Vec::new();
        for line in lines {
            let read = serde_json::from_str(&line?);
            made.push(read.map_err(|error| damaged(format!("line {}: {error}", made.len() + 2)))?);
        }
        if made.len() != heading.resources {
            return Err(damaged(format!("it has {} of {} resources", made.len(), heading.resources)));
        }
        Ok(Self { heading, made })
    }

    /// How much is made of each kind.
    #[must_use]
    pub fn sums(&self) -> Vec<Sum> {
        let mut sums: Vec<Sum> = Vec::new();
        for made in &self.made {
            let asset = made.expect.get("asset").and_then(Value::as_str);
            let kind = asset.map_or_else(|| made.kind.clone(), |asset| format!("{} {asset}", made.kind));
            let place = sums.iter().position(|sum| sum.kind == kind).unwrap_or_else(|| {
                sums.push(Sum { kind, ..Sum::default() });
                sums.len() - 1
            });
            let Sum { count, values, .. } = &mut sums[place];
            *count += 1;
            for (name, value) in made.expect.as_object().into_iter().flatten() {
                let Some(value) = value.as_i64().filter(|_| name != "overdraft") else { continue };
                match values.iter_mut().find(|(its, _)| its == name) {
                    Some((_, sum)) => *sum += i128::from(value),
                    None => values.push((name.clone(), i128::from(value))),
                }
            }
        }
        sums
    }
}
