//! The transcripts of the README and of the recipes, typed line by line against a server of their own: commands after `>` into redis-cli,
//! lines after `$` into a shell. Values that differ between runs are replaced on both sides: times, ids made
//! by the server, commitments, and the amounts of red packets.

use std::error::Error;
use std::process::Command;

use super::packages;
use super::step::{Log, Tally};
use crate::place;
use crate::process::{self, Server};

type Ended = Result<Tally, Box<dyn Error>>;

/// With fewer lines than this, the README was misread.
const LINES_MIN: usize = 35;

/// The address of the README's server.
const README_HTTP: &str = "localhost:7380";

/// A line to type, and the expected output.
#[derive(Debug, PartialEq, Eq)]
struct Line<'a> {
    number: usize,
    typed: &'a str,
    shown: Vec<&'a str>,
}

/// Types all transcripts of the README, in order.
pub fn readme(log: &mut Log) -> Ended {
    packages::redis(log)?;
    packages::program(log, "curl", &["curl"])?;
    page(log, "README.md", &Server::scarce("readme")?, LINES_MIN)
}

/// The folder of the recipes, and with fewer lines than this one was misread.
const RECIPES: &str = "docs/recipes";
const RECIPE_LINES_MIN: usize = 8;

/// Types the transcripts of each recipe, on several partitions, so that a tag that is missing is noticed.
pub fn recipes(log: &mut Log) -> Ended {
    packages::redis(log)?;
    let mut names = Vec::new();
    for entry in std::fs::read_dir(place::root().join(RECIPES))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend((name.ends_with(".md") && name != "README.md").then_some(name));
    }
    names.sort();
    let mut tally = Tally::default();
    for name in &names {
        let server = Server::scarce_with("recipe", &["--partitions", "4"])?;
        let typed = page(log, &format!("{RECIPES}/{name}"), &server, RECIPE_LINES_MIN)?;
        tally.passed += typed.passed;
        tally.failed += typed.failed;
    }
    if names.is_empty() { Err(format!("{RECIPES} has no recipes").into()) } else { Ok(tally) }
}

/// Types all transcripts of a page, in order.
fn page(log: &mut Log, path: &str, server: &Server, lines_min: usize) -> Ended {
    let text = std::fs::read_to_string(place::root().join(path))?;
    let commands = lines(&text, "> ");
    let answers = redis_cli(server, &commands)?;
    let mut tally = Tally::default();
    for (line, answer) in commands.iter().zip(&answers) {
        judge(log, &mut tally, path, line, answer);
    }
    for line in lines(&text, "$ ") {
        let typed = line.typed.replace(README_HTTP, &server.http);
        let mut command = Command::new("sh");
        let finished = process::feed(command.args(["-c", &format!("{typed} 2>/dev/null")]), "")?;
        // HTTP headers end with CRLF.
        judge(log, &mut tally, path, &line, finished.output.replace("\r\n", "\n").trim_end());
    }
    if tally.passed + tally.failed < lines_min {
        return Err(format!("{path} shows fewer than {lines_min} lines to type").into());
    }
    Ok(tally)
}

/// The lines after a prompt in fenced code, each with the lines up to the next prompt, a blank line or a
/// comment.
fn lines<'a>(text: &'a str, prompt: &str) -> Vec<Line<'a>> {
    let mut found: Vec<Line<'a>> = Vec::new();
    let (mut is_fenced, mut is_open) = (false, false);
    for (at, line) in text.lines().enumerate() {
        let is_fence = line.starts_with("```");
        is_fenced ^= is_fence;
        match line.strip_prefix(prompt) {
            Some(typed) if is_fenced => {
                found.push(Line { number: at + 1, typed, shown: Vec::new() });
                is_open = true;
            }
            _ if is_fence || line.is_empty() || line.starts_with("# ") => is_open = false,
            _ => {
                if let Some(last) = found.last_mut().filter(|_| is_open) {
                    last.shown.push(line);
                }
            }
        }
    }
    found
}

/// Types commands into one redis-cli, as batches need; returns an answer for each.
fn redis_cli(server: &Server, commands: &[Line<'_>]) -> Result<Vec<String>, Box<dyn Error>> {
    let typed: String = commands.iter().map(|line| format!("{}\n", line.typed)).collect();
    let mut command = Command::new("redis-cli");
    command.args(["-p", server.port(), "--json"]);
    let output = process::feed(&mut command, &typed)?.output;
    let answers: Vec<_> = output.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    if answers.len() == commands.len() {
        return Ok(answers);
    }
    Err(format!("{} commands were answered by {} lines:\n{output}", commands.len(), answers.len()).into())
}

fn judge(log: &mut Log, tally: &mut Tally, path: &str, line: &Line<'_>, answer: &str) {
    let shown = line.shown.join("\n");
    let is_right = !shown.is_empty() && settled(line.typed, &shown) == settled(line.typed, answer);
    tally.passed += usize::from(is_right);
    tally.failed += usize::from(!is_right);
    let verdict = if is_right { "as shown" } else { "NOT as shown" };
    log.write(&format!("{path}:{}: {verdict}: {}\n{answer}", line.number, line.typed));
    if !is_right {
        log.write(&format!("{path} shows:\n{shown}"));
    }
}

/// A text without the values that differ between runs. The id of an event has the epoch in it.
fn settled(typed: &str, text: &str) -> String {
    let is_part = |c: char| matches!(c, '0'..='9' | 'a'..='f' | '-');
    if text.starts_with("id: ") && text.contains('\n') {
        let (_, after) = text.split_once('\n').unwrap_or_default();
        return format!("id: CURSOR\n{}", settled(typed, after));
    }
    let mut out = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let length = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        out.push_str(placeholder(word));
        let next = after.chars().next();
        out.extend(next);
        rest = &after[next.map_or(0, char::len_utf8)..];
    }
    match out.rsplit_once(',') {
        // The amount of a packet is random.
        Some((front, amount))
            if typed.starts_with("PACKET.CLAIM ") && is_number(amount.trim_end_matches(']')) =>
        {
            format!("{front},AMOUNT]")
        }
        _ => out,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The placeholder for a word of hexadecimal digits and hyphens.
fn placeholder(word: &str) -> &str {
    let hyphens: Vec<usize> = word.match_indices('-').map(|(at, _)| at).collect();
    match word.len() {
        // Milliseconds since 1970, from 2001 to 2286.
        13 if is_number(word) => "TIME",
        // The first epoch of a log: a count of 1, and 32 random bits.
        10 if is_number(word) => "EPOCH",
        36 if hyphens == [8, 13, 18, 23] => "UUID",
        64 if hyphens.is_empty() => "COMMITMENT",
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_with_what_is_shown_below_them() {
        let text = "> no code\n```\n# a title\n> A b\n[1]\n> C\n[2,\n3]\n\n$ d\ne\n```\n> no code\n";
        let commands = lines(text, "> ");
        assert_eq!(commands[0], Line { number: 4, typed: "A b", shown: vec!["[1]"] });
        assert_eq!(commands[1], Line { number: 6, typed: "C", shown: vec!["[2,", "3]"] });
        assert_eq!(commands.len(), 2);
        assert_eq!(lines(text, "$ ")[0].shown, ["e"]);
    }

    #[test]
    fn only_what_differs_from_run_to_run_is_replaced() {
        let uuid = "040d787e-1bb4-4361-a6d3-bd4ea39fc5f4";
        assert_eq!(
            settled("X", &format!("{{\"a\":\"{uuid}\",\"at\":1795170263973,\"n\":12}}")),
            "{\"a\":\"UUID\",\"at\":TIME,\"n\":12}"
        );
        assert_eq!(settled("X", "[1,1,373]"), "[1,1,373]");
        assert_eq!(settled("X", "id: 0:4294967301:1\n[4294967301,1]"), "id: CURSOR\n[EPOCH,1]");
        assert_eq!(settled("PACKET.CLAIM gift alice", "[1,1,373]"), "[1,1,AMOUNT]");
        assert_eq!(
            settled("PACKET.CLAIM gift alice", "[0,\"ALREADY_CLAIMED\",1,373]"),
            "[0,\"ALREADY_CLAIMED\",1,AMOUNT]"
        );
        assert_ne!(settled("PACKET.CLAIM gift alice", "[1,2,373]"), "[1,1,AMOUNT]");
        assert_eq!(settled("X", &"7a".repeat(32)), "COMMITMENT");
    }
}
