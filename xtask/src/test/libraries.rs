//! Our own clients in other languages, each against three servers: one that is calm, one that speaks TLS and asks
//! for a password, and one that is killed behind a bad line.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::packages;
use super::step::{Log, Tally};
use super::unsteady::Unsteady;
use crate::place;
use crate::process::Server;

type Ended = Result<Tally, Box<dyn Error>>;

/// How often the server must have been killed, or the tests have shown little.
const KILLS_MIN: usize = 3;

const PASSWORD: &str = "a-password-for-tests";

/// The folder of a client.
fn folder(name: &str) -> PathBuf {
    place::root().join("clients").join(name)
}

/// Runs the tests of a client, which find the servers by variables.
fn against_servers(log: &mut Log, name: &str, command: &mut Command) -> Ended {
    packages::program(log, "openssl", &["openssl"])?;
    let calm = Server::scarce(&format!("{name}-calm"))?;
    let files = place::fresh(&format!("{name}-tls"))?;
    let secure = secure(log, name, &files)?;
    let unsteady = Unsteady::start(&format!("{name}-unsteady"))?;
    command.env("SCARCE_URL", format!("http://{}", calm.http));
    command.env("SCARCE_TLS_URL", format!("https://{}", secure.http));
    command.env("SCARCE_TLS_CA", files.join("cert.pem")).env("SCARCE_KEY", PASSWORD);
    command.env("SCARCE_UNSTEADY_URL", &unsteady.url);
    let (tally, kills) = unsteady.during(|| log.tests(command))?;
    let tally = tally?;
    log.say(&format!("the server was killed {kills} times"));
    // The next run makes new ones.
    let _ = std::fs::remove_dir_all(files);
    match tally.passed {
        0 if tally.failed == 0 => Err("no test was run".into()),
        _ if kills < KILLS_MIN => {
            Err(format!("the server was killed {kills} times, at least {KILLS_MIN}").into())
        }
        _ => Ok(tally),
    }
}

/// A server that speaks TLS and asks for a password.
fn secure(log: &mut Log, name: &str, files: &Path) -> Result<Server, Box<dyn Error>> {
    let (cert, key, password) = (files.join("cert.pem"), files.join("key.pem"), files.join("password"));
    let mut make = Command::new("openssl");
    make.args([
        "req",
        "-x509",
        "-nodes",
        "-days",
        "2",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
    ]);
    make.args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]);
    log.must(make.arg("-keyout").arg(&key).arg("-out").arg(&cert))?;
    std::fs::write(&password, PASSWORD)?;
    let flags = [("--tls-cert", cert), ("--tls-key", key), ("--password-file", password)];
    let flags: Vec<String> =
        flags.iter().flat_map(|(flag, path)| [(*flag).to_owned(), path.display().to_string()]).collect();
    Server::scarce_with(&format!("{name}-secure"), &flags.iter().map(String::as_str).collect::<Vec<_>>())
}

fn npm(words: &[&str]) -> Command {
    let mut command = Command::new("npm");
    command.args(words).current_dir(folder("typescript"));
    command
}

/// The compiler of TypeScript.
pub fn node_packages(log: &mut Log) -> packages::Ensured {
    packages::program(log, "node", &["nodejs"])?;
    packages::program(log, "npm", &["npm"])?;
    let folder = folder("typescript");
    packages::once(&folder.join("node_modules"), &folder.join("package-lock.json"), || {
        log.must(&mut npm(&["ci", "--ignore-scripts", "--no-audit", "--no-fund"]))
    })
}

/// The client for TypeScript: its types, its tests, and what a registry would get.
pub fn typescript(log: &mut Log) -> Ended {
    node_packages(log)?;
    log.must(&mut npm(&["run", "build"]))?;
    let mut tests = Command::new("node");
    let tests = against_servers(log, "typescript", tests.arg("--test").current_dir(folder("typescript")))?;
    let packed = log.check(&mut npm(&["pack", "--dry-run", "--ignore-scripts"]))?;
    Ok(sum(&[tests, packed]))
}

/// A Python with what checks types and packages.
pub fn python_packages(log: &mut Log) -> Result<PathBuf, Box<dyn Error>> {
    packages::python_named(log, "library-python", &folder("python"))
}

/// The client for Python: its types, its tests, and what a registry would get.
pub fn python(log: &mut Log) -> Ended {
    let folder = folder("python");
    let python = python_packages(log)?;
    let command = |module: &str, words: &[&str]| {
        let mut command = Command::new(&python);
        command.args(["-B", "-m", module]).args(words).current_dir(&folder);
        command.env("PYTHONPATH", folder.join("src"));
        command
    };
    let cache = place::work("library-python-types")?;
    let types = log.check(command("mypy", &["src"]).arg("--cache-dir").arg(cache))?;
    let mut tests = command("unittest", &["discover", "-v", "-s", "tests"]);
    let tests = against_servers(log, "python", &mut tests)?;
    // In a copy, since building leaves files beside the sources.
    let (copy, packed) = (place::fresh("library-python-copy")?, place::fresh("library-python-packed")?);
    log.must(Command::new("cp").arg("-r").arg(folder.join(".")).arg(&copy))?;
    let mut build = command("build", &["--no-isolation", "--outdir"]);
    let built = log.check(build.arg(&packed).current_dir(&copy))?;
    // The next run makes new ones.
    for folder in [copy, packed] {
        let _ = std::fs::remove_dir_all(folder);
    }
    Ok(sum(&[types, tests, built]))
}

/// The client for Go: its form, its tests, and what the vet says.
pub fn go(log: &mut Log) -> Ended {
    packages::program(log, "go", &["golang-go"])?;
    let place = place::work("go")?;
    let command = |words: &[&str]| {
        let mut command = Command::new("go");
        command
            .args(words)
            .current_dir(folder("go"))
            .env("CGO_ENABLED", "0")
            .env("GOCACHE", place.join("cache"));
        command
    };
    let vetted = log.check(&mut command(&["vet", "./..."]))?;
    // It names the files that have another form.
    let mut format = Command::new("sh");
    format.args(["-c", "test -z \"$(gofmt -l . | tee /dev/stderr)\""]).current_dir(folder("go"));
    let formatted = log.check(&mut format)?;
    let tests = against_servers(log, "go", &mut command(&["test", "-count=1", "-v", "./..."]))?;
    Ok(sum(&[vetted, formatted, tests]))
}

fn maven(goal: &str) -> Result<Command, Box<dyn Error>> {
    let target = place::work("library-java")?;
    let mut maven = Command::new("mvn");
    maven.args(["--batch-mode", "--no-transfer-progress", goal]).current_dir(folder("java"));
    maven.arg(format!("-DbuildDirectory={}", target.display()));
    Ok(maven)
}

/// Maven, and what it takes to compile.
pub fn java_packages(log: &mut Log) -> packages::Ensured {
    packages::program(log, "mvn", &["maven"])?;
    packages::program(log, "javac", &["openjdk-17-jdk-headless"])?;
    log.must(&mut maven("test-compile")?)
}

/// The client for Java: its tests, and what a registry would get.
pub fn java(log: &mut Log) -> Ended {
    java_packages(log)?;
    against_servers(log, "java", &mut maven("package")?)
}

fn sum(parts: &[Tally]) -> Tally {
    Tally {
        passed: parts.iter().map(|part| part.passed).sum(),
        failed: parts.iter().map(|part| part.failed).sum(),
        skipped: None,
    }
}
