//! `scarce import` of comma-separated values: operations, balances, stock.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/importing.rs"]
mod importing;
mod support;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use importing::{figure, import, outcomes, summary};
use serde_json::{Value, json};
use support::{Server, wait_until};

/// A folder, a server, and a way to import files.
struct Bench {
    folder: tempfile::TempDir,
    server: Server,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(&folder.path().join("data"), &[]);
        Self { folder, server }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    fn import(&self, file: &Path, options: &[&str]) -> Output {
        import(&self.server.address, file, options).output().unwrap()
    }

    fn preload(&self, what: &str, file: &Path, options: &[&str]) -> Output {
        let mut command = support::scarce();
        command.args(["import", what, "--resp", &self.server.address, "--json"]).args(options).arg(file);
        command.output().unwrap()
    }

    fn account(&self, account: &str, name: &str) -> Option<i64> {
        figure(&mut self.server.connect(), &["ACCOUNT.GET", account], name)
    }

    fn item(&self, sku: &str, name: &str) -> Option<i64> {
        figure(&mut self.server.connect(), &["STOCK.GET", sku], name)
    }

    /// The lines and columns of a file of bad lines.
    fn bad_lines(&self, name: &str) -> Vec<(u64, String)> {
        let mut reader = csv::Reader::from_path(self.path(name)).unwrap();
        let rows = reader.records().map(|row| row.unwrap());
        rows.map(|row| (row[0].parse().unwrap(), row[1].to_owned())).collect()
    }
}

fn ended(output: &Output, code: i32) -> Value {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    summary(output)
}

#[test]
fn operations_of_every_resource_are_rows() {
    let bench = Bench::new();
    let file = bench.write(
        "day.csv",
        "\u{feff}command,id,account,asset,amount,overdraft,sku,quantity,owner,per_owner_max,delta,reason,\
         campaign,cut,user,coupon,limits,subject,market,order,side,pricing,hold,to,keep_rest,deadline\r\n\
         ACCOUNT.OPEN,o1,alice,EUR,,5.5,,,,,,,,,,,,,,,,,,,,\r\n\
         account.open,o2,shop,EUR,,,,,,,,,,,,,,,,,,,,,,\r\n\
         ACCOUNT.CREDIT,c1,alice,EUR,12.21,,,,,,,,,,,,,,,,,,,,,\r\n\
         \r\n\
         ACCOUNT.HOLD,h1,alice,EUR,10,,,,,,,,,,,,,,,,,,hold-1,,,\r\n\
         ACCOUNT.CAPTURE,h2,alice,EUR,4.00,,,,,,,,,,,,,,,,,,hold-1,shop,true,\r\n\
         STOCK.CREATE,s1,,,,,shoe,10,,3,,,,,,,,,,,,,,,,\r\n\
         STOCK.TAKE,s2,,,,,shoe,2,bob,,,,,,,,,,,,,,,,,99999999999999\r\n\
         STOCK.ADJUST,s3,,,,,shoe,,,,-1,\"torn, \"\"left\"\" one\",,,,,,,,,,,,,,\r\n\
         PACKET.CREATE,p1,,EUR,,,,,,,,,gift,AMOUNTS 2 1.50 2,,,,,,,,,,,,\r\n\
         PACKET.CLAIM,p2,,,,,,,,,,,gift,,carol,,,,,,,,,,,\r\n\
         COUPON.CREATE,k1,,,,,,,,,,,,,,ten,all 9 PER - WINDOW none LIMIT day 1 PER user WINDOW day,,,,,,,,,\r\n\
         COUPON.CLAIM,k2,,,,,,,,,,,,,,ten,,USER alice,,,,,,,,\r\n\
         MARKET.CREATE,m1,,,,,,,,,,,,,,,,,BTC-EUR,,,,,,,\r\n\
         ORDER.PLACE,m2,,,,,,5,bob,,,,,,,,,,BTC-EUR,b1,SELL,LIMIT 100,,,,\r\n",
    );
    let results = bench.path("outcomes");
    let options = ["--scale", "EUR=2", "--outcomes", results.to_str().unwrap()];
    let said = ended(&bench.import(&file, &options), 0);
    assert_eq!(said["amounts"], json!({"EUR": "2 decimals"}));
    assert_eq!(said["applied"], 14);
    let lines: Vec<Value> = outcomes(&results).iter().map(|outcome| outcome["line"].clone()).collect();
    assert_eq!(lines, [2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16].map(|line| json!(line)));
    assert_eq!((bench.account("alice", "balance"), bench.account("alice", "held")), (Some(821), Some(600)));
    assert_eq!(
        (bench.account("alice", "overdraft"), bench.account("shop", "balance")),
        (Some(550), Some(400))
    );
    assert_eq!((bench.item("shoe", "sold"), bench.item("shoe", "total")), (Some(2), Some(9)));
    let gift = figure(&mut bench.server.connect(), &["PACKET.GET", "gift"], "claimed_amount");
    assert_eq!(gift, Some(150));
    let again = ended(&bench.import(&file, &options), 0);
    assert_eq!(again["applied"], 14);
    assert_eq!(bench.account("alice", "balance"), Some(821));
}

#[test]
fn bad_rows_are_told_by_line_and_column_and_the_good_ones_done() {
    let bench = Bench::new();
    let mut content = b"command,id,account,asset,amount,sku,quantity,owner\n\
        ACCOUNT.OPEN,a,alice,EUR,,,,\n\
        ACCOUNT.CREDIT,b,alice,EUR,1.001,,,\n\
        ACCOUNT.CREDIT,c,alice,GBP,1.00,,,\n\
        ACCOUNT.CREDIT,d,alice,,1,,,\n\
        ACCOUNT.CREDIT,e,alice,EUR,0,,,\n\
        ACCOUNT.CREDIT,f,alice,EUR,,,,\n\
        ACCOUNT.CREDIT,g,alice,EUR,1.00,shoe,,\n\
        ACCOUNT.CREDIT,,alice,EUR,1.00,,,\n\
        ACCOUNT.CREDIT,i,alice,EUR,1.00\n\
        ACCOUNT.CREDIT,j,\"alice,EUR,1.00,,,\n\
        ACCOUNT.KREDIT,k,alice,EUR,1.00,,,\n\
        ACCOUNT.GET,l,alice,EUR,,,,\n\
        ACCOUNT.CREDIT,m,al\xffce,EUR,1.00,,,\n"
        .to_vec();
    content.extend_from_slice("x".repeat(600 << 10).as_bytes());
    content.extend_from_slice(b"\n,n,alice,EUR,1.00,,,\nACCOUNT.CREDIT,z,alice,EUR,1.10,,,");
    let file = bench.write("rows.csv", &content);
    let said = ended(&bench.import(&file, &["--scale", "EUR=2"]), 1);
    assert_eq!((&said["applied"], &said["bad_lines"]), (&json!(2), &json!(14)));
    assert_eq!(bench.account("alice", "balance"), Some(110));
    let expected = [
        (3, "amount"),
        (4, "amount"),
        (5, "amount"),
        (6, ""),
        (7, "amount"),
        (8, "sku"),
        (9, "id"),
        (10, ""),
        (11, ""),
        (12, "command"),
        (13, "command"),
        (14, "account"),
        (15, ""),
        (16, "command"),
    ];
    assert_eq!(
        bench.bad_lines("rows.csv.bad-lines.csv"),
        expected.map(|(line, name)| (line, name.to_owned()))
    );
    // Importing a corrected file leaves no stale file of bad lines.
    bench.write("rows.csv", "command,id,account,amount\nACCOUNT.CREDIT,z2,alice,5\n");
    let said = ended(&bench.import(&file, &[]), 0);
    assert_eq!((&said["amounts"], &said["bad_lines_file"]), (&json!({"*": "minor units"}), &Value::Null));
    assert_eq!(bench.bad_lines("rows.csv.bad-lines.csv"), []);
}

#[test]
fn a_header_that_does_not_fit_stops_everything() {
    let bench = Bench::new();
    for (content, part) in [
        ("command,id,amnt\n", "unknown column 'amnt'"),
        ("command,id,id\n", "'id' twice"),
        ("id,account,amount\n", "no column 'command'"),
        ("command;id;account\n", "unknown column 'command;id;account'"),
        ("\n\nACCOUNT.OPEN,a,EUR\n", "line 3"),
    ] {
        let output = bench.import(&bench.write("h.csv", content), &[]);
        assert_eq!(output.status.code(), Some(1), "{content}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(part) && said.contains("nothing was done"), "{said}");
    }
    let json = bench.write("x.ndjson", "");
    let output = bench.import(&json, &["--scale", "EUR=2"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn balances_are_brought_in_once_however_often_the_file_is_run() {
    let bench = Bench::new();
    bench.server.connect().call(&["ACCOUNT.OPEN", "old", "EUR"]).unwrap();
    let file = bench.write(
        "balances.csv",
        "account,asset,amount,overdraft\nalice,,12.21,\nbob,BTC,0.5,\nempty,EUR,0,3\nold,EUR,7,\ncarl,JPY,7,\n\
         alice,EUR,1,\n",
    );
    let options = ["--asset", "EUR", "--scale", "EUR=2", "--scale", "BTC=8"];
    for _ in 0..2 {
        let said = ended(&bench.preload("balances", &file, &options), 1);
        assert_eq!(
            [&said["applied"], &said["existing"], &said["refused"]],
            [&json!(4), &json!(1), &json!(0)]
        );
        let amounts = json!({"BTC": "8 decimals", "EUR": "2 decimals", "JPY": "minor units"});
        assert_eq!(said["amounts"], amounts);
        assert_eq!(bench.bad_lines("balances.csv.bad-lines.csv"), [(7, "account".to_owned())]);
        let figures =
            ["alice", "bob", "empty", "old", "carl"].map(|account| bench.account(account, "balance"));
        assert_eq!(figures, [1_221, 50_000_000, 0, 0, 7].map(Some));
    }
    assert_eq!(bench.account("empty", "overdraft"), Some(300));
    // The same rows in another order and spelling count as the same.
    let file = bench.write("other.csv", "amount,account,asset\n0.50,bob,BTC\n12.210,alice,EUR\n");
    let said = ended(&bench.preload("balances", &file, &options), 0);
    assert_eq!((&said["applied"], bench.account("alice", "balance")), (&json!(2), Some(1_221)));
}

#[test]
fn existing_accounts_are_credited_where_asked_if_the_asset_is_theirs() {
    let bench = Bench::new();
    let mut client = bench.server.connect();
    client.call(&["ACCOUNT.OPEN", "euro", "EUR"]).unwrap();
    client.call(&["ACCOUNT.OPEN", "pound", "GBP"]).unwrap();
    client.call(&["ACCOUNT.OPEN", "gone", "EUR"]).unwrap();
    client.call(&["ACCOUNT.CLOSE", "gone"]).unwrap();
    let file = bench.write("b.csv", "account,amount\neuro,5\npound,5\nnew,5\ngone,5\neuro,6\neuro,5\n");
    let options = ["--asset", "EUR", "--credit-existing"];
    for _ in 0..2 {
        let said = ended(&bench.preload("balances", &file, &options), 1);
        assert_eq!((&said["applied"], &said["refused_by_code"]), (&json!(3), &json!({"ACCOUNT_CLOSED": 1})));
        let mut bad = bench.bad_lines("b.csv.bad-lines.csv");
        bad.sort();
        assert_eq!(bad, [(3, "asset".to_owned()), (7, "account".to_owned())]);
        let figures = ["euro", "pound", "new"].map(|account| bench.account(account, "balance"));
        assert_eq!(figures, [11, 0, 5].map(Some));
    }
    // With a run name, each line counts separately.
    let options = [&options[..], &["--run", "second"]].concat();
    for _ in 0..2 {
        let said = ended(&bench.preload("balances", &file, &options), 1);
        assert_eq!((&said["applied"], bench.account("euro", "balance")), (&json!(4), Some(27)));
    }
}

#[test]
fn stock_is_created_once_with_its_bounds() {
    let bench = Bench::new();
    let file = bench.write(
        "stock.csv",
        "sku,quantity,per_owner_max,starts_at,ends_at\nshoe,10,2,5,99999999999999\nhat,0,,,\nhat,1,,,\n\
         sock,-1,,,\ncap,3,,9,8\n",
    );
    for _ in 0..2 {
        let said = ended(&bench.preload("stock", &file, &[]), 1);
        assert_eq!((&said["applied"], &said["bad_lines"]), (&json!(2), &json!(3)));
    }
    assert_eq!((bench.item("shoe", "per_owner_max"), bench.item("shoe", "starts_at")), (Some(2), Some(5)));
    assert_eq!((bench.item("hat", "total"), bench.item("cap", "total")), (Some(0), None));
    let file = bench.write("more.csv", "sku,quantity\nshoe,11\n");
    let said = ended(&bench.preload("stock", &file, &[]), 0);
    assert_eq!((&said["existing"], bench.item("shoe", "total")), (&json!(1), Some(10)));
}

#[test]
fn an_interrupted_import_says_how_to_go_on() {
    let bench = Bench::new();
    let options = ["--format", "csv", "--run", "r"];
    let mut importing =
        import(&bench.server.address, Path::new("-"), &options).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = importing.stdin.take().unwrap();
    let content = "command,sku,quantity,owner\nSTOCK.CREATE,s,9,\nSTOCK.TAKE,s,1,o\nSTOCK.TAKE,s,2,o\n";
    let (first, second) = content.split_at(content.len() - "STOCK.TAKE,s,2,o\n".len());
    // The incomplete line at the time of the signal must not be taken for a complete one.
    input.write_all(first.as_bytes()).unwrap();
    input.write_all(&second.as_bytes()[..second.len() - 4]).unwrap();
    wait_until("the first lines were done", || bench.item("s", "sold") == Some(1));
    let pid = importing.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = importing.wait_with_output().unwrap();
    drop(input);
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(said.contains("interrupted") && said.contains("--from-line 4"), "{said}");
    assert_eq!((output.status.code(), &summary(&output)["applied"]), (Some(1), &json!(2)));
    let file = bench.write("all.csv", content);
    let output = bench.import(&file, &["--run", "r", "--from-line", "4"]);
    assert_eq!((&ended(&output, 0)["applied"], bench.item("s", "sold")), (&json!(1), Some(3)));
    let output = bench.import(&file, &["--run", "r"]);
    assert_eq!((&ended(&output, 0)["applied"], bench.item("s", "sold")), (&json!(3), Some(3)));
}
