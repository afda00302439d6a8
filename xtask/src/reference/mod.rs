//! `cargo xtask reference`: the pages that are made from the tables in the code.

mod codes;
mod commands;
mod events;
mod meanings;

use std::path::Path;

use clap::Args;

use crate::{Ended, place, screen};

/// How to go about it.
#[derive(Debug, Args)]
pub struct Options {
    /// Write nothing; fail where a page is not as it would be written.
    #[arg(long)]
    check: bool,
}

/// Writes the pages, or checks that they are up to date.
pub fn run(options: &Options) -> Ended {
    let directory = place::root().join("docs").join("reference");
    let pages =
        [("commands.md", commands::page()), ("codes.md", codes::page()), ("events.md", events::page())];
    let mut is_current = true;
    for (name, page) in &pages {
        let path = directory.join(name);
        if options.check {
            is_current &= check(&path, page);
        } else {
            std::fs::create_dir_all(&directory)?;
            std::fs::write(&path, page)?;
            screen::say(&format!("wrote docs/reference/{name}, {} lines", page.lines().count()));
        }
    }
    if options.check && is_current {
        screen::say(&format!("{} pages of docs/reference are up to date", pages.len()));
    }
    Ok(is_current)
}

/// Says where a page differs from what it should be.
fn check(path: &Path, page: &str) -> bool {
    let found = std::fs::read_to_string(path).unwrap_or_default();
    if found == page {
        return true;
    }
    let line = found.lines().zip(page.lines()).take_while(|(found, wanted)| found == wanted).count();
    screen::say(&format!("{} is out of date from line {} on", path.display(), line + 1));
    screen::say(&format!("  is         {}", found.lines().nth(line).unwrap_or("(the end)")));
    screen::say(&format!("  should be  {}", page.lines().nth(line).unwrap_or("(the end)")));
    screen::say("  write it anew with: cargo xtask reference");
    false
}

/// What stands at the top of each page.
fn head(title: &str, table: &str) -> String {
    format!(
        "<!-- Made by `cargo xtask reference` from {table}; change that, not this page. -->\n\n# {title}\n\n"
    )
}

/// Names in code style with commas between them.
fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A cell of a table: without what would end it.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The anchor that readers of Markdown make of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}
