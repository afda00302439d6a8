//! What a deployment has beside its records: who may call it, and who waits for it.

use std::path::Path;

use super::{Stage, ended};
use crate::support::{Server, scarce, wait_until};

/// One user in an hour.
const ROOMS: &str = "[[room]]\nname = \"sale\"\nresources = [\"hot-*\"]\nrate = \"1/h\"\n";

fn keys(data: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    let output = scarce().arg("keys").args(words).arg("--data").arg(data).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn create(data: &Path, name: &str) -> String {
    let (code, key, said) = keys(data, &["create", "--name", name, "--scope", "*", "--namespace", "shop"]);
    assert_eq!(code, Some(0), "{said}");
    key
}

/// The new server takes the keys of the old one, and nobody without.
fn check_keys(new: &Server, key: &str, revoked: &str) {
    let (mut stranger, mut socket) = (new.socket(), new.socket());
    assert!(stranger.call(&["ACCOUNT.GET", "a"]).starts_with("-NOAUTH"));
    assert!(stranger.call(&["AUTH", revoked]).starts_with("-WRONGPASS"));
    assert_eq!(socket.call(&["AUTH", key]), "OK");
    assert_eq!(socket.call(&["ACCOUNT.CREDIT", "a", "5", "ID", "c1"]), "[1 5 5]", "the first answer");
    assert!(socket.call(&["ACCOUNT.GET", "a"]).contains("balance 5"));
}

/// A change of the keys of the old directory would be lost.
fn check_no_change(old: &Path) {
    for words in [&["create", "--name", "late", "--scope", "read"][..], &["revoke", "till"]] {
        let (code, out, said) = keys(old, words);
        assert_eq!((code, out.as_str()), (Some(3), ""), "{said}");
        assert!(said.contains("has moved to"), "{said}");
    }
}

#[test]
fn keys_and_places_in_waiting_rooms_go_along_beside_a_running_server() {
    let stage = Stage::new();
    let rooms = stage.path("rooms.toml").display().to_string();
    std::fs::write(&rooms, ROOMS).unwrap();
    let (till, gone) = (create(&stage.path("old"), "till"), create(&stage.path("old"), "gone"));
    let old = Server::start(&stage.path("old"), &["--waiting-rooms", &rooms]);
    let mut socket = old.socket();
    assert_eq!(socket.call(&["AUTH", &till]), "OK");
    assert_eq!(socket.call(&["ACCOUNT.OPEN", "a", "EUR"]), "[1 0]");
    assert_eq!(socket.call(&["ACCOUNT.CREDIT", "a", "5", "ID", "c1"]), "[1 5 5]");
    for user in ["u1", "u2", "u3"] {
        assert!(socket.call(&["WAITINGROOM", "JOIN", "sale", user]).starts_with("[wr1_"));
    }
    assert_eq!(keys(&stage.path("old"), &["revoke", "gone"]).0, Some(0));
    wait_until("places are kept", || stage.path("old").join("waiting-rooms.json").exists());
    let from = stage.path("old").display().to_string();
    let new = Server::start(&stage.path("new"), &["--migrate-from", &from, "--waiting-rooms", &rooms]);
    check_keys(&new, &till, &gone);
    let mut there = new.socket();
    assert_eq!(there.call(&["AUTH", &till]), "OK");
    let joined = there.call(&["WAITINGROOM", "JOIN", "sale", "u4"]);
    assert!(joined.contains(" 3 10"), "it is behind those of the old server: {joined}");
    assert!(socket.call(&["WAITINGROOM", "JOIN", "sale", "u5"]).starts_with("-MIGRATED"));
    let body = serde_json::json!({ "user": "u5" });
    let login = format!("Bearer {till}");
    let path = "/v1/waiting-rooms/sale/tickets";
    let told = old.http().call("POST", path, &[("Authorization", &login)], Some(&body));
    assert_eq!((told.status, told.code().as_str()), (421, "MIGRATED"));
    check_no_change(&stage.path("old"));
}

#[test]
fn keys_go_along_at_rest_too() {
    for partitions in [1, 2] {
        let stage = Stage::new();
        let (till, gone) = (create(&stage.path("old"), "till"), create(&stage.path("old"), "gone"));
        let old = stage.serve("old", 1);
        let mut socket = old.socket();
        assert_eq!(socket.call(&["AUTH", &till]), "OK");
        assert_eq!(socket.call(&["ACCOUNT.OPEN", "a", "EUR"]), "[1 0]");
        assert_eq!(socket.call(&["ACCOUNT.CREDIT", "a", "5", "ID", "c1"]), "[1 5 5]");
        old.stop();
        assert_eq!(keys(&stage.path("old"), &["revoke", "gone"]).0, Some(0));
        ended(&stage.migrate("old", "new", &["--partitions", &partitions.to_string()]), 0);
        check_keys(&stage.serve("new", partitions), &till, &gone);
        check_no_change(&stage.path("old"));
    }
}
