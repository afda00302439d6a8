//! Client libraries, each tested against its own server. For HTTP also a client generated from the server's
//! OpenAPI description, and a fuzzer that checks the server against that description.

use std::error::Error;
use std::path::PathBuf;
use std::process::Command;

use super::libraries;
use super::packages::{self, Ensured};
use super::releases;
use super::step::{Log, Tally};
use crate::place;
use crate::process::Server;

type Ended = Result<Tally, Box<dyn Error>>;

fn tests(name: &str) -> PathBuf {
    place::root().join("tests").join("clients").join(name)
}

/// Downloads what the client steps need, so that they do not wait for it later.
pub fn libraries(log: &mut Log) -> Ended {
    let all: [fn(&mut Log) -> Ensured; 9] = [
        |log| packages::python(log, &tests("python")).map(drop),
        |log| packages::python(log, &tests("python-http")).map(drop),
        |log| packages::python(log, &releases::redis_6_2_tests()).map(drop),
        |log| packages::node(log, &tests("node")).map(drop),
        |log| packages::go(log, &tests("go")).map(drop),
        libraries::node_packages,
        |log| libraries::python_packages(log).map(drop),
        libraries::java_packages,
        // A test opens pages in it. It is large, and no other step waits for it.
        |log| packages::program(log, "chromium", &["chromium"]),
    ];
    Ok(packages::each(log, &all))
}

/// How many random requests schemathesis sends to each route, besides those that cover each bound of the
/// description.
const EXAMPLES_MAX: &str = "10";

/// A client that a standard generator makes from the running server's OpenAPI description.
pub fn generated(log: &mut Log) -> Ended {
    let tests = tests("python-http");
    let python = packages::python(log, &tests)?;
    let server = Server::scarce("generated-client")?;
    let made = place::fresh("generated")?;
    let mut generate = Command::new(python.with_file_name("openapi-python-client"));
    generate.args(["generate", "--meta", "none", "--overwrite", "--fail-on-warning", "--config"]);
    generate
        .arg(tests.join("generator.yaml"))
        .args(["--url", &format!("http://{}/openapi.json", server.http)]);
    log.must(generate.arg("--output-path").arg(made.join("scarce_client")))?;
    let mut command = Command::new(python);
    command.args(["-B", "-m", "unittest", "-v", "test_generated_client"]).current_dir(tests);
    command.env("SCARCE_HTTP", &server.http).env("SCARCE_CLIENT", &made);
    let tally = log.tests(&mut command)?;
    // The next run makes a new one.
    let _ = std::fs::remove_dir_all(made);
    Ok(tally)
}

/// Valid and invalid requests, which the server must answer as its description says.
pub fn schemathesis(log: &mut Log) -> Ended {
    let tests = tests("python-http");
    let python = packages::python(log, &tests)?;
    // With SQL tables and deliveries, so that the routes of histories and of operators work.
    let tables = place::fresh("schemathesis-tables")?;
    let url = format!("sqlite://{}", tables.join("log.db").display());
    let server = Server::scarce_with("schemathesis", &["--sql", &url, "--webhooks"])?;
    let mut command = Command::new(python.with_file_name("schemathesis"));
    command.arg("--config-file").arg(tests.join("schemathesis.toml"));
    command.args(["run", &format!("http://{}/openapi.json", server.http)]);
    command.args(["--checks", "all", "--seed", "1", "--max-examples", EXAMPLES_MAX, "--continue-on-failure"]);
    // Few random texts are valid ids, and the machine may be busy.
    command.args(["--suppress-health-check", "filter_too_much,too_slow", "--no-color"]);
    // It writes its records into the current directory.
    command.current_dir(place::work("schemathesis")?);
    command.env("PYTHONPATH", tests).env("PYTHONDONTWRITEBYTECODE", "1").env("SCARCE_HTTP", &server.http);
    let tally = log.tests(&mut command)?;
    drop(server);
    // The next run makes new ones.
    let _ = std::fs::remove_dir_all(tables);
    if tally == Tally::default() { Err("no request was sent".into()) } else { Ok(tally) }
}

/// Runs tests against a server that is started for them.
pub fn against_server(log: &mut Log, name: &str, command: &mut Command) -> Ended {
    let server = Server::scarce(name)?;
    let tally = log.tests(command.env("SCARCE_RESP", &server.address))?;
    if tally == Tally::default() { Err("no test was run".into()) } else { Ok(tally) }
}

pub fn python(log: &mut Log) -> Ended {
    let tests = tests("python");
    let python = packages::python(log, &tests)?;
    let mut command = Command::new(python);
    command.args(["-B", "-m", "unittest", "-v", "test_redis_py"]).current_dir(tests);
    against_server(log, "python", &mut command)
}

pub fn node(log: &mut Log) -> Ended {
    let tests = tests("node");
    let modules = packages::node(log, &tests)?;
    let mut command = Command::new("node");
    command.args(["--test", "ioredis.test.cjs", "node-redis.test.cjs"]).current_dir(tests);
    against_server(log, "node", command.env("NODE_PATH", modules))
}

/// Clients of other languages that keep a book, each by subscribing, while the server is killed.
pub fn live(log: &mut Log) -> Ended {
    let tests = tests("python");
    let (python, modules) = (packages::python(log, &tests)?, packages::node(log, &self::tests("node"))?);
    let mut command = Command::new(python);
    command.args(["-B", "-m", "unittest", "-v", "test_live"]).current_dir(tests);
    command.env("SCARCE_BINARY", place::scarce()).env("SCARCE_NODE_TESTS", self::tests("node"));
    let tally = log.tests(command.env("NODE_PATH", modules))?;
    if tally == Tally::default() { Err("no test was run".into()) } else { Ok(tally) }
}

pub fn go(log: &mut Log) -> Ended {
    let tests = tests("go");
    let mut command = packages::go(log, &tests)?;
    against_server(log, "go", command.args(["test", "-count=1", "-v", "./..."]))
}
