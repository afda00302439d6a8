//! Days of a shop through the whole program: the example's operations through `scarce import` into a real
//! server, compared with an independent calculation of every invoice and every final number. With each
//! engine; and on a cluster again step by step, with ids on all partitions.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../support/database.rs"]
mod database;
#[path = "../../examples/online_retail.rs"]
mod example;
#[path = "../support/importing.rs"]
mod importing;
mod reckoning;
mod saga;
mod statement;
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use database::Database;
use importing::{figure, import, outcomes, summary};
use reckoning::{Day, Fate, reckon};
use saga::Sagas;
use scarce_client::Client;
use scarce_core::placement;
use scarce_core::types::Id;
use scarce_launch::{Cluster, Options};
use support::{Server, redis_server, wait_until};

/// A made-up day: odd codes, fractions of pence, an item twice in one invoice, understocked items, a customer
/// without enough money, cancellations of today's and of other days' purchases.
const TINY: &str = "\
InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country
1,A,apple,10,2020-01-01 08:00:00,0.50,100.0,X
1,b c,\"bowl, blue\",3,2020-01-01 08:00:00,1.999,100.0,X
2,A,apple,5,2020-01-01 08:01:00,0.5,101.0,X
2,a,ant,2,2020-01-01 08:01:00,2,101.0,X
2,A,apple,5,2020-01-01 08:01:00,0.5,101.0,X
3,B=20C,book,1,2020-01-01 08:02:00,0.005,,X
3,zz,free,4,2020-01-01 08:02:00,0.0,,X
C4,a,ant,-1,2020-01-01 08:03:00,2,101.0,X
C4,b c,\"bowl, blue\",-9,2020-01-01 08:03:00,1.999,101.0,X
C5,D,Discount,-1,2020-01-01 08:04:00,27.5,103.0,X
6,zz,lost,-4,2020-01-01 08:05:00,0.0,,X
7,a,ant,2,2020-01-01 08:06:00,2.0,102.0,X
8,A,apple,4,2020-01-01 08:07:00,0.50,103.0,X
9,A,apple,5,2020-01-01 08:08:00,0.50,101.0,X
10,A,apple,30,2020-01-01 08:09:00,0.50,101.0,X
";

/// The prefix of ids that must be in one partition.
const TAG: &str = "{shop}:";

/// The number of partitions of a cluster.
const PARTITIONS: u32 = 12;

fn account(tag: &str, customer: &str) -> String {
    format!("{tag}customer:{customer}")
}

/// The ids of the made-up codes, written by hand; real codes are letters and digits.
fn sku(tag: &str, code: &str) -> String {
    let code = match code {
        "b c" => "b=20c",
        "B=20C" => "B=3D20C",
        plain => plain,
    };
    format!("{tag}sku:{code}")
}

/// The example's operations, in a file.
fn operations(csv: &str, folder: &Path) -> PathBuf {
    let path = folder.join("day.ndjson");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    example::write_operations(csv.as_bytes(), &mut file).unwrap();
    file.flush().unwrap();
    path
}

/// Runs a day through the program with each engine and compares everything; returns a report.
fn check(csv: &str) -> String {
    let redis = redis_server(&[]);
    let options = ["--engine", "redis", "--redis-url", &redis.url()];
    let cluster = Cluster::start(&Options::new(), 3, 0).unwrap();
    let (url, count) = (cluster.url(), PARTITIONS.to_string());
    let on_cluster = ["--engine", "redis", "--redis-url", &url, "--partitions", &count, "--redis-prefix"];
    format!(
        "{}\n  the same with everything in Redis: {}\n  on a cluster, in one partition: {}\n  step by step, on all: {}\n  \
         by SQL, from SQLite: {}\n  from PostgreSQL: {}\n  from MariaDB, by way of Redis: {}",
        check_with(csv, &[]),
        check_with(csv, &options),
        check_with(csv, &[&on_cluster[..], &["tagged:"]].concat()),
        check_steps(csv, &[&on_cluster[..], &["spread:"]].concat()),
        statement::check(csv, &Database::sqlite(), &[]),
        statement::check(csv, &Database::postgres(), &[]),
        statement::check(csv, &Database::mariadb(), &[&options[..], &["--redis-prefix", "sql:"]].concat()),
    )
}

/// Runs a day with holds and reservations, whose ids share no tag.
fn check_steps(csv: &str, options: &[&str]) -> String {
    let day = reckon(csv);
    let folder = tempfile::tempdir().unwrap();
    let file = operations(csv, folder.path());
    let serving = Server::start(&folder.path().join("data"), options);
    let started = Instant::now();
    let (mut playing, mut looking) = (serving.connect(), serving.connect());
    let mut sagas = Sagas::play(&mut playing, &file);
    let seconds = started.elapsed().as_secs_f64();
    sagas.compare(&day);
    compare_figures(&day, &mut looking, "", PARTITIONS);
    sagas.ask_again();
    compare_figures(&day, &mut looking, "", PARTITIONS);
    told(&day, seconds)
}

fn check_with(csv: &str, options: &[&str]) -> String {
    let day = reckon(csv);
    let folder = tempfile::tempdir().unwrap();
    let file = operations(csv, folder.path());
    let serving = Server::start(&folder.path().join("data"), options);
    let results = folder.path().join("outcomes.ndjson");
    let started = Instant::now();
    let output =
        import(&serving.address, &file, &["--outcomes", results.to_str().unwrap()]).output().unwrap();
    let seconds = started.elapsed().as_secs_f64();
    let refused = day.fates.iter().any(|(_, fate)| *fate != Fate::Applied);
    assert_eq!(output.status.code(), Some(if refused { 3 } else { 0 }), "{output:?}");
    compare_invoices(&day, &results);
    compare_figures(&day, &mut serving.connect(), TAG, 1);
    run_again(&day, &serving, &file, &results);
    told(&day, seconds)
}

fn compare_invoices(day: &Day, results: &Path) {
    let found: BTreeMap<String, serde_json::Value> = outcomes(results)
        .into_iter()
        .map(|outcome| (outcome["id"].as_str().unwrap().to_owned(), outcome))
        .collect();
    for (invoice, fate) in &day.fates {
        let outcome = &found[invoice];
        match fate {
            Fate::Applied => assert_eq!(outcome["outcome"], "APPLIED", "{outcome}"),
            Fate::Refused(index, code) => {
                let told = (&outcome["outcome"], &outcome["values"][0], &outcome["values"][1]);
                let expected = ("BATCH_REFUSED".into(), (*index).into(), (*code).into());
                assert_eq!(told, (&expected.0, &expected.1, &expected.2), "{outcome}");
            }
        }
    }
    for cancellation in &day.credits {
        assert_eq!(found[cancellation]["outcome"], "APPLIED", "{}", found[cancellation]);
    }
    let returns = found.iter().filter(|(id, _)| id.starts_with('C') && id.contains('-'));
    let returns: Vec<_> = returns.map(|(_, outcome)| outcome["outcome"].clone()).collect();
    assert_eq!(returns, vec!["APPLIED"; day.returns], "returns");
    let setup = found.iter().filter(|(id, _)| id.contains(':'));
    assert!(setup.clone().all(|(_, outcome)| outcome["outcome"] == "APPLIED"));
    let known = day.fates.len() + day.credits.len() + day.returns;
    assert_eq!(found.len(), setup.count() + known, "operations that nobody reckoned with");
}

/// Compares what the server shows; its ids begin with `tag`, which is one partition or spread over
/// `partitions`.
fn compare_figures(day: &Day, client: &mut Client, tag: &str, partitions: u32) {
    for (customer, balance) in &day.balances {
        let words = ["ACCOUNT.GET", &account(tag, customer)];
        let found = ["balance", "held"].map(|name| figure(client, &words, name));
        assert_eq!(found, [Some(*balance), Some(0)], "balance of {customer}, and what is held");
    }
    for (code, item) in &day.items {
        let words = ["STOCK.GET", &sku(tag, code)];
        let found = ["available", "reserved", "sold", "total"].map(|name| figure(client, &words, name));
        let expected = [item.available, 0, item.sold, item.available + item.sold].map(Some);
        assert_eq!(found, expected, "available, reserved, sold and total of {code}");
    }
    let inside: i64 = day.balances.values().sum();
    assert_eq!(inside, day.funded - day.revenue + day.refunds, "the reckoning's own money");
    // Each partition has its own world account.
    let mut worlds: BTreeMap<u32, i64> = BTreeMap::new();
    for customer in day.balances.keys() {
        let name = account(tag, customer);
        let partition = placement::partition(&Id::parse(name.as_bytes(), "account").unwrap(), partitions);
        let world = figure(client, &["ACCOUNT.WORLD", "GBP", "ON", &name], "balance");
        worlds.insert(partition, world.unwrap_or(0));
    }
    assert_eq!(worlds.values().sum::<i64>(), -inside, "money made or lost");
}

/// Imports the same file again: the same answers, and nothing changes.
fn run_again(day: &Day, serving: &Server, file: &Path, results: &Path) {
    let again = results.with_extension("again");
    let options = ["--refusals-ok", "--window", "7", "--outcomes", again.to_str().unwrap()];
    let output = import(&serving.address, file, &options).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(outcomes(results), outcomes(&again));
    compare_figures(day, &mut serving.connect(), TAG, 1);
}

fn told(day: &Day, seconds: f64) -> String {
    let mut refused: BTreeMap<&str, u64> = BTreeMap::new();
    for (_, fate) in &day.fates {
        if let Fate::Refused(_, code) = fate {
            *refused.entry(code).or_default() += 1;
        }
    }
    let applied = day.fates.len() as u64 - refused.values().sum::<u64>();
    let mut text = format!("{} invoices, {applied} applied", day.fates.len());
    refused.iter().for_each(|(code, count)| write!(text, ", {count} {code}").unwrap());
    let (paid, back) = (day.revenue, day.refunds);
    write!(
        text,
        "; {} cancellations with {} returns; revenue {}.{:02} GBP, refunds {}.{:02} GBP; {seconds:.2} s",
        day.credits.len(),
        day.returns,
        paid / 100,
        paid % 100,
        back / 100,
        back % 100
    )
    .unwrap();
    text
}

/// Bypasses the test runner, which hides the `eprintln!` output of passing tests.
fn say(text: &str) {
    let mut stderr = std::io::stderr();
    writeln!(stderr, "{text}").unwrap();
}

#[test]
fn the_real_days_come_to_what_they_must() {
    let folder = std::env::var_os("SCARCE_RETAIL_DATA").map(PathBuf::from);
    for name in ["2010-12-01.csv", "2011-12-05.csv"] {
        match folder.as_ref().map(|folder| std::fs::read_to_string(folder.join(name))) {
            Some(Ok(csv)) => say(&format!("{name}: {}", check(&csv))),
            _ => say(&format!(
                "WARNING: the retail day {name} was NOT CHECKED; set SCARCE_RETAIL_DATA to its folder"
            )),
        }
    }
}

#[test]
fn a_made_up_day_comes_to_what_it_must() {
    let day = reckon(TINY);
    let fates: Vec<(&str, &Fate)> =
        day.fates.iter().map(|(invoice, fate)| (invoice.as_str(), fate)).collect();
    let short = Fate::Refused(1, "INSUFFICIENT_STOCK");
    // Customer 100 is the first and has 90 %; `B=20C` has a demand of one, of which 80 % is none.
    let expected = [
        ("1", &Fate::Refused(0, "INSUFFICIENT_FUNDS")),
        ("2", &Fate::Applied),
        ("3", &Fate::Refused(1, "SOLD_OUT")),
        ("7", &Fate::Applied),
        ("8", &Fate::Applied),
        ("9", &Fate::Applied),
        ("10", &short),
    ];
    assert_eq!(fates, expected);
    // 90 % of 5.00 and three times 1.999; and the discount of 27.50.
    assert_eq!((day.balances["100"], day.balances["103"]), (990, 2750));
    say(&check(TINY));
}

/// Many invoices over few items and customers.
fn busy_day(invoices: u64) -> String {
    let mut csv = TINY.lines().next().unwrap().to_owned() + "\n";
    let mut state = 1_u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for number in 0..invoices {
        let (customer, cancels) = (draw(40), draw(12) == 0);
        let (prefix, sign) = if cancels { ("C", "-") } else { ("", "") };
        for _ in 0..=draw(4) {
            let (code, quantity, pence) = (draw(60), 1 + draw(9), 1 + draw(500));
            let price = format!("{}.{:02}", pence / 100, pence % 100);
            writeln!(csv, "{prefix}{number},S{code},thing,{sign}{quantity},now,{price},{customer}.0,X")
                .unwrap();
        }
    }
    csv
}

#[test]
fn a_server_killed_in_the_middle_changes_nothing_in_the_end() {
    let csv = busy_day(20_000);
    let day = reckon(&csv);
    let folder = tempfile::tempdir().unwrap();
    let (file, data) = (operations(&csv, folder.path()), folder.path().join("data"));
    let results = folder.path().join("outcomes.ndjson");
    let mut serving = Server::start(&data, &[]);
    let address = serving.address.clone();
    let options = ["--window", "32", "--outcomes", results.to_str().unwrap()];
    let mut importing = import(&address, &file, &options).spawn().unwrap();
    let mut client = serving.connect();
    wait_until("some were sold", || {
        figure(&mut client, &["STOCK.GET", "{shop}:sku:S1"], "sold").is_some_and(|sold| sold > 50)
    });
    serving.kill();
    assert!(importing.try_wait().unwrap().is_none(), "the import had ended before the kill");
    let serving = Server::start_at(&data, &address, &[]);
    let output = importing.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(summary(&output)["reconnects"].as_u64().unwrap() > 0, "{output:?}");
    compare_invoices(&day, &results);
    compare_figures(&day, &mut serving.connect(), TAG, 1);
}
