//! The pages about tables and signatures agree with the code.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Stdio};

use scarce_delivery::Secret;

/// The columns of each table.
fn columns() -> BTreeMap<String, BTreeSet<String>> {
    let mut tables = BTreeMap::new();
    let versions = [
        "0001_tables",
        "0002_operation_scheme",
        "0003_counts",
        "0004_failing",
        "0005_histories",
        "0006_epochs",
        "0007_forgotten",
    ];
    for version in versions {
        let path = format!("{}/../migrations/{version}.sql", env!("CARGO_MANIFEST_DIR"));
        add_columns(&mut tables, &std::fs::read_to_string(path).expect("the description"));
    }
    tables
}

fn add_columns(tables: &mut BTreeMap<String, BTreeSet<String>>, description: &str) {
    let mut table = None;
    for line in description.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (its, column) = match words.as_slice() {
            ["CREATE", "TABLE", .., name, "("] => {
                table = Some((*name).to_owned());
                continue;
            }
            ["PRIMARY" | "CONSTRAINT" | "INDEX", ..] => continue,
            ["ALTER", "TABLE", name, "ADD", "COLUMN", column, ..] => (Some((*name).to_owned()), column),
            [column, _, ..] if line.starts_with("    ") => (table.clone(), column),
            _ => continue,
        };
        tables.entry(its.expect("a table")).or_default().insert((*column).to_owned());
    }
}

fn page(name: &str) -> String {
    let path = format!("{}/../../../docs/reference/{name}.md", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the page")
}

/// The names in the first cells of the rows of a table's section.
fn documented(pages: &str, table: &str) -> BTreeSet<String> {
    let heading = format!("### {table}\n");
    let section = pages.split_once(&heading).unwrap_or_else(|| panic!("{table} is on no page")).1;
    let rows = section.split("\n#").next().unwrap_or_default().lines();
    let cells = rows.filter_map(|row| row.strip_prefix("| `")?.split(" | ").next());
    cells.flat_map(|cell| cell.split(", ")).map(|name| name.trim_matches('`').to_owned()).collect()
}

#[test]
fn every_table_and_column_is_on_a_page() {
    let tables = columns();
    assert_eq!(tables.len(), 9);
    let pages = page("webhooks") + &page("settlement");
    for (table, columns) in tables {
        assert_eq!(documented(&pages, &table), columns, "{table}");
    }
}

/// The code in a language on the page about webhooks.
fn code(language: &str) -> String {
    let page = page("webhooks");
    let rest = page.split_once(&format!("```{language}\n")).expect("code").1;
    rest.split("```").next().expect("its end").to_owned()
}

/// Runs a program that reads a message from its input; returns its output.
fn run(program: &str, arguments: &[&str], message: &serde_json::Value) -> Option<String> {
    let mut command = Command::new(program);
    let started = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    // Skipped where the program is not installed.
    let mut child = started.ok()?;
    let mut input = child.stdin.take().expect("its input");
    input.write_all(message.to_string().as_bytes()).expect("to write");
    drop(input);
    let output = child.wait_with_output().expect("its end");
    assert!(output.status.success(), "{program} failed");
    Some(String::from_utf8_lossy(&output.stdout).trim().to_lowercase())
}

#[test]
fn the_code_on_the_page_tells_genuine_messages_from_others() {
    let (old, new) = (Secret::generate().expect("one"), Secret::generate().expect("one"));
    let now = jiff::Timestamp::now().as_second();
    let body = "{\"type\":\"stock.taken\",\"é\":1}";
    let signed = |at: i64| {
        format!("{} {}", new.sign("evt_1", at, body.as_bytes()), old.sign("evt_1", at, body.as_bytes()))
    };
    let message = |secret: &Secret, at: i64, signature: String, body: &str| {
        let headers = serde_json::json!({
            "webhook-id": "evt_1", "webhook-timestamp": at.to_string(), "webhook-signature": signature,
        });
        serde_json::json!({"secret": secret.reveal(), "headers": headers, "body": body})
    };
    let stranger = Secret::generate().expect("one");
    let cases = [
        (message(&old, now, signed(now), body), "true"),
        (message(&new, now, signed(now), body), "true"),
        (message(&stranger, now, signed(now), body), "false"),
        (message(&new, now, signed(now), "{}"), "false"),
        (message(&new, now - 1, signed(now), body), "false"),
        (message(&new, now - 900, signed(now - 900), body), "false"),
    ];
    let python = code("python")
        + "\nimport json, sys\nits = json.load(sys.stdin)\n\
           print(is_genuine(its['secret'], its['headers'], its['body'].encode()))";
    let node = code("javascript")
        + "\nconst its = JSON.parse(require('fs').readFileSync(0));\n\
           console.log(isGenuine(its.secret, its.headers, Buffer.from(its.body)));";
    let mut ran = 0;
    for (message, wanted) in cases {
        for (program, argument, code) in [("python3", "-c", &python), ("node", "-e", &node)] {
            if let Some(said) = run(program, &[argument, code], &message) {
                assert_eq!(said, wanted, "{program}: {message}");
                ran += 1;
            }
        }
    }
    assert!(ran >= 6, "neither python3 nor node is installed");
}
