//! `serve --backup`: the log in a store all the time, with the store away, full, or too slow, and the server killed.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::{Stage, credit, ended, open_account, said, verified};
use crate::support::{Server, scarce, wait_until};

impl Stage {
    /// A server that ships its log, and what it logs is kept.
    pub(super) fn ship(&self, options: &[&str]) -> Server {
        let usual = ["--segment-mib", "1", "--backup-interval-ms", "50", "--backup"];
        let store = self.store.to_str().unwrap();
        Server::overheard_at(&self.data, &[&usual[..], &[store], options].concat())
    }
}

/// A metric without labels, or of partition 0.
pub(super) fn metric(server: &Server, name: &str) -> f64 {
    let text = server.http().get("/metrics").text();
    let value = |line: &str| {
        let (named, value) = line.rsplit_once(' ')?;
        let is_it = named == name || named == format!("{name}{{partition=\"0\"}}");
        is_it.then(|| value.parse().unwrap())
    };
    text.lines().find_map(value).unwrap_or_else(|| panic!("no {name} in {text}"))
}

pub(super) fn wait_until_shipped(server: &Server) {
    wait_until("the store has everything", || {
        metric(server, "scarce_backup_lag_seconds") == 0.0
            && metric(server, "scarce_backup_begun_seconds") > 0.0
            && metric(server, "scarce_backup_troubled") == 0.0
    });
}

/// The state of a copy of the data at a sequence, by its digest.
fn digest_at(stage: &Stage, name: &str, sequence: u64) -> Value {
    let to = stage.folder.path().join(name);
    let mut command = scarce();
    command.args(["restore", "--json", "--from"]).arg(&stage.data).arg("--data").arg(&to);
    let output = command.args(["--through", &sequence.to_string()]).output().unwrap();
    ended(&output, 0)[0]["digest"].clone()
}

#[test]
fn what_is_logged_is_shipped_and_leads_to_any_point() {
    let stage = Stage::new();
    let mut server = stage.ship(&[]);
    wait_until_shipped(&server);
    let mut client = server.connect();
    open_account(&mut client);
    let mut times = Vec::new();
    for _ in 0..4 {
        credit(&mut client, 10_000);
        wait_until_shipped(&server);
        times.push(super::points::now_ms());
        // A stamp is of a millisecond.
        wait_until("time has passed", || super::points::now_ms() > times[times.len() - 1] + 2);
    }
    let ready = server.http().get("/readyz?verbose").text();
    assert!(ready.contains("[+] backup to") && ready.contains("lacks 0 events"), "{ready}");
    server.kill();
    let listed = ended(&stage.backup(&["list"]), 0);
    assert_eq!((listed.len(), &listed[0]["sequence"]), (1, &json!(40_001)));
    assert!(listed[0]["log_parts"].as_u64().unwrap() >= 4, "{listed:?}");
    let whole = ended(&stage.backup(&["verify", "--restore"]), 0);
    assert!(whole[0]["digest"].is_string() && whole[0]["sequence"] == 40_001, "{whole:?}");
    let (new, output) = stage.restore("new", &[]);
    ended(&output, 0);
    assert_eq!(verified(&new)[0].0, 40_001);
    assert_eq!(verified(&new)[0].1, digest_at(&stage, "copied", 40_001).as_str().unwrap());
    for (at, sequence) in times[..3].iter().zip([10_001, 20_001, 30_001]) {
        let (_, output) = stage.restore(&format!("at-{at}"), &["--at", &at.to_string()]);
        assert_eq!(ended(&output, 0)[0]["sequence"], sequence, "{output:?}");
    }
    let (_, output) = stage.restore("through", &["--sequence", "12345"]);
    assert_eq!(ended(&output, 0)[0]["digest"], digest_at(&stage, "copied-too", 12_345));
    let id = listed[0]["backup"].as_str().unwrap();
    let (_, output) = stage.restore("base", &["--backup", id]);
    assert_eq!(ended(&output, 0)[0]["sequence"], 0, "the backup itself was made before all that");
}

#[test]
fn no_more_is_lost_with_the_machine_than_the_lag_said() {
    let stage = Stage::new();
    let key = stage.folder.path().join("key");
    ended(&scarce().args(["backup", "key"]).arg(&key).output().unwrap(), 0);
    let with_key = ["--key-file", key.to_str().unwrap()];
    for round in 0..5_u64 {
        let mut server = stage.ship(&["--snapshot-mib", "2", "--backup-key-file", key.to_str().unwrap()]);
        wait_until_shipped(&server);
        if round == 0 {
            open_account(&mut server.connect());
        }
        let is_over = AtomicBool::new(false);
        let (said_sequence, said_lag) = std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut client = server.connect();
                while !is_over.load(Ordering::Relaxed) {
                    credit(&mut client, 100);
                }
            });
            let parts = metric(&server, "scarce_backup_log_parts_total");
            let wanted = parts + [1.0, 2.0, 5.0, 20.0, 60.0][usize::try_from(round).unwrap()];
            wait_until("parts are shipped", || metric(&server, "scarce_backup_log_parts_total") >= wanted);
            wait_until("the lag is small under load", || metric(&server, "scarce_backup_lag_seconds") < 1.0);
            let text = server.http().get("/metrics").text();
            let of = |name: &str| {
                let line = text.lines().find(|line| line.starts_with(name)).unwrap();
                line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()
            };
            let said = (of("scarce_sequence"), of("scarce_backup_lag_events"));
            is_over.store(true, Ordering::Relaxed);
            said
        });
        server.kill();
        let (new, output) = stage.restore(&format!("new-{round}"), &with_key);
        let restored = ended(&output, 0)[0].clone();
        let sequence = restored["sequence"].as_u64().unwrap();
        #[allow(clippy::cast_precision_loss, reason = "small")]
        let is_there = sequence as f64 >= said_sequence - said_lag;
        assert!(is_there, "{sequence} of {said_sequence} without {said_lag}");
        assert_eq!(restored["digest"], digest_at(&stage, &format!("copied-{round}"), sequence));
        assert_eq!(verified(&new)[0].0, sequence);
    }
    ended(&stage.backup(&[&["verify", "--all", "--restore"], &with_key[..]].concat()), 0);
}

#[test]
fn a_store_that_is_away_holds_up_nothing_and_gets_everything_once_it_is_back() {
    let stage = Stage::new();
    let server = stage.ship(&[]);
    let mut client = server.connect();
    open_account(&mut client);
    wait_until_shipped(&server);
    let away = stage.folder.path().join("away");
    for _ in 0..2 {
        std::fs::rename(&stage.store, &away).unwrap();
        // An empty folder, as where a file system is not mounted.
        std::fs::create_dir(&stage.store).unwrap();
        credit(&mut client, 5_000);
        wait_until("it is in trouble", || metric(&server, "scarce_backup_troubled") == 1.0);
        credit(&mut client, 5_000);
        assert!(metric(&server, "scarce_backup_lag_events") >= 5_000.0);
        let ready = server.http().get("/readyz?verbose");
        assert!(ready.status == 200 && ready.text().contains("[!] backup to"), "{}", ready.text());
        std::fs::remove_dir_all(&stage.store).unwrap();
        std::fs::rename(&away, &stage.store).unwrap();
        wait_until_shipped(&server);
    }
    drop(client);
    let log = server.stop_overheard();
    assert!(log.contains("the backup cannot go on") && log.contains("the backup goes on"), "{log}");
    let (new, output) = stage.restore("new", &[]);
    ended(&output, 0);
    assert_eq!(verified(&new), verified(&stage.data), "the end of the server was shipped too");
    ended(&stage.backup(&["verify", "--all"]), 0);
}

#[test]
fn log_that_waits_too_long_for_its_store_is_let_go_and_another_backup_is_made() {
    let stage = Stage::new();
    let server = stage.ship(&["--backup-log-max-mib", "2", "--snapshot-mib", "1"]);
    let mut client = server.connect();
    open_account(&mut client);
    wait_until_shipped(&server);
    let away = stage.folder.path().join("away");
    std::fs::rename(&stage.store, &away).unwrap();
    std::fs::write(&stage.store, b"").unwrap();
    let segments = || {
        let names = std::fs::read_dir(stage.data.join("partition-0000")).unwrap();
        let is_segment = |name: &str| name.starts_with("journal-") && name.ends_with(".seg");
        names.filter(|entry| is_segment(&entry.as_ref().unwrap().file_name().to_string_lossy())).count()
    };
    let oldest = || {
        let names = std::fs::read_dir(stage.data.join("partition-0000")).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        let oldest = names.filter(|name| name.starts_with("journal-")).min().unwrap();
        u32::from_str_radix(oldest.trim_end_matches(".seg").rsplit('-').next().unwrap(), 16).unwrap()
    };
    credit(&mut client, 1_000);
    wait_until("the store is missed", || metric(&server, "scarce_backup_troubled") == 1.0);
    // What was read until then is put once the store is back.
    let read = metric(&server, "scarce_sequence");
    wait_until("the log is not kept any more, and what was not read is gone", || {
        credit(&mut client, 20_000);
        client.call(&["SNAPSHOT"]).unwrap();
        metric(&server, "scarce_backup_overruns_total") > 0.0 && f64::from(oldest()) > read + 1.0
    });
    assert!(segments() < 12, "{}", segments());
    std::fs::remove_file(&stage.store).unwrap();
    std::fs::rename(&away, &stage.store).unwrap();
    credit(&mut client, 1_000);
    wait_until_shipped(&server);
    drop(client);
    let log = server.stop_overheard();
    assert!(log.contains("not kept for it any more") && log.contains("another one is made"), "{log}");
    assert!(!log.contains("disk failed"), "a segment that was let go is no failure: {log}");
    let (new, output) = stage.restore("new", &[]);
    ended(&output, 0);
    assert_eq!(verified(&new), verified(&stage.data));
    assert_eq!(ended(&stage.backup(&["verify", "--all"]), 0).len(), 2);
}

/// The variable that gives a child the folder for its file system.
const CHILD_FOLDER: &str = "SCARCE_TEST_SMALL_STORE";

#[test]
fn a_full_store_holds_up_nothing_and_gets_everything_once_it_has_room() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "shipping::child_with_a_small_store", "--nocapture", "--test-threads=1"])
        .env(CHILD_FOLDER, folder.path())
        .output()
        .unwrap();
    assert!(
        output.status.success() && String::from_utf8_lossy(&output.stdout).contains("1 passed"),
        "{output:?}"
    );
}

#[test]
fn child_with_a_small_store() {
    let Ok(folder) = std::env::var(CHILD_FOLDER) else { return };
    let mount = |options: &str| {
        let mut command = Command::new("mount");
        assert!(command.args(["-t", "tmpfs", "-o", options, "tmpfs", &folder]).status().unwrap().success());
    };
    mount("size=4m");
    let stage = Stage { store: folder.clone().into(), ..Stage::new() };
    let server = stage.ship(&[]);
    let mut client = server.connect();
    open_account(&mut client);
    wait_until("the store is full", || {
        credit(&mut client, 10_000);
        metric(&server, "scarce_backup_troubled") == 1.0
    });
    credit(&mut client, 1_000);
    mount("remount,size=512m");
    wait_until_shipped(&server);
    drop(client);
    server.stop();
    let (new, output) = stage.restore("new", &[]);
    ended(&output, 0);
    assert_eq!(verified(&new), verified(&stage.data));
}

#[test]
fn damaged_and_missing_parts_of_the_log_are_named_and_what_precedes_them_is_restored() {
    let stage = Stage::new();
    let server = stage.ship(&[]);
    let mut client = server.connect();
    wait_until_shipped(&server);
    open_account(&mut client);
    for _ in 0..4 {
        credit(&mut client, 1_000);
        wait_until_shipped(&server);
    }
    drop(client);
    server.stop();
    let is_log = |path: &std::path::PathBuf| path.to_string_lossy().contains("/log/");
    let parts: Vec<_> = stage.objects().into_iter().filter(is_log).collect();
    let third = &parts[2];
    let good = std::fs::read(third).unwrap();
    let name = third.file_name().unwrap().to_string_lossy().into_owned();
    for at in (0..good.len()).step_by(good.len() / 40 + 1) {
        let mut bad = good.clone();
        bad[at] ^= 1;
        std::fs::write(third, bad).unwrap();
        let output = stage.backup(&["verify"]);
        assert!(output.status.code() == Some(5) && said(&output).contains(&name), "byte {at}: {output:?}");
    }
    let (new, output) = stage.restore("never", &[]);
    assert!(output.status.code() == Some(1) && said(&output).contains(&name), "{output:?}");
    assert!(!new.exists());
    std::fs::remove_file(third).unwrap();
    let (_, output) = stage.restore("never", &[]);
    assert!(output.status.code() == Some(1) && said(&output).contains("before number 4"), "{output:?}");
    let (_, output) = stage.restore("before", &["--through", "1"]);
    assert_eq!(ended(&output, 0)[0]["sequence"], 1);
    std::fs::write(third, good).unwrap();
    let (new, output) = stage.restore("new", &[]);
    ended(&output, 0);
    assert_eq!(verified(&new), verified(&stage.data));
}

#[test]
fn the_log_goes_with_its_backup_and_the_one_that_is_shipped_stays() {
    let stage = Stage::new();
    let server = stage.ship(&[]);
    let mut client = server.connect();
    wait_until_shipped(&server);
    open_account(&mut client);
    credit(&mut client, 1_000);
    wait_until_shipped(&server);
    let words = ["create", "--full", "--data", stage.data.to_str().unwrap()];
    (0..3).for_each(|_| drop(ended(&stage.backup(&words), 0)));
    ended(&stage.backup(&["prune", "--keep", "1"]), 0);
    credit(&mut client, 1_000);
    wait_until_shipped(&server);
    assert_eq!(
        ended(&stage.backup(&["verify", "--all"]), 0).len(),
        2,
        "the newest, and the one with the log"
    );
    drop(client);
    server.stop();
    // It begins anew, and the log of the former goes with it.
    let server = stage.ship(&[]);
    let mut client = server.connect();
    credit(&mut client, 1_000);
    wait_until_shipped(&server);
    ended(&stage.backup(&["prune", "--keep", "1"]), 0);
    drop(client);
    server.stop();
    let (new, output) = stage.restore("new", &[]);
    ended(&output, 0);
    assert_eq!(verified(&new), verified(&stage.data));
    let logs = std::fs::read_dir(stage.store.join("log")).unwrap().count();
    assert!(logs <= 2, "{logs}");
}

#[test]
fn what_cannot_be_shipped_is_refused_at_the_start() {
    let stage = Stage::new();
    let refused = |options: &[&str]| {
        let (code, text) = crate::support::refused_start(&mut crate::support::serve(&stage.data, options));
        assert_ne!(code, Some(0));
        text
    };
    assert!(refused(&["--backup", "ftp://x/y"]).contains("names no store"));
    let text = refused(&["--backup", "/tmp/x", "--backup-key-file", "/nonexistent"]);
    assert!(text.contains("cannot be read"), "{text}");
}

#[test]
fn a_damaged_part_of_the_log_is_passed_over_where_the_next_backup_has_all_of_it() {
    let stage = Stage::new();
    let server = stage.ship(&[]);
    open_account(&mut server.connect());
    wait_until_shipped(&server);
    let at = super::points::now_ms() + 1;
    // A stamp is of a millisecond.
    wait_until("time has passed", || super::points::now_ms() > at + 1);
    credit(&mut server.connect(), 5);
    wait_until_shipped(&server);
    server.stop();
    let parts = stage.objects().into_iter().filter(|path| path.starts_with(stage.store.join("log")));
    let part = parts.min().unwrap();
    stage.create(&[]);
    let mut bytes = std::fs::read(&part).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&part, bytes).unwrap();
    let (_, output) = stage.restore("new", &["--at", &at.to_string()]);
    assert_eq!(ended(&output, 0)[0]["sequence"], 1);
    assert!(said(&output).contains(part.file_name().unwrap().to_str().unwrap()), "{output:?}");
}

#[test]
fn a_server_that_starts_while_the_store_is_away_says_for_how_long_it_lacks_what() {
    let stage = Stage::new();
    let server = stage.ship(&[]);
    open_account(&mut server.connect());
    wait_until_shipped(&server);
    let shipped = metric(&server, "scarce_sequence");
    drop(server.stop_overheard());
    // It was an hour ago.
    let noted = stage.data.join("backup-shipped");
    let mut reached: Value = serde_json::from_slice(&std::fs::read(&noted).unwrap()).unwrap();
    assert_eq!(reached["sequences"], json!([shipped.to_string().parse::<u64>().unwrap()]));
    let hour_ago = reached["at_ms"].as_u64().unwrap() - 3_600_000;
    reached["at_ms"] = hour_ago.into();
    std::fs::write(&noted, reached.to_string()).unwrap();
    let away = stage.folder.path().join("away");
    std::fs::rename(&stage.store, &away).unwrap();
    std::fs::create_dir(&stage.store).unwrap();

    let server = stage.ship(&[]);
    let lags = || ["scarce_backup_lag_events", "scarce_backup_lag_seconds"].map(|name| metric(&server, name));
    wait_until("it is in trouble", || metric(&server, "scarce_backup_troubled") == 1.0);
    assert_eq!(lags(), [0.0, 0.0], "the store has everything");
    credit(&mut server.connect(), 100);
    let [events, seconds] = lags();
    assert!(events == 100.0 && seconds >= 3_600.0, "{events} events, {seconds} s");
    std::fs::remove_dir_all(&stage.store).unwrap();
    std::fs::rename(&away, &stage.store).unwrap();
    wait_until_shipped(&server);
    assert_eq!(lags(), [0.0, 0.0]);
    drop(server.stop_overheard());
}
