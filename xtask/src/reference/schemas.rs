//! The schemas of messages.

use std::path::{Path, PathBuf};

use scarce_api::glossary::Language;
use scarce_api::message::schemas;

use super::Page;

/// Their folder.
const FOLDER: &str = "schemas";

/// A page for each type of message, named after it.
pub fn pages() -> Vec<Page> {
    let page = |(kind, schema)| {
        // A schema is always valid JSON.
        let text = serde_json::to_string_pretty(&schema).unwrap_or_default();
        (format!("{FOLDER}/{kind}.json"), text + "\n")
    };
    schemas::all(Language::English).into_iter().map(page).collect()
}

/// Schema files that are no longer generated.
pub fn left_over(docs: &Path) -> std::io::Result<Vec<PathBuf>> {
    let folder = docs.join(FOLDER);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let pages = pages();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let is_schema = path.extension().is_some_and(|extension| extension == "json");
        if is_schema && !pages.iter().any(|(name, _)| docs.join(name) == path) {
            found.push(path);
        }
    }
    Ok(found)
}
