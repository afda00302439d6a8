//! What processes leave that were killed, and who clears it away.

use super::refusals::small;
use super::{ended, said};

#[test]
fn pruning_clears_away_what_a_killed_backup_left() {
    let stage = small();
    stage.create(&[]);
    let killed = "20200101T000000Z-00000000";
    let left = [format!("data/{killed}"), format!("log/{killed}")].map(|folder| stage.store.join(folder));
    left.iter().for_each(|folder| std::fs::create_dir_all(folder).unwrap());
    let begun = stage.store.join("data/20200101T000000Z-11111111");
    std::fs::create_dir(&begun).unwrap();
    std::fs::write(begun.join(".unfinished-ab"), b"x").unwrap();
    // While a backup is being made, it may be its.
    let announced = stage.store.join("pending/20990101T000000Z-00000000");
    std::fs::write(&announced, b"").unwrap();
    let output = stage.backup(&["prune", "--keep", "1"]);
    ended(&output, 0);
    assert!(said(&output).contains("--abandoned-hours 0"), "{output:?}");
    assert!(left.iter().all(|folder| folder.exists()) && begun.exists());
    std::fs::remove_file(&announced).unwrap();
    ended(&stage.backup(&["prune", "--keep", "1", "--dry-run"]), 0);
    assert!(left.iter().all(|folder| folder.exists()) && begun.exists());
    ended(&stage.backup(&["prune", "--keep", "1"]), 0);
    for path in left.iter().chain([&begun]) {
        assert!(!path.exists(), "{}", path.display());
    }
    ended(&stage.backup(&["verify", "--all", "--restore"]), 0);
}

#[test]
fn a_restore_clears_away_what_a_killed_one_left_and_harms_none_that_runs() {
    let stage = small();
    stage.create(&[]);
    let [dead, live] = [".scarce-restore-Dead01", ".scarce-restore-Live01"].map(|name| {
        let folder = stage.folder.path().join(name);
        std::fs::create_dir_all(folder.join("partition-0000")).unwrap();
        std::fs::write(folder.join("partition-0000/x"), b"x").unwrap();
        folder
    });
    // A running one holds its directory.
    let held = std::fs::File::open(&live).unwrap();
    held.try_lock().unwrap();
    for name in [".scarce-restore-Dead01", ".scarce-restore-New001"] {
        let (to, output) = stage.restore(name, &[]);
        assert!(output.status.code() == Some(1) && said(&output).contains("unfinished"), "{output:?}");
        assert_eq!(to.exists(), name.contains("Dead"));
    }
    let (new, output) = stage.restore("new", &[]);
    ended(&output, 0);
    assert!(said(&output).contains(".scarce-restore-Dead01"), "it is named: {output:?}");
    assert!(!dead.exists() && live.exists() && new.exists());
    let output = stage.backup(&["verify", "--restore", "--in", stage.folder.path().to_str().unwrap()]);
    ended(&output, 0);
    assert!(live.exists());
}
