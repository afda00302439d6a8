//! Restoring to a time, to a sequence, to a named backup; removing old backups.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::{Stage, credit, ended, open_account, said, verified};

pub(super) fn now_ms() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()
}

/// A time that no later event can have: its millisecond has passed.
fn past_moment() -> u128 {
    let moment = now_ms();
    while now_ms() == moment {
        std::hint::spin_loop();
    }
    moment
}

/// Three backups with 60 000 events between them; and when each one was complete.
fn three_backups(stage: &Stage, options: &[&str]) -> Vec<Value> {
    let mut rows = Vec::new();
    let server = stage.serve(&[&["--segment-mib", "1"], options].concat());
    let mut client = server.connect();
    open_account(&mut client);
    for _ in 0..3 {
        for _ in 0..3 {
            credit(&mut client, 20_000);
            client.call(&["SNAPSHOT"]).unwrap();
        }
        let mut row = stage.create(&[]).remove(0);
        row["taken_at"] = json!(u64::try_from(past_moment()).unwrap());
        rows.push(row);
    }
    drop(client);
    server.stop();
    rows
}

#[test]
fn a_sequence_leads_to_the_backup_that_reaches_it() {
    let stage = Stage::new();
    let rows = three_backups(&stage, &[]);
    let ends: Vec<u64> = rows.iter().map(|row| row["sequence"].as_u64().unwrap()).collect();
    assert!(rows[2]["reaches_back_to"].as_u64().unwrap() > ends[0], "the log was shortened: {rows:?}");
    let all = verified(&stage.data)[0].clone();
    assert_eq!(all.0, ends[2]);
    for (at, row) in rows.iter().enumerate() {
        let (new, output) =
            stage.restore(&format!("by-name-{at}"), &["--backup", row["backup"].as_str().unwrap()]);
        assert_eq!(ended(&output, 0)[0]["sequence"], row["sequence"]);
        assert_eq!(verified(&new)[0].0, ends[at]);
        let back = row["reaches_back_to"].as_u64().unwrap().max(1);
        let (_, output) = stage.restore(&format!("by-sequence-{at}"), &["--sequence", &back.to_string()]);
        assert_eq!(ended(&output, 0)[0]["sequence"], json!(back));
    }
    for (options, part) in [
        (["--at", "2100-01-01T00:00:00Z"], "the newest is"),
        (["--at", "2001-01-01T00:00:00Z"], "can be restored from"),
        (["--sequence", "99999999"], "to 180001"),
        (["--backup", "nonsense"], "nonsense"),
    ] {
        let (new, output) = stage.restore("never", &options);
        assert!(output.status.code() == Some(1) && said(&output).contains(part), "{options:?}: {output:?}");
        assert!(!new.exists());
    }
    let left: Vec<_> =
        std::fs::read_dir(stage.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{left:?}");
}

#[test]
fn a_time_leads_to_the_first_backup_that_was_begun_later() {
    let stage = Stage::new();
    let rows = three_backups(&stage, &["--log-retention-ms", "7d"]);
    for (at, row) in rows.iter().enumerate().take(2) {
        let (_, output) = stage.restore(&format!("at-{at}"), &["--at", &row["taken_at"].to_string()]);
        assert_eq!(ended(&output, 0)[0]["sequence"], row["sequence"]);
        let next = rows[at + 1]["backup"].as_str().unwrap();
        assert!(said(&output).contains(next), "{output:?}");
    }
    let begun_at = rows[0]["begun_at"].as_str().unwrap();
    let (_, output) = stage.restore("as-text", &["--at", begun_at]);
    let sequence = ended(&output, 0)[0]["sequence"].as_u64();
    assert!(sequence <= rows[0]["sequence"].as_u64(), "{output:?}");
    let (_, output) = stage.restore("never", &["--at", &rows[2]["taken_at"].to_string()]);
    assert!(output.status.code() == Some(1) && said(&output).contains("the newest is"), "{output:?}");
}

#[test]
fn a_time_never_leads_to_a_backup_that_lacks_what_was_answered_before() {
    let stage = Stage::new();
    let server = stage.serve(&["--segment-mib", "1", "--log-retention-ms", "7d"]);
    let mut client = server.connect();
    open_account(&mut client);
    for sequence in 2..12 {
        credit(&mut client, 1);
        let answered_at = now_ms();
        // At once after the answer it may lack it.
        stage.create(&[]);
        let name = format!("at-{sequence}");
        let (_, output) = stage.restore(&name, &["--at", &answered_at.to_string()]);
        match output.status.code() {
            Some(0) => assert_eq!(ended(&output, 0)[0]["sequence"], json!(sequence), "{output:?}"),
            _ => assert!(said(&output).contains("reaches the time"), "{output:?}"),
        }
    }
    drop(client);
    server.stop();
}

/// Has a backup say that it was begun a week later, as one does that is made while the clock is ahead.
fn put_off(manifest: &std::path::Path, id: &str) {
    let text = std::fs::read_to_string(manifest).unwrap();
    let json = text.lines().next().unwrap();
    let begun = json.split("\"begun_at_ms\":").nth(1).unwrap().split(',').next().unwrap();
    let later = (begun.parse::<u64>().unwrap() + 7 * 86_400_000).to_string();
    let json = json.replace(&format!("\"begun_at_ms\":{begun}"), &format!("\"begun_at_ms\":{later}"));
    assert!(json.contains(id));
    std::fs::write(manifest, &json).unwrap();
    let sum = std::process::Command::new("sha256sum").arg(manifest).output().unwrap().stdout;
    let sum = String::from_utf8(sum).unwrap();
    let seal = format!("sha256 {}", sum.split_whitespace().next().unwrap());
    std::fs::write(manifest, format!("{json}\n{seal}\n")).unwrap();
}

#[test]
fn the_newest_backup_is_the_last_that_was_made_though_the_clock_was_ahead_once() {
    let stage = Stage::new();
    let server = stage.serve(&["--segment-mib", "1", "--log-retention-ms", "7d"]);
    let mut client = server.connect();
    open_account(&mut client);
    credit(&mut client, 1_000);
    crate::support::wait_until("all of it is in", || stage.create(&["--full"])[0]["sequence"] == 1_001);
    let first = stage.create(&["--full"]).remove(0);
    let id = first["backup"].as_str().unwrap();
    put_off(&stage.store.join(format!("backups/{id}.manifest")), id);
    credit(&mut client, 1_000);
    let answered_at = now_ms();
    crate::support::wait_until("all of it is in", || stage.create(&[])[0]["sequence"] == 2_001);
    drop(client);
    server.stop();
    let (_, output) = stage.restore("newest", &[]);
    assert_eq!(ended(&output, 0)[0]["sequence"], 2_001, "{output:?}");
    let (_, output) = stage.restore("at", &["--at", &answered_at.to_string()]);
    assert_eq!(ended(&output, 0)[0]["sequence"], 2_001, "{output:?}");
    ended(&stage.backup(&["prune", "--keep", "1"]), 0);
    let (_, output) = stage.restore("kept", &[]);
    assert_eq!(ended(&output, 0)[0]["sequence"], 2_001, "{output:?}");
}

#[test]
fn pruning_keeps_what_the_kept_backups_need_and_nothing_else() {
    let stage = Stage::new();
    let rows = three_backups(&stage, &[]);
    let before = stage.objects();
    let dry = ended(&stage.backup(&["prune", "--keep", "1", "--dry-run"]), 0);
    assert_eq!(dry.iter().filter(|row| row["state"] == "would be removed").count(), 2);
    assert_eq!(stage.objects(), before);
    let kept = ended(&stage.backup(&["prune", "--keep-days", "1"]), 0);
    assert!(kept.iter().all(|row| row["state"] == "kept") && kept.len() == 3, "{kept:?}");
    assert_eq!(stage.objects(), before);
    ended(&stage.backup(&["prune", "--keep", "2"]), 0);
    let whole = ended(&stage.backup(&["verify", "--all", "--restore"]), 0);
    assert_eq!(
        whole.iter().map(|row| row["backup"].clone()).collect::<Vec<_>>(),
        [rows[1]["backup"].clone(), rows[2]["backup"].clone()]
    );
    // The newest stays whatever is asked for.
    ended(&stage.backup(&["prune", "--keep", "0"]), 0);
    ended(&stage.backup(&["verify", "--restore"]), 0);
    assert!(stage.objects().len() < before.len());
    let (new, output) = stage.restore("new", &[]);
    ended(&output, 0);
    assert_eq!(verified(&new), verified(&stage.data));
    assert_eq!(stage.backup(&["prune"]).status.code(), Some(2), "what to keep is to be said");
}
