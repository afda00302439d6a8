//! Several partitions: none is restored with what follows from what another lacks.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Stage, ended};
use crate::support::{Server, wait_until};

/// Credits an account of the one partition and, once that is acknowledged, one of the other.
fn credit_both(server: &Server, is_over: &AtomicBool) {
    let mut client = server.connect();
    while !is_over.load(Ordering::Relaxed) {
        client.call(&["ACCOUNT.CREDIT", "b", "1"]).unwrap();
        client.call(&["ACCOUNT.CREDIT", "a", "1"]).unwrap();
    }
}

fn balance(server: &Server, account: &str) -> i64 {
    server.http().get(&format!("/v1/accounts/{account}")).json()["balance"].as_i64().unwrap()
}

/// What follows is there only with what it follows from, and at most one is on its way.
fn check(data: &Path) -> i64 {
    let server = Server::start(data, &["--partitions", "2"]);
    let (first, second) = (balance(&server, "b"), balance(&server, "a"));
    server.stop();
    assert!(first == second || first == second + 1, "{first} and then {second}");
    second
}

#[test]
fn partitions_are_cut_at_one_time_in_backups_and_in_shipped_logs() {
    let stage = Stage::new();
    let shipped = stage.folder.path().join("shipped");
    let options = ["--segment-mib", "1", "--partitions", "2", "--backup-interval-ms", "50", "--backup"];
    let mut server = stage.serve(&[&options[..], &[shipped.to_str().unwrap()]].concat());
    let mut client = server.connect();
    for account in ["a", "b"] {
        client.call(&["ACCOUNT.OPEN", account, "EUR"]).unwrap();
    }
    let is_over = AtomicBool::new(false);
    let rows = std::thread::scope(|scope| {
        scope.spawn(|| credit_both(&server, &is_over));
        wait_until("some is credited", || balance(&server, "a") > 20);
        let rows: Vec<_> = (0..3).map(|_| stage.create(&["--full"])).collect();
        let parts = || {
            let text = server.http().get("/metrics").text();
            let line = text.lines().find(|line| line.starts_with("scarce_backup_log_parts_total"));
            line.unwrap().rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()
        };
        wait_until("parts are shipped", || parts() > 10);
        is_over.store(true, Ordering::Relaxed);
        rows
    });
    server.kill();
    for (at, row) in rows.iter().enumerate() {
        assert!(row.iter().all(|row| row["sequence"].as_u64() > Some(10)), "both are written to: {row:?}");
        let name = format!("new-{at}");
        let (new, output) = stage.restore(&name, &["--backup", row[0]["backup"].as_str().unwrap()]);
        ended(&output, 0);
        check(&new);
    }
    let log = Stage { store: shipped, ..stage };
    let (new, output) = log.restore("from-log", &[]);
    ended(&output, 0);
    assert!(check(&new) > 20);
}
