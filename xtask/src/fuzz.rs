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
    /// The target: request, body, commands, log, image, journal, snapshot, import; all of them if none is named.
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
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

/// All targets, as in `scarce-fuzz`, and whether they need the server.
const TARGETS: [(&str, bool); 8] = [
    ("request", true),
    ("body", false),
    ("commands", false),
    ("log", false),
    ("image", false),
    ("journal", false),
    ("snapshot", false),
    ("import", true),
];

/// How much memory a target may take, in MiB.
const MEMORY_MIB_MAX: u64 = 512;

/// How long one input may take, in seconds.
const INPUT_S_MAX: u64 = 10;

/// Compiles the program and runs the targets one after the other.
pub fn run(options: &Options) -> Ended {
    let known = |name: &String| TARGETS.iter().any(|(target, _)| target == name);
    if let Some(unknown) = options.targets.iter().find(|name| !known(name)) {
        let names = TARGETS.map(|(name, _)| name).join(", ");
        return Err(format!("there is no target '{unknown}'; there are {names}").into());
    }
    let is_wanted = |name: &str| options.targets.is_empty() || options.targets.iter().any(|its| its == name);
    let wanted = TARGETS.iter().filter(|(name, of_ports)| is_wanted(name) && !(*of_ports && options.quick));
    let wanted: Vec<&str> = wanted.map(|(name, _)| *name).collect();
    let program = build(options.quick)?;
    let mut found_none = true;
    for name in wanted {
        found_none &= fuzz(&program, name, options.seconds)?;
    }
    Ok(found_none)
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
