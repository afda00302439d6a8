//! The steps, what they print, and how their tests are counted.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{cargo, clients, releases, servers, tools, tour};
use crate::{place, process, screen};

/// One step of the tests.
pub struct Step {
    /// What `--only` takes.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// Does it.
    pub run: fn(&mut Log) -> Result<Tally, Box<dyn Error>>,
}

/// The steps in their order: the cheap ones first, then those that need the binary.
pub const STEPS: &[Step] = &[
    Step { name: "format", about: "all Rust code is formatted", run: cargo::format },
    Step { name: "house-rules", about: "lengths, words, commits and dependencies", run: cargo::house_rules },
    Step { name: "lints", about: "clippy has nothing to say", run: cargo::lints },
    Step { name: "build", about: "everything is built, once, in the release profile", run: cargo::build },
    Step {
        name: "servers",
        about: "Redis, PostgreSQL, MariaDB and Kafka are there, for tests to start",
        run: servers::step,
    },
    Step { name: "tests", about: "unit and integration tests", run: cargo::tests },
    Step { name: "doc-tests", about: "examples in the documentation run", run: cargo::doc_tests },
    Step { name: "reference", about: "generated pages are up to date", run: cargo::reference },
    Step {
        name: "licenses",
        about: "advisories, licenses and sources of what we depend on",
        run: cargo::deny,
    },
    Step {
        name: "redis-6.2",
        about: "the engine inside a Redis without Functions",
        run: releases::redis_6_2,
    },
    Step {
        name: "valkey",
        about: "the engine inside Valkey, on one and on a cluster",
        run: releases::valkey,
    },
    Step { name: "client-python", about: "redis-py against the server", run: clients::python },
    Step { name: "client-node", about: "ioredis and node-redis against the server", run: clients::node },
    Step { name: "client-go", about: "go-redis against the server", run: clients::go },
    Step {
        name: "http-client",
        about: "a client generated from the server's description, against the server",
        run: clients::generated,
    },
    Step {
        name: "http-schemathesis",
        about: "the server keeps to its description, whatever is sent",
        run: clients::schemathesis,
    },
    Step {
        name: "readme-tour",
        about: "the README's transcripts, typed into redis-cli and curl",
        run: tour::readme,
    },
    Step { name: "tool-cli", about: "redis-cli against the server", run: tools::cli },
    Step { name: "tool-benchmark", about: "redis-benchmark against the server", run: tools::benchmark },
];

/// How many tests a step ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Tests that passed.
    pub passed: usize,
    /// Tests that failed.
    pub failed: usize,
    /// Why the step was not run, where it was not.
    pub skipped: Option<String>,
}

impl Tally {
    /// A step that was not run.
    pub fn skipped(reason: &str) -> Self {
        Self { skipped: Some(reason.to_owned()), ..Self::default() }
    }

    /// What to say of it.
    pub fn verdict(&self) -> String {
        match (&self.skipped, self.failed) {
            (Some(reason), _) => format!("skipped ({reason})"),
            (None, 0) => format!("passed ({})", self.passed),
            (None, failed) => format!("FAILED ({failed})"),
        }
    }

    /// Reads the closing lines of cargo, unittest, node, go and schemathesis.
    pub fn count(output: &str) -> Self {
        let mut tally = Self::default();
        for line in output.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let number = |at: usize| words.get(at).and_then(|word| word.parse::<usize>().ok()).unwrap_or(0);
            match words.as_slice() {
                ["test", "result:", ..] => {
                    tally.passed += number(3);
                    tally.failed += number(5);
                }
                ["Ran", _, "test" | "tests", ..] => tally.passed += number(1),
                // unittest's "FAILED (failures=1, errors=2)": those that ran were counted above.
                ["FAILED", ..] => {
                    let numbers = line
                        .split(|c: char| !c.is_ascii_digit())
                        .filter_map(|text| text.parse::<usize>().ok());
                    let failed: usize = numbers.sum();
                    tally.failed += failed;
                    tally.passed = tally.passed.saturating_sub(failed);
                }
                ["#" | "ℹ", "pass", ..] => tally.passed += number(2),
                ["#" | "ℹ", "fail", ..] => tally.failed += number(2),
                [_, "generated,", _, "passed" | "passed,", ..] => tally.passed += number(2),
                ["---", "PASS:", ..] if line.starts_with('-') => tally.passed += 1,
                ["---", "FAIL:", ..] if line.starts_with('-') => tally.failed += 1,
                _ => {}
            }
        }
        tally
    }
}

/// What a step printed, in a file and for the screen.
pub struct Log {
    path: PathBuf,
    text: String,
    commands: Vec<String>,
}

/// How much of a failing step's output is shown.
const LINES_SHOWN: usize = 200;

impl Log {
    /// Begins the log of a step.
    pub fn new(step: &str) -> io::Result<Self> {
        let path = place::work("logs")?.join(format!("{step}.log"));
        std::fs::write(&path, "")?;
        Ok(Self { path, text: String::new(), commands: Vec::new() })
    }

    /// Where it is kept.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The end of it.
    pub fn shown(&self) -> String {
        screen::tail(&self.text, LINES_SHOWN)
    }

    /// The command that was run last.
    pub fn last_command(&self) -> Option<&str> {
        self.commands.last().map(String::as_str)
    }

    /// Appends what was printed.
    pub fn write(&mut self, text: &str) {
        self.text.push_str(text.trim_end());
        self.text.push('\n');
        // The file is a convenience; the screen has the end of it.
        let _ = std::fs::write(&self.path, &self.text);
    }

    /// Announces a command and keeps it for reproducing.
    pub fn announce(&mut self, command: &Command) {
        let line = process::shown(command);
        screen::say(&format!("    {line}"));
        self.write(&format!("$ {line}"));
        self.commands.push(line);
    }

    /// Runs a command that counts as one check.
    pub fn check(&mut self, command: &mut Command) -> Result<Tally, Box<dyn Error>> {
        let (succeeded, _) = self.run(command)?;
        Ok(Tally { passed: usize::from(succeeded), failed: usize::from(!succeeded), skipped: None })
    }

    /// Runs a command that runs tests, and counts them.
    pub fn tests(&mut self, command: &mut Command) -> Result<Tally, Box<dyn Error>> {
        let (succeeded, output) = self.run(command)?;
        let mut tally = Tally::count(&output);
        if !succeeded {
            tally.failed = tally.failed.max(1);
        }
        Ok(tally)
    }

    /// Runs a command without which the step cannot go on.
    pub fn must(&mut self, command: &mut Command) -> Result<(), Box<dyn Error>> {
        if self.run(command)?.0 { Ok(()) } else { Err("the step cannot go on without this".into()) }
    }

    fn run(&mut self, command: &mut Command) -> Result<(bool, String), Box<dyn Error>> {
        self.announce(command);
        let finished = process::finish(command)?;
        self.write(&finished.output);
        Ok((finished.succeeded, finished.output))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_of_every_runner_are_read() {
        let output = "test result: ok. 12 passed; 1 failed; 0 ignored\nRan 3 tests in 0.1s\nFAILED (failures=1, errors=1)\n# pass 4\n# fail 2\n\
                      ℹ pass 5\n--- PASS: TestA (0.00s)\n    --- PASS: TestA/inner (0.00s)\n--- FAIL: TestB (0.00s)\n     99 generated, 98 passed\n";
        assert_eq!(Tally::count(output), Tally { passed: 121, failed: 6, skipped: None });
    }
}
