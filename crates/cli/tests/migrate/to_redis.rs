//! A deployment goes from the embedded engine into a Redis, and callers find everything there.

use redis::Value as Reply;
use scarce_launch::{Cluster, Options};

use super::answers::{check_elsewhere, digests, has_let_go, lines};
use super::{Stage, call, ended, said};
use crate::support::{Server, redis_server, wait_until};

/// Starts a server in front of a Redis.
fn serve(url: &str, partitions: u32) -> Server {
    Server::fresh(&["--engine", "redis", "--redis-url", url, "--partitions", &partitions.to_string()])
}

/// Asks everything at once, so that the engine takes many requests with each call.
fn ask_all(server: &Server, lines: &[String]) -> Vec<Reply> {
    let mut packed = Vec::new();
    for line in lines {
        scarce_client::pack(&line.split(' ').collect::<Vec<_>>(), &mut packed);
    }
    let mut client = server.connect();
    client.send(&packed).unwrap();
    lines.iter().map(|_| client.receive().unwrap()).collect()
}

fn move_into(stage: &Stage, url: &str, partitions: u32) {
    let server = stage.serve("old", 2);
    let lines = lines();
    let mut client = server.connect();
    let first: Vec<_> = lines.iter().map(|line| call(&mut client, line)).collect();
    let shown = |server: &Server| call(&mut server.connect(), "OPERATION.GET credit3 ON a3");
    let (expected, operation) = (digests(&server), shown(&server));
    wait_until("operation ids leave memory", || has_let_go(stage, &server));
    server.stop();
    let count = partitions.to_string();
    let output = stage.migrate_to("old", url, &["--partitions", &count, "--address", "there:7379"]);
    assert_eq!(ended(&output, 0).len(), partitions as usize, "{}", said(&output));
    assert!(said(&output).contains("--engine redis"), "{}", said(&output));
    check_elsewhere(&Server::start(&stage.path("old"), &["--partitions", "2"]));
    let server = serve(url, partitions);
    for _ in 0..2 {
        for ((line, answer), found) in lines.iter().zip(&first).zip(ask_all(&server, &lines)) {
            assert_eq!(&found, answer, "{line}");
        }
    }
    assert_eq!(shown(&server), operation);
    assert_eq!(digests(&server), expected);
    check_ids(&server);
    check_work(&server, &lines, &first);
    server.stop();
    let again = serve(url, partitions);
    assert_eq!(ask_all(&again, &lines), first, "after a restart");
}

/// Another command under a known ID is refused, alone and in the middle of others; new IDs are new.
fn check_ids(server: &Server) {
    let mut client = server.connect();
    let is_reused = |answer: &Reply| format!("{answer:?}").contains("ID_REUSED");
    let answer = call(&mut client, "ACCOUNT.CREDIT a1 101 ID credit1");
    assert!(is_reused(&answer), "{answer:?}");
    let mixed = [
        "ACCOUNT.CREDIT a0 1 ID fresh0",
        "ACCOUNT.CREDIT a0 100 ID credit0",
        "ACCOUNT.CREDIT a0 2 ID credit0",
        "ACCOUNT.CREDIT a0 1 ID fresh0",
        "ACCOUNT.CREDIT a0 100 ID credit0",
    ]
    .map(str::to_owned);
    let balance = |client: &mut _| format!("{:?}", call(client, "ACCOUNT.GET a0"));
    let before = balance(&mut client);
    let answers = ask_all(server, &mixed);
    assert!(is_reused(&answers[2]), "{answers:?}");
    assert_eq!((&answers[0], &answers[1]), (&answers[3], &answers[4]));
    assert_ne!(balance(&mut client), before, "the new command has taken effect");
    let after = balance(&mut client);
    ask_all(server, &mixed);
    assert_eq!(balance(&mut client), after, "and none has twice");
    let resolved = call(&mut client, "OPERATION.RESOLVE credit2 ON a2");
    assert!(format!("{resolved:?}").contains("APPLIED"), "{resolved:?}");
    let again = call(&mut client, "ACCOUNT.CREDIT a4 100 ID credit4");
    assert_eq!(call(&mut client, "DRYRUN ACCOUNT.CREDIT a4 100 ID credit4"), again);
}

/// Everything that came along can be worked with, also what nobody knew before.
fn check_work(server: &Server, lines: &[String], first: &[Reply]) {
    let mut client = server.connect();
    for n in 1..12 {
        for line in [
            format!("ACCOUNT.DEBIT a{n} 5 ID new{n}"),
            format!("ACCOUNT.VOID a{n} h ID void{n}"),
            format!("STOCK.CONFIRM s{n} r ID confirm{n}"),
            format!("STOCK.TAKE s{n} 1 o2 ID take-new{n}"),
            format!("STOCK.RETURN s{n} 2 1 ID return-new{n}"),
            format!("COUPON.CLAIM k{n} USER u ID coupon-new{n}"),
            format!("ORDER.PLACE m{n} last taker BUY LIMIT 9 3 ID last{n}"),
        ] {
            let answer = call(&mut client, &line);
            let is_applied = matches!(&answer, Reply::Array(values) if values[0] == Reply::Int(1));
            assert!(is_applied, "{line}: {answer:?}");
            assert_eq!(call(&mut client, &line), answer, "{line}");
        }
    }
    let claims: Vec<String> =
        (0..1_499).map(|user| format!("PACKET.CLAIM d1 v{user} ID draw{user}")).collect();
    let amount = |answer: &Reply| match answer {
        Reply::Array(values) => match values.as_slice() {
            [Reply::Int(1), Reply::Int(_), Reply::Int(amount)] => *amount,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let claimed =
        lines.iter().position(|line| line.contains("PACKET.CLAIM d1 ")).map(|at| &first[at]).unwrap();
    let drawn: i64 = ask_all(server, &claims).iter().map(amount).sum();
    assert_eq!(drawn + amount(claimed), 5_000, "all packets come to what was cut");
}

#[test]
fn every_duplicate_gets_its_first_answer_in_a_redis() {
    let redis = redis_server(&[]);
    move_into(&Stage::new(), &redis.url(), 2);
}

#[test]
fn also_in_a_cluster_among_more_partitions_and_with_ids_on_disk() {
    let cluster = Cluster::start(&Options::new().in_memory(), 3, 0).unwrap();
    move_into(&Stage::with(&["--operations-in-memory-max", "16"]), &cluster.url(), 4);
}

#[test]
fn what_is_there_already_is_refused_and_a_dry_run_leaves_nothing() {
    let redis = redis_server(&[]);
    let stage = Stage::new();
    let server = stage.serve("old", 2);
    call(&mut server.connect(), "ACCOUNT.OPEN a EUR ID 1");
    let output = stage.migrate_to("old", &redis.url(), &[]);
    ended(&output, 3);
    assert!(said(&output).contains("stop the server"), "{}", said(&output));
    server.stop();
    ended(&stage.migrate_to("old", &redis.url(), &["--dry-run"]), 0);
    serve(&redis.url(), 2).stop();
    let output = stage.migrate_to("old", &redis.url(), &[]);
    ended(&output, 3);
    assert!(said(&output).contains("is there already"), "{}", said(&output));
    let prefix = ["--redis-prefix", "second:"];
    ended(&stage.migrate_to("old", &redis.url(), &prefix), 0);
    let output = stage.migrate_to("old", &redis.url(), &["--redis-prefix", "third:"]);
    ended(&output, 3);
    assert!(said(&output).contains("has moved to"), "{}", said(&output));
}

/// Puts the stamps of everything that is remembered far back, as if its window were over.
fn age(redis: &scarce_launch::Server) {
    let ask = |words: &[&str]| redis.ask::<Vec<String>>(words).unwrap();
    let old = |text: &str, separator: char, place: usize| {
        let mut words: Vec<&str> = text.splitn(place + 2, separator).collect();
        words[place] = "1";
        words.join(&separator.to_string())
    };
    let (rows, list) = ("scarce:{p0-0}:operations", "scarce:{p0-0}:operations_by");
    for pair in ask(&["HGETALL", rows]).chunks(2) {
        redis.ask::<u64>(&["HSET", rows, &pair[0], &old(&pair[1], '|', 1)]).unwrap();
    }
    for (place, element) in ask(&["LRANGE", list, "0", "-1"]).iter().enumerate() {
        redis.ask::<String>(&["LSET", list, &place.to_string(), &old(element, ' ', 0)]).unwrap();
    }
}

#[test]
fn ids_that_came_along_are_forgotten_like_all_others() {
    let (stage, redis) = (Stage::new(), redis_server(&[]));
    let server = stage.serve("old", 1);
    let mut client = server.connect();
    call(&mut client, "ACCOUNT.OPEN a EUR ID open");
    (0..200).for_each(|n| _ = call(&mut client, &format!("ACCOUNT.CREDIT a 1 ID {n}")));
    server.stop();
    ended(&stage.migrate_to("old", &redis.url(), &[]), 0);
    let rows = || redis.ask::<u64>(&["HLEN", "scarce:{p0-0}:operations"]).unwrap();
    assert_eq!(rows(), 201);
    age(&redis);
    let server = serve(&redis.url(), 1);
    let mut client = server.connect();
    let credit = |client: &mut _, id: &str| call(client, &format!("ACCOUNT.CREDIT a 1 ID {id}"));
    let of_balance = |balance: i64| Reply::Array([1, balance, balance].map(Reply::Int).to_vec());
    // The window of the first time is over, so it is a new command; and from then on a known one.
    assert_eq!(credit(&mut client, "7"), of_balance(201));
    assert_eq!(credit(&mut client, "7"), of_balance(201));
    (0..6).for_each(|n| assert_eq!(credit(&mut client, &format!("new{n}")), of_balance(202 + n)));
    assert_eq!(rows(), 7, "those that were left behind have left");
    assert_eq!(credit(&mut client, "7"), of_balance(201));
    assert!(format!("{:?}", call(&mut client, "OPERATION.GET 8 ON a")).contains("OPERATION_NOT_FOUND"));
}

#[test]
fn a_redis_without_room_is_left_as_it_was() {
    let (stage, redis) = (Stage::new(), redis_server(&[]));
    let server = stage.serve("old", 2);
    super::kills::fill(&server);
    server.stop();
    redis.ask::<String>(&["CONFIG", "SET", "maxmemory", "2mb"]).unwrap();
    let output = stage.migrate_to("old", &redis.url(), &[]);
    assert!(!output.status.success() && said(&output).contains("OOM"), "{output:?}");
    assert_eq!(redis.ask::<u64>(&["DBSIZE"]).unwrap(), 0);
    let server = stage.serve("old", 2);
    call(&mut server.connect(), "ACCOUNT.CREDIT a1 1 ID late");
    server.stop();
    redis.ask::<String>(&["CONFIG", "SET", "maxmemory", "0"]).unwrap();
    ended(&stage.migrate_to("old", &redis.url(), &[]), 0);
    let server = serve(&redis.url(), 2);
    let known = Reply::Array([1, 8, 8].map(Reply::Int).to_vec());
    assert_eq!(call(&mut server.connect(), "ACCOUNT.CREDIT a1 1 ID late"), known);
}

#[test]
fn a_consumer_that_has_everything_goes_on_from_its_position() {
    let (stage, redis) = (Stage::new(), redis_server(&[]));
    let sql = format!("sqlite://{}", stage.path("shop.db").display());
    let words = ["--partitions", "2", "--sql", &sql];
    let fill = |server: &Server, first: u32| {
        let mut client = server.connect();
        for n in first..first + 20 {
            call(&mut client, &format!("ACCOUNT.OPEN a{n} EUR ID open{n}"));
            call(&mut client, &format!("ACCOUNT.CREDIT a{n} 7 ID credit{n}"));
        }
        server.wait_until_drained();
    };
    let old = Server::start(&stage.path("old"), &words);
    fill(&old, 0);
    old.stop();
    ended(&stage.migrate_to("old", &redis.url(), &[]), 0);
    let url = redis.url();
    let new = Server::fresh(&[&["--engine", "redis", "--redis-url", &url], &words[..]].concat());
    fill(&new, 20);
}
