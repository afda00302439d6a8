//! What tests need besides cargo: programs from the system's packages, libraries in `target/xtask/`.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use super::step::{Log, Tally};
use crate::place;

/// The result of an installation.
pub type Ensured = Result<(), Box<dyn Error>>;

/// Installs each of them, even after one has failed, and counts them.
pub fn each(log: &mut Log, things: &[fn(&mut Log) -> Ensured]) -> Tally {
    let mut tally = Tally::default();
    for thing in things {
        match thing(log) {
            Ok(()) => tally.passed += 1,
            Err(error) => {
                log.write(&error.to_string());
                tally.failed += 1;
            }
        }
    }
    tally
}

/// Installs a program from Debian's packages if it is missing.
pub fn program(log: &mut Log, program: &str, packages: &[&str]) -> Result<(), Box<dyn Error>> {
    ensure(log, program, packages, || place::has_program(program))
}

/// Held while something is installed.
static INSTALLING: Mutex<()> = Mutex::new(());

/// Installs something from Debian's packages if it is missing.
pub fn ensure(
    log: &mut Log,
    what: &str,
    packages: &[&str],
    is_there: impl Fn() -> bool,
) -> Result<(), Box<dyn Error>> {
    // Steps that run side by side must not install at once.
    let _alone = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    if is_there() {
        return Ok(());
    }
    let advice =
        format!("'{what}' is missing; install the package {} and run this again", packages.join(" "));
    if !place::has_program("apt-get") {
        return Err(advice.into());
    }
    log.say(&format!("{what} is missing; installing {}", packages.join(" ")));
    install(log, packages)?;
    if is_there() { Ok(()) } else { Err(advice.into()) }
}

/// Debian's packages run this to ask whether they may start their service; the exit code 101 forbids it.
const POLICY_FILE: &str = "/usr/sbin/policy-rc.d";
const POLICY: &str = "#!/bin/sh\nexit 101\n";

/// While it exists, no package starts its service.
struct NoServices {
    /// Whether we made the file, and remove it again.
    is_ours: bool,
}

impl NoServices {
    fn new() -> Self {
        let path = Path::new(POLICY_FILE);
        // If we may not write here, apt-get may not install either, and reports that.
        let write = || std::fs::write(path, POLICY).and_then(|()| executable(path)).is_ok();
        Self { is_ours: !path.exists() && write() }
    }
}

impl Drop for NoServices {
    fn drop(&mut self) {
        if self.is_ours {
            let _ = std::fs::remove_file(POLICY_FILE);
        }
    }
}

fn executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

fn install(log: &mut Log, packages: &[&str]) -> Result<(), Box<dyn Error>> {
    let _none = NoServices::new();
    log.must(&mut apt(&["update"]))?;
    log.must(apt(&["install", "--yes", "--no-install-recommends"]).args(packages))
}

/// Waits for another installation on this machine, for five minutes, instead of failing beside it.
fn apt(words: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    command
        .args(words)
        .args(["--quiet=2", "-o", "DPkg::Lock::Timeout=300"])
        .env("DEBIAN_FRONTEND", "noninteractive");
    command
}

/// OpenSSL to compile against, which TLS to Kafka's brokers needs.
pub fn openssl(log: &mut Log) -> Ensured {
    let is_there = || {
        Command::new("pkg-config").args(["--exists", "openssl"]).status().is_ok_and(|status| status.success())
    };
    ensure(log, "OpenSSL's library", &["libssl-dev", "pkg-config"], is_there)
}

/// redis-server, redis-cli and redis-benchmark.
pub fn redis(log: &mut Log) -> Result<(), Box<dyn Error>> {
    program(log, "redis-cli", &["redis-tools"])?;
    program(log, "redis-server", &["redis-server"])
}

/// A virtual environment with the packages of the tests' `requirements.txt`. Returns its Python.
pub fn python(log: &mut Log, tests: &Path) -> Result<PathBuf, Box<dyn Error>> {
    // One for each directory of tests, with its name.
    let name = tests.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    python_named(log, &name, tests)
}

/// The same, with another name.
pub fn python_named(log: &mut Log, name: &str, tests: &Path) -> Result<PathBuf, Box<dyn Error>> {
    program(log, "python3", &["python3", "python3-venv"])?;
    let place = place::work(name)?;
    let requirements = tests.join("requirements.txt");
    let python = place.join("bin").join("python");
    once(&place, &requirements, || {
        if !python.exists() && log.must(Command::new("python3").args(["-m", "venv"]).arg(&place)).is_err() {
            // Debian has the module in a package of its own.
            install(log, &["python3-venv"])?;
            log.must(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&place))?;
        }
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
        log.must(Command::new(&python).args(pip).arg(&requirements))
    })?;
    Ok(python)
}

/// A directory with the packages of `package.json`. Returns its `node_modules`.
pub fn node(log: &mut Log, tests: &Path) -> Result<PathBuf, Box<dyn Error>> {
    program(log, "node", &["nodejs"])?;
    program(log, "npm", &["npm"])?;
    let place = place::work("node")?;
    let manifest = tests.join("package.json");
    once(&place, &manifest, || {
        std::fs::copy(&manifest, place.join("package.json"))?;
        let words = ["install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"];
        log.must(Command::new("npm").args(words).current_dir(&place))
    })?;
    Ok(place.join("node_modules"))
}

/// A go command that keeps its modules and its build cache under `target/`.
pub fn go(log: &mut Log, tests: &Path) -> Result<Command, Box<dyn Error>> {
    program(log, "go", &["golang-go"])?;
    let place = place::work("go")?;
    let command = || {
        let mut command = Command::new("go");
        command.current_dir(tests).env("GOFLAGS", "-modcacherw").env("CGO_ENABLED", "0");
        command.env("GOMODCACHE", place.join("modules")).env("GOCACHE", place.join("cache"));
        command
    };
    once(&place, &tests.join("go.sum"), || log.must(command().args(["mod", "download"])))?;
    Ok(command())
}

/// Installs, unless the same was installed last time.
pub fn once(
    place: &Path,
    asked: &Path,
    install: impl FnOnce() -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let stamp = place.join("installed");
    let wanted = std::fs::read(asked)?;
    if std::fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    install()?;
    Ok(std::fs::write(stamp, wanted)?)
}
