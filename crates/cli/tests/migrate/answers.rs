//! What callers are answered at the new place: the same, to everything that they ask again.

use redis::Value as Reply;

use super::{Stage, call, ended, said};
use crate::support::{Server, wait_until};

/// Commands of every kind, each with an id. Some are refused, some have long answers.
pub(super) fn lines() -> Vec<String> {
    let mut lines = Vec::new();
    for n in 0..12 {
        lines.extend([
            format!("ACCOUNT.OPEN a{n} EUR ID open{n}"),
            format!("ACCOUNT.CREDIT a{n} 100 ID credit{n}"),
            format!("ACCOUNT.DEBIT a{n} 1000 ID refused{n}"),
            format!("ACCOUNT.HOLD a{n} h 30 TTL 600000 ID hold{n}"),
            format!("ACCOUNT.CAPTURE a{n} h AMOUNT 10 KEEPREST ID capture{n}"),
            format!("STOCK.CREATE s{n} 10 PEROWNER 3 ID stock{n}"),
            format!("STOCK.TAKE s{n} 2 o ID take{n}"),
            format!("STOCK.RESERVE s{n} r 1 o 600000 ID reserve{n}"),
            format!("STOCK.RETURN s{n} 1 1 ID return{n}"),
            format!("PACKET.CREATE c{n} EUR PLAN 500 1500 DOUBLE_MEAN ID packets{n}"),
            format!("PACKET.CREATE d{n} EUR PLAN 5000 1500 EVEN ID many{n}"),
            format!("PACKET.CLAIM d{n} u ID claim{n}"),
            format!("COUPON.CREATE k{n} LIMIT l 5 PER user WINDOW day ID coupon{n}"),
            format!("COUPON.CLAIM k{n} USER u ID coupon-claim{n}"),
            format!("MARKET.CREATE m{n} ID market{n}"),
        ]);
        lines.extend(
            (1..6).map(|at| format!("ORDER.PLACE m{n} s{at} maker SELL LIMIT {at} 2 ID sell{n}-{at}")),
        );
        lines.push(format!("ORDER.PLACE m{n} b taker BUY LIMIT 4 7 ID buy{n}"));
        lines.push(format!("OPERATION.RESOLVE absent{n} ON a{n}"));
    }
    lines.retain(|line| !line.starts_with("PACKET.CREATE c"));
    lines
}

/// The names of everything that the lines create.
fn resources() -> impl Iterator<Item = String> {
    ["a", "s", "d", "k", "m"].iter().flat_map(|kind| (0..12).map(move |n| format!("{kind}{n}")))
}

/// The digest of each resource, without the partition and the sequence that it is of.
pub(super) fn digests(server: &Server) -> Vec<Reply> {
    let mut client = server.connect();
    let digest = |resource: String| match call(&mut client, &format!("DIGEST {resource}")) {
        Reply::Array(mut rows) => match rows.pop() {
            Some(Reply::Array(mut row)) => row.pop().unwrap(),
            other => other.unwrap(),
        },
        other => panic!("{other:?}"),
    };
    resources().map(digest).collect()
}

/// The old files are no longer served: callers are told where the deployment is.
pub(super) fn check_elsewhere(old: &Server) {
    let told = "-MIGRATED this deployment has moved to there:7379; send the request there, with the same id";
    for words in [&["PING"][..], &["ACCOUNT.CREDIT", "a0", "1", "ID", "late"], &["ACCOUNT.GET", "a0"]] {
        assert_eq!(old.socket().call(words), told);
    }
    let mut http = old.http();
    let answer = http.get("/v1/accounts/a0");
    let told = answer.json();
    assert_eq!((answer.status, &told["code"]), (421, &"MIGRATED".into()), "{told}");
    assert_eq!(told["facts"]["address"], "there:7379");
    assert_eq!(old.http().get("/readyz").status, 503);
}

#[test]
fn every_duplicate_gets_its_first_answer_among_any_number_of_partitions() {
    move_on_and_on(&Stage::new());
}

#[test]
fn also_those_whose_operation_ids_were_on_disk() {
    move_on_and_on(&Stage::with(&["--operations-in-memory-max", "16"]));
}

/// Whether nearly all operation ids have left memory, if they shall.
pub(super) fn has_let_go(stage: &Stage, server: &Server) -> bool {
    let metrics = server.http().get("/metrics").text();
    let in_memory = |line: &str| {
        line.starts_with("scarce_operations_in_memory{").then(|| line.rsplit(' ').next()?.parse::<f64>().ok())
    };
    let figures: Vec<f64> = metrics.lines().filter_map(in_memory).flatten().collect();
    stage.options.is_empty() || (!figures.is_empty() && figures.iter().all(|figure| *figure < 24.0))
}

fn move_on_and_on(stage: &Stage) {
    let server = stage.serve("data-1", 1);
    let lines = lines();
    let mut client = server.connect();
    let first: Vec<_> = lines.iter().map(|line| call(&mut client, line)).collect();
    let expected = digests(&server);
    wait_until("operation ids leave memory", || has_let_go(stage, &server));
    server.stop();
    let mut partitions = 1;
    for (step, next) in [4, 6, 6, 3, 1].into_iter().enumerate() {
        let (from, to) = (format!("data-{}", step + 1), format!("data-{}", step + 2));
        let count = next.to_string();
        let output = stage.migrate(&from, &to, &["--partitions", &count, "--address", "there:7379"]);
        assert_eq!(ended(&output, 0).len(), next as usize);
        assert!(said(&output).contains(&format!("--partitions {next}")), "{}", said(&output));
        let old = partitions.to_string();
        check_elsewhere(&Server::start(&stage.path(&from), &["--partitions", &old]));
        partitions = next;
        let server = stage.serve(&to, next);
        let mut client = server.connect();
        for (line, answer) in lines.iter().zip(&first) {
            assert_eq!(&call(&mut client, line), answer, "{line} among {next}");
        }
        assert_eq!(digests(&server), expected, "among {next}");
        server.stop();
    }
}

#[test]
fn work_goes_on_behind_a_move_and_survives_a_kill_and_a_snapshot() {
    let stage = Stage::new();
    let server = stage.serve("old", 2);
    let mut client = server.connect();
    for line in lines() {
        call(&mut client, &line);
    }
    server.stop();
    ended(&stage.migrate("old", "new", &["--partitions", "5"]), 0);
    let mut server = stage.serve("new", 5);
    let mut client = server.connect();
    let mut answers = Vec::new();
    for n in 0..12 {
        for line in [
            format!("ACCOUNT.DEBIT a{n} 5 ID new{n}"),
            format!("ACCOUNT.VOID a{n} h ID void{n}"),
            format!("STOCK.CONFIRM s{n} r ID confirm{n}"),
            format!("STOCK.TAKE s{n} 1 o2 ID take-new{n}"),
            format!("PACKET.CLAIM d{n} v ID claim-new{n}"),
            format!("COUPON.CLAIM k{n} USER u ID coupon-new{n}"),
            format!("ORDER.PLACE m{n} last taker BUY LIMIT 9 3 ID last{n}"),
        ] {
            let answer = call(&mut client, &line);
            assert!(
                matches!(&answer, Reply::Array(values) if values[0] == Reply::Int(1)),
                "{line}: {answer:?}"
            );
            answers.push((line, answer));
        }
    }
    call(&mut client, "SAVE");
    let expected = digests(&server);
    server.kill();
    let server = stage.serve("new", 5);
    let mut client = server.connect();
    for (line, answer) in &answers {
        assert_eq!(&call(&mut client, line), answer, "{line}");
    }
    assert_eq!(digests(&server), expected);
    server.stop();
    let mut verify = crate::scarce();
    verify.args(["journal", "verify", "--data"]).arg(stage.path("new"));
    assert!(verify.output().unwrap().status.success());
}

#[test]
fn every_duplicate_gets_its_first_answer_from_a_server_that_took_over() {
    let stage = Stage::new();
    let old = stage.serve("old", 2);
    let lines = lines();
    let mut client = old.connect();
    let first: Vec<_> = lines.iter().map(|line| call(&mut client, line)).collect();
    let (expected, events) = (digests(&old), call(&mut client, "EVENTS 1 0 0 COUNT 1000"));
    let from = stage.path("old").display().to_string();
    let new = Server::start(&stage.path("new"), &["--partitions", "2", "--migrate-from", &from]);
    let mut client = new.connect();
    for (line, answer) in lines.iter().zip(&first) {
        assert_eq!(&call(&mut client, line), answer, "{line}");
    }
    assert_eq!(digests(&new), expected);
    assert_eq!(call(&mut client, "EVENTS 1 0 0 COUNT 1000"), events, "the log goes along");
    call(&mut client, "SAVE");
    old.stop();
    new.stop();
    let again = stage.serve("new", 2);
    assert_eq!(digests(&again), expected);
    again.stop();
    let told = Server::start(&stage.path("old"), &["--partitions", "2"]).socket().call(&["PING"]);
    assert!(told.starts_with("-MIGRATED"), "{told}");
}
