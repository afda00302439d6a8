//! A move that is killed anywhere: the deployment is in one place, whole, and only there.

use std::path::Path;
use std::time::{Duration, Instant};

use super::{Stage, call, ended, has};
use crate::support::{Server, scarce};

const ACCOUNTS: u32 = 2_000;

pub(super) fn fill(server: &Server) {
    let mut packed = Vec::new();
    for n in 0..ACCOUNTS {
        let words =
            [format!("ACCOUNT.OPEN a{n} EUR ID open{n}"), format!("ACCOUNT.CREDIT a{n} 7 ID credit{n}")];
        for line in words {
            scarce_client::pack(&line.split(' ').collect::<Vec<_>>(), &mut packed);
        }
    }
    let mut client = server.connect();
    client.send(&packed).unwrap();
    (0..2 * ACCOUNTS).for_each(|_| _ = client.receive().unwrap());
}

/// Whether a server starts on a directory; then everything is there, and nothing happens twice.
pub(super) fn is_served(data: &Path, partitions: u32) -> bool {
    if !has(data, "deployment.toml") {
        return false;
    }
    let mut probe = scarce();
    probe.args(["serve", "--resp", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data"]).arg(data);
    probe.args(["--partitions", &partitions.to_string()]);
    if has(data, "moved") {
        let told = Server::spawn(probe).socket().call(&["PING"]);
        assert!(told.starts_with("-MIGRATED"), "{told}");
        return false;
    }
    if has(data, "arriving") && !has(data.parent().unwrap(), "old/moved") {
        let (code, text) = crate::support::refused_start(&mut probe);
        assert_eq!(code, Some(1), "{text}");
        return false;
    }
    let server = Server::spawn(probe);
    let mut client = server.connect();
    for n in (0..ACCOUNTS).step_by(97) {
        let again = call(&mut client, &format!("ACCOUNT.CREDIT a{n} 7 ID credit{n}"));
        assert_eq!(again, redis::Value::Array([1, 7, 7].map(redis::Value::Int).to_vec()), "a{n}");
    }
    server.stop();
    true
}

#[test]
fn a_move_that_is_killed_anywhere_leaves_the_deployment_in_one_place() {
    let stage = Stage::new();
    let server = stage.serve("old", 2);
    fill(&server);
    server.stop();
    let (old, new) = (stage.path("old"), stage.path("new"));
    let begun = Instant::now();
    ended(&stage.migrate("old", "new", &["--partitions", "3", "--dry-run"]), 0);
    let usual = begun.elapsed();
    let mut killed = 0;
    for round in 0.. {
        let mut child = stage.command("old", "new", &["--partitions", "3"]).spawn().unwrap();
        // A little later each time, until one is not killed any more.
        let patience = usual.mul_f64(f64::from(round) / 12.0);
        let ended_by_itself = wait(&mut child, patience);
        let served = [is_served(&old, 2), is_served(&new, 3)];
        assert_eq!(served.iter().filter(|is_served| **is_served).count(), 1, "round {round}: {served:?}");
        killed += u32::from(!ended_by_itself);
        if served[1] {
            break;
        }
        if new.exists() {
            // Never served, because the old files have no mark of it.
            std::fs::remove_dir_all(&new).unwrap();
        }
    }
    assert!(killed >= 5, "only {killed} were killed");
    let left = std::fs::read_dir(stage.folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with(".scarce-migrate-")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Kills a process when patience ends. Whether it ended before.
pub(super) fn wait(child: &mut std::process::Child, patience: Duration) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < patience {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return true;
        }
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap().success()
}
