//! No link between pages leads nowhere: the file exists, and so does the heading in it.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::files::Files;
use crate::place;
use crate::reference::anchor;

/// The links to files or headings that do not exist.
pub fn check(Files(files): &Files) -> Vec<Finding> {
    let pages: BTreeMap<&str, &str> = files
        .iter()
        .filter(|file| file.has_extension(&["md"]))
        .map(|file| (file.path.as_str(), file.text.as_str()))
        .collect();
    let exists = |path: &str| place::root().join(path).exists();
    let findings = pages.iter().flat_map(|(page, text)| {
        broken(page, text, &pages, exists)
            .map(|(line, link)| Finding::new(format!("{page}:{line}"), format!("'{link}' leads nowhere")))
            .collect::<Vec<_>>()
    });
    findings.collect()
}

/// The broken links of a page, with their lines.
fn broken<'a>(
    page: &'a str,
    text: &'a str,
    pages: &'a BTreeMap<&str, &str>,
    exists: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = (usize, &'a str)> {
    links(text).filter(move |(_, link)| {
        let (path, heading) =
            link.split_once('#').map_or((*link, None), |(path, heading)| (path, Some(heading)));
        let target = if path.is_empty() { page.to_owned() } else { resolved(page, path) };
        let Some(heading) = heading else { return !exists(&target) };
        pages.get(target.as_str()).is_none_or(|text| !anchors(text).contains(heading))
    })
}

/// The links to pages of the project, with their lines. Code has none.
fn links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    prose(text).flat_map(|(line, prose)| {
        let ends = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        ends.filter(|link| !link.contains("://") && !link.contains(' ')).map(move |link| (line, link))
    })
}

/// The lines outside of fences, and their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_fenced = false;
    let numbered = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    numbered.filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        !is_fenced && !is_fence
    })
}

/// The names by which a page's headings are linked to. Of headings with the same text, later ones get a number.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter(|(_, line)| line.starts_with('#'));
    let mut anchors = BTreeSet::new();
    for (_, heading) in headings {
        let name = anchor(&without_links(heading.trim_start_matches('#').trim()));
        let next = (1..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.clone()).chain(next).find(|name| !anchors.contains(name));
        anchors.extend(free);
    }
    anchors
}

/// A heading as it is shown: of a link, its text.
fn without_links(heading: &str) -> String {
    let mut parts = heading.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |shown, rest| shown + rest.split_once(')').map_or("", |(_, after)| after))
}

/// The path that a page's link leads to, from the top of the project.
fn resolved(page: &str, link: &str) -> String {
    let mut folders: Vec<&str> = page.split('/').collect();
    folders.pop();
    for part in link.split('/') {
        match part {
            ".." => drop(folders.pop()),
            "." | "" => {}
            part => folders.push(part),
        }
    }
    folders.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_missing_files_and_headings_are_found() {
        let page = "see [a](other.md#what-is-it), [b](other.md#what), [c](../x.md)\n```\n[d](none.md)\n```\n[e](#here)\n[f](none.md)";
        let other = "# One\n## What is it?\n## What is it?\n[g](#what-is-it-1)";
        let pages = BTreeMap::from([("docs/page.md", page), ("docs/other.md", other)]);
        let found = |name| broken(name, pages[name], &pages, |path| path == "x.md").collect::<Vec<_>>();
        assert_eq!(found("docs/page.md"), [(1, "other.md#what"), (5, "#here"), (6, "none.md")]);
        assert_eq!(found("docs/other.md"), []);
    }
}
