//! Consumers of the log at the RESP port, and `scarce consumers`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use redis::{Connection, Value, cmd};
use support::{Server, scarce};

fn consumers(server: &Server, words: &[&str]) -> (bool, String, String) {
    let output = scarce().arg("consumers").args(words).args(["--resp", &server.address]).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

fn connect(server: &Server) -> Connection {
    let url = format!("redis://{}/", server.address);
    redis::Client::open(url).and_then(|client| client.get_connection()).expect("a connection")
}

/// Name, partition, epoch, sequence, when, lag, holder, the position of another history; then state, beginning of its
/// trouble, reason.
type Row =
    (String, u64, u64, u64, u64, u64, Option<String>, Option<String>, String, Option<u64>, Option<String>);

fn call<T: redis::FromRedisValue>(connection: &mut Connection, line: &str) -> redis::RedisResult<T> {
    let mut words = line.split(' ');
    let mut command = cmd(words.next().expect("a command"));
    words.for_each(|word| {
        command.arg(word);
    });
    command.query(connection)
}

#[test]
fn a_consumer_is_known_until_it_is_forgotten_also_across_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let mut connection = connect(&server);
    for number in 0..10 {
        call::<Value>(&mut connection, &format!("STOCK.CREATE sku-{number} 1")).unwrap();
    }
    let error = call::<Value>(&mut connection, "CONSUMER LEASE audit me 0 1000").unwrap_err();
    assert!(error.to_string().contains("confirm a position first"), "{error}");
    let error = call::<Value>(&mut connection, "CONSUMER CONFIRM audit me 0 1 11").unwrap_err();
    assert!(error.to_string().contains("no event 11 yet"), "{error}");
    let epoch: u64 =
        call::<Vec<(u64, u64, u64, u64, Value, String, Value)>>(&mut connection, "EVENTS 0 0 6 COUNT 1")
            .unwrap()[0]
            .1;
    for (position, word) in [
        (format!("{epoch} 7"), "known"),
        (format!("{} 7", epoch + 1), "diverged"),
        (format!("{epoch} 1000"), "diverged"),
    ] {
        let said: String = call(&mut connection, &format!("CONSUMER STANDING 0 {position}")).unwrap();
        assert_eq!(said, word, "{position}");
    }
    let confirm = format!("CONSUMER CONFIRM audit me 0 {epoch} 7");
    assert_eq!(call::<Vec<u64>>(&mut connection, &confirm).unwrap(), [1]);
    assert_eq!(call::<Vec<u64>>(&mut connection, "CONSUMER LEASE audit me 0 60000").unwrap(), [1]);
    let refused: (u64, String) = call(&mut connection, "CONSUMER LEASE audit you 0 60000").unwrap();
    assert_eq!(refused, (0, "me".to_owned()));
    server.stop();
    let server = Server::start(folder.path(), &[]);
    let mut connection = connect(&server);
    let rows: Vec<Row> = call(&mut connection, "CONSUMER LIST").unwrap();
    let [(name, 0, its_epoch, 7, _, 3, None, None, _, None, None)] = rows.as_slice() else {
        panic!("{rows:?}")
    };
    assert_eq!((name.as_str(), *its_epoch), ("audit", epoch));
    let (_, listed, _) = consumers(&server, &["list", "--json"]);
    assert!(listed.contains(r#""consumer":"audit""#) && listed.contains(r#""lag_events":3"#), "{listed}");
    assert!(consumers(&server, &["forget", "audit"]).0);
    let (is_done, _, said) = consumers(&server, &["forget", "audit"]);
    assert!(!is_done && said.contains("no consumer 'audit' is known"), "{said}");
    assert_eq!(call::<Vec<Value>>(&mut connection, "CONSUMER LIST").unwrap(), []);
}

#[test]
fn what_is_wrong_is_said() {
    let server = Server::fresh(&[]);
    let mut connection = connect(&server);
    for (line, told) in [
        ("CONSUMER CONFIRM Audit me 0 0 0", "'Audit' is no name of a consumer"),
        ("CONSUMER CONFIRM audit me 7 0 0", "there is no partition 7"),
        ("CONSUMER CONFIRM audit me 0 x 0", "epoch"),
        ("CONSUMER LEASE audit me 0 3600001", "ttl_ms must be 0 to 3600000"),
        ("CONSUMER LEASE audit", "Usage: CONSUMER LIST|CONFIRM"),
        ("CONSUMER WHAT", "Usage: CONSUMER LIST|CONFIRM"),
    ] {
        let error = call::<Value>(&mut connection, line).unwrap_err();
        assert!(error.to_string().contains(told), "{line}: {error}");
    }
}
