//! A server whose memory budget is small: what it refuses, what it goes on with, and how it recovers.

#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::path::Path;
use std::process::Command;

use support::{Server, Socket, frame, refused_start, serve, wait_until};

const DAY_MS: u64 = 86_400_000;
const START_MS: u64 = 1_000_000_000_000;

/// Memory is full before the ids that may be remembered are.
const ALL_IDS: &str = "--operations-max=16000000";

/// How many changes are sent between two looks.
const CHANGES: usize = 2_000;

/// No server gets so far within the budget.
const CHANGES_MAX: usize = 2_000_000;

fn start(data: &Path) -> Server {
    let server = Server::overheard_at(data, &["--memory-max", "64MiB", "--manual-clock", ALL_IDS]);
    let now = server.socket().call(&["DEBUG.CLOCK", &START_MS.to_string()]);
    assert_eq!(now, "OK");
    server
}

fn ready(server: &Server) -> (u16, String) {
    let answer = server.http().get("/readyz?verbose");
    (answer.status, String::from_utf8(answer.body).unwrap())
}

fn metric(server: &Server, name: &str) -> u64 {
    let text = String::from_utf8(server.http().get("/metrics").body).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
}

/// Sends changes with new ids until one is refused. Gives that answer, and how many were applied.
fn fill(socket: &mut Socket, change: impl Fn(usize) -> Vec<u8>) -> (String, usize) {
    for round in 0..CHANGES_MAX / CHANGES {
        let changes = (0..CHANGES).flat_map(|n| change(round * CHANGES + n));
        socket.send(&changes.collect::<Vec<u8>>());
        let replies: Vec<_> = (0..CHANGES).map(|_| socket.reply()).collect();
        let applied = replies.iter().take_while(|reply| reply.starts_with("[1 ")).count();
        if let Some(refused) = replies.get(applied) {
            return (refused.clone(), round * CHANGES + applied);
        }
    }
    panic!("{CHANGES_MAX} changes fit");
}

/// A change of which nothing stays but its id.
fn credit(name: &str, n: usize) -> Vec<u8> {
    frame(&["ACCOUNT.CREDIT", "a", "1", "ID", &format!("{name}-{n}")])
}

/// What must go on while new records are refused; the numbers make its ids and records new ones.
fn goes_on(socket: &mut Socket, first_credit: &str, n: usize) {
    let refused = |reply: String| assert!(reply.starts_with("-OVERLOADED 'memory'"), "{reply}");
    refused(socket.call(&["ACCOUNT.OPEN", &format!("new-{n}"), "EUR"]));
    refused(socket.call(&["ACCOUNT.CREDIT", "a", "1", "ID", &format!("late-{n}")]));
    refused(socket.call(&["STOCK.RESERVE", "s", &format!("late-{n}"), "1", "u", "60000"]));
    refused(socket.call(&["OPERATION.RESOLVE", &format!("never-{n}"), "ON", "a"]));
    assert!(socket.call(&["ACCOUNT.GET", "a"]).starts_with("[account a "));
    assert_eq!(socket.call(&["ACCOUNT.CREDIT", "a", "1", "ID", "credit-0"]), first_credit, "a duplicate");
    assert_eq!(socket.call(&["ACCOUNT.CREDIT", "a", "2", "ID", "credit-0"]), "[0 ID_REUSED credit-0]");
    let nobody: Vec<u8> = (0..CHANGES)
        .flat_map(|at| frame(&["ORDER.CANCELALL", "m", "nobody", "ID", &format!("nobody-{n}-{at}")]))
        .collect();
    socket.send(&nobody);
    (0..CHANGES).for_each(|_| refused(socket.reply()));
    let (id, hold) = (format!("end-{n}"), format!("h{n}"));
    assert!(socket.call(&["ACCOUNT.VOID", "b", &hold, "ID", &id]).starts_with("[1 5 "));
    let captured = socket.call(&["ACCOUNT.CAPTURE", "b", &format!("c{n}")]);
    assert!(captured.starts_with("[1 5 0 "), "{captured}");
    assert!(socket.call(&["STOCK.RELEASE", "s", &format!("r{n}")]).starts_with("[1 1 "));
    assert!(
        socket.call(&["STOCK.CONFIRM", "s", &format!("q{n}"), "ID", &format!("paid-{n}")]).starts_with("[1 ")
    );
}

/// Something of each kind that can end later.
fn open(socket: &mut Socket) {
    for account in ["a", "b"] {
        assert_eq!(socket.call(&["ACCOUNT.OPEN", account, "EUR"]), "[1 0]");
    }
    socket.call(&["ACCOUNT.CREDIT", "b", "1000"]);
    socket.call(&["STOCK.CREATE", "s", "1000"]);
    socket.call(&["MARKET.CREATE", "m"]);
    for n in 0..2 {
        for hold in ["h", "c"] {
            let held = socket.call(&["ACCOUNT.HOLD", "b", &format!("{hold}{n}"), "5"]);
            assert!(held.starts_with("[1 "), "{held}");
        }
        for name in ["r", "q"] {
            let reserved = socket.call(&["STOCK.RESERVE", "s", &format!("{name}{n}"), "1", "u", "864000000"]);
            assert!(reserved.starts_with("[1 "), "{reserved}");
        }
    }
}

#[test]
fn near_the_budget_new_records_are_refused_and_all_else_goes_on() {
    let folder = tempfile::TempDir::new().unwrap();
    let server = start(folder.path());
    assert_eq!(server.kernel_status("THP_enabled:"), 0, "a huge page that is touched first makes all wait");
    let mut socket = server.socket();
    open(&mut socket);
    let (status, text) = ready(&server);
    assert_eq!(status, 200, "{text}");
    assert!(text.contains("] memory: ") && text.contains(" 64 MiB allowed"), "{text}");

    let first_credit = socket.call(&["ACCOUNT.CREDIT", "a", "1", "ID", "credit-0"]);
    let (refused, applied) = fill(&mut socket, |n| credit("credit", n));
    assert!(refused.starts_with("-OVERLOADED 'memory' is full."), "{refused}");
    assert!(refused.contains("--memory-max"), "what to do: {refused}");
    assert!(applied > 10_000, "{applied} fit");
    goes_on(&mut socket, &first_credit, 0);
    let response = server.http().call(
        "POST",
        "/v1/accounts/a/credit",
        &[("Idempotency-Key", "over-http")],
        Some(&serde_json::json!({ "amount": 1 })),
    );
    assert_eq!((response.status, response.code().as_str()), (503, "OVERLOADED"));
    let advice = response.json()["advice"].as_str().unwrap().to_owned();
    assert!(advice.contains("larger budget"), "{advice}");

    wait_until("it is not ready", || ready(&server).0 == 503);
    let (_, text) = ready(&server);
    assert!(text.contains("takes commands failed: 'memory' is full."), "{text}");
    assert_eq!(metric(&server, "scarce_memory_refusing"), 1);
    assert_eq!(metric(&server, "scarce_memory_max_bytes"), 64 << 20);
    let used = metric(&server, "scarce_memory_used_bytes");
    assert!((8 << 20..64 << 20).contains(&used), "{used} bytes");
    // A snapshot fits into what was kept for it.
    assert!(socket.call(&["SNAPSHOT"]).starts_with("[[0 "));

    let before = socket.call(&["DIGEST"]);
    drop(socket);
    let log = server.stop_overheard();
    assert!(log.contains("memory is nearly used up"), "{log}");
    let server = start(folder.path());
    let mut socket = server.socket();
    assert_eq!(socket.call(&["DIGEST"]), before);
    // A start packs what is kept, so that a little more may fit.
    fill(&mut socket, |n| credit("again", n));
    goes_on(&mut socket, &first_credit, 1);

    // Ids are forgotten after a day, and make room.
    let tomorrow = (START_MS + DAY_MS + 1).to_string();
    assert_eq!(socket.call(&["DEBUG.CLOCK", &tomorrow]), "OK");
    let credited = socket.call(&["ACCOUNT.CREDIT", "a", "1", "ID", "the-next-day"]);
    assert!(credited.starts_with("[1 "), "it frees more than it takes: {credited}");
    for n in 0..100 {
        let opened = socket.call(&["ACCOUNT.OPEN", &format!("next-{n}"), "EUR", "ID", &format!("next-{n}")]);
        assert_eq!(opened, "[1 0]");
    }
}

#[test]
fn without_a_budget_nothing_is_refused_or_told() {
    let server = Server::fresh(&["--memory-max", "off"]);
    assert_eq!(server.socket().call(&["ACCOUNT.OPEN", "a", "EUR"]), "[1 0]");
    let metrics = String::from_utf8(server.http().get("/metrics").body).unwrap();
    assert!(!metrics.contains("scarce_memory_"), "{metrics}");
    assert!(!ready(&server).1.contains("memory"));
}

#[test]
fn ids_that_come_too_fast_are_warned_of_and_refused_with_the_real_wait() {
    let folder = tempfile::TempDir::new().unwrap();
    let options = ["--operations-max", "10", "--manual-clock"];
    let server = Server::overheard_at(folder.path(), &options);
    let mut socket = server.socket();
    let now = |socket: &mut Socket, at: u64| {
        assert_eq!(socket.call(&["DEBUG.CLOCK", &(START_MS + at).to_string()]), "OK");
    };
    now(&mut socket, 0);
    assert_eq!(socket.call(&["ACCOUNT.OPEN", "a", "EUR", "ID", "first"]), "[1 0]");
    for n in 0..8 {
        now(&mut socket, 1_000);
        assert!(socket.call(&["ACCOUNT.CREDIT", "a", "1", "ID", &format!("c{n}")]).starts_with("[1 "));
    }
    wait_until("the log warns", || {
        server.overhead().contains("new operation ids come faster than 60 an hour")
    });
    let ids = |name: &str| {
        let text = String::from_utf8(server.http().get("/metrics").body).unwrap();
        let line = text.lines().find(|line| line.starts_with(name)).map(str::to_owned);
        line.unwrap_or_else(|| panic!("no {name} in {text}"))
    };
    // They are counted once a second.
    wait_until("all are counted", || ids("scarce_operations_locked").ends_with("{partition=\"0\"} 9.0"));
    assert_eq!(ids("scarce_operations_max"), "scarce_operations_max 10");

    assert!(socket.call(&["ACCOUNT.CREDIT", "a", "1", "ID", "tenth"]).starts_with("[1 "));
    let refused = socket.call(&["ACCOUNT.CREDIT", "a", "1", "ID", "late"]);
    assert!(refused.starts_with("-OVERLOADED 'operations' is full."), "{refused}");
    assert!(refused.ends_with("retry_after_ms=599000"), "until the first is ten minutes old: {refused}");
    let body = serde_json::json!({ "amount": 1 });
    let response =
        server.http().call("POST", "/v1/accounts/a/credit", &[("Idempotency-Key", "late")], Some(&body));
    assert_eq!((response.status, response.header("retry-after")), (503, Some("599")));
    assert_eq!(
        response.json()["facts"],
        serde_json::json!({ "queue": "operations", "retry_after_ms": 599_000 })
    );

    wait_until("it is not ready for new ids", || {
        let (status, text) = ready(&server);
        status == 503
            && text.contains("[!] operation ids: partition 0 must keep 10 of")
            && text.contains("(100 %)")
    });
    assert!(socket.call(&["ACCOUNT.CREDIT", "a", "1", "ID", "tenth"]).starts_with("[1 "), "a duplicate");

    now(&mut socket, 600_000);
    assert!(socket.call(&["ACCOUNT.CREDIT", "a", "1", "ID", "late"]).starts_with("[1 "));
    now(&mut socket, 700_000);
    wait_until("there is room again", || server.overhead().contains("there is room for operation ids again"));
    wait_until("it is ready again", || ready(&server).0 == 200);
}

#[test]
fn data_that_does_not_fit_is_refused_at_a_start_with_what_it_needs() {
    let folder = tempfile::TempDir::new().unwrap();
    let server = Server::start(folder.path(), &["--memory-max", "160MiB", ALL_IDS]);
    let mut socket = server.socket();
    let account = |n: usize| frame(&["ACCOUNT.OPEN", &format!("account-{n}"), "EUR", "ID", &n.to_string()]);
    let (refused, _) = fill(&mut socket, account);
    assert!(refused.starts_with("-OVERLOADED 'memory'"), "{refused}");
    let before = socket.call(&["DIGEST"]);
    drop(socket);
    server.stop();

    let refuse = || {
        // One that started would not end by itself.
        let server = serve(folder.path(), &["--memory-max", "48MiB"]);
        let mut command = Command::new("timeout");
        command.arg("120").arg(server.get_program()).args(server.get_args());
        let (code, message) = refused_start(&mut command);
        assert_eq!(code, Some(1), "{message}");
        assert!(message.contains("--memory-max off"), "what to do: {message}");
        message
    };
    let message = refuse();
    assert!(
        message.contains("the 48 MiB of memory that are allowed") && message.contains(" % of the journal"),
        "{message}"
    );

    let server = Server::start(folder.path(), &["--memory-max", "off"]);
    assert_eq!(server.socket().call(&["DIGEST"]), before, "it starts when told to");
    server.stop();
    let server = Server::start(folder.path(), &["--memory-max", "160MiB", ALL_IDS]);
    assert!(server.socket().call(&["SNAPSHOT"]).starts_with("[[0 "));
    server.stop();
    let message = refuse();
    assert!(message.contains(" MiB of memory, and 48 MiB are allowed"), "{message}");
    let server = Server::start(folder.path(), &["--memory-max", "160MiB", ALL_IDS]);
    assert_eq!(server.socket().call(&["DIGEST"]), before);
}
