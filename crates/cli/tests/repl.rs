//! `scarce repl` and `scarce call` against a real server, at a terminal and without one.

mod support;

use std::io::{Seek, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use support::{Server, Terminal, json_lines, said, scarce_in};
use tempfile::TempDir;

fn server() -> Server {
    Server::fresh(&[])
}

fn repl(address: &str, words: &[&str]) -> Command {
    let mut command = scarce_in(Path::new("/"), &["repl", "--resp", address]);
    command.args(words);
    command
}

/// Runs a script on stdin.
fn script(address: &str, text: &str) -> (Option<i32>, String, String) {
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(text.as_bytes()).expect("written");
    file.rewind().expect("rewound");
    said(repl(address, &[]).stdin(file))
}

#[test]
fn commands_of_the_command_line_are_run_in_turn_and_a_refusal_is_seen_in_the_exit_code() {
    let server = server();
    let (code, stdout, stderr) =
        said(&mut repl(&server.address, &["-c", "stock.create sku 1", "-c", "STOCK.TAKE sku 1 alice"]));
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(stdout, "applied\n  available  1\napplied\n  first_serial  1\n  remaining     0\n");
    let commands = ["-c", "STOCK.TAKE sku 1 bob", "-c", "STOCK.GET sku"];
    let (code, stdout, stderr) = said(&mut repl(&server.address, &commands));
    assert_eq!(code, Some(3), "the worst counts: {stderr}");
    assert!(stdout.starts_with("refused  SOLD_OUT\n  available  0\n  requested  1\n"), "{stdout}");
    assert!(stdout.contains("  sold           1\n"), "what comes after a refusal is run too: {stdout}");
    assert!(stderr.contains("No unit is left."), "{stderr}");
    let (code, _, stderr) = said(&mut repl(&server.address, &["-c", "STOCK.TAEK sku 1 bob"]));
    assert_eq!(code, Some(1));
    assert!(stderr.contains("did you mean STOCK.TAKE?"), "{stderr}");
}

#[test]
fn answers_as_json_are_the_servers_own() {
    let server = server();
    let commands = ["--json", "-c", "STOCK.CREATE sku 1", "-c", "STOCK.GET none", "-c", "NOT.THERE"];
    let (code, stdout, _) = said(&mut repl(&server.address, &commands));
    assert_eq!(code, Some(1));
    let lines = json_lines(&stdout);
    assert_eq!(lines[0], serde_json::json!([1, 1]));
    assert_eq!(lines[1], serde_json::json!([0, "STOCK_NOT_FOUND", "none"]));
    assert_eq!(lines[2]["error"], "ERR");
}

#[test]
fn call_and_repl_show_alike() {
    let server = server();
    let (address, command) = (server.address.as_str(), "COUPON.CREATE ten LIMIT all 100 PER - WINDOW none");
    said(&mut repl(address, &["-c", command]));
    for line in ["COUPON.GET ten", "COUPON.GET none", "PING", "EVENTS 0 0 0", "NOT.THERE", "DIGEST"] {
        let mut words = vec!["call", "--resp", address];
        words.extend(line.split(' '));
        let called = said(&mut scarce_in(Path::new("/"), &words));
        let typed = said(&mut repl(address, &["-c", line]));
        assert_eq!((&called.0, &called.1), (&typed.0, &typed.1), "{line}");
    }
    let (_, stdout, _) = said(&mut repl(address, &["-c", "COUPON.GET ten"]));
    assert!(
        stdout
            .contains("    limit  max  per     window  offset_minutes\n    all    100  (none)  NONE    -\n"),
        "{stdout}"
    );
}

#[test]
fn a_script_without_a_terminal_may_have_batches_comments_and_quotes_over_lines() {
    let server = server();
    let text = "# a sale\nACCOUNT.OPEN alice EUR\nSTOCK.CREATE sku 5\n\nMULTI\nBATCH.ID b1\nACCOUNT.CREDIT alice 10\n\
                STOCK.TAKE sku 9 alice\nEXEC\nECHO \"one\ntwo\"\n\
                STOCK.ADJUST sku -1 REASON \"broken on the way\"\n";
    let (code, stdout, stderr) = script(&server.address, text);
    assert_eq!(code, Some(3), "{stdout}{stderr}");
    assert!(
        stdout.contains(
            "0) ACCOUNT.CREDIT alice 10\n   refused  BATCH_REFUSED\n     index  1\n     code   INSUFFICIENT_STOCK\n\
             1) STOCK.TAKE sku 9 alice\n   refused  INSUFFICIENT_STOCK\n     available  5\n     requested  9\n"
        ),
        "{stdout}"
    );
    assert!(stdout.ends_with("one\ntwo\napplied\n  available  4\n  total      4\n"), "{stdout}");
    let (code, _, stderr) = script(&server.address, "ECHO \"open\n");
    assert_eq!(code, Some(2), "{stderr}");
    assert!(!stdout.contains('\u{1b}') && !stderr.contains('\u{1b}'), "no colors without a terminal");
}

#[test]
fn help_and_explanations_need_no_server() {
    let commands = ["-c", "help STOCK.TAKE", "-c", "explain sold_out", "-c", "exit", "-c", "PING"];
    let (code, stdout, stderr) = said(&mut repl("127.0.0.1:1", &commands));
    assert_eq!(code, Some(0), "{stderr}");
    assert!(
        stdout.contains("STOCK.TAKE sku quantity owner") && stdout.contains("No unit is left."),
        "{stdout}"
    );
    let (code, _, stderr) = said(&mut repl("127.0.0.1:1", &["-c", "PING", "-c", "PING"]));
    assert_eq!(code, Some(4));
    assert_eq!(stderr.matches("cannot reach 127.0.0.1:1").count(), 1, "it ends with the first: {stderr}");
}

/// A script whose lines are sent while the test observes the output.
struct Slow {
    child: std::process::Child,
    stdout: std::io::BufReader<std::process::ChildStdout>,
}

impl Slow {
    fn start(address: &str) -> Self {
        let mut child = repl(address, &["--json"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let stdout = std::io::BufReader::new(child.stdout.take().expect("its output"));
        Self { child, stdout }
    }

    fn send(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().expect("its input");
        writeln!(stdin, "{line}").expect("sent");
    }

    fn answer(&mut self) -> String {
        use std::io::BufRead;
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("an answer");
        line.trim_end().to_owned()
    }

    fn end(mut self) -> (Option<i32>, String) {
        drop(self.child.stdin.take());
        let output = self.child.wait_with_output().expect("it ends");
        (output.status.code(), String::from_utf8(output.stderr).expect("text"))
    }
}

#[test]
fn a_server_that_comes_back_is_found_again_and_only_harmless_commands_are_repeated() {
    let data = TempDir::new().unwrap();
    let mut server = Server::start(data.path(), &[]);
    let address = server.address.clone();
    let mut repl = Slow::start(&address);
    repl.send("STOCK.CREATE sku 5");
    assert_eq!(repl.answer(), "[1,5]");
    server.kill();
    let mut server = Server::start_at(data.path(), &address, &[]);
    repl.send("STOCK.TAKE sku 1 alice ID op-1");
    assert_eq!(repl.answer(), "[1,1,4]", "with an id it is sent again");
    server.kill();
    let server = Server::start_at(data.path(), &address, &[]);
    repl.send("STOCK.TAKE sku 1 bob");
    repl.send("STOCK.TAKE sku 1 carol");
    assert_eq!(repl.answer(), "[1,2,3]", "bob's was not sent again, carol's connection is a new one");
    let (code, stderr) = repl.end();
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("with an ID it could be sent again safely"), "{stderr}");
    drop(server);
}

#[test]
fn at_a_terminal_tab_completes_hints_are_shown_and_the_prompt_tells_of_the_batch() {
    let server = server();
    let home = TempDir::new().unwrap();
    let mut command = repl(&server.address, &[]);
    let mut terminal = Terminal::start(command.env("XDG_STATE_HOME", home.path()));
    terminal.expect(&format!("{}> ", server.address));
    terminal.send("stock.cre\t");
    terminal.expect("STOCK.CREATE ");
    terminal.expect("sku quantity");
    terminal.send("sku 5\r");
    terminal.expect("applied");
    terminal.send("MULTI\r");
    terminal.expect("(batch of 0)> ");
    terminal.send("STOCK.TAKE sku 9 alice\r");
    terminal.expect("(batch of 1)> ");
    terminal.send("EXEC\r");
    let shown = terminal.expect("INSUFFICIENT_STOCK");
    assert!(shown.contains('\u{1b}'), "colors at a terminal: {shown:?}");
    terminal.expect("→ ");
    terminal.expect(&format!("{}> ", server.address));
    terminal.send("AUTH opensesame\r");
    terminal.expect("error");
    // Pasted lines run one after the other.
    terminal.send("\u{1b}[200~STOCK.TAKE sku 1 a\rSTOCK.TAKE sku 2 b\u{1b}[201~");
    terminal.expect("STOCK.TAKE sku 2 b");
    terminal.send("\r");
    terminal.expect("first_serial");
    terminal.expect("first_serial");
    // Before its prompt the terminal takes lines, and an end of the input is not one of a line.
    terminal.expect(&format!("{}> ", server.address));
    terminal.send("\u{4}");
    assert_eq!(terminal.wait_code(), Some(0));
    let history = std::fs::read_to_string(home.path().join("scarce/history")).unwrap();
    assert!(history.contains("STOCK.CREATE sku 5") && history.contains("EXEC"), "{history}");
    assert!(!history.contains("opensesame"), "{history}");
}
