//! Stores at `s3://bucket/prefix`, on a real server of S3: also while it is away, slow, or refuses.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use scarce_launch::S3;
use serde_json::Value;

use super::refusals::small;
use super::shipping::{metric, wait_until_shipped};
use super::{Stage, credit, ended, open_account, said, verified};
use crate::support::{Server, scarce, wait_until};

const URL: &str = "s3://shop/night/ly";

fn with_credentials(command: &mut Command, endpoint: SocketAddr) -> &mut Command {
    command
        .env("AWS_ACCESS_KEY_ID", "id")
        .env("AWS_SECRET_ACCESS_KEY", "secret")
        .env("AWS_REGION", "eu-central-1")
        .env("AWS_ENDPOINT_URL", format!("http://{endpoint}"))
}

/// A `scarce` with a store in a bucket.
fn run(endpoint: SocketAddr, words: &[&str]) -> Output {
    with_credentials(scarce().args(words), endpoint).output().unwrap()
}

fn backup(endpoint: SocketAddr, words: &[&str]) -> Output {
    run(endpoint, &[&["backup"], words, &["--json", "--store", URL]].concat())
}

fn check_refused(output: &Output, part: &str) {
    assert!(output.status.code() == Some(1) && said(output).contains(part), "no '{part}' in {output:?}");
}

#[test]
fn backups_are_made_verified_pruned_and_restored_in_a_bucket() {
    let (stage, other) = (small(), small());
    let s3 = S3::start().unwrap();
    let at = s3.address();
    let create = ["create", "--data", stage.data.to_str().unwrap()];
    check_refused(&backup(at, &create), "there is no such bucket");
    s3.make_bucket("shop").unwrap();
    for words in [&["verify"][..], &["list"], &["prune", "--keep", "1"]] {
        let output = backup(at, words);
        check_refused(&output, "there is no backup at s3://shop/night/ly/");
        assert!(!said(&output).contains("mounted"), "{output:?}");
    }
    let first = ended(&backup(at, &create), 0).remove(0);
    let second = ended(&backup(at, &create), 0).remove(0);
    assert_eq!(second["builds_on"], first["backup"]);
    ended(&backup(at, &[&create[..], &["--full"]].concat()), 0);
    let others = backup(at, &["create", "--data", other.data.to_str().unwrap()]);
    check_refused(&others, "give each deployment a store of its own");
    ended(&backup(at, &["prune", "--keep", "1"]), 0);
    let listed = ended(&backup(at, &["list"]), 0);
    assert_eq!((listed.len(), &listed[0]["builds_on"]), (1, &Value::Null));
    ended(&backup(at, &["verify", "--restore"]), 0);
    let to = stage.folder.path().join("new");
    let restore = ["restore", "--json", "--from", URL, "--data", to.to_str().unwrap()];
    ended(&run(at, &restore), 0);
    assert_eq!(verified(&to), verified(&stage.data));
    for url in ["s3://", "s3:///x", "s3://shop/a//b", "s3://shop/../b"] {
        let output = run(at, &["backup", "list", "--store", url]);
        assert!(output.status.code() == Some(2) && said(&output).contains("names no store"), "{output:?}");
    }
    s3.refuse_credentials().unwrap();
    check_refused(&backup(at, &["list"]), "InvalidAccessKeyId");
}

#[test]
fn an_object_that_only_one_can_put_is_put_once() {
    let stages = [small(), small()];
    let s3 = S3::start().unwrap();
    s3.make_bucket("shop").unwrap();
    let made: Vec<Output> = std::thread::scope(|scope| {
        let threads: Vec<_> = stages
            .iter()
            .map(|stage| {
                let words = ["create", "--data", stage.data.to_str().unwrap()];
                let at = s3.address();
                scope.spawn(move || backup(at, &words))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let good = made.iter().filter(|output| output.status.success()).count();
    assert_eq!(good, 1, "{made:?}");
}

/// Goes between a server and its store, and can be cut.
#[derive(Clone)]
struct Relay {
    address: SocketAddr,
    is_cut: Arc<AtomicBool>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Relay {
    fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let relay = Self { address, is_cut: Arc::default(), open: Arc::default() };
        let its = relay.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if !its.is_cut.load(Ordering::SeqCst)
                    && let Ok(server) = TcpStream::connect(target)
                {
                    its.join(&client, &server);
                }
            }
        });
        relay
    }

    fn join(&self, client: &TcpStream, server: &TcpStream) {
        let copy = |from: &TcpStream, to: &TcpStream| {
            let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            std::thread::spawn(move || {
                let mut buffer = vec![0; 64 << 10];
                while let Ok(count @ 1..) = from.read(&mut buffer) {
                    if to.write_all(&buffer[..count]).is_err() {
                        break;
                    }
                }
                let _ = to.shutdown(Shutdown::Both);
            });
        };
        copy(client, server);
        copy(server, client);
        self.open.lock().unwrap().extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
    }

    fn cut(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::SeqCst);
        for socket in self.open.lock().unwrap().drain(..) {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}

#[test]
fn a_bucket_that_is_slow_or_away_holds_up_nothing_and_gets_everything_later() {
    let stage = Stage::new();
    let s3 = S3::start().unwrap();
    s3.make_bucket("shop").unwrap();
    let relay = Relay::to(s3.address());
    let options = ["--backup", URL, "--backup-interval-ms", "50", "--segment-mib", "1"];
    let mut command = crate::support::serve(&stage.data, &options);
    with_credentials(&mut command, relay.address);
    let mut server = Server::spawn(command);
    let mut client = server.connect();
    open_account(&mut client);
    wait_until_shipped(&server);
    s3.pause().unwrap();
    credit(&mut client, 5_000);
    assert!(metric(&server, "scarce_backup_lag_events") > 0.0);
    s3.resume().unwrap();
    wait_until_shipped(&server);
    relay.cut(true);
    credit(&mut client, 5_000);
    wait_until("it is in trouble", || metric(&server, "scarce_backup_troubled") == 1.0);
    assert!(server.http().get("/readyz?verbose").text().contains("[!] backup to s3://shop/night/ly"));
    relay.cut(false);
    wait_until_shipped(&server);
    drop(client);
    server.kill();
    let to = stage.folder.path().join("new");
    let restore = ["restore", "--json", "--from", URL, "--data", to.to_str().unwrap()];
    assert_eq!(ended(&run(s3.address(), &restore), 0)[0]["sequence"], 10_001);
    ended(&backup(s3.address(), &["verify", "--all"]), 0);
    relay.cut(true);
    check_refused(&backup(relay.address, &["list"]), "cannot list s3://shop/night/ly/backups/");
}

#[test]
fn an_interrupted_restore_removes_what_is_not_finished() {
    let stage = Stage::new();
    // It never answers, and the restore waits for it.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = stage.folder.path().join("new");
    let mut command = scarce();
    command.args(["restore", "--from", URL, "--data"]).arg(&to).stderr(std::process::Stdio::piped());
    let restoring = with_credentials(&mut command, silent.local_addr().unwrap()).spawn().unwrap();
    silent.set_nonblocking(true).unwrap();
    let mut held = None;
    wait_until("it asks the store", || {
        held = silent.accept().ok();
        held.is_some()
    });
    let left = || std::fs::read_dir(stage.folder.path()).unwrap().count();
    assert_eq!(left(), 1, "it has begun");
    let killed = Command::new("kill").args(["-INT", &restoring.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = restoring.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(said(&output).contains("interrupted; removed") && left() == 0, "{output:?}");
}
