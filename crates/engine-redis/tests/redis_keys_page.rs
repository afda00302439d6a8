//! `docs/redis-keys.md` says what is in each key. Here it is held against the names and records of the code,
//! so that no key, no field and no order of fields is missing there or made up.

use scarce_engine_redis::keys::NAMES;
use scarce_engine_redis::records::{META_FIELDS, RECORDS};

const PAGE: &str = include_str!("../../../docs/redis-keys.md");

/// Keys that no call of the library declares.
const BESIDE: &[&str] = &["deployment", "scripts", "waited", "consumers", "inputs", "callers", "restoring"];

/// What stands between two texts, of which the first is there.
fn between<'a>(text: &'a str, first: &str, last: &str) -> &'a str {
    let (_, rest) = text.split_once(first).unwrap_or_else(|| panic!("'{first}' is not there"));
    rest.split_once(last).map_or(rest, |(inner, _)| inner)
}

/// What the page says of a key.
fn section(name: &str) -> &'static str {
    between(PAGE, &format!("\n### `{name}`\n"), "\n#")
}

/// The names in the first column of a section's table.
fn listed(section: &str) -> Vec<String> {
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split_once('`')).map(|(name, _)| name.to_owned()).collect()
}

/// The rows that a section shows: a field, at least two blanks, its value.
fn shown(section: &str) -> Vec<&str> {
    let block = section.lines().skip_while(|line| !line.starts_with("    "));
    let block = block.take_while(|line| line.starts_with("    "));
    block.filter_map(|line| line.trim().rsplit_once("  ")).map(|(_, value)| value).collect()
}

#[test]
fn every_key_has_its_place() {
    let table = between(PAGE, "\n## All keys\n", "\n## ");
    for name in NAMES.iter().chain(BESIDE) {
        assert!(!section(name).trim().is_empty(), "nothing is said of '{name}'");
        assert!(table.contains(&format!("`](#{name})")) || table.contains(&format!("{name}`]")), "{name}");
    }
    let headings = PAGE.lines().filter_map(|line| line.strip_prefix("### `"));
    for name in headings.filter_map(|line| line.strip_suffix('`')) {
        let is_known = NAMES.contains(&name) || BESIDE.contains(&name);
        assert!(is_known, "there is no key '{name}'");
    }
}

#[test]
fn every_record_is_shown_as_it_is_written() {
    for record in RECORDS {
        let name = record.name;
        let fields: Vec<&str> = record.fields.iter().map(|field| field.name).collect();
        assert!(NAMES.contains(&name), "'{name}' is no key");
        let section = section(name);
        assert_eq!(listed(section), fields, "the fields of '{name}'");
        let rows = shown(section);
        assert_eq!(rows.first(), Some(&fields.join("|").as_str()), "the layout of '{name}'");
        assert!(rows.len() > 1, "'{name}' has no example");
        for row in rows {
            assert_eq!(row.matches('|').count(), fields.len() - 1, "the example '{row}' of '{name}'");
        }
    }
}

#[test]
fn what_stands_in_meta_is_named() {
    assert_eq!(listed(between(section("meta"), "", "\n`unfinished` contains")), META_FIELDS);
}
