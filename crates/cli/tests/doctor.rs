//! `scarce doctor` on various directories and ports, with real servers.

mod support;

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use scarce_engine_redis::{RedisEngine, RedisSettings};
use serde_json::Value;
use support::{Server, first_segment, json_lines, said, scarce_in};
use tempfile::TempDir;

/// The exit code and the findings.
fn doctor(folder: &Path, words: &[&str]) -> (Option<i32>, Vec<Value>) {
    let words = [&["doctor", "--json"], words].concat();
    let (code, stdout, stderr) = said(&mut scarce_in(folder, &words));
    assert!(!stdout.is_empty(), "{stderr}");
    (code, json_lines(&stdout))
}

fn found<'a>(findings: &'a [Value], name: &str) -> &'a Value {
    findings
        .iter()
        .find(|finding| finding["check"] == name)
        .unwrap_or_else(|| panic!("no {name}: {findings:?}"))
}

/// All files of a directory, with sizes and modification times.
fn contents(directory: &Path) -> Vec<(PathBuf, u64, std::time::SystemTime)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let entry = entry.expect("an entry");
        let about = entry.metadata().expect("its size");
        if about.is_dir() {
            found.extend(contents(&entry.path()));
        } else {
            found.push((entry.path(), about.len(), about.modified().expect("its time")));
        }
    }
    found.sort();
    found
}

#[test]
fn a_directory_that_is_not_there_yet_is_well_and_stays_absent() {
    let folder = TempDir::new().unwrap();
    let (code, findings) = doctor(folder.path(), &["--resp", "127.0.0.1:0", "--http", "off"]);
    assert_eq!(code, Some(0), "{findings:?}");
    assert_eq!(found(&findings, "data directory")["status"], "ok");
    assert!(found(&findings, "disk sync")["figures"]["median_us"].as_u64().is_some());
    assert!(found(&findings, "disk space")["figures"]["available_bytes"].as_u64() > Some(0));
    assert_eq!(found(&findings, "port http")["found"], "off");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was created");
    for finding in &findings {
        assert_eq!(finding["advice"].is_null(), finding["status"] == "ok", "{finding}");
    }
}

#[test]
fn a_running_server_is_recognized() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("scarce-data");
    let server = Server::start(&data, &["--partitions", "2", "--segment-mib", "1"]);
    server.socket().call(&["STOCK.CREATE", "sku", "10"]);
    let words = ["--resp", &server.address, "--http", "off", "--partitions", "2"];
    let (code, findings) = doctor(folder.path(), &words);
    assert_eq!(code, Some(0), "{findings:?}");
    assert_eq!(found(&findings, "lock")["figures"]["pid"], server.pid());
    let port = found(&findings, "port resp");
    assert_eq!((&port["status"], &port["figures"]["pid"]), (&"ok".into(), &server.pid().into()), "{port}");
    assert_eq!(port["figures"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(found(&findings, "deployment")["figures"]["partitions"], 2);
    assert!(found(&findings, "files")["figures"]["journal_files"].as_u64() >= Some(2));
    assert_eq!(found(&findings, "clock and log")["status"], "ok");
    // Seen from another data directory, the same server blocks the ports.
    let (code, findings) =
        doctor(folder.path(), &["--resp", &server.address, "--http", "off", "--data", "other"]);
    assert_eq!(code, Some(0), "{findings:?}");
    assert_eq!(found(&findings, "port resp")["status"], "warn");
}

#[test]
fn a_number_of_partitions_that_does_not_fit_is_a_failure_and_the_files_are_left_as_they_are() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("scarce-data");
    Server::start(&data, &["--partitions", "2", "--segment-mib", "1"]).stop();
    let before = contents(&data);
    let (code, findings) = doctor(folder.path(), &["--resp", "127.0.0.1:0", "--http", "off"]);
    assert_eq!(contents(&data), before);
    assert_eq!(code, Some(1));
    let deployment = found(&findings, "deployment");
    assert_eq!(deployment["status"], "fail");
    assert!(deployment["advice"].as_str().unwrap().contains("set partitions = 2"), "{deployment}");
    assert_eq!(found(&findings, "lock")["found"], "free");
}

#[test]
fn a_port_that_another_program_has_is_a_failure() {
    let folder = TempDir::new().unwrap();
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = stranger.local_addr().unwrap().to_string();
    let greeter = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut socket, _) = stranger.accept().unwrap();
        let mut request = [0; 64];
        assert!(socket.read(&mut request).unwrap() > 0);
        socket.write_all(b"-ERR unknown command\r\n").unwrap();
    });
    let (code, findings) = doctor(folder.path(), &["--resp", &address, "--http", "off"]);
    greeter.join().unwrap();
    assert_eq!(code, Some(1));
    let port = found(&findings, "port resp");
    assert_eq!(port["status"], "fail");
    assert!(port["advice"].as_str().unwrap().contains("--resp"), "{port}");
    std::fs::write(folder.path().join("password"), "opensesame\n").unwrap();
    let words = ["--resp", "192.0.2.1:7379", "--http", "off", "--password-file", "password"];
    let (code, findings) = doctor(folder.path(), &words);
    assert_eq!(code, Some(1), "{findings:?}");
    assert!(found(&findings, "port resp")["found"].as_str().unwrap().contains("no address of this machine"));
    let (_, findings) = doctor(folder.path(), &["--resp", "192.0.2.1:7379", "--http", "off"]);
    assert_eq!(found(&findings, "password")["status"], "fail");
}

#[test]
fn both_ports_of_a_server_are_known_as_its_own_even_where_it_wants_a_password() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("scarce-data");
    let password = folder.path().join("password");
    std::fs::write(&password, "opensesame\n").unwrap();
    let server = Server::start(&data, &["--password-file", &password.to_string_lossy()]);
    for more in [&[][..], &["--password-file", "password"]] {
        let words = [&["--resp", &server.address, "--http", &server.http], more].concat();
        let (code, findings) = doctor(folder.path(), &words);
        assert_eq!(code, Some(0), "{findings:?}");
        for port in ["port resp", "port http"] {
            let port = found(&findings, port);
            assert_eq!(
                (&port["status"], &port["figures"]["pid"]),
                (&"ok".into(), &server.pid().into()),
                "{port}"
            );
        }
        let version = &found(&findings, "port resp")["figures"]["version"];
        assert_eq!(version.is_null(), more.is_empty(), "it says what it is to those who know the password");
        assert!(!format!("{findings:?}").contains("opensesame"));
    }
}

#[test]
fn a_clock_far_from_the_log_is_a_failure() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("scarce-data");
    let server = Server::start(&data, &["--manual-clock"]);
    let mut socket = server.socket();
    socket.call(&["DEBUG.CLOCK", "1000000000000"]);
    socket.call(&["STOCK.CREATE", "sku", "10"]);
    server.stop();
    let (code, findings) = doctor(folder.path(), &["--resp", "127.0.0.1:0", "--http", "off"]);
    assert_eq!(code, Some(1), "{findings:?}");
    let clock = found(&findings, "clock and log");
    assert_eq!(
        (&clock["status"], &clock["figures"]["stamp_ms"]),
        (&"fail".into(), &1_000_000_000_000_u64.into())
    );
}

#[test]
fn damage_is_told_and_the_table_is_for_people() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("scarce-data");
    Server::start(&data, &["--segment-mib", "1"]).stop();
    let segment = first_segment(&data);
    std::fs::OpenOptions::new().write(true).open(&segment).unwrap().set_len(4_096).unwrap();
    let words = ["doctor", "--resp", "127.0.0.1:0", "--http", "off"];
    let (code, stdout, stderr) = said(&mut scarce_in(folder.path(), &words));
    assert_eq!(code, Some(1), "{stdout}{stderr}");
    assert!(stdout.contains("fail  files") && stdout.contains("→ 'scarce journal verify"), "{stdout}");
    assert!(stdout.contains("ok    deployment") && stdout.contains("1 of"), "{stdout}");
    assert!(!stdout.contains('\u{1b}'), "no colors without a terminal: {stdout}");
}

#[test]
fn a_redis_is_looked_at_with_what_to_do() {
    let folder = TempDir::new().unwrap();
    let redis = support::redis_server(&[("appendfsync", "always"), ("maxmemory", "1gb")]);
    let url = redis.url();
    let words = ["--engine", "redis", "--redis-url", &url, "--resp", "127.0.0.1:0", "--http", "off"];
    let (code, findings) = doctor(folder.path(), &words);
    assert_eq!(code, Some(0), "{findings:?}");
    assert_eq!(found(&findings, "redis deployment")["status"], "warn", "nothing is there yet: {findings:?}");
    for name in ["redis topology", "redis eviction", "redis memory", "redis persistence"] {
        assert_eq!(found(&findings, name)["status"], "ok", "{name}: {findings:?}");
    }
    assert!(found(&findings, "redis latency")["figures"]["median_us"].as_u64().is_some());
    assert!(findings.iter().all(|finding| finding["check"] != "data directory"), "nothing is kept here");
    let wanted = [&words[..], &["--redis-durability", "replicated"]].concat();
    let (code, findings) = doctor(folder.path(), &wanted);
    assert_eq!((code, &found(&findings, "redis durability")["status"]), (Some(1), &Value::from("fail")));

    let careless = support::redis_server(&[("appendonly", "no"), ("maxmemory-policy", "allkeys-lru")]);
    let (code, findings) = doctor(folder.path(), &["--redis-url", &careless.url(), "--http", "off"]);
    assert_eq!(code, Some(1));
    for name in ["redis eviction", "redis persistence"] {
        assert_eq!(found(&findings, name)["status"], "fail", "{findings:?}");
    }
    assert_eq!(found(&findings, "redis memory")["status"], "warn");
    let (code, findings) = doctor(folder.path(), &["--redis-url", "redis://127.0.0.1:1", "--http", "off"]);
    assert_eq!((code, &found(&findings, "redis")["status"]), (Some(1), &Value::from("fail")));
}

#[test]
fn a_redis_that_has_lost_keys_is_told_with_the_way_on() {
    let folder = TempDir::new().unwrap();
    let redis = support::redis_server(&[("appendfsync", "always"), ("maxmemory", "1gb")]);
    let url = redis.url();
    let settings = RedisSettings { url: url.clone(), partitions: 2, ..RedisSettings::default() };
    drop(RedisEngine::open(settings).expect("the engine"));
    let words = ["--engine", "redis", "--redis-url", &url, "--partitions", "2"];
    let words = [&words[..], &["--resp", "127.0.0.1:0", "--http", "off"]].concat();
    let (code, findings) = doctor(folder.path(), &words);
    assert_eq!(
        (code, &found(&findings, "redis keys")["status"]),
        (Some(0), &Value::from("ok")),
        "{findings:?}"
    );
    for key in ["scarce:{p1-0}:meta", "scarce:deployment"] {
        let gone: u64 = redis.ask(&["DEL", key]).expect("deleted");
        assert_eq!(gone, 1, "{key}");
        let (code, findings) = doctor(folder.path(), &words);
        let told = found(&findings, "redis keys");
        assert_eq!((code, &told["status"]), (Some(1), &Value::from("fail")), "{key}: {findings:?}");
        assert!(told["advice"].as_str().is_some_and(|advice| advice.contains("redis_prefix")), "{told:?}");
    }
}
