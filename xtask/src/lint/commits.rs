//! Rules for commits that are not upstream yet.

use std::error::Error;

use super::files::{generated, git};
use super::{Finding, Found};
use crate::{process, screen};

const SUBJECT_CHARACTERS_MAX: usize = 72;
const LINES_MAX: usize = 400;

const UPSTREAM: &str = "origin/main";

/// The commits that change too much at once.
pub fn check(since: Option<&str>) -> Found {
    let base = since.unwrap_or(UPSTREAM);
    if since.is_none() && !process::finish(git(&["rev-parse", "--verify", "--quiet"]).arg(base))?.succeeded {
        screen::say(&format!(
            "commits: not checked, since there is no {UPSTREAM}; --since names another base"
        ));
        return Ok(Vec::new());
    }
    let range = format!("{base}..HEAD");
    let mut found = subjects(&process::must(&mut log(&range, "%h %s"))?);
    found.extend(sizes(&inserted(&range)?));
    Ok(found)
}

fn log(range: &str, format: &str) -> std::process::Command {
    let mut command = git(&["log", "--no-merges"]);
    command.arg(format!("--format={format}")).arg(range);
    command
}

fn subjects(listed: &str) -> Vec<Finding> {
    let commits = listed.lines().filter_map(|line| line.split_once(' '));
    let long = commits.map(|(commit, subject)| (commit, subject.chars().count()));
    let long = long.filter(|(_, characters)| *characters > SUBJECT_CHARACTERS_MAX);
    let text = |characters| format!("a subject of {characters} characters, at most {SUBJECT_CHARACTERS_MAX}");
    long.map(|(commit, characters)| Finding::new(commit, text(characters))).collect()
}

/// The numbers of inserted lines by file, after each commit's line; moved and generated files do not count.
fn inserted(range: &str) -> Result<String, Box<dyn Error>> {
    let mut command = log(range, "commit %h");
    command.args(["--numstat", "--find-renames", "--find-copies", "--", "."]);
    command.args(generated().map(|path| format!(":(exclude){path}*")));
    process::must(&mut command)
}

fn sizes(listed: &str) -> Vec<Finding> {
    let mut commits: Vec<(&str, usize)> = Vec::new();
    for line in listed.lines() {
        if let Some(commit) = line.strip_prefix("commit ") {
            commits.push((commit, 0));
        } else if let Some((_, lines)) = commits.last_mut() {
            // Binary files have a dash.
            *lines += line.split_whitespace().next().and_then(|count| count.parse().ok()).unwrap_or(0);
        }
    }
    let text =
        |lines| format!("{lines} inserted lines, at most {LINES_MAX}; split it into steps that each work");
    let large = commits.into_iter().filter(|(_, lines)| *lines > LINES_MAX);
    large.map(|(commit, lines)| Finding::new(commit, text(lines))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_subjects_and_large_commits_are_found() {
        let long = "x".repeat(SUBJECT_CHARACTERS_MAX + 1);
        let found = subjects(&format!("a1 {}\nb2 {long}\n", &long[1..]));
        assert_eq!(found.iter().map(|found| found.place.as_str()).collect::<Vec<_>>(), ["b2"]);
        let found = sizes("commit a1\n\n400\t9\ta.rs\n-\t-\tb.png\ncommit b2\n\n399\t0\ta.rs\n2\t0\tb.rs\n");
        assert_eq!(found.iter().map(|found| found.place.as_str()).collect::<Vec<_>>(), ["b2"]);
    }
}
