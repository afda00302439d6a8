//! A server ends with its owner, however the owner ends.

use std::path::PathBuf;
use std::process::Command;

use scarce_launch::{Options, Server};

#[test]
#[ignore = "it is run by the test below, and ends as if it was killed"]
#[allow(clippy::print_stdout, reason = "so that it can be told where its server is")]
fn owner_that_ends_without_dropping() {
    let server = Server::start(Options::new()).expect("a server");
    println!("pid {}\nfolder {}", server.pid(), server.folder().display());
    std::process::exit(0);
}

#[test]
fn a_server_ends_with_an_owner_that_did_not_drop_it() {
    let mut owner = Command::new(std::env::current_exe().expect("a path"));
    owner.args(["--ignored", "--exact", "owner_that_ends_without_dropping", "--nocapture"]);
    let said = String::from_utf8(owner.output().expect("it runs").stdout).expect("text");
    let named = |name: &str| {
        let mut lines = said.lines().filter_map(|line| line.trim().strip_prefix(name));
        PathBuf::from(lines.next().unwrap_or_else(|| panic!("no {name} in {said}")).trim())
    };
    let (process, folder) = (PathBuf::from("/proc").join(named("pid ")), named("folder "));
    let is_its = || std::fs::read_link(process.join("cwd")).is_ok_and(|place| place == folder);
    while folder.exists() || is_its() {
        std::thread::yield_now();
    }
}
