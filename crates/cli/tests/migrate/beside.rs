//! Moves beside a running server, and what they are refused for.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use super::load::{self, Load};
use super::{Stage, call, ended, has, said};
use crate::support::{Server, refused_start, scarce, serve, wait_until};

/// The running server of the old files tells callers where the deployment is, on new connections and old ones.
fn check_told(old: &Server, address: &str) {
    let told =
        format!("-MIGRATED this deployment has moved to {address}; send the request there, with the same id");
    for words in [&["ACCOUNT.CREDIT", "a0", "1", "ID", "late"][..], &["ACCOUNT.GET", "a0"], &["DIGEST"]] {
        assert_eq!(old.socket().call(words), told, "{words:?}");
    }
    let answer = old.http().get("/v1/accounts/a0");
    let told = answer.json();
    assert_eq!((answer.status, &told["code"]), (421, &"MIGRATED".into()), "{told}");
    assert_eq!(old.http().get("/readyz").status, 503);
}

#[test]
fn a_server_takes_over_from_another_one_under_load() {
    take_over(&Stage::new());
}

#[test]
fn operation_ids_on_disk_go_along_under_load() {
    take_over(&Stage::with(&["--operations-in-memory-max", "16"]));
}

/// Whether some operation IDs of a data directory are in a file.
fn has_file_of_ids(data: &Path) -> bool {
    let entries = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten();
    let is_one = |name: &OsStr| name.as_encoded_bytes().starts_with(b"ids-");
    entries(data).any(|partition| entries(&partition.path()).any(|file| is_one(&file.file_name())))
}

fn take_over(stage: &Stage) {
    let old = stage.serve("old", 2);
    let load = Load::begin(&old, 4);
    if !stage.options.is_empty() {
        wait_until("operation IDs are in files", || has_file_of_ids(&stage.path("old")));
        load.go_on();
    }
    let from = stage.path("old").display().to_string();
    let options = [&["--partitions", "2", "--migrate-from", &from], stage.options].concat();
    let new = Server::overheard_at(&stage.path("new"), &options);
    load.go_to(&new);
    load.go_on();
    let books = load.end();
    load::check(&new, &books);
    load::check_duplicates(&new, &books);
    check_told(&old, &new.address);
    let log = new.overhead();
    let rested = log.split("rested_ms=").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap();
    let gap = books.iter().map(|book| book.gap).max().unwrap();
    eprintln!("changes were not taken for {rested} ms; the longest that a writer waited: {gap:?}");
    assert!(rested.parse::<u64>().unwrap() < 5_000, "{log}");
    old.stop();
    new.stop();
    let told = Server::start(&stage.path("old"), &["--partitions", "2"]).socket().call(&["PING"]);
    assert!(told.starts_with("-MIGRATED this deployment has moved to"), "{told}");
    // Started again in the same way, it goes on with what it has.
    load::check(&Server::start(&stage.path("new"), &["--partitions", "2", "--migrate-from", &from]), &books);
}

#[test]
fn consumers_go_on_from_their_positions() {
    let stage = Stage::new();
    let database = format!("sqlite://{}", stage.path("tables.db").display());
    let options = ["--partitions", "2", "--sql", &database];
    let old = Server::start(&stage.path("old"), &options);
    let mut client = old.connect();
    for n in 0..50 {
        call(&mut client, &format!("ACCOUNT.OPEN a{n} EUR ID {n}"));
    }
    old.wait_until_drained();
    let from = stage.path("old").display().to_string();
    let taken = [&options[..], &["--migrate-from", &from]].concat();
    let new = Server::start(&stage.path("new"), &taken);
    let mut client = new.connect();
    for n in 50..80 {
        call(&mut client, &format!("ACCOUNT.OPEN a{n} EUR ID {n}"));
    }
    new.wait_until_drained();
    old.stop();
    new.stop();
    let mut verify = scarce();
    verify.args(["reconcile", "--partitions", "2", "--sql", &database, "--data"]).arg(stage.path("new"));
    let output = verify.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Says something to the server as one who moves its deployment.
struct Mover(BufReader<UnixStream>);

impl Mover {
    fn connect(stage: &Stage) -> Self {
        Self(BufReader::new(UnixStream::connect(stage.path("old").join("relocation.socket")).unwrap()))
    }

    fn ask(&mut self, line: &str) -> String {
        self.0.get_mut().write_all(format!("{line}\n").as_bytes()).unwrap();
        let mut answer = String::new();
        self.0.read_line(&mut answer).unwrap();
        answer.trim_end().to_owned()
    }

    fn begin(stage: &Stage) -> Self {
        let text = std::fs::read_to_string(stage.path("old").join("deployment.toml")).unwrap();
        let id = text.lines().find_map(|line| line.strip_prefix("deployment_id = ")).unwrap();
        let mut mover = Self::connect(stage);
        assert_eq!(mover.ask(&format!("begin 1 {}", id.trim_matches('"'))), "ok");
        mover
    }
}

fn takes_changes(server: &Server) -> bool {
    matches!(call(&mut server.connect(), "ACCOUNT.CREDIT a 1"), redis::Value::Array(_))
}

#[test]
fn one_move_at_a_time_and_the_server_goes_on_when_it_is_given_up() {
    let stage = Stage::new();
    let old = stage.serve("old", 2);
    call(&mut old.connect(), "ACCOUNT.OPEN a EUR");
    let mut mover = Mover::begin(&stage);
    let output = stage.migrate("old", "new", &[]);
    ended(&output, 3);
    assert!(said(&output).contains("another move"), "{}", said(&output));
    assert!(!stage.path("new").exists());
    assert!(mover.ask("rest 60000").starts_with("ok "));
    assert!(!takes_changes(&old));
    drop(mover);
    wait_until("it takes changes again", || takes_changes(&old));
    // One that says nothing any more is waited for as long as it asked for, and no longer.
    let mut mover = Mover::begin(&stage);
    assert!(mover.ask("rest 200").starts_with("ok "));
    wait_until("it takes changes again", || takes_changes(&old));
    drop(mover);
    let mut mover = Mover::begin(&stage);
    let refused = mover.ask(&format!("finish {:032x} there:1", 7));
    assert!(refused.starts_with("refused ") && takes_changes(&old), "{refused}");
    for line in ["begin 1 00ff", "begin 9 00ff", "what?"] {
        let mut mover = Mover::connect(&stage);
        assert!(mover.ask(line).starts_with("refused "), "{line}");
    }
    assert!(!has(&stage.path("old"), "moved"));
    let output = stage.migrate("old", "new", &["--address", "there:7379"]);
    assert_eq!(ended(&output, 0).len(), 2);
    check_told(&old, "there:7379");
}

#[test]
fn a_target_that_is_not_empty_and_another_number_of_partitions_are_refused() {
    let stage = Stage::new();
    let old = stage.serve("old", 2);
    call(&mut old.connect(), "ACCOUNT.OPEN a EUR");
    stage.serve("other", 2).stop();
    for (to, options, why) in
        [("other", &[][..], "not empty"), ("new", &["--partitions", "3"], "2 partitions")]
    {
        let output = stage.migrate("old", to, options);
        ended(&output, 3);
        assert!(said(&output).contains(why), "{}", said(&output));
    }
    let from = stage.path("old").display().to_string();
    let mut everywhere = scarce();
    everywhere.args(["serve", "--resp", "0.0.0.0:0", "--http", "off", "--migrate-from", &from, "--data"]);
    let (code, text) = refused_start(everywhere.arg(stage.path("new")));
    assert!(code == Some(2) && text.contains("--migrate-address"), "{text}");
    assert!(!stage.path("new").exists() && takes_changes(&old));
    old.stop();
    let (code, text) =
        refused_start(&mut serve(&stage.path("new"), &["--partitions", "2", "--migrate-from", &from]));
    assert!(code == Some(3) && text.contains("no server runs on"), "{text}");
}

#[test]
fn no_mark_is_left_in_another_directory_than_the_one_that_is_served() {
    let stage = Stage::new();
    let old = stage.serve("old", 2);
    call(&mut old.connect(), "ACCOUNT.OPEN a EUR");
    let mut mover = Mover::begin(&stage);
    assert!(mover.ask("rest 60000").starts_with("ok "));
    // Someone makes room for the new directory while the old one is being served.
    std::fs::rename(stage.path("old"), stage.path("renamed")).unwrap();
    let refused = mover.ask(&format!("finish {:032x} there:1", 7));
    assert!(refused.starts_with("refused ") && refused.contains("no longer"), "{refused}");
    assert!(!has(&stage.path("old"), "moved") && !has(&stage.path("renamed"), "moved"));
    wait_until("it takes changes again", || takes_changes(&old));
    std::fs::rename(stage.path("renamed"), stage.path("old")).unwrap();
    ended(&stage.migrate("old", "new", &["--address", "there:7379"]), 0);
    check_told(&old, "there:7379");
}
