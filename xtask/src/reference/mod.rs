//! `cargo xtask reference`: generates documents from the tables in the code: the reference pages in each language,
//! the schemas of messages, and the types of the clients of other languages.

mod access;
mod clients;
mod codes;
mod commands;
mod events;
mod glossary;
mod markdown;
mod prose;
mod schemas;

pub use markdown::anchor;

use std::path::Path;

use clap::Args;
use scarce_api::glossary::Language;

use crate::{Ended, place, screen};

/// What to do with the pages.
#[derive(Debug, Args)]
pub struct Options {
    /// Write nothing; fail where a page is not as it would be written.
    #[arg(long)]
    check: bool,
}

/// A page: its path, and its contents.
type Page = (String, String);

/// Writes the pages, or checks that they are up to date.
pub fn run(options: &Options) -> Ended {
    let directory = place::root();
    let pages = Language::ALL.iter().flat_map(|language| pages(*language)).chain(schemas::pages());
    let pages = pages.map(|(path, page)| (format!("{DOCS}/{path}"), page));
    let pages: Vec<Page> = pages.chain(clients::files()).collect();
    let mut is_current = true;
    for (name, page) in &pages {
        let path = directory.join(name);
        if options.check {
            is_current &= check(&path, page);
        } else {
            write(&path, page)?;
        }
    }
    for path in schemas::left_over(&directory.join(DOCS))? {
        if options.check {
            screen::say(&format!("{} is no longer generated; remove it", path.display()));
            is_current = false;
        } else {
            std::fs::remove_file(&path)?;
            screen::say(&format!("removed {}", path.display()));
        }
    }
    match (options.check, is_current) {
        (false, _) => screen::say(&format!("wrote {} generated files", pages.len())),
        (true, true) => screen::say(&format!("{} generated files are up to date", pages.len())),
        (true, false) => {}
    }
    Ok(is_current)
}

/// The paths of generated files, or their prefixes, from the top of the repository.
pub fn generated() -> impl Iterator<Item = String> {
    let pages =
        Language::ALL.iter().flat_map(|language| NAMES.map(|name| format!("{}{name}", folder(*language))));
    let pages = pages.chain(["schemas/".to_owned()]).map(|path| format!("{DOCS}/{path}"));
    pages.chain(clients::PREFIXES.map(str::to_owned))
}

/// The folder of the pages.
const DOCS: &str = "docs";

/// The names of the pages in each language.
const NAMES: [&str; 5] = ["commands.md", "codes.md", "events.md", "access.md", "glossary.md"];

/// English pages are beside the handwritten pages, others in a folder.
fn folder(language: Language) -> &'static str {
    match language {
        Language::English => "reference/",
        Language::Chinese => "reference/zh/",
    }
}

/// The pages of a language.
fn pages(language: Language) -> [Page; 5] {
    let prose = prose::of(language);
    let [for_commands, for_codes, for_events, for_access, for_glossary] =
        NAMES.map(|name| format!("{}{name}", folder(language)));
    [
        (for_commands, commands::page(language, prose)),
        (for_codes, codes::page(language, prose)),
        (for_events, events::page(language, prose)),
        (for_access, access::page(language, prose)),
        (for_glossary, glossary::page(language, prose)),
    ]
}

fn write(path: &Path, page: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, page)
}

/// Reports where a page differs from the expected one.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts that must not depend on the language: names in headings, and the number of tables.
    fn skeleton(page: &str) -> Vec<&str> {
        let is_row = |line: &&str| line.starts_with("|---");
        let is_name = |line: &&str| line.starts_with('#') && line.contains(['.', '_']);
        page.lines().filter(|line| is_row(line) || is_name(line)).collect()
    }

    fn rows(page: &str) -> usize {
        page.lines().filter(|line| line.starts_with("| ")).count()
    }

    #[test]
    fn pages_say_as_much_in_every_language() {
        let (english, chinese) = (pages(Language::English), pages(Language::Chinese));
        for ((name, one), (other_name, other)) in english.iter().zip(&chinese) {
            assert_eq!(&name.replace("reference/", "reference/zh/"), other_name);
            assert!(rows(one) > 50, "{name}");
            assert_eq!(rows(one), rows(other), "{name}");
            assert_eq!(skeleton(one), skeleton(other), "{name}");
        }
    }

    #[test]
    fn every_row_of_every_page_has_a_meaning() {
        for language in Language::ALL {
            for (name, page) in pages(*language) {
                // The list of codes ends with facts, which some codes lack.
                let last_cells = page.lines().filter(|line| line.starts_with("| `"));
                for line in last_cells {
                    assert!(!line.ends_with("|  |"), "{name}: {line}");
                }
            }
        }
    }
}
