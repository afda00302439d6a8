//! Test binaries, run side by side: cargo runs one after the other, and most of them wait for servers.

use std::collections::VecDeque;
use std::error::Error;
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::cargo::FEATURES;
use super::step::{Log, Tally, seconds};
use crate::place;
use crate::process::{self, Finished};

/// A test binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary {
    package: String,
    /// How cargo selects it: `--lib`, or `--test` or `--bin` with a name.
    selection: Vec<String>,
    program: PathBuf,
    /// The folder of its package, where cargo would run it.
    folder: PathBuf,
}

impl Binary {
    /// Reads a line of `cargo --message-format=json`; `None` if it describes no binary.
    fn read(line: &str) -> Option<Self> {
        let message: Value = serde_json::from_str(line).ok()?;
        let text = |pointer: &str| message.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let program = text("/executable")?.into();
        let folder = PathBuf::from(text("/manifest_path")?).parent()?.to_owned();
        let name = text("/target/name")?;
        let selection = match text("/target/kind/0")?.as_str() {
            "test" => vec!["--test".to_owned(), name],
            "bin" => vec!["--bin".to_owned(), name],
            _ => vec!["--lib".to_owned()],
        };
        let is_test = message.pointer("/profile/test").and_then(Value::as_bool)?;
        is_test.then_some(Self { package: package(&text("/package_id")?)?, selection, program, folder })
    }

    /// The name of a test or a program; empty for a library.
    fn target(&self) -> &str {
        self.selection.get(1).map_or("", String::as_str)
    }

    /// Its name on the screen.
    fn name(&self) -> String {
        format!("{} {}", self.package, self.selection.join(" "))
    }

    /// Starts it as cargo would.
    fn command(&self, run: &Run<'_>) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command.envs(run.variables.iter().map(|(name, value)| (name, value)));
        // Nightly Rust reports the duration of each test; this makes stable Rust report it, too.
        command.env("RUSTC_BOOTSTRAP", "1").args(["-Zunstable-options", "--report-time"]).args(run.filter);
        command
    }

    /// The command that repeats a run, for the top of the repository.
    fn repeated(&self, run: &Run<'_>) -> String {
        let mut command = Command::new("cargo");
        command.envs(run.variables.iter().map(|(name, value)| (name, value)));
        command.args(["test", "--release", "--package", &self.package]).args(&self.selection);
        if self.package == "scarce" {
            command.args(FEATURES);
        }
        if !run.filter.is_empty() {
            command.arg("--").args(run.filter);
        }
        process::shown(&command)
    }
}

/// The name in an id such as `path+file:///…/crates/core#scarce-core@0.1.0`.
fn package(id: &str) -> Option<String> {
    let (path, fragment) = id.rsplit_once('#')?;
    match fragment.split_once('@') {
        Some((name, _)) => Some(name.to_owned()),
        // If the folder has the name of the package, the fragment is only the version.
        None => path.rsplit('/').next().map(str::to_owned),
    }
}

/// Binaries that take longest. They start first, so that none of them runs alone at the end.
const LONGEST: &[&str] = &[
    "demo",
    "kill_loop",
    "pipeline_kills",
    "delivery",
    "projection",
    "redis_topologies",
    "follow",
    "events",
    "model",
    "redis_random",
    "lua_pitfalls",
    "http_bad_input",
    "journal",
];

/// The binaries, once they are built: later, the lints may hold cargo's lock.
static BUILT: Mutex<Option<Vec<Binary>>> = Mutex::new(None);

/// All test binaries; builds them on the first call.
pub fn all(log: &mut Log) -> Result<Vec<Binary>, Box<dyn Error>> {
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    match &*built {
        Some(binaries) => Ok(binaries.clone()),
        None => Ok(built.insert(build(log)?).clone()),
    }
}

/// The integration tests of these names.
pub fn named(log: &mut Log, tests: &[&str]) -> Result<Vec<Binary>, Box<dyn Error>> {
    let mut binaries = all(log)?;
    binaries.retain(|binary| tests.contains(&binary.target()));
    if binaries.len() == tests.len() {
        Ok(binaries)
    } else {
        Err(format!("not all of {tests:?} exist").into())
    }
}

fn build(log: &mut Log) -> Result<Vec<Binary>, Box<dyn Error>> {
    let mut command = Command::new("cargo");
    command.args(["test", "--release", "--workspace", "--no-run", "--lib", "--bins", "--tests"]);
    command.args(FEATURES).arg("--message-format=json-render-diagnostics");
    command.current_dir(place::root()).env("CARGO_TERM_COLOR", "never");
    log.announce(&command);
    let Finished { succeeded, output, .. } = process::finish(&mut command)?;
    let (messages, said): (Vec<&str>, Vec<&str>) = output.lines().partition(|line| line.starts_with('{'));
    log.write(&said.join("\n"));
    if !succeeded {
        return Err("the tests do not compile".into());
    }
    let mut binaries: Vec<Binary> = messages.into_iter().filter_map(Binary::read).collect();
    binaries.sort_by_key(|binary| !LONGEST.contains(&binary.target()));
    Ok(binaries)
}

/// How tests are run.
pub struct Run<'a> {
    /// Filters tests by parts of their names; empty for all.
    pub filter: &'a [&'a str],
    /// Environment variables.
    pub variables: &'a [(&'a str, PathBuf)],
    /// How many binaries run at once.
    pub binaries_max: usize,
}

/// A binary that has ended.
struct Ended<'a> {
    binary: &'a Binary,
    finished: Finished,
    took: Duration,
}

impl Run<'_> {
    /// Runs them all, even after one has failed, and counts their tests.
    pub fn all(&self, log: &mut Log, binaries: &[Binary]) -> Tally {
        let queue: Mutex<VecDeque<&Binary>> = Mutex::new(binaries.iter().collect());
        let (sender, ended) = channel();
        let mut report = Report::default();
        std::thread::scope(|scope| {
            for _ in 0..self.binaries_max {
                let (queue, sender) = (&queue, sender.clone());
                scope.spawn(move || self.work(queue, &sender));
            }
            drop(sender);
            for ended in ended {
                report.take(log, &ended, self);
            }
        });
        report.conclude(log)
    }

    /// Runs one binary after the other until none is left.
    fn work<'b>(&self, queue: &Mutex<VecDeque<&'b Binary>>, ended: &Sender<Ended<'b>>) {
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        while let Some(binary) = next() {
            let started = Instant::now();
            let finished = process::finish(&mut binary.command(self)).unwrap_or_else(|error| Finished {
                succeeded: false,
                code: None,
                output: error.to_string(),
            });
            if ended.send(Ended { binary, finished, took: started.elapsed() }).is_err() {
                return;
            }
        }
    }
}

/// How many of the slowest tests are shown.
const SLOWEST_SHOWN: usize = 10;

/// The results of the binaries that have ended.
#[derive(Default)]
struct Report {
    tally: Tally,
    /// The outputs of failed binaries, which are printed last.
    failures: Vec<String>,
    /// Each test's seconds, with the binary that it is in.
    times: Vec<(f64, String)>,
}

impl Report {
    fn take(&mut self, log: &mut Log, ended: &Ended<'_>, run: &Run<'_>) {
        let Ended { binary, finished, took } = ended;
        let mut tally = Tally::count(&finished.output);
        if !finished.succeeded {
            tally.failed = tally.failed.max(1);
        }
        let name = binary.name();
        log.say(&format!("{name}: {} in {}", tally.verdict(), seconds(*took)));
        self.tally.passed += tally.passed;
        self.tally.failed += tally.failed;
        self.times.extend(times(&finished.output).map(|(test, time)| (time, format!("{name} {test}"))));
        let output = format!("--- {name}\n{}", finished.output);
        if tally.failed == 0 {
            log.write(&output);
        } else {
            self.failures.push(output);
            log.repeat_by(binary.repeated(run));
        }
    }

    fn conclude(mut self, log: &mut Log) -> Tally {
        self.times.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        for (time, test) in self.times.iter().take(SLOWEST_SHOWN) {
            log.say(&format!("slowest: {time:>6.1} s {test}"));
        }
        for output in &self.failures {
            log.write(output);
        }
        self.tally
    }
}

/// The tests that a binary ran, with their durations in seconds: `test name ... ok <1.234s>`.
fn times(output: &str) -> impl Iterator<Item = (&str, f64)> {
    output.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("test ")?.split_once(" ... ")?;
        let (_, time) = rest.rsplit_once('<')?;
        Some((name, time.strip_suffix("s>")?.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: &str = r#"{"reason":"compiler-artifact","package_id":"path+file:///a/crates/core#scarce-core@0.1.0","manifest_path":"/a/crates/core/Cargo.toml","target":{"kind":["test"],"name":"digest_golden"},"profile":{"test":true},"executable":"/a/target/release/deps/digest_golden-1"}"#;

    #[test]
    fn binaries_of_tests_are_read_from_what_cargo_says() {
        let binary = Binary::read(MESSAGE).expect("a binary");
        assert_eq!(binary.name(), "scarce-core --test digest_golden");
        assert_eq!(binary.folder, PathBuf::from("/a/crates/core"));
        let run = Run { filter: &["one"], variables: &[("A", "/b".into())], binaries_max: 1 };
        let repeated = "A=/b cargo test --release --package scarce-core --test digest_golden -- one";
        assert_eq!(binary.repeated(&run), repeated);
        assert_eq!(Binary::read(&MESSAGE.replace("\"test\":true", "\"test\":false")), None);
        assert_eq!(package("path+file:///a/xtask#0.1.0").as_deref(), Some("xtask"));
    }

    #[test]
    fn the_time_of_a_test_is_read() {
        let output = "test a::b ... ok <1.500s>\ntest c ... FAILED <0.250s>\ntest d ... ok\n";
        assert_eq!(times(output).collect::<Vec<_>>(), [("a::b", 1.5), ("c", 0.25)]);
    }

    #[test]
    fn every_binary_runs_and_a_failure_names_its_command() {
        let binary = |program: &str| Binary {
            package: "p".to_owned(),
            selection: vec!["--lib".to_owned()],
            program: program.into(),
            folder: place::root(),
        };
        let binaries = [binary("true"), binary("false"), binary("no-such-program")];
        let mut log = Log::new("binaries-test").expect("a log");
        let tally = Run { filter: &[], variables: &[], binaries_max: 2 }.all(&mut log, &binaries);
        assert_eq!((tally.passed, tally.failed), (0, 2));
        assert_eq!(log.commands_to_repeat(), ["cargo test --release --package p --lib"; 2]);
    }
}
