//! Outside books: the example of the page, what is refused, and the same movements from wherever they are taken.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use support::{Server, redis_server, said, scarce};
use tempfile::TempDir;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The lines of code of a page, without the four spaces before them.
fn code(page: &str) -> Vec<String> {
    let text = std::fs::read_to_string(docs().join(page)).unwrap();
    text.lines().filter_map(|line| line.strip_prefix("    ")).map(str::to_owned).collect()
}

/// A line without what differs from run to run: days, and names made of them.
fn lasting(line: &str) -> String {
    let is_day = |word: &str| {
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        word.len() == 10 && digits == 8 && (word.matches('-').count() == 2 || word.matches('.').count() == 2)
    };
    let word = |word: &str| match word.split_once(':') {
        Some((kind @ ("there" | "pair" | "here"), _)) => format!("{kind}:…"),
        _ if is_day(word.trim_end_matches(':')) => "<day>".to_owned(),
        _ => word.to_owned(),
    };
    line.replace(';', " ; ").split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// Runs the commands of a page one after the other, and looks in each output for the lines that the page shows.
fn follow(lines: &[String], folder: &Path, server: &Server) {
    let path = Path::new(env!("CARGO_BIN_EXE_scarce")).parent().unwrap().to_str().unwrap().to_owned();
    let path = format!("{path}:{}", std::env::var("PATH").unwrap());
    // What one command exports, the next one has.
    let mut before = String::new();
    let mut lines = lines.iter().peekable();
    while let Some(line) = lines.next() {
        let Some(command) = line.strip_prefix("$ ").filter(|line| !line.starts_with("scarce serve")) else {
            continue;
        };
        if command.contains("reconcile") {
            server.wait_until_drained();
        }
        let is_kept = command.starts_with("export") || command.starts_with("PAIR=");
        let script = format!("{before}\n{command}");
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &script])
            .current_dir(folder)
            .env("PATH", &path)
            .env("SCARCE_RESP", &server.address);
        let (status, out, err) = said(&mut shell);
        assert!(status == Some(0) || is_kept, "{command}: {out}{err}");
        let mut shown = out.lines().map(lasting);
        while let Some(expected) = lines.next_if(|line| !line.starts_with("$ ")) {
            let expected = lasting(expected);
            assert!(shown.any(|line| line == expected), "{command}\nexpected {expected}\nin {out}{err}");
        }
        if is_kept {
            before = script;
        }
    }
}

fn copy_examples(folder: &Path) {
    std::fs::create_dir(folder.join("books")).unwrap();
    for file in std::fs::read_dir(docs().join("examples/books")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), folder.join("books").join(file.file_name())).unwrap();
    }
}

#[test]
fn the_example_of_the_page_goes_as_it_says_in_every_language() {
    let folder = TempDir::new().unwrap();
    copy_examples(folder.path());
    let url = format!("sqlite://{}", folder.path().join("books.db").display());
    let server = Server::start(&folder.path().join("data"), &["--sql", &url, "--partitions", "1"]);
    let lines = code("reference/books.md");
    assert!(lines.iter().filter(|line| line.starts_with("$ ")).count() > 15, "{lines:?}");
    assert_eq!(lines, code("reference/zh/books.md"));
    follow(&lines, folder.path(), &server);
}

const MAP: &str = "here.asset = 'EUR'\namounts.scale = 2\n[there]\naccount = 'X1'\n[columns]\naccount = 'account'\n\
    date = 'date'\namount = 'amount'\noperation = 'id'\nreferences = ['text']\n";

const COUNT: &str =
    "kind = 'count'\nhere.units = 'available'\n[columns]\nsku = 'sku'\nquantity = 'counted'\n";

/// Money of two customers and of another asset, a hold, and stock.
fn fill(server: &Server) {
    let mut http = server.http();
    for (path, body) in [
        ("/v1/accounts", json!({ "account": "u1", "asset": "EUR" })),
        ("/v1/accounts", json!({ "account": "u2", "asset": "EUR" })),
        ("/v1/accounts", json!({ "account": "u3", "asset": "USD" })),
        ("/v1/accounts/u1/credit", json!({ "amount": 500 })),
        ("/v1/accounts/u2/credit", json!({ "amount": 700 })),
        ("/v1/accounts/u3/credit", json!({ "amount": 900 })),
        ("/v1/accounts/u1/holds", json!({ "hold": "order-17", "amount": 200, "ttl_ms": 60000 })),
        ("/v1/accounts/u1/holds/order-17/capture", json!({ "amount": 150 })),
        ("/v1/stock", json!({ "sku": "sku-1", "quantity": 10 })),
        ("/v1/stock/sku-1/take", json!({ "quantity": 3, "owner": "u1" })),
        (
            "/v1/stock/sku-1/reservations",
            json!({ "reservation": "r1", "quantity": 2, "owner": "u1", "ttl_ms": 600000 }),
        ),
    ] {
        let answer = http.post(path, &body);
        assert!(answer.status < 300, "{path}: {answer:?}");
    }
}

fn today() -> String {
    jiff::Timestamp::now().to_string()[..10].to_owned()
}

fn compare(words: &[&str]) -> (Option<i32>, Value, String) {
    let (code, out, err) = said(scarce().args(["reconcile", "file", "--json"]).args(words));
    (code, serde_json::from_str(&out).unwrap_or(Value::Null), err)
}

#[test]
fn tables_and_logs_of_both_engines_give_the_same_movements_and_stock() {
    let (folder, redis) = (TempDir::new().unwrap(), redis_server(&[]));
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (map, count_map, statement, count) = (at("m.toml"), at("c.toml"), at("s.csv"), at("c.csv"));
    let day = today();
    let line = |rest: &str| format!("X1,{day},{rest}\n");
    let lines = [line("5.00,,from U1"), line("7.00,,u2"), line("-1.50,,Order-17"), line("9.00,,u3")].concat();
    std::fs::write(&statement, format!("account,date,amount,id,text\n{lines}")).unwrap();
    std::fs::write(&map, MAP).unwrap();
    std::fs::write(&count_map, COUNT).unwrap();
    std::fs::write(&count, "sku,counted\nsku-1,5\n").unwrap();
    let (data, redis_url) = (at("data"), redis.url());
    for engine in
        [vec!["--data", &data], vec!["--engine", "redis", "--redis-url", &redis_url, "--partitions", "2"]]
    {
        let url = format!("sqlite://{}.{}", at("db"), engine.len());
        let more: &[&str] = if engine.len() > 2 { &engine[..] } else { &["--partitions", "2"] };
        let options = [&["--sql", url.as_str()], more].concat();
        let server = Server::start(Path::new(&data), &options);
        fill(&server);
        server.wait_until_drained();
        server.stop();
        let mut reports = Vec::new();
        for source in [&["--sql", url.as_str()][..], &engine] {
            let (code, report, err) = compare(&[&[&statement, "--map", &map], source].concat());
            assert_eq!((code, &report["matched"]["reference"]), (Some(5), &json!(3)), "{report:#} {err}");
            assert_eq!(
                (&report["movements"], &report["findings"][0]["line"]),
                (&json!(3), &json!(5)),
                "{report:#}"
            );
            reports.push(report["findings"].clone());
            let (code, report, err) = compare(&[&[&count, "--map", &count_map], source].concat());
            assert_eq!((code, &report["differences"]), (Some(0), &json!(0)), "{report:#} {err}");
            let (code, report, _) =
                compare(&[&[&count, "--map", &count_map, "--at", "2026-01-01"], source].concat());
            assert_eq!(
                (code, &report["tallies"]["missing_here"]["count"]),
                (Some(5), &json!(1)),
                "{report:#}"
            );
        }
        assert_eq!(reports[0], reports[1]);
    }
}

#[test]
fn what_cannot_be_compared_is_refused_and_bad_lines_leave_the_state_alone() {
    let (folder, data) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    Server::start(data.path(), &[]).stop();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (map, file, state, page) = (at("m.toml"), at("s.csv"), at("s.json"), at("p.html"));
    std::fs::write(&map, MAP).unwrap();
    let words = ["--map", &map, "--state", &state, "--data", data.path().to_str().unwrap(), "--html", &page];
    let run = |text: &str, more: &[&str]| {
        std::fs::write(&file, text).unwrap();
        let new: &[&str] = if Path::new(&state).exists() { &[] } else { &["--new-state"] };
        compare(&[&[file.as_str()], &words[..], new, more].concat())
    };
    let head = "account,date,amount,id,text\n";
    for (text, said) in [
        ("", "the file is empty"),
        (head, "names no days"),
        ("account,day\n", "no column 'date'"),
        (&format!("{head}X2,2026-11-01,1,,\n"), "of account X2"),
        (&format!("{head}X1,1.11.2026,1,,\nX1,2.11.2026,1,,\n"), "none of the 2 lines"),
        (&format!("{head}X1,2026-11-01,1,,\"open\n{}", "x".repeat(70_000)), "line 2"),
    ] {
        let (code, _, err) = run(text, &[]);
        assert!(code == Some(2) && err.contains(said), "{said}: {code:?} {err}");
    }
    assert!(!Path::new(&state).exists());
    let bad = format!("{head}X1,2026-11-01,1.005,,\nX1,2026-11-01,2.00,,<b>&\nX1,2999-01-01,1,,\n");
    let (code, report, _) = run(&bad, &[]);
    assert_eq!(
        (code, &report["bad_count"], &report["differences"]),
        (Some(5), &json!(2), &json!(3)),
        "{report:#}"
    );
    assert_eq!(report["bad_lines"][1]["line"], json!(4));
    assert!(report["state"].as_str().unwrap().contains("unchanged") && !Path::new(&state).exists());
    let shown = std::fs::read_to_string(&page).unwrap();
    assert!(shown.contains("&lt;b&gt;&amp;") && shown.contains("3 decimals"), "{shown}");
    let good = format!("{head}X1,2026-11-01,2.00,,fee\n");
    let (code, report, _) = run(&good, &[]);
    assert_eq!((code, &report["differences"]), (Some(5), &json!(1)), "{report:#}");
    let id = report["findings"][0]["id"].as_str().unwrap();
    for (close, said) in [("there:0=x", "nothing with the id"), (id, "ID=REASON")] {
        let (code, _, err) = run(&good, &["--close", close]);
        assert!(code == Some(2) && err.contains(said), "{err}");
    }
    std::fs::write(&map, MAP.replace("X1", "X3")).unwrap();
    let (code, _, err) = run(&good.replace("X1", "X3"), &[]);
    assert!(code == Some(2) && err.contains("of another map"), "{err}");
    std::fs::rename(&state, at("lost.json")).unwrap();
    std::fs::write(&map, MAP).unwrap();
    let (code, _, err) = compare(&[&[file.as_str()], &words[..]].concat());
    assert!(code == Some(2) && err.contains("--new-state") && !Path::new(&state).exists(), "{err}");
}

#[test]
fn a_state_is_locked_written_last_and_stays_where_it_is() {
    let (folder, data) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    Server::start(data.path(), &[]).stop();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (map, file, state, data) = (at("m.toml"), at("s.csv"), at("s.json"), data.path().to_str().unwrap());
    std::fs::write(&map, MAP).unwrap();
    std::fs::write(&file, "account,date,amount,id,text\nX1,2026-11-01,2.00,,fee\n").unwrap();
    let first = ["--map", &map, "--state", &state, "--data", data, "--new-state"];
    let (_, report, _) = compare(&[&[file.as_str()], &first[..]].concat());
    let id = report["findings"][0]["id"].as_str().unwrap();
    let link = at("link.json");
    std::os::unix::fs::symlink(&state, &link).unwrap();
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o640)).unwrap();
    let before = std::fs::read(&state).unwrap();
    let through_link = ["--map", &map, "--state", &link, "--data", data];
    let closes = format!("{id}=a fee");
    let close = [&[file.as_str()], &through_link[..], &["--close", &closes]].concat();
    let (code, _, err) = compare(&[&close[..], &["--html", "/nonexistent/page.html"]].concat());
    assert!(code == Some(2) && std::fs::read(&state).unwrap() == before, "{err}");
    let held = std::fs::File::open(&state).unwrap();
    held.lock().unwrap();
    let (code, _, err) = compare(&close);
    assert!(code == Some(2) && err.contains("another process"), "{err}");
    drop(held);
    let (code, report, err) = compare(&close);
    assert_eq!((code, &report["settled"]), (Some(0), &json!(1)), "{report:#} {err}");
    let metadata = std::fs::symlink_metadata(&link).unwrap();
    assert!(
        metadata.is_symlink() && std::fs::metadata(&state).unwrap().permissions().mode() & 0o777 == 0o640
    );
}
