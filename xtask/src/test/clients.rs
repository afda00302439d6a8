//! Client libraries, each by its own tests against a server of its own.

use std::error::Error;
use std::path::PathBuf;
use std::process::Command;

use super::packages;
use super::step::{Log, Tally};
use crate::place;
use crate::process::Server;

type Ended = Result<Tally, Box<dyn Error>>;

fn tests(name: &str) -> PathBuf {
    place::root().join("tests").join("clients").join(name)
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

pub fn go(log: &mut Log) -> Ended {
    let tests = tests("go");
    let mut command = packages::go(log, &tests)?;
    against_server(log, "go", command.args(["test", "-count=1", "-v", "./..."]))
}
