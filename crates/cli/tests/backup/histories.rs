//! Several histories in one store, clocks that were wrong, and what a name or a time must not lead to.

use serde_json::Value;

use super::refusals::small;
use super::shipping::wait_until_shipped;
use super::{Stage, credit, ended, open_account, said, verified};
use crate::support::{Server, wait_until};

fn ids(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["backup"].as_str().unwrap()).collect()
}

/// Ships some credits from a data directory, and ends.
fn go_on(stage: &Stage, count: usize) {
    let server = stage.ship(&[]);
    credit(&mut server.connect(), count);
    wait_until_shipped(&server);
    server.stop();
}

#[test]
fn an_old_machine_that_comes_back_neither_ships_on_nor_wins_over_the_restored_one() {
    let stage = Stage::new();
    let server = stage.ship(&[]);
    open_account(&mut server.connect());
    wait_until_shipped(&server);
    server.stop();
    let (restored, output) = stage.restore("restored", &[]);
    ended(&output, 0);
    let live = Stage { data: restored, store: stage.store.clone(), folder: tempfile::tempdir().unwrap() };
    go_on(&live, 50);
    let shipped = verified(&live.data)[0].0;
    // The old one starts by itself, and is used.
    let old = stage.ship(&[]);
    credit(&mut old.connect(), 5);
    wait_until("it sees the other", || old.http().get("/readyz?verbose").text().contains("later start"));
    old.stop();
    let (new, output) = stage.restore("new", &[]);
    assert_eq!(ended(&output, 0)[0]["sequence"], shipped, "{output:?}");
    assert_eq!(verified(&new)[0].0, shipped);
    // By hand it is backed up, too, and named; and what is live stays.
    let words = ["create", "--data", stage.data.to_str().unwrap()];
    let other = ended(&stage.backup(&words), 0).remove(0)["backup"].as_str().unwrap().to_owned();
    let (_, output) = stage.restore("named", &[]);
    assert_eq!(ended(&output, 0)[0]["sequence"], shipped, "{output:?}");
    assert!(said(&output).contains(&other) && said(&output).contains("another history"), "{output:?}");
    let pruned = stage.backup(&["prune", "--keep", "1"]);
    ended(&pruned, 0);
    assert!(said(&pruned).contains(&other), "{pruned:?}");
    let (_, output) = stage.restore("pruned", &[]);
    assert_eq!(ended(&output, 0)[0]["sequence"], shipped, "{output:?}");
}

#[test]
fn a_named_backup_is_restored_to_a_time_only_where_its_log_leads_there() {
    let stage = Stage::new();
    let server = stage.ship(&[]);
    open_account(&mut server.connect());
    for _ in 0..3 {
        credit(&mut server.connect(), 10);
        wait_until_shipped(&server);
    }
    server.stop();
    let listed = ended(&stage.backup(&["list"]), 0);
    let id = ids(&listed)[0];
    let (new, output) = stage.restore("never", &["--backup", id, "--at", "2100-01-01T00:00:00Z"]);
    assert!(output.status.code() == Some(1) && said(&output).contains("leads to"), "{output:?}");
    assert!(!new.exists());
    let parts: Vec<_> =
        stage.objects().into_iter().filter(|path| path.to_string_lossy().contains("/log/")).collect();
    let middle = &parts[parts.len() - 2];
    let mut bytes = std::fs::read(middle).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(middle, bytes).unwrap();
    let through = listed[0]["log_through_ms"].to_string();
    for options in [["--at", &through], ["--sequence", "31"]] {
        let (_, output) = stage.restore("never", &[&["--backup", id], &options[..]].concat());
        let name = middle.file_name().unwrap().to_string_lossy();
        assert!(output.status.code() == Some(1) && said(&output).contains(&*name), "{output:?}");
    }
    let (_, output) = stage.restore("first", &["--at", "1", "--backup", id]);
    assert!(said(&output).contains("--allow-empty"), "{output:?}");
}

#[test]
fn a_store_without_any_backup_is_no_success() {
    let stage = Stage::new();
    std::fs::create_dir(&stage.store).unwrap();
    let prune = ["prune", "--keep", "1"];
    for words in [&["list"][..], &["verify", "--all"], &["verify", "--all", "--restore"], &prune] {
        let output = stage.backup(words);
        assert!(output.status.code() == Some(1) && said(&output).contains("no backup at"), "{output:?}");
    }
}

#[test]
fn pruning_leaves_the_next_backup_incremental_and_links_where_they_are() {
    let stage = small();
    let first = stage.create(&[])[0]["backup"].as_str().unwrap().to_owned();
    let aside = stage.folder.path().join("aside");
    let folder = stage.store.join("data").join(&first);
    std::fs::rename(&folder, &aside).unwrap();
    std::os::unix::fs::symlink(&aside, &folder).unwrap();
    ended(&stage.backup(&["prune", "--keep", "1"]), 0);
    ended(&stage.backup(&["verify"]), 0);
    std::fs::remove_file(&folder).unwrap();
    std::fs::rename(&aside, &folder).unwrap();
    stage.create(&[]);
    ended(&stage.backup(&["prune", "--keep", "1"]), 0);
    let server = Server::start(&stage.data, &["--backup", stage.store.to_str().unwrap()]);
    wait_until_shipped(&server);
    server.stop();
    let listed = ended(&stage.backup(&["list"]), 0);
    assert!(listed.iter().all(|row| row["builds_on"].is_string()), "{listed:?}");
}

/// Has all parts of the log say that they were taken a week later, as those that are shipped while the clock is ahead.
fn put_off_log(stage: &Stage) {
    let parts = stage.objects().into_iter().filter(|path| path.to_string_lossy().contains("/log/"));
    for path in parts {
        let bytes = std::fs::read(&path).unwrap();
        let mut lines = bytes.splitn(3, |byte| *byte == b'\n');
        let json = String::from_utf8(lines.next().unwrap().to_vec()).unwrap();
        let content = lines.nth(1).unwrap();
        let (number, at) = path.file_name().unwrap().to_str().unwrap().split_once('-').unwrap();
        let later = (at.parse::<u64>().unwrap() + 7 * 86_400_000).to_string();
        let json = json.replace(&format!("\"taken_at_ms\":{at}"), &format!("\"taken_at_ms\":{later}"));
        let seal = super::refusals::hash(json.as_bytes());
        let new = [json.as_bytes(), format!("\nsha256 {seal}\n").as_bytes(), content].concat();
        std::fs::write(path.with_file_name(format!("{number}-{later}")), new).unwrap();
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn the_newest_is_what_was_logged_last_though_the_log_before_was_shipped_with_a_clock_ahead() {
    let stage = small();
    go_on(&stage, 10);
    put_off_log(&stage);
    go_on(&stage, 10);
    let all = verified(&stage.data)[0].0;
    let (_, output) = stage.restore("newest", &[]);
    assert_eq!(ended(&output, 0)[0]["sequence"], all, "{output:?}");
    ended(&stage.backup(&["prune", "--keep", "1"]), 0);
    let (_, output) = stage.restore("kept", &[]);
    assert_eq!(ended(&output, 0)[0]["sequence"], all, "{output:?}");
}
