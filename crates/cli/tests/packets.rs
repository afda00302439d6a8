//! `scarce packets` alone, and with campaigns of a real server.

mod support;

use std::path::Path;
use std::process::Command;

use scarce_client::{Client, integer, text};
use serde_json::Value;
use support::{Server, said, scarce_in};
use tempfile::TempDir;

const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
const COMMITMENT_OF_ZEROS: &str = "d074d10f0aadc5e2c37d31abacb38c9f277f299d8ed5560cd5b223f01792cca3";

fn packets(words: &[&str]) -> Command {
    scarce_in(Path::new("/"), &[&["packets"], words].concat())
}

fn json(command: &mut Command) -> (Option<i32>, Value) {
    let (code, stdout, stderr) = said(command);
    let parsed = serde_json::from_str(&stdout);
    (code, parsed.unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}")))
}

/// `packets verify` with the first test vector of the reference, and additional arguments.
fn verify(words: &[&str]) -> Command {
    let plan =
        ["verify", "--seed", ZEROS, "--total", "10000", "--count", "10", "--method", "DOUBLE_MEAN", "--json"];
    packets(&[&plan, words].concat())
}

#[test]
fn a_seed_gives_its_cut_and_chance_another_each_time() {
    let words = ["plan", "10000", "10", "--seed", ZEROS, "--amounts", "--json"];
    let (code, shown) = json(&mut packets(&words));
    assert_eq!(code, Some(0));
    assert_eq!(shown["amounts"], serde_json::json!([224, 1665, 130, 1133, 1755, 1292, 386, 408, 761, 2246]));
    assert_eq!((&shown["commitment"], &shown["figures"]["max"]), (&COMMITMENT_OF_ZEROS.into(), &2246.into()));
    let seeds = [0, 1].map(|_| json(&mut packets(&["plan", "10000", "10", "--json"])).1["seed"].clone());
    assert_ne!(seeds[0], seeds[1]);
}

#[test]
fn the_table_for_people_has_bars_figures_and_the_seed() {
    let (code, shown, _) =
        said(&mut packets(&["plan", "100000", "100", "--method", "line-cut", "--min", "5"]));
    assert_eq!(code, Some(0));
    for part in [
        "PLAN 100000 100 LINE_CUT MIN 5",
        "█",
        "Gini coefficient",
        "claims 1 – 10 ",
        "seed  ",
        "commitment  ",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains('\u{1b}'), "no colors without a terminal");
    let (code, _, stderr) = said(&mut packets(&["plan", "5", "10"]));
    assert_eq!(code, Some(2));
    assert!(stderr.contains("total is less than count packets of the minimum"), "{stderr}");
    let (code, _, stderr) = said(&mut packets(&["plan", "5", "1", "--method", "RANDOM"]));
    assert_eq!(code, Some(2));
    assert!(stderr.contains("EVEN, DOUBLE_MEAN, LINE_CUT"), "{stderr}");
}

#[test]
fn a_broken_promise_is_seen_in_the_exit_code() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    };
    let honest = file("honest", "[224, 1665, 130]\n1133 1755");
    let swapped = file("swapped", "224\n130\n1665\n");
    let (code, found) = json(&mut verify(&["--commitment", COMMITMENT_OF_ZEROS, "--amounts", &honest]));
    assert_eq!((code, &found["holds"], &found["compared"]), (Some(0), &true.into(), &5.into()), "{found}");
    let (code, found) = json(&mut verify(&["--commitment", COMMITMENT_OF_ZEROS, "--amounts", &swapped]));
    assert_eq!((code, &found["holds"]), (Some(5), &false.into()), "{found}");
    assert_eq!(found["differences"][0], serde_json::json!({ "packet": 2, "cut": 1665, "claimed": 130 }));
    let (code, found) = json(&mut verify(&["--commitment", ZEROS]));
    assert_eq!((code, &found["seed_fits"]), (Some(5), &false.into()), "{found}");
    let mut piped = verify(&["--commitment", COMMITMENT_OF_ZEROS, "--amounts", "-"]);
    let (code, found) = json(piped.stdin(std::fs::File::open(&honest).unwrap()));
    assert_eq!((code, &found["compared"]), (Some(0), &5.into()));
    let (code, _, stderr) = said(&mut packets(&["verify", "--seed", ZEROS]));
    assert_eq!(code, Some(2), "{stderr}");
    let empty = file("empty", "none\n");
    let (code, _, stderr) = said(&mut verify(&["--commitment", ZEROS, "--amounts", &empty]));
    assert_eq!((code, stderr.contains("holds no amounts")), (Some(2), true), "{stderr}");
}

/// `packets verify` of a campaign.
fn verify_campaign(server: &Server, name: &str) -> Command {
    packets(&["verify", "--campaign", name, "--resp", &server.address, "--json"])
}

/// Claims packets and returns their amounts.
fn claim(client: &mut Client, campaign: &str, users: std::ops::Range<u32>) -> Vec<i64> {
    let claim = |user: u32| {
        let answer = client.call(&["PACKET.CLAIM", campaign, &format!("user-{user}")]).expect("an answer");
        let redis::Value::Array(values) = answer else { panic!("{answer:?}") };
        integer(&values[2]).expect("an amount")
    };
    users.map(claim).collect()
}

#[test]
fn a_campaign_of_a_running_server_is_verified_from_its_log() {
    let server = Server::fresh(&["--partitions", "3"]);
    let mut client = server.connect();
    client.call(&["STOCK.CREATE", "other", "1"]).unwrap();
    let create = "PACKET.CREATE gift EUR PLAN 100000 40 DOUBLE_MEAN MIN 100 MAX 9000";
    client.call(&create.split(' ').collect::<Vec<_>>()).unwrap();
    let claimed = claim(&mut client, "gift", 0..25);
    let (code, _, stderr) = said(&mut verify_campaign(&server, "gift"));
    assert_eq!((code, stderr.contains("PACKET.CLOSE")), (Some(1), true), "{stderr}");
    let redis::Value::Array(closed) = client.call(&["PACKET.CLOSE", "gift"]).unwrap() else { panic!() };
    let (code, found) = json(&mut verify_campaign(&server, "gift"));
    assert_eq!((code, &found["holds"], &found["compared"]), (Some(0), &true.into(), &25.into()), "{found}");
    assert_eq!(
        (&found["min"], &found["max"], &found["method"]),
        (&100.into(), &9000.into(), &"DOUBLE_MEAN".into())
    );
    // The same cut is reproducible without a server.
    let seed = text(&closed[4]).unwrap();
    let words =
        ["plan", "100000", "40", "--min", "100", "--max", "9000", "--seed", &seed, "--amounts", "--json"];
    let (_, shown) = json(&mut packets(&words));
    let given: Vec<_> =
        shown["amounts"].as_array().unwrap().iter().filter_map(Value::as_i64).take(25).collect();
    assert_eq!(given, claimed);
    assert_eq!(shown["commitment"], found["commitment"]);
}

#[test]
fn what_cannot_be_verified_says_why() {
    let server = Server::fresh(&[]);
    let mut client = server.connect();
    client.call(&["PACKET.CREATE", "listed", "EUR", "AMOUNTS", "2", "7", "5"]).unwrap();
    let (code, _, stderr) = said(&mut verify_campaign(&server, "listed"));
    assert_eq!((code, stderr.contains("one by one")), (Some(1), true), "{stderr}");
    let (code, _, stderr) = said(&mut verify_campaign(&server, "absent"));
    assert_eq!((code, stderr.contains("CAMPAIGN_NOT_FOUND")), (Some(3), true), "{stderr}");
    let unreachable = ["verify", "--campaign", "c", "--resp", "127.0.0.1:1"];
    assert_eq!(said(&mut packets(&unreachable)).0, Some(4));
}
