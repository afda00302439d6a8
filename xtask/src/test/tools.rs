//! redis-cli and redis-benchmark, as typed by hand.

use std::error::Error;
use std::process::Command;

use super::packages;
use super::step::{Log, Tally};
use crate::process::{self, Finished, Server};

type Ended = Result<Tally, Box<dyn Error>>;

/// The input, and the expected output.
struct Case {
    words: &'static [&'static str],
    input: &'static str,
    code: i32,
    expected: Expected,
}

enum Expected {
    /// The whole output, except for spaces at the end.
    Exactly(&'static str),
    /// Parts of the output, in this order.
    Has(&'static [&'static str]),
}

use Expected::{Exactly, Has};

const fn case(words: &'static [&'static str], code: i32, expected: Expected) -> Case {
    Case { words, input: "", code, expected }
}

const fn piped(words: &'static [&'static str], input: &'static str, expected: Expected) -> Case {
    Case { words, input, code: 0, expected }
}

const CLI: &[Case] = &[
    case(&["PING"], 0, Exactly("PONG")),
    case(&["ECHO", "two words"], 0, Exactly("two words")),
    case(&["STOCK.CREATE", "cli-sku", "5"], 0, Exactly("1\n5")),
    case(
        &["--no-raw", "STOCK.TAKE", "cli-sku", "2", "u1"],
        0,
        Exactly("1) (integer) 1\n2) (integer) 1\n3) (integer) 3"),
    ),
    case(&["--json", "stock.take", "cli-sku", "4", "u1"], 0, Exactly(r#"[0,"INSUFFICIENT_STOCK",3,4]"#)),
    case(&["--csv", "STOCK.TAKE", "cli-sku", "1", "u1"], 0, Exactly("1,3,2")),
    case(
        &["-3", "--no-raw", "STOCK.GET", "cli-sku"],
        0,
        Has(&[r#"1# "sku" => "cli-sku""#, r#"# "available" => (integer) 2"#]),
    ),
    case(&["-2", "--no-raw", "STOCK.GET", "cli-sku"], 0, Has(&[r#"1) "sku""#, r#"2) "cli-sku""#])),
    case(
        &["-e", "STOCK.TAKE", "cli-sku", "0", "u1"],
        1,
        Has(&["ERR INVALID quantity must be", "STOCK.TAKE sku quantity owner"]),
    ),
    case(
        &["-e", "STOCK.TAKE", "cli-sku"],
        1,
        Has(&["ERR INVALID quantity is missing", "Usage: STOCK.TAKE sku quantity owner"]),
    ),
    case(&["-e", "NO.SUCH", "1"], 1, Has(&["ERR unknown command 'NO.SUCH'"])),
    case(&["STOCK.HELP"], 0, Has(&["STOCK.CREATE sku quantity [PEROWNER", "STOCK.TAKE sku quantity owner"])),
    case(&["ORDER.HELP"], 0, Has(&["ORDER.PLACE market order owner BUY|SELL"])),
    case(
        &["-3", "COMMAND", "DOCS", "STOCK.TAKE"],
        0,
        Has(&["summary", "Sells units at once", "arguments", "quantity"]),
    ),
    case(&["COMMAND", "COUNT"], 0, Has(&[""])),
    case(&["COMMAND", "INFO", "ACCOUNT.DEBIT"], 0, Has(&["account.debit", "write"])),
    case(&["INFO", "server"], 0, Has(&["redis_version:", "scarce_version:"])),
    case(&["CONFIG", "GET", "appendonly"], 0, Exactly("appendonly\nyes")),
    case(&["CLIENT", "SETNAME", "me"], 0, Exactly("OK")),
    case(&["-n", "0", "PING"], 0, Exactly("PONG")),
    case(&["-r", "3", "PING"], 0, Exactly("PONG\nPONG\nPONG")),
    case(&["EVENTS", "0", "0", "0", "COUNT", "1"], 0, Has(&["stock.created", "cli-sku"])),
    piped(
        &[],
        "MULTI\nSTOCK.TAKE cli-sku 1 u2\nSTOCK.TAKE cli-sku 9 u2\nEXEC\n",
        Has(&["OK", "QUEUED", "QUEUED", "BATCH_REFUSED", "INSUFFICIENT_STOCK"]),
    ),
    piped(&[], "STOCK.RESTOCK cli-sku 1\nSTOCK.RESTOCK cli-sku 1\n", Exactly("1\n3\n6\n1\n4\n7")),
    piped(&["-x", "ECHO"], "from a pipe", Exactly("from a pipe")),
    piped(
        &["--pipe"],
        "*1\r\n$4\r\nPING\r\n*3\r\n$13\r\nSTOCK.RESTOCK\r\n$7\r\ncli-sku\r\n$1\r\n1\r\n",
        Has(&["errors: 0, replies: "]),
    ),
];

/// Runs redis-cli as in a terminal and in scripts.
pub fn cli(log: &mut Log) -> Ended {
    packages::redis(log)?;
    let server = Server::scarce("cli")?;
    let mut tally = Tally::default();
    for case in CLI {
        let mut command = Command::new("redis-cli");
        command.args(["-h", "127.0.0.1", "-p", server.port()]).args(case.words);
        let finished = process::feed(&mut command, case.input)?;
        judge(log, &mut tally, &command, case, &finished);
    }
    inline(log, &mut tally, &server)?;
    Ok(tally)
}

fn judge(log: &mut Log, tally: &mut Tally, command: &Command, case: &Case, finished: &Finished) {
    let output = finished.output.trim_end();
    let is_right = finished.code == Some(case.code)
        && match case.expected {
            Exactly(text) => output == text,
            Has(texts) => has_in_order(output, texts),
        };
    let verdict = if is_right { "ok" } else { "FAILED" };
    log.write(&format!("{verdict} {}", process::shown(command)));
    if is_right {
        tally.passed += 1;
        return;
    }
    tally.failed += 1;
    let expected = match case.expected {
        Exactly(text) => text.to_owned(),
        Has(texts) => format!("among it {texts:?}"),
    };
    log.write(&format!("exit {:?}, expected {}", finished.code, case.code));
    log.write(&format!("--- printed\n{output}\n--- expected\n{expected}\n---"));
}

fn has_in_order(output: &str, texts: &[&str]) -> bool {
    let mut rest = output;
    texts.iter().all(|text| match rest.find(text) {
        Some(at) => {
            rest = &rest[at + text.len()..];
            true
        }
        None => false,
    })
}

/// Commands as words on a line, as typed into a bare connection.
fn inline(log: &mut Log, tally: &mut Tally, server: &Server) -> Result<(), Box<dyn Error>> {
    use std::io::{Read, Write};
    let mut socket = std::net::TcpStream::connect(&server.address)?;
    socket.write_all(b"PING\r\nSTOCK.CREATE inline-sku 1\nSTOCK.TAKE inline-sku 1 u1\r\nQUIT\r\n")?;
    let mut output = String::new();
    socket.read_to_string(&mut output)?;
    let is_right = output == "+PONG\r\n*2\r\n:1\r\n:1\r\n*3\r\n:1\r\n:1\r\n:0\r\n+OK\r\n";
    log.write(&format!("{} inline commands: {output:?}", if is_right { "ok" } else { "FAILED" }));
    tally.passed += usize::from(is_right);
    tally.failed += usize::from(!is_right);
    Ok(())
}

const BENCHMARKS: &[&[&str]] = &[
    &["-t", "ping", "-n", "20000", "-P", "16"],
    &[
        "-n",
        "20000",
        "-c",
        "20",
        "-P",
        "16",
        "-r",
        "1000000000",
        "ACCOUNT.DEBIT",
        "bench",
        "1",
        "ID",
        "op-__rand_int__",
    ],
    &["-n", "2000", "-c", "5", "STOCK.TAKE", "bench-sku", "1", "u1"],
];

/// Runs redis-benchmark, which must end by itself without complaints.
pub fn benchmark(log: &mut Log) -> Ended {
    packages::redis(log)?;
    let server = Server::scarce("benchmark")?;
    let cli = |words: &[&str]| {
        let mut command = Command::new("redis-cli");
        command.args(["-h", "127.0.0.1", "-p", server.port()]).args(words);
        process::must(&mut command)
    };
    cli(&["ACCOUNT.OPEN", "bench", "USD", "OVERDRAFT", "9007199254740991"])?;
    cli(&["STOCK.CREATE", "bench-sku", "1500"])?;
    let mut tally = Tally::default();
    for words in BENCHMARKS {
        let mut command = Command::new("redis-benchmark");
        command.args(["-h", "127.0.0.1", "-p", server.port(), "-q"]).args(*words);
        log.announce(&command);
        let finished = process::finish(&mut command)?;
        log.write(&finished.output.replace('\r', "\n"));
        let is_right = finished.succeeded
            && finished.output.contains("requests per second")
            && !finished.output.to_lowercase().contains("error");
        tally.passed += usize::from(is_right);
        tally.failed += usize::from(!is_right);
    }
    let stock = cli(&["--json", "-3", "STOCK.GET", "bench-sku"])?;
    let is_sold = stock.contains(r#""available":0"#) && stock.contains(r#""sold":1500"#);
    log.write(&format!("after more takes than units: {stock}"));
    tally.passed += usize::from(is_sold);
    tally.failed += usize::from(!is_sold);
    Ok(tally)
}
