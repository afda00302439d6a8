//! `cargo xtask bench --sizes`: what a record takes in memory, in the log and in a snapshot.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use crate::process::{self, Server};
use crate::{Ended, place, screen};

/// A kind of record, and the commands that make one.
struct Kind {
    name: &'static str,
    /// Commands that come before the first.
    before: &'static [&'static str],
    /// The command that makes a record; `#` stands for its number, `%` for one of ten thousand.
    each: &'static str,
}

const fn kind(name: &'static str, before: &'static [&'static str], each: &'static str) -> Kind {
    Kind { name, before, each }
}

const KINDS: &[Kind] = &[
    kind("an account with a balance", &[], "ACCOUNT.OPEN user-# EUR"),
    kind(
        "an operation ID, of a debit",
        &["ACCOUNT.OPEN payer EUR OVERDRAFT 9007199254740991"],
        "ACCOUNT.DEBIT payer 1 ID order-#",
    ),
    kind(
        "a hold",
        &["ACCOUNT.OPEN payer EUR OVERDRAFT 9007199254740991"],
        "ACCOUNT.HOLD payer hold-# 1 TTL 86400000",
    ),
    kind("a stock item", &[], "STOCK.CREATE sku-# 100"),
    kind("a receipt of a sale", &["STOCK.CREATE sku 9007199254740991"], "STOCK.TAKE sku 1 user-%"),
    kind(
        "a reservation",
        &["STOCK.CREATE sku 9007199254740991"],
        "STOCK.RESERVE sku order-# 1 user-% 86400000",
    ),
    kind(
        "a claim of a coupon, with a limit per user",
        &["COUPON.CREATE coupon LIMIT each 1 PER user WINDOW none"],
        "COUPON.CLAIM coupon USER user-#",
    ),
    kind(
        "an order in the book",
        &["MARKET.CREATE market"],
        "ORDER.PLACE market order-# user-% BUY LIMIT % 10",
    ),
];

/// Small segments, so that the size of the log is known to a megabyte; no snapshot before it is asked for.
const FLAGS: &[&str] = &["--segment-mib", "1", "--snapshot-mib", "100000", "--operations-max", "16000000"];

/// What a record takes, in bytes.
struct Size {
    name: &'static str,
    memory: u64,
    log: u64,
    snapshot: u64,
}

/// Measures, prints a table, and writes the page if asked to.
pub fn run(records: u64, is_written: bool) -> Ended {
    let mut sizes = Vec::new();
    for kind in KINDS {
        let size = measure(kind, records).map_err(|error| format!("{}: {error}", kind.name))?;
        screen::say(&format!("{}: {} bytes of memory, {} of log", size.name, size.memory, size.log));
        sizes.push(size);
    }
    let rows = rows(&sizes);
    screen::say(&format!("\n{}", screen::table(&rows)));
    if is_written {
        std::fs::write(place::root().join("docs/benchmarks-sizes.md"), page(&rows, records)?)?;
        screen::say("\nwrote docs/benchmarks-sizes.md");
    }
    Ok(true)
}

fn measure(kind: &Kind, records: u64) -> Result<Size, Box<dyn Error>> {
    let server = Server::scarce_with("bench-sizes", FLAGS)?;
    let before: String = kind.before.iter().map(|line| format!("{line}\r\n")).collect();
    pipe(&server, &before, kind.before.len() as u64)?;
    let memory = server.resident_kib()?;
    let lines: String = (0..records).map(|at| format!("{}\r\n", line(kind.each, at))).collect();
    pipe(&server, &lines, records)?;
    let memory = server.resident_kib()?.saturating_sub(memory) * 1024;
    let log = bytes(server.data(), "journal-")?;
    let mut snapshot = Command::new(place::scarce());
    process::must(snapshot.args(["snapshot", "create", "--resp", &server.address]))?;
    let snapshot = bytes(server.data(), "snapshot-")?;
    Ok(Size { name: kind.name, memory: memory / records, log: log / records, snapshot: snapshot / records })
}

/// The command that makes the record of a number. Names have eight digits, as ids often have.
fn line(each: &str, at: u64) -> String {
    each.replace('#', &format!("{at:08}")).replace('%', &(1 + at % 10_000).to_string())
}

/// Sends lines through `redis-cli --pipe`, which counts the answers.
fn pipe(server: &Server, lines: &str, count: u64) -> Result<(), Box<dyn Error>> {
    if count == 0 {
        return Ok(());
    }
    let mut cli = Command::new("redis-cli");
    cli.args(["-p", server.port(), "--pipe"]);
    let output = process::feed(&mut cli, lines)?.output;
    if output.contains(&format!("errors: 0, replies: {count}")) {
        return Ok(());
    }
    Err(format!("redis-cli says: {}", screen::tail(&output, 5)).into())
}

/// The size of the files below a folder whose names begin so.
fn bytes(folder: &Path, prefix: &str) -> Result<u64, Box<dyn Error>> {
    let mut total = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            total += bytes(&entry.path(), prefix)?;
        } else if entry.file_name().to_string_lossy().starts_with(prefix) {
            total += entry.metadata()?.len();
        }
    }
    Ok(total)
}

fn rows(sizes: &[Size]) -> Vec<Vec<String>> {
    let head = ["record", "memory", "log", "snapshot"].map(str::to_owned).to_vec();
    let rows = sizes.iter().map(|size| {
        let figures = [size.memory, size.log, size.snapshot].map(|bytes| bytes.to_string());
        std::iter::once(size.name.to_owned()).chain(figures).collect()
    });
    std::iter::once(head).chain(rows).collect()
}

fn page(rows: &[Vec<String>], records: u64) -> Result<String, Box<dyn Error>> {
    let shown: Vec<String> = rows.iter().map(|row| format!("| {} |", row.join(" | "))).collect();
    let mut git = Command::new("git");
    let commit = process::must(git.args(["rev-parse", "--short", "HEAD"]).current_dir(place::root()))?;
    Ok(format!(
        "# What a record takes\n\n\
         Measured at commit {commit} with `cargo xtask bench --sizes --write`: {records} records of each kind on a server of its \
         own, with names such as `user-00000017`, one partition. In bytes for each record. Memory is what the process grew by; tables grow by \
         doubling, so that a record takes up to this and, just before a table grows, about two thirds of it. The log is what the \
         journal grew by, and stays until a snapshot has it. [operations/sizing.md](operations/sizing.md) says what to do with the figures.\n\n\
         {}\n|---|---:|---:|---:|\n{}\n",
        shown.first().map_or("", String::as_str),
        shown.get(1..).unwrap_or_default().join("\n"),
        commit = commit.trim(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_record_by_its_number() {
        assert_eq!(line("A user-# %", 12_345), "A user-00012345 2346");
    }
}
