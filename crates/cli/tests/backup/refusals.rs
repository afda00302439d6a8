//! Backups that are there and must not be taken unasked: plain ones beside a key, older ones behind a damaged one, those
//! of another deployment or of a history that was given up, and what is no regular file.

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::shipping::wait_until_shipped;
use super::{Stage, credit, ended, open_account, said};
use crate::support::{Server, scarce, wait_until};

/// A data directory with a few events, and no server on it.
pub(super) fn small() -> Stage {
    let stage = Stage::new();
    fill(&stage.data);
    stage
}

fn fill(data: &Path) {
    let server = Server::start(data, &["--segment-mib", "1"]);
    let mut client = server.connect();
    open_account(&mut client);
    credit(&mut client, 3);
    drop(client);
    server.stop();
}

fn id_of(row: &Value) -> String {
    row["backup"].as_str().unwrap().to_owned()
}

fn check_refused(output: &Output, parts: &[&str]) {
    assert!(matches!(output.status.code(), Some(1 | 5)), "{output:?}");
    for part in parts {
        assert!(said(output).contains(part), "no '{part}' in {output:?}");
    }
}

fn new_key(stage: &Stage) -> String {
    let path = stage.folder.path().join("key");
    ended(&scarce().args(["backup", "key"]).arg(&path).output().unwrap(), 0);
    path.to_str().unwrap().to_owned()
}

#[test]
fn plain_backups_and_encrypted_ones_are_not_mixed_unasked() {
    let stage = small();
    let key = new_key(&stage);
    let with_key = ["--key-file", &key];
    let create = ["create", "--data", stage.data.to_str().unwrap()];
    let plain = id_of(&stage.create(&[])[0]);
    let words = [&create[..], &with_key[..]].concat();
    check_refused(&stage.backup(&words), &["not encrypted", &plain, "--allow-plain"]);
    check_refused(&stage.backup(&[&["verify"][..], &with_key[..]].concat()), &[&plain, "--allow-plain"]);
    check_refused(&stage.backup(&[&["list"][..], &with_key[..]].concat()), &[&plain, "not encrypted"]);
    let (new, output) = stage.restore("never", &with_key);
    check_refused(&output, &[&plain, "--allow-plain"]);
    assert!(!new.exists());
    let server = stage.ship(&["--backup-key-file", &key]);
    wait_until("the server refuses too", || server.http().get("/readyz?verbose").text().contains(&plain));
    server.stop();
    assert_eq!(ended(&stage.backup(&["list"]), 0).len(), 1, "nothing was put");
    let allowed = ["--key-file", &key, "--allow-plain"];
    ended(&stage.restore("allowed", &allowed).1, 0);
    assert_eq!(stage.create(&allowed)[0]["builds_on"], Value::Null);
    let encrypted = id_of(&stage.create(&with_key)[0]);
    check_refused(&stage.backup(&create), &[&encrypted, "are encrypted", "--key-file"]);
    ended(&stage.restore("encrypted", &with_key).1, 0);
}

#[test]
fn a_plain_part_of_the_log_behind_an_encrypted_backup_is_refused() {
    let stage = small();
    let key = new_key(&stage);
    let with_key = ["--key-file", &key];
    let id = id_of(&stage.create(&with_key)[0]);
    let hash = hex(&Sha256::digest(b""));
    let head = format!(
        r#"{{"format":"scarce-backup-log","version":1,"backup":"{id}","number":1,"taken_at_ms":4000000000000,"key":null,"hash":"{hash}","partitions":[]}}"#
    );
    let part = format!("{head}\nsha256 {}\n", hex(&Sha256::digest(head.as_bytes())));
    let folder = stage.store.join("log").join(&id);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("0000000001-4000000000000"), part).unwrap();
    check_refused(&stage.restore("never", &with_key).1, &["0000000001-4000000000000", "key of its backup"]);
    check_refused(&stage.backup(&[&["verify"][..], &with_key[..]].concat()), &["0000000001-4000000000000"]);
}

/// What seals a line.
pub(super) fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn nothing_older_is_restored_unasked_where_the_newest_is_damaged() {
    let stage = small();
    let first = id_of(&stage.create(&[])[0]);
    let second = id_of(&stage.create(&["--full"])[0]);
    let manifest = stage.store.join(format!("backups/{second}.manifest"));
    let good = std::fs::read(&manifest).unwrap();
    let mut bad = good.clone();
    bad[40] ^= 4;
    for bad in [&bad[..], b"", b"\xff"] {
        std::fs::write(&manifest, bad).unwrap();
        let (new, output) = stage.restore("never", &[]);
        check_refused(&output, &[&second, &first, "--backup", "--skip-damaged"]);
        assert!(!new.exists());
        assert_eq!(stage.backup(&["verify"]).status.code(), Some(5));
        check_refused(&stage.backup(&["verify"]), &[&second]);
        check_refused(&stage.backup(&["list"]), &[&second]);
    }
    ended(&stage.restore("named", &["--backup", &first]).1, 0);
    let (_, output) = stage.restore("asked-for", &["--skip-damaged"]);
    ended(&output, 0);
    assert!(said(&output).contains(&second), "what was passed over is named: {output:?}");
    std::fs::write(&manifest, good).unwrap();
    let old = "20200101T000000Z-00000000";
    std::fs::write(stage.store.join(format!("backups/{old}.manifest")), b"x").unwrap();
    let (_, output) = stage.restore("newest", &[]);
    ended(&output, 0);
    assert!(said(&output).contains(old), "{output:?}");
    // Its manifest is gone altogether, and its log is there.
    let gone = "20990101T000000Z-00000000";
    std::fs::create_dir_all(stage.store.join("log").join(gone)).unwrap();
    std::fs::write(stage.store.join("log").join(gone).join("0000000001-4070908800000"), b"x").unwrap();
    check_refused(&stage.restore("never", &[]).1, &[gone, "manifest", "--skip-damaged"]);
    check_refused(&stage.backup(&["verify"]), &[gone]);
    ended(&stage.restore("without", &["--skip-damaged"]).1, 0);
}

/// What a build from source does without features.
#[cfg(not(feature = "s3"))]
#[test]
fn a_binary_without_s3_says_so_and_how_to_get_one() {
    let output = scarce().args(["backup", "list", "--store", "s3://shop/x"]).output().unwrap();
    assert!(output.status.code() == Some(2) && said(&output).contains("--features s3"), "{output:?}");
}

/// A store with the objects of two.
fn merge(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp").args(["-rn"]).arg(from.join(".")).arg(to).status();
    assert!(copied.unwrap().success());
}

#[test]
fn a_store_is_one_deployments_also_where_no_backup_says_so() {
    let (stage, other) = (small(), small());
    let mine = &stage.create(&[])[0];
    let mut words = vec!["create", "--data", other.data.to_str().unwrap()];
    check_refused(&stage.backup(&words), &["give each deployment"]);
    // Without any backup it stays bound.
    std::fs::remove_dir_all(stage.store.join("backups")).unwrap();
    let bound = stage.store.join("deployment");
    let its = mine["deployment"].as_str().unwrap();
    check_refused(&stage.backup(&words), &["give each deployment", its, bound.to_str().unwrap()]);
    let server = Server::overheard_at(&other.data, &["--backup", stage.store.to_str().unwrap()]);
    wait_until("the server refuses too", || server.http().get("/readyz?verbose").text().contains(its));
    server.stop();
    std::fs::write(&bound, "").unwrap();
    check_refused(&stage.backup(&words), &[bound.to_str().unwrap(), "remove it"]);
    words[2] = stage.data.to_str().unwrap();
    check_refused(&stage.backup(&words), &[bound.to_str().unwrap()]);
    std::fs::remove_file(&bound).unwrap();
    ended(&stage.backup(&words), 0);
}

#[test]
fn backups_of_two_deployments_in_one_store_are_told_apart() {
    let (stage, other) = (small(), small());
    let (mine, its) = (id_of(&stage.create(&[])[0]), id_of(&other.create(&[])[0]));
    merge(&other.store, &stage.store);
    for options in [&[][..], &["--sequence", "2"]] {
        check_refused(&stage.restore("never", options).1, &["two deployments", &mine, &its, "--backup"]);
    }
    ended(&stage.restore("named", &["--backup", &mine]).1, 0);
}

/// Runs `scarce` and gives up after a while.
fn in_time(words: &[&str]) -> Output {
    let mut command = std::process::Command::new("timeout");
    let output = command.arg("20").arg(scarce().get_program()).args(words).output().unwrap();
    assert_ne!(output.status.code(), Some(124), "it waits: {words:?}");
    output
}

fn is_in(folder: &str) -> impl Fn(&PathBuf) -> bool {
    let folder = format!("/{folder}/");
    move |path| path.to_string_lossy().contains(&folder)
}

#[test]
fn what_is_no_regular_file_is_named_and_nobody_waits_for_it() {
    let stage = small();
    let server = stage.ship(&[]);
    wait_until_shipped(&server);
    credit(&mut server.connect(), 5);
    wait_until_shipped(&server);
    server.stop();
    let store = stage.store.to_str().unwrap();
    let to = stage.folder.path().join("never");
    for folder in ["backups", "data", "log"] {
        let path = stage.objects().into_iter().find(is_in(&format!("store/{folder}"))).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let aside = stage.folder.path().join("aside");
        std::fs::rename(&path, &aside).unwrap();
        for kind in ["fifo", "directory"] {
            match kind {
                "fifo" => {
                    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
                    assert!(made.success());
                }
                _ => std::fs::create_dir(&path).unwrap(),
            }
            let output = in_time(&["backup", "verify", "--store", store]);
            assert_eq!(output.status.code(), Some(5), "{kind} in {folder}: {output:?}");
            check_refused(&output, &[&name]);
            let output = in_time(&["restore", "--from", store, "--data", to.to_str().unwrap()]);
            check_refused(&output, &[&name]);
            assert!(!to.exists());
            if folder == "backups" {
                check_refused(&in_time(&["backup", "list", "--store", store]), &[&name]);
            }
            if kind == "fifo" {
                std::fs::remove_file(&path).unwrap();
            } else {
                std::fs::remove_dir(&path).unwrap();
            }
        }
        std::fs::rename(&aside, &path).unwrap();
    }
    ended(&stage.backup(&["verify", "--restore"]), 0);
}

#[test]
fn a_history_that_was_given_up_is_not_restored_unasked() {
    let stage = small();
    let (saved, lost) = (stage.folder.path().join("saved"), stage.folder.path().join("lost"));
    std::fs::create_dir(&saved).unwrap();
    merge(&stage.data, &saved);
    let go_on = |count| {
        let server = stage.ship(&[]);
        credit(&mut server.connect(), count);
        wait_until_shipped(&server);
        server.stop();
        let listed = ended(&stage.backup(&["list"]), 0);
        id_of(&listed[listed.len() - 1])
    };
    let old = go_on(1_000);
    std::fs::rename(&stage.data, lost).unwrap();
    std::fs::rename(saved, &stage.data).unwrap();
    let new = go_on(100);
    let (never, output) = stage.restore("never", &["--sequence", "900"]);
    check_refused(&output, &[&old, &new, "--backup"]);
    assert!(!never.exists());
    let (_, output) = stage.restore("old", &["--sequence", "900", "--backup", &old]);
    assert_eq!(ended(&output, 0)[0]["sequence"], 900);
    let (_, output) = stage.restore("new", &["--sequence", "50"]);
    assert_eq!(ended(&output, 0)[0]["sequence"], 50);
    assert!(said(&output).contains(&new), "{output:?}");
}
