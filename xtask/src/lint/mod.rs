//! `cargo xtask lint`: the rules of the house that clippy does not know.

mod commits;
mod dependencies;
mod files;
mod integration;
mod lengths;
mod links;
mod words;

use std::error::Error;
use std::fmt;

use clap::Args;

use crate::{Ended, screen};
use files::Files;

/// What to lint.
#[derive(Debug, Args)]
pub struct Options {
    /// Check the commits after this revision. Without it: those that origin/main does not have.
    #[arg(long, value_name = "REVISION")]
    since: Option<String>,
    /// Lower each count in words.txt to what is left.
    #[arg(long)]
    tighten: bool,
}

/// A violation of a rule.
struct Finding {
    /// A file with its line, a commit, or a package.
    place: String,
    /// What is wrong, and what to do.
    text: String,
}

impl Finding {
    fn new(place: impl fmt::Display, text: impl Into<String>) -> Self {
        Self { place: place.to_string(), text: text.into() }
    }
}

type Found = Result<Vec<Finding>, Box<dyn Error>>;

/// Checks every rule and prints the violations.
pub fn run(options: &Options) -> Ended {
    let files = Files::read()?;
    if options.tighten {
        words::tighten(&files)?;
    }
    let rules: [(&str, Found); 7] = [
        ("length of files", Ok(lengths::files(&files))),
        ("length of functions", Ok(lengths::functions(&files))),
        ("words", words::check(&files)),
        ("links", Ok(links::check(&files))),
        ("commits", commits::check(options.since.as_deref())),
        ("dependencies", dependencies::check()),
        ("files of integration tests", Ok(integration::check(&files))),
    ];
    let mut is_clean = true;
    for (rule, found) in rules {
        let found = found?;
        is_clean &= found.is_empty();
        screen::say(&format!("{rule}: {}", if found.is_empty() { "ok" } else { "FAILED" }));
        for Finding { place, text } in found {
            screen::say(&format!("  {place}: {text}"));
        }
    }
    Ok(is_clean)
}
