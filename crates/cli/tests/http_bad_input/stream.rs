//! The log as a stream: complete, in order, without duplicates; after a disconnect it resumes where it
//! stopped.

use scarce_core::event::{Position, epoch};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Http, Server};
use crate::{Bench, assert_invalid, assert_problem};

/// A stream of events.
struct Stream {
    http: Http,
    text: String,
}

/// An event as a browser receives it.
#[derive(Clone, Debug, PartialEq)]
struct Message {
    id: String,
    name: String,
    data: Value,
}

impl Stream {
    fn open(server: &Server, target: &str, last_id: Option<&str>) -> Self {
        let mut http = server.http();
        let last = last_id.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
        http.send(
            format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n{last}\r\n")
                .as_bytes(),
        );
        let head = http.head();
        assert_eq!((head.status, head.media_type()), (200, "text/event-stream"));
        Self { http, text: String::new() }
    }

    /// The next event; `None` if the stream has ended.
    fn next(&mut self) -> Option<Message> {
        loop {
            let message = message(&self.block()?);
            if message.is_some() {
                return message;
            }
        }
    }

    /// The lines of the next event or comment; `None` if the stream has ended.
    fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let block = block.to_owned();
                self.text = rest.to_owned();
                return Some(block);
            }
            self.text.push_str(&String::from_utf8(self.http.chunk()?).unwrap());
        }
    }

    fn take(&mut self, count: usize) -> Vec<Message> {
        (0..count).map(|_| self.next().expect("the stream goes on")).collect()
    }
}

/// Parses an event from its lines; `None` if they are a comment.
fn message(block: &str) -> Option<Message> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    Some(Message {
        id: field("id")?.to_owned(),
        name: field("event")?.to_owned(),
        data: serde_json::from_str(field("data")?).unwrap(),
    })
}

fn credit(http: &mut Http, key: &str) {
    let response = http.call(
        "POST",
        "/v1/accounts/alice/credit",
        &[("Idempotency-Key", key)],
        Some(&json!({ "amount": 1 })),
    );
    assert_eq!(response.status, 200, "{}", response.text());
}

fn sequences(messages: &[Message]) -> Vec<u64> {
    messages.iter().map(|message| message.data["sequence"].as_u64().unwrap()).collect()
}

#[test]
fn a_stream_tells_the_log_from_the_start_or_a_cursor_and_follows_it() {
    let mut bench = Bench::start(&[]);
    for at in 0..20 {
        credit(&mut bench.http, &format!("pay-{at}"));
    }
    let mut stream = Stream::open(&bench.server, "/v1/events", None);
    let told = stream.take(23);
    assert_eq!(sequences(&told), (1..=23).collect::<Vec<_>>());
    assert!(told.iter().all(|message| message.data["name"] == message.name.as_str()));
    assert_eq!(told[22].data["operation"], "pay-19");
    let page = bench.http.get("/v1/events?limit=1000").json();
    let paged: Vec<_> = page["events"].as_array().unwrap().clone();
    assert_eq!(told.iter().map(|message| message.data.clone()).collect::<Vec<_>>(), paged);

    for at in 20..220 {
        credit(&mut bench.http, &format!("pay-{at}"));
        let followed = stream.next().expect("the stream goes on");
        assert_eq!(followed.data["operation"], format!("pay-{at}"));
    }
    let target = format!("/v1/events?cursor={}", told[9].id);
    let mut later = Stream::open(&bench.server, &target, None);
    assert_eq!(later.take(13), told[10..]);
    // The last event that a browser saw is ahead of the cursor with which its page was opened.
    let mut resumed = Stream::open(&bench.server, &target, Some(&told[19].id));
    assert_eq!(resumed.take(3), told[20..]);
    bench.check_well();
}

#[test]
fn a_stream_goes_on_after_a_kill_from_the_last_event() {
    let data = TempDir::new().unwrap();
    let mut server = Server::start(data.path(), &["--partitions", "3"]);
    let mut http = server.http();
    let opened: Vec<String> = (0..30).map(|at| format!("account-{at}")).collect();
    for account in &opened {
        let response = http.post("/v1/accounts", &json!({ "account": account, "asset": "EUR" }));
        assert_eq!(response.status, 201);
    }
    let mut stream = Stream::open(&server, "/v1/events", None);
    let mut seen = stream.take(11);
    server.kill();
    let mut server = Server::start(data.path(), &["--partitions", "3"]);
    let mut stream = Stream::open(&server, "/v1/events", Some(&seen[10].id));
    seen.extend(stream.take(12));
    server.kill();
    let server = Server::start(data.path(), &["--partitions", "3"]);
    let mut stream = Stream::open(&server, "/v1/events", Some(&seen[22].id));
    seen.extend(stream.take(7));
    let more = server.http().post("/v1/accounts", &json!({ "account": "after", "asset": "EUR" }));
    assert_eq!(more.status, 201);
    let after = stream.next().unwrap();
    assert_eq!(after.data["fields"]["account"], json!("after"));
    assert_eq!(after.data["epoch"].as_u64().map(epoch::count), Some(2));
    let mut accounts: Vec<&str> =
        seen.iter().map(|message| message.data["fields"]["account"].as_str().unwrap()).collect();
    accounts.sort_unstable();
    let mut expected: Vec<&str> = opened.iter().map(String::as_str).collect();
    expected.sort_unstable();
    assert_eq!(accounts, expected, "each once");
    for partition in 0..3 {
        let its: Vec<_> =
            seen.iter().filter(|message| message.data["partition"] == partition).cloned().collect();
        assert_eq!(sequences(&its), (1..=its.len() as u64).collect::<Vec<_>>(), "partition {partition}");
        let target = format!("/v1/events?partition={partition}");
        if !its.is_empty() {
            let alone = Stream::open(&server, &target, None).take(its.len());
            assert_eq!(sequences(&alone), sequences(&its));
        }
    }
}

#[test]
fn a_stream_never_shows_what_is_still_to_be_drawn() {
    let mut bench = Bench::start(&[]);
    let plan = json!({ "total": 1_000, "count": 5, "method": "LINE_CUT" });
    bench.applied("POST", "/v1/packets", &json!({ "campaign": "c", "asset": "EUR", "plan": plan }));
    let amount = bench.applied("POST", "/v1/packets/c/claims", &json!({ "user": "u" }))["amount"].clone();
    let closed = bench.applied("POST", "/v1/packets/c/close", &json!({}));
    let mut stream = Stream::open(&bench.server, "/v1/events", None);
    let told = stream.take(7);
    let names: Vec<&str> = told[3..].iter().map(|message| message.name.as_str()).collect();
    assert_eq!(names, ["packets.created", "packets.filled", "packets.claimed", "packets.closed"]);
    for message in &told[3..6] {
        let fields = message.data["fields"].as_object().unwrap();
        let secret = fields.keys().find(|name| ["seed", "amounts", "packets"].contains(&name.as_str()));
        assert_eq!(secret, None, "{message:?}");
        assert!(!message.data.to_string().contains(closed["seed"].as_str().unwrap()), "{message:?}");
    }
    assert_eq!(told[5].data["fields"]["amount"], amount);
    assert_eq!(told[6].data["fields"]["seed"], closed["seed"]);
    bench.check_well();
}

#[test]
fn a_stream_ends_cleanly_with_the_server() {
    let bench = Bench::start(&[]);
    let mut streams: Vec<Stream> = (0..8).map(|_| Stream::open(&bench.server, "/v1/events", None)).collect();
    for stream in &mut streams {
        assert_eq!(sequences(&stream.take(3)), [1, 2, 3]);
    }
    let Bench { server, .. } = bench;
    server.stop();
    for mut stream in streams {
        let rest = stream.http.line();
        assert_eq!(rest, "0", "the last chunk is the empty one");
        assert_eq!(stream.http.line(), "");
        assert!(stream.http.has_ended());
    }
}

/// Writes until the log has lost so many events, and gives the first sequence that is left.
fn trim(bench: &mut Bench, lost: u64) -> u64 {
    let line = json!({ "command": "ACCOUNT.CREDIT", "arguments": { "account": "alice", "amount": 1 } });
    let batch = json!({ "operations": vec![line; 1_000] });
    let mut resp = bench.server.socket();
    for _ in 0..500 {
        assert_eq!(bench.http.post("/v1/batch", &batch).status, 200);
        let made = resp.call(&["SNAPSHOT"]);
        assert!(!made.starts_with('-'), "{made}");
        let answer = bench.http.get("/v1/events?limit=1");
        let first = answer.json()["facts"]["oldest_sequence"].as_u64().unwrap_or_default();
        if first > lost {
            return first;
        }
    }
    panic!("the log was not trimmed");
}

#[test]
fn a_trimmed_log_says_where_it_begins_and_can_be_entered_there() {
    let mut bench = Bench::start(&["--segment-mib", "1", "--snapshot-mib", "1"]);
    let first = trim(&mut bench, 1);
    let stale = scarce_api::cursor::of_positions(&[Position { epoch: 0, sequence: 1 }]);
    for accept in ["application/json", "text/event-stream"] {
        for target in ["/v1/events".to_owned(), format!("/v1/events?cursor={stale}")] {
            let gone = bench.http.call("GET", &target, &[("Accept", accept)], None);
            assert_problem(&target, &gone, 410, "CURSOR_TRIMMED");
            let problem = gone.json();
            assert_eq!(
                (&problem["retryable"], &problem["facts"]["oldest_sequence"]),
                (&json!(false), &json!(first))
            );
            assert_eq!(gone.header("retry-after"), None);
            let oldest = problem["facts"]["oldest"].as_str().unwrap();
            let page = bench.http.get(&format!("/v1/events?limit=1&cursor={oldest}")).json();
            assert_eq!(page["events"][0]["sequence"], first);
        }
    }
    let page = bench.http.get("/v1/events?from=oldest&limit=2").json();
    assert_eq!((&page["events"][0]["sequence"], &page["has_more"]), (&json!(first), &json!(true)));
    let now = bench.http.get("/v1/events?from=now").json();
    assert_eq!((&now["events"], &now["has_more"]), (&json!([]), &json!(false)));
    credit(&mut bench.http, "after");
    let page = bench.http.get(&format!("/v1/events?cursor={}", now["cursor"].as_str().unwrap())).json();
    assert_eq!(page["events"].as_array().map(Vec::len), Some(1), "{page}");
    let mut stream = Stream::open(&bench.server, "/v1/events?from=oldest", None);
    assert_eq!(sequences(&stream.take(3)), [first, first + 1, first + 2]);
    let mut resp = bench.server.socket();
    let error = resp.call(&["EVENTS", "0", "0", "0"]);
    assert!(error.starts_with("-ERR") && error.contains(&format!("EVENTS 0 0 {}", first - 1)), "{error}");
    assert!(resp.call(&["EVENTS", "0", "0", &(first - 1).to_string(), "COUNT", "1"]).contains("account."));
    for (query, reason) in
        [("from=yesterday", "oldest or now"), (&format!("from=now&cursor={stale}"), "does not go with")]
    {
        let target = format!("/v1/events?{query}");
        assert_invalid(&target, &bench.http.get(&target), "from", reason);
    }
    bench.check_well();
}

#[test]
fn a_stream_that_falls_behind_what_is_kept_ends_with_the_reason() {
    let unread = ["--event-stream-unread-ms", "3600000"];
    let mut bench = Bench::start(&[&["--segment-mib", "1", "--snapshot-mib", "1"], &unread[..]].concat());
    // It reads nothing, so the log goes on without it once the buffers between are full.
    let mut stream = Stream::open(&bench.server, "/v1/events?from=oldest", None);
    let first = trim(&mut bench, 100_000);
    let mut seen = 0;
    let problem = loop {
        let block = stream.block().expect("the stream goes on until it says why not");
        let message = message(&block);
        if let Some(message) = message {
            seen = message.data["sequence"].as_u64().unwrap();
        } else if block.contains("event: problem") {
            break block;
        }
        assert!(seen + 1 < first, "it read all, so nothing was trimmed before it came there");
    };
    assert!(problem.contains("CURSOR_TRIMMED") && !problem.contains("id: "), "{problem}");
    assert!(stream.block().is_none(), "it has ended");
    bench.check_well();
}
