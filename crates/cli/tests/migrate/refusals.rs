//! Moves that are refused: nothing is changed, and the old files are served on.

use super::{Stage, call, ended, has, said};
use crate::support::scarce;

fn small(stage: &Stage) {
    let server = stage.serve("old", 2);
    let mut client = server.connect();
    for n in 0..10 {
        call(&mut client, &format!("ACCOUNT.OPEN a{n} EUR ID {n}"));
    }
    server.stop();
}

/// The old files are served, and another move can follow.
fn check_served(stage: &Stage) {
    assert!(!has(&stage.path("old"), "moved"));
    let server = stage.serve("old", 2);
    call(&mut server.connect(), "ACCOUNT.CREDIT a1 1");
    server.stop();
}

#[test]
fn a_target_that_is_not_empty_or_is_the_source_is_refused() {
    let stage = Stage::new();
    small(&stage);
    stage.serve("other", 1).stop();
    for (to, why) in [("other", "not empty"), ("old", "not empty"), ("old/../other", "not empty")] {
        let output = stage.migrate("old", to, &["--partitions", "3"]);
        ended(&output, 3);
        assert!(said(&output).contains(why), "{}", said(&output));
    }
    check_served(&stage);
}

#[test]
fn a_source_that_is_served_or_has_moved_or_is_none_is_refused() {
    let stage = Stage::new();
    small(&stage);
    let server = stage.serve("old", 2);
    let output = stage.migrate("old", "new", &["--partitions", "3"]);
    ended(&output, 3);
    assert!(said(&output).contains("stop the server"), "{}", said(&output));
    server.stop();
    ended(&stage.migrate("none", "new", &[]), 1);
    for count in ["0", "1025"] {
        ended(&stage.migrate("old", "new", &["--partitions", count]), 2);
    }
    check_served(&stage);
    ended(&stage.migrate("old", "new", &["--partitions", "3"]), 0);
    let output = stage.migrate("old", "newer", &["--partitions", "3"]);
    ended(&output, 3);
    assert!(said(&output).contains("has moved to"), "{}", said(&output));
    assert!(!stage.path("newer").exists());
}

#[test]
fn a_target_inside_of_the_source_is_refused() {
    let stage = Stage::new();
    small(&stage);
    for to in ["old/new", "old/partition-0000/new", "old/a/b/new", "old/../old/new"] {
        let output = stage.migrate("old", to, &["--partitions", "3"]);
        ended(&output, 3);
        assert!(said(&output).contains("is inside of"), "{}", said(&output));
    }
    assert!(!has(&stage.path("old"), "a") && !has(&stage.path("old"), "new"));
    check_served(&stage);
}

#[test]
fn an_old_directory_that_cannot_take_the_mark_is_noticed_before_the_work() {
    let stage = Stage::new();
    small(&stage);
    // It stands for a disk that is full.
    let obstacle = stage.path("old").join("relocation.tmp");
    std::fs::create_dir(&obstacle).unwrap();
    std::fs::write(obstacle.join("file"), "x").unwrap();
    for partitions in ["2", "3"] {
        let output = stage.migrate("old", "new", &["--partitions", partitions]);
        ended(&output, 1);
        assert!(said(&output).contains("relocation.tmp"), "{}", said(&output));
        assert!(!stage.path("new").exists());
    }
    check_served(&stage);
    std::fs::remove_dir_all(&obstacle).unwrap();
    ended(&stage.migrate("old", "new", &["--partitions", "3"]), 0);
}

#[test]
fn what_a_deployment_has_left_is_neither_restored_nor_backed_up() {
    let stage = Stage::new();
    small(&stage);
    ended(&stage.migrate("old", "new", &["--partitions", "3"]), 0);
    let run = |words: &[&str], from: &str, to: &str| {
        let mut command = scarce();
        command.args(words).arg(stage.path(from)).arg(if words[0] == "backup" {
            "--store"
        } else {
            "--data"
        });
        command.arg(stage.path(to)).output().unwrap()
    };
    for words in [&["restore", "--from"][..], &["backup", "create", "--data"]] {
        let output = run(words, "old", "copy");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(said(&output).contains("has moved to"), "{}", said(&output));
        assert!(!has(&stage.path("copy"), "deployment.toml") && !has(&stage.path("copy"), "backups"));
    }
    // What it has not arrived in neither.
    let mark = "the move that made it was not finished";
    std::fs::copy(stage.path("old").join("moved"), stage.path("new").join("arriving")).unwrap();
    let output = run(&["restore", "--from"], "new", "copy");
    assert!(output.status.code() == Some(1) && said(&output).contains(mark), "{output:?}");
    std::fs::remove_file(stage.path("new").join("arriving")).unwrap();
    assert!(run(&["restore", "--from"], "new", "copy").status.success());
    assert!(run(&["backup", "create", "--data"], "new", "store").status.success());
}

#[test]
fn a_dry_run_says_what_would_be_and_changes_nothing() {
    let stage = Stage::new();
    small(&stage);
    let output = stage.migrate("old", "new", &["--partitions", "3", "--dry-run"]);
    let rows = ended(&output, 0);
    assert_eq!(rows.len(), 3);
    let records: u64 = rows.iter().map(|row| row["records"].as_u64().unwrap()).sum();
    // The accounts, and the world's in each partition that has any.
    assert!((11..=13).contains(&records), "{rows:?}");
    assert!(said(&output).contains("nothing was changed"), "{}", said(&output));
    assert!(!stage.path("new").exists());
    check_served(&stage);
}

#[test]
fn an_id_of_two_operations_is_refused_where_their_partitions_become_one() {
    let stage = Stage::new();
    let server = stage.serve("old", 2);
    let mut client = server.connect();
    for n in 0..10 {
        call(&mut client, &format!("ACCOUNT.OPEN a{n} EUR ID same"));
    }
    server.stop();
    let output = stage.migrate("old", "new", &["--partitions", "1"]);
    ended(&output, 3);
    assert!(said(&output).contains("1 operation ids were used"), "{}", said(&output));
    assert!(!stage.path("new").exists());
    // Each of four gets the ids of one.
    ended(&stage.migrate("old", "new", &["--partitions", "4"]), 0);
}

#[test]
fn damage_is_not_moved() {
    let stage = Stage::new();
    small(&stage);
    let segment = crate::support::first_segment(&stage.path("old"));
    let mut bytes = std::fs::read(&segment).unwrap();
    // The second frame; later ones say that it was durable.
    bytes[4_096 + 80] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    let output = stage.migrate("old", "new", &["--partitions", "3"]);
    assert!(matches!(output.status.code(), Some(1 | 5)), "{output:?}");
    assert!(!stage.path("new").exists() && !has(&stage.path("old"), "moved"));
    let mut verify = scarce();
    verify.args(["journal", "verify", "--data"]).arg(stage.path("old"));
    assert!(!verify.output().unwrap().status.success());
}
