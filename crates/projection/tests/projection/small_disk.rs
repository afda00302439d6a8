//! SQLite on a file system that becomes full, or read-only. The file system is mounted in a namespace of the
//! child's own, so that nothing of it is left behind.

use std::process::Command;
use std::time::{Duration, Instant};

use scarce_outflow::Consumer;
use scarce_projection::{Projection, ProjectionOptions};

use crate::kit::{DEPLOYMENT, Database, DatabaseKind, Log, open, take};

/// The variable that gives a child the folder for its file system.
const CHILD_FOLDER: &str = "SCARCE_TEST_SMALL_DISK";

/// More than fits in a small file system.
fn log() -> Log {
    let mut log = Log::new(Default::default(), 0);
    log.run("ACCOUNT.OPEN a EUR");
    for number in 0..20_000 {
        log.run(&format!("ACCOUNT.CREDIT a 1 ID {number:0>100}"));
    }
    log
}

fn try_mount(options: &str, folder: &str) -> bool {
    let done = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs", folder]).output();
    done.expect("mount").status.success()
}

fn mount(options: &str, folder: &str) {
    assert!(try_mount(options, folder), "{options}");
}

/// Dropped connections close the file with a delay.
async fn remount_read_only(folder: &str) {
    let begun = Instant::now();
    while !try_mount("remount,ro", folder) {
        assert!(begun.elapsed() < Duration::from_secs(60), "somebody has the file open");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[test]
fn sqlite_goes_on_when_there_is_room_again_or_it_may_write_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = std::env::current_exe().expect("this program");
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount"])
        .arg(program)
        .args(["--exact", "small_disk::child_on_a_small_disk", "--nocapture", "--test-threads=1"])
        .env(CHILD_FOLDER, folder.path())
        .output()
        .expect("unshare");
    let printed =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
}

#[tokio::test]
async fn child_on_a_small_disk() {
    let Ok(folder) = std::env::var(CHILD_FOLDER) else { return };
    mount("size=3m", &folder);
    let url = format!("sqlite://{folder}/projection.db");
    let database = Database::at(DatabaseKind::Sqlite, url);
    let projection = open(&database, 5).await;
    let (log, mut consumer) = (log(), projection.consumer(0));
    let batches = log.pieces(500);
    let mut next = 0;
    let full = loop {
        match consumer.consume(&batches[next]).await {
            Ok(()) => next += 1,
            Err(trouble) => break trouble,
        }
    };
    assert!(full.reason.contains("free space on the database's disk"), "{full}");
    assert!(next > 0, "not even the first batch went in");
    assert!(consumer.consume(&batches[next]).await.is_err(), "it is full still");
    mount("remount,size=64m", &folder);
    take(&mut consumer, &batches[next]).await;
    drop((consumer, projection));
    remount_read_only(&folder).await;
    let projection =
        Projection::new(database.url(), DEPLOYMENT, ProjectionOptions::default()).expect("an address");
    let mut consumer = projection.consumer(0);
    let trouble = consumer.consume(&batches[next + 1]).await.expect_err("nobody may write");
    assert!(trouble.reason.contains("let this user write there"), "{trouble}");
    mount("remount,rw", &folder);
    for batch in &batches[next + 1..] {
        take(&mut consumer, batch).await;
    }
    assert_eq!(database.figure("balance", "FROM accounts").await, "20000");
    assert_eq!(database.figure("COUNT(*)", "FROM operations").await, "20000");
}
