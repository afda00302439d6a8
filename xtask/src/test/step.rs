//! The steps, what they print, and how their tests are counted.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::{
    cargo, chart, clients, console, install, instructions, libraries, releases, servers, tools, tour,
};
use crate::{place, process, screen};

/// One step of the tests.
pub struct Step {
    /// Its name for `--only`.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// When it runs.
    pub lane: Lane,
    /// Runs it.
    pub run: fn(&mut Log) -> Result<Tally, Box<dyn Error>>,
}

/// Steps that run one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Compiling and checks before any test.
    Compile,
    /// Downloads and installations meanwhile.
    Fetch,
    /// Our own tests.
    Test,
    /// Foreign clients, tools and servers.
    Foreign,
    /// Checks that use the compiler while the tests wait for servers.
    Lint,
}

/// The phases in order; the lanes of a phase run side by side.
pub const PHASES: &[&[Lane]] = &[&[Lane::Compile, Lane::Fetch], &[Lane::Test, Lane::Foreign, Lane::Lint]];

const fn step(
    lane: Lane,
    name: &'static str,
    about: &'static str,
    run: fn(&mut Log) -> Result<Tally, Box<dyn Error>>,
) -> Step {
    Step { name, about, lane, run }
}

use Lane::{Compile, Fetch, Foreign, Lint, Test};

/// The steps in order within each lane.
pub const STEPS: &[Step] = &[
    step(Compile, "format", "all Rust code is formatted", cargo::format),
    step(Compile, "house-rules", "lengths, words, commits and dependencies", cargo::house_rules),
    step(Compile, "reference", "generated pages are up to date", cargo::reference),
    step(Compile, "licenses", "licenses and sources of dependencies", cargo::deny),
    step(Compile, "build", "everything is built, once, in the release profile", cargo::build),
    step(
        Fetch,
        "servers",
        "Redis, PostgreSQL, MariaDB and Kafka are there, for tests to start",
        servers::step,
    ),
    step(Fetch, "libraries", "clients of other languages, a browser and tools are there", clients::libraries),
    step(Test, "tests", "unit and integration tests", cargo::tests),
    step(Foreign, "redis-6.2", "the engine inside a Redis without Functions", releases::redis_6_2),
    step(Foreign, "valkey", "the engine inside Valkey, on one and on a cluster", releases::valkey),
    step(Foreign, "client-python", "redis-py against the server", clients::python),
    step(Foreign, "client-node", "ioredis and node-redis against the server", clients::node),
    step(
        Foreign,
        "client-live",
        "books that clients of other languages keep by subscribing, through a kill of the server",
        clients::live,
    ),
    step(Foreign, "client-go", "go-redis against the server", clients::go),
    step(
        Foreign,
        "library-typescript",
        "our client for TypeScript, while its server is killed and its connections are lost",
        libraries::typescript,
    ),
    step(Foreign, "library-python", "the same for Python", libraries::python),
    step(Foreign, "library-go", "the same for Go", libraries::go),
    step(Foreign, "library-java", "the same for Java", libraries::java),
    step(
        Foreign,
        "http-client",
        "a client generated from the server's description, against the server",
        clients::generated,
    ),
    step(
        Foreign,
        "http-schemathesis",
        "the server keeps to its description, whatever is sent",
        clients::schemathesis,
    ),
    step(Foreign, "console-code", "the web console's types, unit tests and built files", console::code),
    step(Foreign, "console-pages", "the web console in a browser, on a server", console::pages),
    step(Foreign, "readme-tour", "the README's transcripts, typed into redis-cli and curl", tour::readme),
    step(Foreign, "recipes", "the transcripts of the recipes, typed into redis-cli", tour::recipes),
    step(
        Foreign,
        "package-install",
        "the Debian package on a system of its own: installed, served, upgraded",
        install::deb,
    ),
    step(
        Foreign,
        "helm-chart",
        "the Helm chart, by helm's linter and the server's own check of settings",
        chart::helm,
    ),
    step(Foreign, "tool-cli", "redis-cli against the server", tools::cli),
    step(Foreign, "tool-benchmark", "redis-benchmark against the server", tools::benchmark),
    step(Lint, "lints", "clippy has nothing to say", cargo::lints),
    step(Lint, "instructions", "no command takes notably more instructions than before", instructions::step),
    step(Lint, "doc-tests", "examples in the documentation run", cargo::doc_tests),
];

/// How many tests a step ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Tests that passed.
    pub passed: usize,
    /// Tests that failed.
    pub failed: usize,
    /// Why the step was skipped, if it was.
    pub skipped: Option<String>,
}

impl Tally {
    /// A skipped step.
    pub fn skipped(reason: &str) -> Self {
        Self { skipped: Some(reason.to_owned()), ..Self::default() }
    }

    /// The verdict to print.
    pub fn verdict(&self) -> String {
        match (&self.skipped, self.failed) {
            (Some(reason), _) => format!("skipped ({reason})"),
            (None, 0) => format!("passed ({})", self.passed),
            (None, failed) => format!("FAILED ({failed})"),
        }
    }

    /// Reads the closing lines of cargo, unittest, node, go, Maven and schemathesis.
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
                // unittest's "FAILED (failures=1, errors=2)": the tests that ran were counted above.
                ["FAILED", ..] => {
                    let failed: usize = numbers(line).sum();
                    tally.failed += failed;
                    tally.passed = tally.passed.saturating_sub(failed);
                }
                ["#" | "ℹ", "pass", ..] => tally.passed += number(2),
                ["#" | "ℹ", "fail", ..] => tally.failed += number(2),
                [_, "generated,", _, "passed" | "passed,", ..] => tally.passed += number(2),
                ["---", "PASS:", ..] if line.starts_with('-') => tally.passed += 1,
                ["---", "FAIL:", ..] if line.starts_with('-') => tally.failed += 1,
                // Maven says the same of each class, with the time that it took.
                [_, "Tests", "run:", ran, "Failures:", ..] if !line.contains("Time elapsed") => {
                    let failed = numbers(line).skip(1).take(2).sum::<usize>();
                    let skipped = numbers(line).nth(3).unwrap_or_default();
                    tally.failed += failed;
                    let ran: usize = ran.trim_end_matches(',').parse().unwrap_or_default();
                    tally.passed += ran.saturating_sub(failed + skipped);
                }
                _ => {}
            }
        }
        tally
    }
}

/// The numbers in a line.
fn numbers(line: &str) -> impl Iterator<Item = usize> {
    line.split(|c: char| !c.is_ascii_digit()).filter_map(|text| text.parse().ok())
}

/// A step's output, in a file and for the screen.
pub struct Log {
    step: String,
    path: PathBuf,
    text: String,
    /// The last command.
    last: Option<String>,
    /// Commands that repeat a failure, if these are shorter than the last command.
    failed: Vec<String>,
}

/// How much of a failing step's output is shown.
const LINES_SHOWN: usize = 200;

impl Log {
    /// Creates the log of a step.
    pub fn new(step: &str) -> io::Result<Self> {
        let path = place::work("logs")?.join(format!("{step}.log"));
        std::fs::write(&path, "")?;
        Ok(Self { step: step.to_owned(), path, text: String::new(), last: None, failed: Vec::new() })
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The end of the output.
    pub fn shown(&self) -> String {
        screen::tail(&self.text, LINES_SHOWN)
    }

    /// The commands that repeat a failure: by default, the last one.
    pub fn commands_to_repeat(&self) -> &[String] {
        if self.failed.is_empty() { self.last.as_slice() } else { &self.failed }
    }

    /// Records a command that repeats a failure.
    pub fn repeat_by(&mut self, command: String) {
        self.failed.push(command);
    }

    /// Appends output.
    pub fn write(&mut self, text: &str) {
        self.text.push_str(text.trim_end());
        self.text.push('\n');
        // The file is a convenience; the screen shows the end.
        let _ = std::fs::write(&self.path, &self.text);
    }

    /// Prints a line with the step's name, because other steps may run beside it.
    pub fn say(&self, line: &str) {
        screen::say(&format!("    [{}] {line}", self.step));
    }

    /// Announces a command and keeps it, to repeat it.
    pub fn announce(&mut self, command: &Command) {
        let line = process::shown(command);
        self.say(&line);
        self.write(&format!("$ {line}"));
        self.last = Some(line);
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

    /// Runs a command that the step cannot continue without.
    pub fn must(&mut self, command: &mut Command) -> Result<(), Box<dyn Error>> {
        if self.run(command)?.0 { Ok(()) } else { Err("the step needs this command to succeed".into()) }
    }

    fn run(&mut self, command: &mut Command) -> Result<(bool, String), Box<dyn Error>> {
        self.announce(command);
        let finished = process::finish(command)?;
        self.write(&finished.output);
        Ok((finished.succeeded, finished.output))
    }
}

/// A duration in seconds.
pub fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_of_every_runner_are_read() {
        let output = "test result: ok. 12 passed; 1 failed; 0 ignored\nRan 3 tests in 0.1s\nFAILED (failures=1, errors=1)\n# pass 4\n# fail 2\n\
                      ℹ pass 5\n--- PASS: TestA (0.00s)\n    --- PASS: TestA/inner (0.00s)\n--- FAIL: TestB (0.00s)\n     99 generated, 98 passed\n\
                      [INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s -- in A\n\
                      [ERROR] Tests run: 9, Failures: 1, Errors: 1, Skipped: 2\n";
        assert_eq!(Tally::count(output), Tally { passed: 126, failed: 8, skipped: None });
    }
}
