//! `cargo xtask fuzz`: lets libFuzzer look for inputs that reach new code in what reads bytes from outside.
//!
//! It needs no toolchain but the stable one: the compiler's own pass counts which code is reached. There is no
//! address sanitizer, which our code without `unsafe` can do without.

use std::path::Path;
use std::process::Command;

use clap::Args;

use crate::{Ended, place, process, screen};

/// What is fuzzed, and for how long.
#[derive(Debug, Args)]
pub struct Options {
    /// The targets, as `--list` names them; all of them if none is named.
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// Print the targets and end.
    #[arg(long)]
    list: bool,
    /// How long each target is fuzzed.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Leave out what needs the server, which takes minutes to compile: request and import.
    #[arg(long)]
    quick: bool,
}

/// Counts reached code as libFuzzer expects it. Build scripts are left alone because a target is named.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
                     -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1";

/// How much memory a target may take, in MiB.
const MEMORY_MIB_MAX: u64 = 512;

/// How long one input may take, in seconds.
const INPUT_S_MAX: u64 = 10;

/// Compiles the program and runs the targets one after the other.
pub fn run(options: &Options) -> Ended {
    let program = build(options.quick)?;
    // The program itself knows its targets.
    let listed = process::must(Command::new(&program).env_remove("SCARCE_FUZZ"))?;
    if options.list {
        screen::say(listed.trim_end());
        return Ok(true);
    }
    let mut found_none = true;
    for name in wanted(&listed, &options.targets)? {
        found_none &= fuzz(&program, name, options.seconds)?;
    }
    Ok(found_none)
}

/// The listed targets that are asked for; all of them if none is.
fn wanted<'a>(listed: &'a str, asked: &[String]) -> Result<Vec<&'a str>, String> {
    let known: Vec<&str> = listed.lines().filter_map(|line| line.split('\t').next()).collect();
    match asked.iter().find(|name| !known.contains(&name.as_str())) {
        Some(unknown) => Err(format!("there is no target '{unknown}' here; there are {}", known.join(", "))),
        None if asked.is_empty() => Ok(known),
        None => Ok(known.into_iter().filter(|name| asked.iter().any(|its| its == name)).collect()),
    }
}

/// The triple of this machine.
fn host() -> Result<String, Box<dyn std::error::Error>> {
    let told = process::must(Command::new("rustc").arg("-vV"))?;
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.ok_or("rustc does not say its host")?.to_owned())
}

fn build(quick: bool) -> Result<std::path::PathBuf, Box<dyn std::error::Error>> {
    let (host, folder) = (host()?, place::target().join("fuzz"));
    let mut command = Command::new("cargo");
    command.args(["build", "--release", "--package", "scarce-fuzz", "--features", "libfuzzer"]);
    command.args(["--target", &host, "--target-dir"]).arg(&folder).env("RUSTFLAGS", FLAGS);
    if quick {
        command.arg("--no-default-features");
    }
    screen::say(&format!("==> {}", process::shown(&command)));
    if !command.current_dir(place::root()).status()?.success() {
        return Err("the program does not compile".into());
    }
    Ok(folder.join(host).join("release").join("scarce-fuzz"))
}

/// Fuzzes one target; returns whether no fault was found. Inputs that reach new code are kept below the target
/// folder for the next time, and those that show a fault beside the examples, as one more of them.
fn fuzz(program: &Path, name: &str, seconds: u64) -> Ended {
    let inputs = place::work(&format!("fuzz-inputs/{name}"))?;
    let examples = place::root().join("crates/fuzz/examples").join(name);
    std::fs::create_dir_all(&examples)?;
    let mut command = Command::new(program);
    command.env("SCARCE_FUZZ", name).env("SCARCE_FUZZ_INPUTS", &inputs).arg(&inputs).arg(&examples);
    command.arg(format!("-max_total_time={seconds}")).arg(format!("-rss_limit_mb={MEMORY_MIB_MAX}"));
    command.arg(format!("-timeout={INPUT_S_MAX}")).arg(format!("-artifact_prefix={}/", examples.display()));
    command.args(["-print_final_stats=1", "-verbosity=0"]);
    screen::say(&format!("==> {}", process::shown(&command)));
    let found_none = command.status()?.success();
    // Empty unless something was found.
    let _ = std::fs::remove_dir(&examples);
    if !found_none {
        screen::say(&format!(
            "{name}: the input is kept in {}; the tests fail on it from now on",
            examples.display()
        ));
    }
    Ok(found_none)
}

#[cfg(test)]
mod tests {
    use super::wanted;

    const LISTED: &str = "log\tentries of the log\nimage\tstates\nimport\tfiles\n";

    #[test]
    fn the_targets_are_those_that_the_program_lists() {
        assert_eq!(wanted(LISTED, &[]), Ok(vec!["log", "image", "import"]));
        assert_eq!(wanted(LISTED, &["import".to_owned(), "log".to_owned()]), Ok(vec!["log", "import"]));
        let unknown = wanted(LISTED, &["logs".to_owned()]).expect_err("there is none");
        assert_eq!(unknown, "there is no target 'logs' here; there are log, image, import");
    }
}
