//! Requests that ask for much with few bytes: what they ask for is known and bounded before any of it is done, and
//! what takes long is done beside the threads that serve everybody.

mod support;

use serde_json::json;
use support::{Server, frame};

const REFUSED: &str = "units of work, and a request may ask for 1001000; divide it";

#[test]
fn a_transaction_that_asks_for_too_much_is_refused_when_it_is_queued_and_nothing_is_cut() {
    let server = Server::fresh(&[]);
    let mut socket = server.socket();
    let before = (socket.call(&["DIGEST"]), server.resident_kib());
    assert_eq!(socket.call(&["MULTI"]), "OK");
    let create = |at: u32| format!("PACKET.CREATE c{at} USD PLAN 1000000 1000000 EVEN");
    for at in 0..1_000 {
        let answer = socket.call(&create(at).split(' ').collect::<Vec<_>>());
        match at {
            0 => assert_eq!(answer, "QUEUED"),
            1 => assert!(
                answer.starts_with("-ERR INVALID batch asks for 2000258 ") && answer.ends_with(REFUSED)
            ),
            _ => assert_eq!(answer, "QUEUED", "it is told once"),
        }
    }
    assert!(socket.call(&["EXEC"]).starts_with("-EXECABORT "));
    assert_eq!(socket.call(&["DIGEST"]), before.0);
    // The packets of one line alone would take 8 MB, those of all lines 8 GB.
    assert!(server.resident_kib() < before.1 + (64 << 10));
}

#[test]
fn a_batch_over_http_is_refused_as_a_whole_dry_or_not() {
    let server = Server::fresh(&[]);
    let mut http = server.http();
    let before = http.get("/v1/digest").json();
    let create = |at: u32| {
        let plan = json!({ "total": 1_000_000, "count": 600_000, "method": "EVEN" });
        json!({ "command": "PACKET.CREATE", "arguments": { "campaign": format!("c{at}"), "asset": "USD", "plan": plan } })
    };
    let place = |at: u32| {
        let order = json!({ "market": "m", "order": format!("o{at}"), "owner": "u", "side": "BUY", "type": "MARKET", "quantity": 1 });
        json!({ "command": "ORDER.PLACE", "arguments": order })
    };
    let places: Vec<_> = (0..50).map(place).collect();
    let response = http.post("/v1/batch?dry_run=true", &json!({ "operations": places }));
    assert!(response.status == 400 && response.text().contains(REFUSED), "{}", response.text());
    let response = http.post("/v1/batch?dry_run=true", &json!({ "operations": places[..40] }));
    assert_eq!(response.status, 200, "{}", response.text());
    let list = json!({ "command": "MARKET.DEPTH", "arguments": { "market": "m", "levels": 10_000 } });
    let creates: Vec<_> = (0..2).map(create).collect();
    for body in [
        json!({ "operations": creates }),
        json!({ "operations": creates, "atomic": true }),
        json!({ "operations": vec![list; 11] }),
    ] {
        for target in ["/v1/batch", "/v1/batch?dry_run=true"] {
            let response = http.post(target, &body);
            assert_eq!((response.status, response.code()), (400, "INVALID".to_owned()), "{target}");
            let text = response.text();
            assert!(text.contains("operations") && text.contains(REFUSED), "{text}");
        }
    }
    assert_eq!(http.get("/v1/digest").json(), before);
}

#[test]
fn lists_have_a_longest_page() {
    let server = Server::fresh(&[]);
    let mut socket = server.socket();
    for line in ["MARKET.DEPTH m LEVELS 10001", "MARKET.TRADES m COUNT 10001", "ACCOUNT.HOLDS a COUNT 10001"]
    {
        let answer = socket.call(&line.split(' ').collect::<Vec<_>>());
        assert!(answer.contains("must be an integer from 1 to 10000"), "{line}: {answer}");
    }
    let depth = server.http().get("/v1/markets/m/depth?levels=10001");
    assert_eq!((depth.status, depth.code()), (400, "INVALID".to_owned()));
}

#[test]
fn a_large_cut_keeps_the_order_of_its_own_connection_and_lets_others_pass() {
    let server = Server::fresh(&[]);
    let (mut cutter, mut other) = (server.socket(), server.socket());
    let mut pipeline = Vec::new();
    for at in 0..3 {
        let create = format!("PACKET.CREATE c{at} USD PLAN 100000000 100000 LINE_CUT ID create-{at}");
        pipeline.extend(frame(&create.split(' ').collect::<Vec<_>>()));
        pipeline.extend(frame(&["PACKET.CLAIM", &format!("c{at}"), "u"]));
    }
    cutter.send(&pipeline);
    // However long the cuts take, each of these needs a turn of the owner only.
    assert_eq!(other.call(&["STOCK.CREATE", "s", "10"]), "[1 10]");
    assert_eq!(other.call(&["PACKET.GET", "c2"]), "[0 CAMPAIGN_NOT_FOUND c2]", "it passed the last cut");
    for at in 0..3 {
        let created = cutter.reply();
        assert!(created.starts_with("[1 100000 100000000 "), "{created}");
        let claimed = cutter.reply();
        assert!(claimed.starts_with("[1 1 "), "the claim waited for the campaign c{at}: {claimed}");
    }
    let mut again = server.socket();
    let create = "PACKET.CREATE c0 USD PLAN 100000000 100000 LINE_CUT ID create-0";
    assert!(
        again.call(&create.split(' ').collect::<Vec<_>>()).starts_with("[1 100000 "),
        "the first answer again"
    );
    let dry = "DRYRUN PACKET.CREATE d USD PLAN 1000000 1000000 EVEN";
    assert!(again.call(&dry.split(' ').collect::<Vec<_>>()).starts_with("[1 1000000 1000000 "));
    assert_eq!(again.call(&["PACKET.GET", "d"]), "[0 CAMPAIGN_NOT_FOUND d]");
}

/// How many callers have packets cut at a time, and how many of these cuts may be in memory, by port.
const CUTTERS: usize = 12;
const CUTS_MAX: u64 = 2;

/// More than a cut of a million packets takes on its way to its answer.
const CUT_KIB_MAX: u64 = 64 << 10;

#[test]
fn cuts_wait_for_their_turn_before_they_take_memory() {
    let server = Server::fresh(&[]);
    let before_kib = server.peak_resident_kib();
    let dry = "DRYRUN PACKET.CREATE d USD PLAN 1000000 1000000 EVEN";
    let mut cutters: Vec<_> = (0..CUTTERS).map(|_| server.socket()).collect();
    cutters.iter_mut().for_each(|cutter| cutter.send(&frame(&dry.split(' ').collect::<Vec<_>>())));
    cutters.iter_mut().for_each(|cutter| assert!(cutter.reply().starts_with("[1 1000000 ")));
    let over_resp_kib = server.peak_resident_kib() - before_kib;
    assert!(over_resp_kib < CUTS_MAX * CUT_KIB_MAX, "{CUTTERS} cuts over RESP took {over_resp_kib} KiB");

    let plan = json!({ "total": 1_000_000, "count": 1_000_000, "method": "EVEN" });
    let body = json!({ "campaign": "d", "asset": "USD", "plan": plan });
    std::thread::scope(|scope| {
        for _ in 0..CUTTERS {
            let (mut http, body) = (server.http(), &body);
            scope.spawn(move || {
                assert_eq!(http.post("/v1/packets?dry_run=true", body).status, 200);
            });
        }
    });
    let taken_kib = server.peak_resident_kib() - before_kib;
    assert!(taken_kib < CUTS_MAX * CUT_KIB_MAX, "{CUTTERS} cuts over HTTP took {taken_kib} KiB");
}

#[test]
fn events_come_as_many_as_asked_for_and_no_more_than_a_mebibyte() {
    let server = Server::fresh(&[]);
    let mut socket = server.socket();
    let reason = "r".repeat(250);
    let mut pipeline = frame(&["STOCK.CREATE", "s", "1000000"]);
    (0..6_000).for_each(|_| pipeline.extend(frame(&["STOCK.ADJUST", "s", "1", "REASON", &reason])));
    let mut sender = socket.sender();
    let sending =
        std::thread::spawn(move || std::io::Write::write_all(&mut sender, &pipeline).expect("sent"));
    (0..6_001).for_each(|_| assert!(socket.reply().starts_with("[1 ")));
    sending.join().expect("all was sent");

    let three = socket.call(&["EVENTS", "0", "0", "3000", "COUNT", "3"]);
    assert_eq!(three.matches("stock.adjusted").count(), 3, "{three}");
    assert!(three.starts_with("[[0 ") && three.contains(" 3001 ") && three.contains(" 3003 "), "{three}");
    assert_eq!(socket.call(&["EVENTS", "0", "0", "0", "COUNT", "0"]), "[]");
    assert_eq!(socket.call(&["EVENTS", "0", "0", "6001"]), "[]");

    let many = socket.call(&["EVENTS", "0", "0", "0", "COUNT", "10000"]);
    let count = many.matches("stock.adjusted").count();
    assert!(many.len() < (1 << 20) && (1_000..6_000).contains(&count), "{count} events");
    // A pipeline of readers is answered in its order, each after the one before.
    let cursors = ["0", "100", "5990", "6001"];
    let pipeline: Vec<u8> =
        cursors.iter().flat_map(|after| frame(&["EVENTS", "0", "0", after, "COUNT", "20"])).collect();
    socket.send(&pipeline);
    let counts: Vec<_> = cursors.iter().map(|_| socket.reply().matches("[0 ").count()).collect();
    assert_eq!(counts, [20, 20, 11, 0]);
}
