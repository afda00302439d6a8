//! `cargo xtask bench --instructions`: how many machine instructions commands take, counted by callgrind. Unlike a time, a
//! count is the same on a busy machine, so it can be compared with the one that is kept in the repository.

use std::error::Error;
use std::path::PathBuf;
use std::process::Command;

use crate::{Ended, place, process, screen};

/// Programs whose instructions are counted: each lists its cases, and runs the one that it is given.
const PROGRAMS: [Program; 2] = [
    Program { package: "scarce-core", example: "instructions", function: "*counted_commands*" },
    Program {
        package: "scarce-server",
        example: "port_instructions",
        function: "*engine_embedded::run::run*",
    },
];

/// A program whose instructions are counted.
struct Program {
    package: &'static str,
    example: &'static str,
    /// What is counted: this function, with all that it calls, on its thread.
    function: &'static str,
}

/// By how much a count may rise before the comparison fails.
const RISE_MAX_PERCENT: u64 = 5;

/// The instructions per command of each case, and what they were counted with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The compiler and its target: others make other instructions.
    compiler: String,
    cases: Vec<(String, u64)>,
}

/// How a count compares with the kept one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// A line for the screen.
    pub line: String,
    /// Whether it rose too much, or is not kept.
    pub has_failed: bool,
}

/// Counts, and either writes the file or compares with it.
pub fn run(write: bool) -> Ended {
    if !place::has_program("valgrind") {
        return Err("valgrind is not installed; run: apt-get install valgrind".into());
    }
    for Program { package, example, .. } in PROGRAMS {
        let mut build = Command::new("cargo");
        build.args(["build", "--release", "--package", package, "--example", example]);
        process::must(build.current_dir(place::root()))?;
    }
    let counts = Counts::count()?;
    if write {
        std::fs::write(file(), counts.written())?;
        screen::say(&format!("{}\nwrote {}", counts.written(), file().display()));
        return Ok(true);
    }
    let kept = Counts::read(&std::fs::read_to_string(file())?)?;
    let compared = counts.compare(&kept);
    compared.iter().for_each(|comparison| screen::say(&comparison.line));
    let has_failed = compared.iter().any(|comparison| comparison.has_failed);
    if has_failed {
        screen::warn(&advice());
    }
    Ok(!has_failed)
}

/// Where the counts are kept.
pub fn file() -> PathBuf {
    place::root().join("xtask").join("src").join("bench").join("instructions.txt")
}

/// What to do about a count that rose.
pub fn advice() -> String {
    let runs = PROGRAMS.map(|program| {
        let (function, path) = (program.function, program.path());
        format!("'valgrind --tool=callgrind --toggle-collect={function} {} CASE'", path.display())
    });
    format!(
        "a command takes over {RISE_MAX_PERCENT} % more instructions than in {}. See where they go: run {}, then \
         'callgrind_annotate callgrind.out.*' there and on the commit before. If what they buy is worth it, run \
         'cargo xtask bench --instructions --write', commit the file, and say in the commit what it buys",
        file().display(),
        runs.join(" or ")
    )
}

impl Counts {
    /// Counts all cases.
    pub fn count() -> Result<Self, Box<dyn Error>> {
        let mut cases = Vec::new();
        for program in PROGRAMS {
            for line in process::must(&mut Command::new(program.path()))?.lines() {
                let (name, commands) = line.rsplit_once(' ').ok_or("a case without a number of commands")?;
                cases.push((name.to_owned(), program.instructions(name)? / commands.parse::<u64>()?));
            }
        }
        Ok(Self { compiler: compiler()?, cases })
    }

    /// Reads what [`Counts::written`] returned.
    pub fn read(text: &str) -> Result<Self, Box<dyn Error>> {
        let mut counts = Self::default();
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            match line.strip_prefix("compiler: ") {
                Some(compiler) => compiler.clone_into(&mut counts.compiler),
                None => {
                    let (name, count) = line.rsplit_once(' ').ok_or("a line without a count")?;
                    counts.cases.push((name.trim().to_owned(), count.parse()?));
                }
            }
        }
        Ok(counts)
    }

    /// The content of the file.
    pub fn written(&self) -> String {
        let width = self.cases.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let lines: Vec<_> =
            self.cases.iter().map(|(name, count)| format!("{name:<width$} {count:>7}\n")).collect();
        format!(
            "# Machine instructions per command, from the words of a request to its receipt and its entry in the log;\n\
             # with \"port\" all of an owner's thread, from the bytes of a socket to those of the reply.\n\
             # Written by `cargo xtask bench --instructions --write`; `cargo xtask test` compares.\n\
             compiler: {}\n\n{}",
            self.compiler,
            lines.concat()
        )
    }

    /// Whether both were counted with the same compiler, so that they can be compared.
    pub fn is_comparable(&self, kept: &Self) -> bool {
        self.compiler == kept.compiler
    }

    /// What the kept counts were counted with.
    pub fn compiler(&self) -> &str {
        &self.compiler
    }

    /// Compares each count with the kept one.
    pub fn compare(&self, kept: &Self) -> Vec<Comparison> {
        let compare = |(name, count): &(String, u64)| {
            let before = kept.cases.iter().find(|(kept, _)| kept == name).map(|(_, count)| *count);
            let Some(before) = before else {
                return Comparison {
                    line: format!("{name}: {count}, which is not kept yet"),
                    has_failed: true,
                };
            };
            let has_failed = count * 100 > before * (100 + RISE_MAX_PERCENT);
            let change = (*count as f64 / before as f64 - 1.0) * 100.0;
            let verdict = if has_failed { "  TOO MANY" } else { "" };
            Comparison { line: format!("{name}: {before} -> {count} ({change:+.1} %){verdict}"), has_failed }
        };
        self.cases.iter().map(compare).collect()
    }
}

impl Program {
    fn path(&self) -> PathBuf {
        place::target().join("release").join("examples").join(self.example)
    }

    /// The instructions of all counted commands of a case.
    fn instructions(&self, name: &str) -> Result<u64, Box<dyn Error>> {
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        command.arg(format!("--toggle-collect={}", self.function)).arg(self.path()).arg(name);
        let output = process::must(&mut command)?;
        let collected =
            output.lines().find_map(|line| line.split_once("Collected : ").map(|(_, count)| count.trim()));
        let count = collected.ok_or("callgrind printed no count")?.parse()?;
        if count == 0 {
            Err(format!("callgrind did not find {} in {}", self.function, self.path().display()).into())
        } else {
            Ok(count)
        }
    }
}

/// The compiler's release and its target.
fn compiler() -> Result<String, Box<dyn Error>> {
    let version = process::must(Command::new("rustc").arg("-vV").current_dir(place::root()))?;
    let field = |name: &str| {
        version.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("?").trim().to_owned()
    };
    Ok(format!("rustc {} {}", field("release:"), field("host:")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(cases: &[(&str, u64)]) -> Counts {
        let cases = cases.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        Counts { compiler: "rustc 1.95.0 x86_64".to_owned(), cases }
    }

    #[test]
    fn what_is_written_is_read() {
        let written = counts(&[("debit, id", 5_467), ("take", 1)]);
        assert_eq!(Counts::read(&written.written()).unwrap(), written);
    }

    #[test]
    fn only_a_rise_beyond_the_limit_fails_and_so_does_what_is_not_kept() {
        let kept = counts(&[("debit, id", 1_000), ("take", 1_000), ("place", 1_000)]);
        let compared =
            counts(&[("debit, id", 1_050), ("take", 1_051), ("place", 1), ("sweep", 1)]).compare(&kept);
        let failed: Vec<bool> = compared.iter().map(|comparison| comparison.has_failed).collect();
        assert_eq!(failed, [false, true, false, true]);
        assert_eq!(compared[1].line, "take: 1000 -> 1051 (+5.1 %)  TOO MANY");
    }
}
