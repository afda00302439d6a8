//! What is damaged, missing, exchanged, or encrypted with another key.

use std::path::{Path, PathBuf};

use super::{Stage, credit, ended, open_account, said};

fn one_backup(options: &[&str]) -> Stage {
    let stage = Stage::new();
    let server = stage.serve(&["--segment-mib", "1"]);
    let mut client = server.connect();
    open_account(&mut client);
    credit(&mut client, 30_000);
    drop(client);
    server.stop();
    stage.create(options);
    stage
}

fn pieces(stage: &Stage) -> Vec<PathBuf> {
    let is_piece = |path: &PathBuf| path.to_string_lossy().contains("/data/2");
    stage.objects().into_iter().filter(is_piece).collect()
}

/// The largest pieces: parts of segments.
fn two_large(stage: &Stage) -> [PathBuf; 2] {
    let mut pieces = pieces(stage);
    pieces.sort_by_key(|path| std::cmp::Reverse(std::fs::metadata(path).unwrap().len()));
    [pieces[0].clone(), pieces[1].clone()]
}

fn check_refused(stage: &Stage, options: &[&str], damaged: &Path) {
    let output = stage.backup(&[&["verify"], options].concat());
    let name = damaged.file_name().unwrap().to_string_lossy().into_owned();
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    assert!(said(&output).contains(&name) && said(&output).contains("partition 0, journal-"), "{output:?}");
    let (new, output) = stage.restore("never", options);
    assert!(output.status.code() == Some(5) && said(&output).contains(&name), "{output:?}");
    assert!(!new.exists(), "nothing is served that was not verified");
}

#[test]
fn every_kind_of_damage_is_found_and_named_before_anything_is_restored() {
    let stage = one_backup(&[]);
    let [one, other] = two_large(&stage);
    let (good, swapped) = (std::fs::read(&one).unwrap(), std::fs::read(&other).unwrap());
    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 1;
    for bad in
        [&flipped, &good[..good.len() - 1].to_vec(), &Vec::new(), &swapped, &[&good[..], b"x"].concat()]
    {
        std::fs::write(&one, bad).unwrap();
        check_refused(&stage, &[], &one);
    }
    std::fs::remove_file(&one).unwrap();
    check_refused(&stage, &[], &one);
    std::fs::write(&one, &good).unwrap();
    ended(&stage.backup(&["verify", "--restore"]), 0);
}

#[test]
fn a_changed_manifest_is_no_ground_for_anything() {
    let stage = one_backup(&[]);
    let manifest = stage.objects().into_iter().find(|path| path.extension().is_some()).unwrap();
    let good = std::fs::read(&manifest).unwrap();
    let objects = stage.objects();
    for place in (0..good.len()).step_by(97) {
        let mut bad = good.clone();
        bad[place] ^= 4;
        std::fs::write(&manifest, bad).unwrap();
        let output = stage.backup(&["list"]);
        assert_eq!(output.status.code(), Some(5), "byte {place}: {output:?}");
    }
    let output = stage.backup(&["prune", "--keep", "1"]);
    assert!(output.status.code() == Some(1) && said(&output).contains("no object was removed"), "{output:?}");
    assert_eq!(stage.objects(), objects);
    let newer = String::from_utf8(good.clone()).unwrap().replace("\"version\":1", "\"version\":2");
    std::fs::write(&manifest, newer).unwrap();
    let output = stage.backup(&["list"]);
    assert!(said(&output).contains("use the newer release"), "{output:?}");
    // A backup of the data is a full one then, since nothing is known of the other.
    assert_eq!(stage.create(&[])[0]["builds_on"], serde_json::json!(null));
    std::fs::write(&manifest, good).unwrap();
    ended(&stage.backup(&["verify", "--all", "--restore"]), 0);
}

#[test]
fn what_the_store_has_lost_is_put_again_by_the_next_backup() {
    let stage = one_backup(&[]);
    let pieces = two_large(&stage);
    std::fs::remove_file(&pieces[0]).unwrap();
    std::fs::write(&pieces[1], b"").unwrap();
    let made = stage.create(&[]);
    assert!(made[0]["new_bytes"].as_u64().unwrap() > 100_000, "{made:?}");
    ended(&stage.backup(&["verify", "--restore"]), 0);
    assert_eq!(stage.create(&[])[0]["builds_on"], made[0]["backup"]);
    ended(&stage.backup(&["verify", "--restore"]), 0);
}

#[test]
fn a_damaged_log_is_not_backed_up() {
    let stage = one_backup(&[]);
    let segment = stage.data.join("partition-0000/journal-00000001-0000000000000001.seg");
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes[300_000] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    let words = ["create", "--full", "--data", stage.data.to_str().unwrap()];
    let output = stage.backup(&words);
    assert!(output.status.code() == Some(1) && said(&output).contains("had been durable"), "{output:?}");
    assert_eq!(ended(&stage.backup(&["list"]), 0).len(), 1);
    let (_, output) = stage.restore("new", &[]);
    ended(&output, 0);
}

#[test]
fn an_encrypted_backup_tells_nothing_and_a_wrong_key_is_told_apart_from_damage() {
    let keys = tempfile::tempdir().unwrap();
    let key = |name: &str| {
        let path = keys.path().join(name);
        let made = crate::support::scarce().args(["backup", "key"]).arg(&path).output().unwrap();
        assert_eq!(made.status.code(), Some(0), "{made:?}");
        path.to_str().unwrap().to_owned()
    };
    let (right, wrong) = (key("right"), key("wrong"));
    let stage = one_backup(&["--key-file", &right]);
    for path in pieces(&stage) {
        let bytes = std::fs::read(&path).unwrap();
        let shows = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        assert!(!shows(b"alice") && !shows(b"secret") && !shows(b"SCSEGMNT"), "{}", path.display());
    }
    let id = ended(&stage.backup(&["list"]), 0)[0]["encrypted"].as_str().unwrap().to_owned();
    for (options, part) in [(&[][..], "no key was given"), (&["--key-file", &wrong], "the given one is")] {
        let output = stage.backup(&[&["verify"], options].concat());
        assert!(output.status.code() == Some(1) && said(&output).contains(part), "{output:?}");
        assert!(said(&output).contains(&id), "{output:?}");
        let (new, output) = stage.restore("never", options);
        assert!(output.status.code() == Some(1) && said(&output).contains(part), "{output:?}");
        assert!(!new.exists());
        let output = stage.backup(&[&["prune", "--keep", "1"], options].concat());
        assert_eq!(output.status.code(), Some(1), "{output:?}");
    }
    let with_right = ["--key-file", &right];
    ended(&stage.backup(&[&["verify", "--restore"], &with_right[..]].concat()), 0);
    // With another key nothing can be shared; with both in one file all of them are read.
    assert_eq!(stage.create(&["--key-file", &wrong])[0]["builds_on"], serde_json::json!(null));
    let both = keys.path().join("both");
    let text = [&right, &wrong].map(|path| std::fs::read_to_string(path).unwrap()).concat();
    std::fs::write(&both, text).unwrap();
    let with_both = ["--key-file", both.to_str().unwrap()];
    ended(&stage.backup(&[&["verify", "--all", "--restore"], &with_both[..]].concat()), 0);
    let one = pieces(&stage).remove(0);
    let mut bytes = std::fs::read(&one).unwrap();
    bytes[0] ^= 1;
    std::fs::write(&one, bytes).unwrap();
    let output = stage.backup(&[&["verify", "--all"], &with_both[..]].concat());
    assert!(output.status.code() == Some(5) && said(&output).contains("damaged"), "{output:?}");
}

/// Two full backups of which the newer one lacks its pieces.
fn newest_without_pieces() -> (Stage, [String; 2]) {
    let stage = super::refusals::small();
    let made = [(); 2].map(|()| stage.create(&["--full"])[0]["backup"].as_str().unwrap().to_owned());
    std::fs::remove_dir_all(stage.store.join("data").join(&made[1])).unwrap();
    (stage, made)
}

#[test]
fn pruning_keeps_a_backup_that_can_be_restored_where_the_newest_lacks_pieces() {
    let (stage, [good, broken]) = newest_without_pieces();
    let output = stage.backup(&["prune", "--keep", "1"]);
    let kept = ended(&output, 5);
    assert!(kept.len() == 2 && kept.iter().all(|row| row["state"] == "kept"), "{output:?}");
    assert!(said(&output).contains(&broken) && said(&output).contains("is missing"), "{output:?}");
    ended(&stage.restore("good", &["--backup", &good]).1, 0);
    // Once there is another that is whole, neither is needed.
    let made = stage.create(&[]);
    ended(&stage.backup(&["prune", "--keep", "1"]), 0);
    let listed = ended(&stage.backup(&["list"]), 0);
    assert!(listed.len() == 1 && listed[0]["backup"] == made[0]["backup"], "{listed:?}");
    ended(&stage.backup(&["verify", "--restore"]), 0);
}

#[test]
fn a_newest_backup_that_lacks_pieces_is_named_and_can_be_skipped() {
    let (stage, [good, broken]) = newest_without_pieces();
    let (new, output) = stage.restore("never", &[]);
    ended(&output, 5);
    for part in [&*broken, &good, "is missing", "--skip-damaged"] {
        assert!(said(&output).contains(part), "no '{part}' in {output:?}");
    }
    assert!(!new.exists());
    let (_, output) = stage.restore("never", &["--backup", &broken]);
    ended(&output, 5);
    assert!(said(&output).contains("it is missing") && !said(&output).contains("disk failed"), "{output:?}");
    let (_, output) = stage.restore("skipped", &["--skip-damaged"]);
    ended(&output, 0);
    assert!(said(&output).contains(&format!("restored from backup {good}")), "{output:?}");
}
