//! Sources behind passwords and users, in other databases, as clusters and behind sentinels; and those that are away.

use scarce_launch::{Cluster, Options, Server as Redis};
use serde_json::json;

use crate::shop::{Desk, KEYS, MAP, check, fill};
use crate::support::{Server, redis_server};

#[test]
fn a_source_behind_a_password_in_another_database_is_read() {
    let redis = Redis::start(Options::new().with("requirepass", "secret")).unwrap();
    let desk = Desk::new(MAP);
    let mut connection = redis.connection().unwrap();
    for words in [["SELECT", "3", ""], ["SET", "balance:alice", "5"]] {
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        redis::cmd(words[0]).arg(&words[1..]).query::<redis::Value>(&mut connection).unwrap();
    }
    desk.file("password", "secret\n");
    let url = format!("{}/3", redis.url());
    let dry = desk.json(&url, &["--dry-run", "--from-password-file", "password"], 0);
    assert_eq!(dry["makes"][0]["sums"]["balance"], 500, "{dry}");
    let denied = desk.run(&url, &["--dry-run"], 4);
    assert!(String::from_utf8_lossy(&denied.stderr).contains("NOAUTH"), "{denied:?}");
}

#[test]
fn a_user_who_may_not_pause_is_told() {
    let (redis, desk) = (redis_server(&[]), Desk::new(MAP));
    redis
        .ask::<redis::Value>(&[
            "ACL",
            "SETUSER",
            "reader",
            "on",
            ">secret",
            "~*",
            "+@read",
            "+info",
            "+select",
            "-@dangerous",
            "+info",
        ])
        .unwrap();
    desk.file("password", "secret\n");
    let login = ["--from-user", "reader", "--from-password-file", "password", "--run", "a"];
    let output = desk.run(&redis.url(), &login, 1);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("does not pause its writers") && said.contains("--moment still"), "{said}");
}

#[test]
fn a_cluster_is_read_at_one_moment() {
    let cluster = Cluster::start(&Options::new(), 3, 0).unwrap();
    let port = cluster.url().rsplit(':').next().unwrap().to_owned();
    for line in KEYS.lines() {
        let mut command = std::process::Command::new("redis-cli");
        // It goes where the cluster sends it.
        let output = command.args(["-c", "-p", &port]).args(line.split(' ')).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &[]);
    let made = Desk::new(MAP).json(&cluster.url(), &["--resp", &server.address, "--run", "a"], 0);
    assert_eq!(made["differences"], json!([]), "{made}");
    check(&mut server.connect(), "STOCK.GET shoe -> total 10 sold 3\nACCOUNT.GET carol -> balance 10000");
}

#[test]
fn a_source_that_is_away_or_wrong_is_told() {
    let desk = Desk::new(MAP);
    desk.run("redis://127.0.0.1:1", &["--dry-run"], 4);
    let wrong = desk.run("redis://user:secret@host", &["--dry-run"], 2);
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(said.contains("must be redis://") && !said.contains("secret"), "{said}");
    let nameless = desk.run("redis://127.0.0.1:1", &[], 2);
    assert!(String::from_utf8_lossy(&nameless.stderr).contains("--run"), "{nameless:?}");
    // A server that is away leaves the source as it was, and the run goes on later.
    let redis = redis_server(&[]);
    fill(&redis, "SET balance:alice 1");
    desk.run(&redis.url(), &["--resp", "127.0.0.1:1", "--run", "later"], 4);
    fill(&redis, "SET balance:bob 1");
}
