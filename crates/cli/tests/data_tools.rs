//! `scarce journal`, `scarce snapshot` and `scarce restore` on the data of a real server, stopped or running.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;

use scarce_client::{Client, pack};
use scarce_core::event::epoch;
use scarce_core::machine::Machine;
use scarce_core::state;
use scarce_engine_embedded::deployment::Deployment;
use scarce_engine_embedded::storage::FileStorage;
use scarce_engine_embedded::{PartitionFiles, machine_settings, partition_directory, read_entries};
use serde_json::{Value, json};
use support::{Server, scarce};
use tempfile::TempDir;

fn run(words: &[&str], data: &Path) -> Output {
    scarce().args(words).arg("--data").arg(data).output().unwrap()
}

fn rows(output: &Output) -> Vec<Value> {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{output:?}"))).collect()
}

fn ended(output: &Output, code: i32) -> Vec<Value> {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    rows(output)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A bit of everything, much of it in one batch, so that frames contain several entries.
fn work(client: &mut Client, round: u64) {
    let mut packed = Vec::new();
    let mut count = 0;
    let mut send = |words: &[&str]| {
        pack(words, &mut packed);
        count += 1;
    };
    let account = format!("account-{round}");
    send(&["ACCOUNT.OPEN", &account, "EUR", "ID", &format!("open-{round}")]);
    for amount in ["5", "6", "7"] {
        send(&["ACCOUNT.CREDIT", &account, amount]);
    }
    send(&["ACCOUNT.HOLD", &account, "h", "4", "TTL", "9000000", "ID", &format!("hold-{round}")]);
    send(&["PACKET.CREATE", &format!("gift-{round}"), "EUR", "PLAN", "1000", "5", "DOUBLE_MEAN"]);
    send(&["PACKET.CLAIM", &format!("gift-{round}"), "user"]);
    send(&["STOCK.CREATE", &format!("sku-{round}"), "3"]);
    send(&["STOCK.TAKE", &format!("sku-{round}"), "3", "user"]);
    client.send(&packed).unwrap();
    for _ in 0..count {
        assert!(!matches!(client.receive().unwrap(), redis::Value::ServerError(_)));
    }
}

/// The state's digest at the last sequence of each entry, folded with the state machine alone.
fn digests(data: &Path, partition: u32) -> BTreeMap<u64, String> {
    let deployment = Deployment::load(&FileStorage::open_read_only(data).unwrap()).unwrap().unwrap();
    let storage = FileStorage::open_read_only(data.join(partition_directory(partition))).unwrap();
    let files = PartitionFiles { storage: Arc::new(storage), deployment: &deployment, partition };
    let mut machine =
        Machine::new(machine_settings(&state::StateSettings::default(), &deployment), partition);
    let mut digests = BTreeMap::new();
    let mut take = |_, entries: Vec<scarce_core::event::Entry>| {
        for entry in entries {
            machine.apply(&entry);
            digests.insert(machine.sequence(), format!("{:032x}", machine.state().digest(None)));
        }
        Ok(())
    };
    read_entries(&files, 0, &mut take, &mut |_| {}).unwrap();
    digests
}

fn copy(from: &Path, to: &Path) -> PathBuf {
    let status = std::process::Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
    assert!(status.success());
    to.to_owned()
}

/// The data directory of a stopped server.
fn left_behind(options: &[&str], rounds: u64) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("data"), options);
    let mut client = server.connect();
    for round in 0..rounds {
        work(&mut client, round);
        if round == rounds / 2 {
            client.call(&["SNAPSHOT"]).unwrap();
        }
    }
    drop(client);
    server.stop();
    folder
}

#[test]
fn every_event_is_exported_and_nothing_that_is_secret() {
    let folder = left_behind(&["--partitions", "2"], 4);
    let data = folder.path().join("data");
    let events = ended(&run(&["journal", "export"], &data), 0);
    for partition in [0, 1] {
        let own: Vec<_> = events.iter().filter(|event| event["partition"] == partition).collect();
        assert!(!own.is_empty());
        for (event, sequence) in own.iter().zip(1..) {
            assert_eq!(event["sequence"], sequence);
        }
        let from = own.len().to_string();
        let words = ["journal", "export", "--partition", &partition.to_string(), "--from", &from];
        let last = ended(&run(&words, &data), 0);
        assert_eq!(last, [(*own[own.len() - 1]).clone()]);
    }
    let opened = events.iter().find(|event| event["operation"] == "open-0").unwrap();
    assert_eq!(opened["name"], json!("account.opened"));
    assert_eq!(opened["epoch"].as_u64().map(epoch::count), Some(1));
    assert_eq!(
        (&opened["fields"]["account"], &opened["fields"]["asset"]),
        (&json!("account-0"), &json!("EUR"))
    );
    let text = String::from_utf8(run(&["journal", "export"], &data).stdout).unwrap();
    assert!(text.contains("packets.filled") && text.contains("packets.claimed"));
    assert!(!text.contains("amounts") && !text.contains("seed"), "{text}");
    let out = folder.path().join("events.csv");
    let words = ["journal", "export", "--format", "csv", "--out", out.to_str().unwrap()];
    assert_eq!(ended(&run(&words, &data), 0), [] as [Value; 0]);
    let mut reader = csv::Reader::from_path(&out).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.unwrap()).collect();
    assert_eq!(rows.len(), events.len());
    for (row, event) in rows.iter().zip(&events) {
        assert_eq!(
            (&row[2], &row[6]),
            (event["sequence"].to_string().as_str(), event["name"].as_str().unwrap())
        );
        assert_eq!(serde_json::from_str::<Value>(&row[7]).unwrap(), event["fields"]);
    }
    let output = run(&["journal", "export", "--from", "3"], &data);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn a_running_server_is_looked_at_without_being_disturbed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Server::start(&data, &[]);
    let mut client = server.connect();
    work(&mut client, 0);
    let durable: Vec<Value> = (0..20)
        .map(|round| {
            work(&mut client, round + 1);
            ended(&run(&["journal", "verify", "--json"], &data), 0).remove(0)
        })
        .collect();
    assert!(durable.windows(2).all(|pair| pair[0]["sequence"].as_u64() < pair[1]["sequence"].as_u64()));
    // An idle server records up to where everything is synced, and then everything may be shown.
    let last = durable[durable.len() - 1]["sequence"].as_u64().unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while rows(&run(&["journal", "export"], &data)).len() as u64 != last {
        assert!(std::time::Instant::now() < deadline);
    }
    let refused = restore(&data, &folder.path().join("new"), &[]);
    assert!(refused.status.code() == Some(1) && said(&refused).contains("in use"), "{refused:?}");
    work(&mut client, 99);
    drop(client);
    server.stop();
}

#[test]
fn files_that_may_not_be_written_are_read() {
    let folder = left_behind(&[], 2);
    let data = folder.path().join("data");
    let change = |mode: &str| {
        let status = std::process::Command::new("chmod").args(["-R", mode]).arg(&data).status().unwrap();
        assert!(status.success());
    };
    change("a-w");
    for words in
        [&["journal", "verify"][..], &["journal", "export"], &["snapshot", "verify"], &["snapshot", "list"]]
    {
        assert_eq!(run(words, &data).status.code(), Some(0), "{words:?}");
    }
    assert_eq!(restore(&data, &folder.path().join("new"), &[]).status.code(), Some(0));
    change("u+w");
}

#[test]
fn snapshots_are_checked_against_their_content_and_the_journal() {
    let folder = left_behind(&[], 4);
    let data = folder.path().join("data");
    let server = Server::start(&data, &[]);
    work(&mut server.connect(), 9);
    let made = ended(&scarce_at(&["snapshot", "create", "--json"], &server), 0).remove(0);
    server.stop();
    let verdicts = ended(&run(&["snapshot", "verify", "--json"], &data), 0);
    assert_eq!(verdicts.len(), 2);
    assert_eq!(
        (&verdicts[0]["journal"], &verdicts[0]["content"]),
        (&json!("agrees since 0"), &json!("whole"))
    );
    let since = format!("agrees since {}", verdicts[0]["sequence"]);
    assert_eq!((&verdicts[1]["journal"], &verdicts[1]["digest"]), (&json!(since), &made["digest"]));
    let path = data.join("partition-0000").join(verdicts[0]["snapshot"].as_str().unwrap());
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[600] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let output = run(&["snapshot", "verify", "--json"], &data);
    let verdicts = ended(&output, 5);
    assert_eq!((&verdicts[0]["content"], &verdicts[0]["digest"]), (&json!("damaged"), &Value::Null));
    assert_eq!(verdicts[1]["journal"], "agrees since 0");
    assert!(said(&output).contains("checksum"), "{output:?}");
}

fn scarce_at(words: &[&str], server: &Server) -> Output {
    scarce().args(words).args(["--resp", &server.address]).output().unwrap()
}

fn restore(from: &Path, to: &Path, options: &[&str]) -> Output {
    let mut command = scarce();
    command.arg("restore").arg("--from").arg(from).arg("--data").arg(to).args(options).arg("--json");
    command.output().unwrap()
}

#[test]
fn any_sequence_is_restored_and_served() {
    let folder = left_behind(&["--segment-mib", "1"], 6);
    let data = folder.path().join("data");
    let before = std::fs::read(support::first_segment(&data)).unwrap();
    let digests = digests(&data, 0);
    let last = *digests.keys().next_back().unwrap();
    assert!(digests.len() as u64 <= last, "entries of several events");
    for sequence in 0..=last {
        let new = folder.path().join(format!("new-{sequence}"));
        let row = ended(&restore(&data, &new, &["--through", &format!("0:{sequence}")]), 0).remove(0);
        let whole = digests.range(..=sequence).next_back();
        assert_eq!(row["sequence"], whole.map_or(0, |(sequence, _)| *sequence), "{row}");
        assert_eq!(row["events_left_out"], last - row["sequence"].as_u64().unwrap());
        if let Some((_, digest)) = whole {
            assert_eq!(&row["digest"], digest);
        }
        let verified = ended(&run(&["journal", "verify", "--json"], &new), 0).remove(0);
        assert_eq!((&verified["sequence"], &verified["digest"]), (&row["sequence"], &row["digest"]));
    }
    assert_eq!(std::fs::read(support::first_segment(&data)).unwrap(), before);
    // A server runs on one of them and continues in a new epoch.
    let middle = *digests.keys().nth(digests.len() / 2).unwrap();
    let new = folder.path().join(format!("new-{middle}"));
    let server = Server::start(&new, &[]);
    let mut client = server.connect();
    let digest = client.call(&["DIGEST"]).unwrap();
    assert!(format!("{digest:?}").contains(&digests[&middle]), "{digest:?}");
    let repeated = client.call(&["ACCOUNT.OPEN", "account-0", "EUR", "ID", "open-0"]).unwrap();
    assert_eq!(repeated, redis::Value::Array(vec![redis::Value::Int(1), redis::Value::Int(0)]));
    let reused = client.call(&["ACCOUNT.OPEN", "other", "EUR", "ID", "open-0"]).unwrap();
    assert!(format!("{reused:?}").contains("ID_REUSED"), "{reused:?}");
    work(&mut client, 77);
    drop(client);
    server.stop();
    let events = ended(&run(&["journal", "export"], &new), 0);
    assert!(events.iter().zip(1..).all(|(event, sequence)| event["sequence"] == sequence));
    let epochs: Vec<u64> = events.iter().map(|event| event["epoch"].as_u64().unwrap()).collect();
    let (old, new) = epochs.split_at(usize::try_from(middle).unwrap());
    let have = |epochs: &[u64], count| epochs.iter().all(|its| epoch::count(*its) == count);
    assert!(have(old, 1) && have(new, 1_002), "{epochs:?}");
}

#[test]
fn a_restored_directory_knows_its_consumers_and_which_are_ahead_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Server::start(&data, &[]);
    let mut client = server.connect();
    work(&mut client, 1);
    for (name, sequence) in [("behind", "1"), ("ahead", "4")] {
        let words = ["CONSUMER", "CONFIRM", name, "me", "0", "0", sequence];
        let confirmed = client.call(&words).unwrap();
        assert!(!format!("{confirmed:?}").contains("Error"), "{confirmed:?}");
    }
    drop(client);
    server.stop();
    let new = folder.path().join("new");
    let row = ended(&restore(&data, &new, &["--through", "0:2"]), 0).remove(0);
    assert!(row["sequence"].as_u64().unwrap() < 4, "{row}");
    let server = Server::start(&new, &[]);
    let listed = server.http().get("/v1/consumers").json();
    let diverged = |name: &str| {
        let rows = listed["consumers"].as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).map(|row| row["diverged"].is_object())
    };
    assert_eq!((diverged("behind"), diverged("ahead")), (Some(false), Some(true)), "{listed}");
    server.stop();
}

#[test]
fn partitions_are_restored_to_a_time_or_each_to_its_own_place() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Server::start(&data, &["--partitions", "2", "--manual-clock"]);
    let mut client = server.connect();
    for round in 0..4 {
        let set = client.call(&["DEBUG.CLOCK", &(1_000 * (round + 1)).to_string()]).unwrap();
        assert_eq!(set, redis::Value::Okay);
        work(&mut client, round);
    }
    drop(client);
    server.stop();
    let events = rows(&run(&["journal", "export"], &data));
    let stamps: Vec<u64> = events.iter().map(|event| event["at"].as_u64().unwrap()).collect();
    assert!(stamps.contains(&1_000) && stamps.contains(&4_000), "{stamps:?}");
    let new = folder.path().join("new");
    let output = restore(&data, &new, &["--at", "2500"]);
    let restored = ended(&output, 0);
    assert!(
        said(&output).contains("--accept-clock") && said(&output).contains("--partitions 2"),
        "{output:?}"
    );
    for (row, partition) in restored.iter().zip(0..) {
        let kept = events
            .iter()
            .filter(|event| event["partition"] == partition && event["at"].as_u64() <= Some(2_500))
            .count() as u64;
        assert_eq!(row["sequence"], kept);
        assert_eq!(row["digest"], digests(&data, partition)[&kept]);
    }
    let new = folder.path().join("newer");
    let restored = ended(&restore(&data, &new, &["--through", "1:0"]), 0);
    let all = events.iter().filter(|event| event["partition"] == 0).count();
    assert_eq!((&restored[0]["sequence"], &restored[1]["sequence"]), (&json!(all), &json!(0)));
    let again = restore(&data, &new, &[]);
    assert!(again.status.code() == Some(1) && said(&again).contains("not empty"), "{again:?}");
    for (options, code, part) in [
        (["--through", "2:1"], 2, "no partition 2"),
        (["--through", "0:99999"], 1, "ends at sequence"),
        (["--through", "nonsense"], 2, "0:1200"),
    ] {
        let output = restore(&data, &folder.path().join("never"), &options);
        assert!(output.status.code() == Some(code) && said(&output).contains(part), "{output:?}");
    }
    let names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "nothing half made is left: {names:?}");
}

#[test]
fn what_lies_before_damage_is_restored() {
    let folder = left_behind(&[], 3);
    let data = copy(&folder.path().join("data"), &folder.path().join("copy"));
    let digests = digests(&data, 0);
    let path = support::first_segment(&data);
    let mut bytes = std::fs::read(&path).unwrap();
    // In the second half of the written data; later frames show that it was durable.
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    bytes[4_096 + (end - 4_096) / 2] ^= 0xff;
    std::fs::write(&path, &bytes).unwrap();
    let new = folder.path().join("new");
    let output = restore(&data, &new, &[]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let hint = said(&output);
    let through = hint.split("--through ").nth(1).unwrap_or_else(|| panic!("{hint}")).trim();
    let output = restore(&data, &new, &["--through", through]);
    let row = ended(&output, 0).remove(0);
    assert_eq!(row["digest"], digests[&row["sequence"].as_u64().unwrap()]);
    assert_eq!(
        Server::start(&new, &[]).connect().call(&["PING"]).unwrap(),
        redis::Value::SimpleString("PONG".to_owned())
    );
}

/// Some megabytes of journal without ids, so that segments can be deleted.
fn much_work(client: &mut Client, rounds: u64) {
    let mut packed = Vec::new();
    (0..1_000).for_each(|_| pack(&["ACCOUNT.CREDIT", "alice", "1"], &mut packed));
    for _ in 0..rounds {
        client.send(&packed).unwrap();
        for _ in 0..1_000 {
            assert!(matches!(client.receive().unwrap(), redis::Value::Array(_)));
        }
    }
}

#[test]
fn a_journal_whose_beginning_is_gone_is_restored_from_its_oldest_snapshot_on() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Server::start(&data, &["--segment-mib", "1"]);
    let mut client = server.connect();
    client.call(&["ACCOUNT.OPEN", "alice", "EUR"]).unwrap();
    for _ in 0..3 {
        much_work(&mut client, 40);
        ended(&scarce_at(&["snapshot", "create", "--json"], &server), 0);
    }
    much_work(&mut client, 30);
    let place = ended(&run(&["journal", "verify", "--json"], &data), 0).remove(0);
    much_work(&mut client, 30);
    drop(client);
    server.stop();
    let segments = ended(&run(&["journal", "inspect", "--json"], &data), 0);
    let first = segments[0]["first_sequence"].as_u64().unwrap();
    assert!(first > 1 && segments.len() > 3, "{segments:?}");
    let verdicts = ended(&run(&["snapshot", "verify", "--json"], &data), 0);
    let (oldest, newest) = (&verdicts[0], &verdicts[verdicts.len() - 1]);
    assert_eq!(oldest["journal"], "not compared");
    assert_eq!(newest["journal"], format!("agrees since {}", verdicts[verdicts.len() - 2]["sequence"]));
    let through = |sequence: &Value| format!("0:{sequence}");
    for wanted in [&place, oldest] {
        let new = folder.path().join(format!("new-{}", wanted["sequence"]));
        let row = ended(&restore(&data, &new, &["--through", &through(&wanted["sequence"])]), 0).remove(0);
        assert_eq!((&row["sequence"], &row["digest"]), (&wanted["sequence"], &wanted["digest"]));
        let server = Server::start(&new, &[]);
        much_work(&mut server.connect(), 1);
        server.stop();
        let verified = ended(&run(&["journal", "verify", "--json"], &new), 0).remove(0);
        assert_eq!(
            verified["sequence"].as_u64(),
            wanted["sequence"].as_u64().map(|sequence| sequence + 1_000)
        );
    }
    let early = json!(oldest["sequence"].as_u64().unwrap() - 1);
    let output = restore(&data, &folder.path().join("never"), &["--through", &through(&early)]);
    let hint = format!("from sequence {} on", oldest["sequence"]);
    assert!(output.status.code() == Some(1) && said(&output).contains(&hint), "{output:?}");
    let output = run(&["journal", "export", "--from", "1"], &data);
    assert!(said(&output).contains(&format!("from sequence {first} on")), "{output:?}");
    let exported = run(&["journal", "export", "--from", &first.to_string()], &data);
    let last = place["sequence"].as_u64().unwrap() + 30_000;
    assert_eq!(rows(&exported).len() as u64, last - first + 1);
}

#[test]
fn a_long_command_that_is_cut_between_its_steps_is_finished_by_the_first_start() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Server::start(&data, &[]);
    let words = ["PACKET.CREATE", "gift", "EUR", "PLAN", "10000", "2500", "EVEN", "ID", "once"];
    let made = server.connect().call(&words).unwrap();
    server.stop();
    let digests = digests(&data, 0);
    let steps: Vec<u64> = digests.keys().copied().collect();
    assert!(steps.len() > 2, "{steps:?}");
    for step in &steps[..steps.len() - 1] {
        let new = folder.path().join(format!("new-{step}"));
        ended(&restore(&data, &new, &["--through", &format!("0:{step}")]), 0);
        let server = Server::start(&new, &[]);
        let mut client = server.connect();
        assert_eq!(client.call(&words).unwrap(), made);
        let claim = client.call(&["PACKET.CLAIM", "gift", "user"]).unwrap();
        let one = [1, 1, 4].map(redis::Value::Int).to_vec();
        assert_eq!(claim, redis::Value::Array(one));
    }
}
