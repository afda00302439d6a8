//! ARCHITECTURE.md agrees with the code: its drawing of crates matches cargo's dependencies, and the folders
//! of its code map exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn architecture() -> String {
    std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md")
}

/// The folder of a crate is its name in the drawing.
fn folder(package: &Value) -> String {
    let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
    let folder = manifest.parent().and_then(Path::file_name).expect("a folder");
    folder.to_string_lossy().into_owned()
}

/// Whether a package has nothing but tests: those of the crate in whose folder it is.
fn is_of_tests(package: &Value) -> bool {
    let targets = package["targets"].as_array().expect("targets");
    targets.iter().all(|target| target["kind"] == serde_json::json!(["test"]))
}

/// Each crate with the crates of the workspace that it depends on, except for tests.
fn crates_of_cargo() -> BTreeMap<String, BTreeSet<String>> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(root());
    let output = cargo.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages").iter();
    let packages: Vec<&Value> = packages.filter(|package| !is_of_tests(package)).collect();
    let folders: BTreeMap<&str, String> =
        packages.iter().map(|package| (package["name"].as_str().expect("a name"), folder(package))).collect();
    let needs = |package: &Value| {
        let all = package["dependencies"].as_array().expect("dependencies").iter();
        let built_with = all.filter(|dependency| dependency["kind"].is_null());
        built_with.filter_map(|dependency| folders.get(dependency["name"].as_str()?).cloned()).collect()
    };
    packages.iter().map(|package| (folder(package), needs(package))).collect()
}

/// The rows of the drawing, in order: `crate ──▶ crates`.
fn crates_of_drawing(text: &str) -> Vec<(String, BTreeSet<String>)> {
    let drawing = text.split("## Crates").nth(1).and_then(|rest| rest.split("```").nth(1));
    let rows = drawing.expect("a drawing of crates").lines().filter(|line| !line.trim().is_empty());
    rows.filter(|line| !line.trim_start().starts_with('(')).map(row).collect()
}

fn row(line: &str) -> (String, BTreeSet<String>) {
    let (name, needs) = line.split_once('▶').unwrap_or((line, ""));
    let name = name.trim().trim_end_matches(['─', ' ']).to_owned();
    (name, needs.split_whitespace().filter(|word| *word != "·").map(str::to_owned).collect())
}

#[test]
fn the_drawing_of_crates_is_what_cargo_knows() {
    let drawn = crates_of_drawing(&architecture());
    let known = crates_of_cargo();
    let names: BTreeSet<&String> = drawn.iter().map(|(name, _)| name).collect();
    assert_eq!(names, known.keys().collect(), "the crates of the drawing, and those of the workspace");
    for (name, needs) in &drawn {
        assert_eq!(needs, &known[name], "what '{name}' is built with, in the drawing and by cargo");
    }
}

#[test]
fn arrows_point_down_only() {
    let drawn = crates_of_drawing(&architecture());
    for (at, (name, needs)) in drawn.iter().enumerate() {
        let below: BTreeSet<&String> = drawn[at + 1..].iter().map(|(name, _)| name).collect();
        for need in needs {
            assert!(below.contains(need), "'{name}' needs '{need}', which is not below it");
        }
    }
}

/// The paths in the first column of the code map; further ones in a row are beside the first.
fn mapped(text: &str) -> Vec<PathBuf> {
    let map = text.split("## Code map").nth(1).and_then(|rest| rest.split("\n## ").next());
    let mut paths = Vec::new();
    for line in map.expect("a code map").lines().filter(|line| line.starts_with("| `")) {
        let cell = line.split('|').nth(1).unwrap_or_default();
        let mut beside: Option<PathBuf> = None;
        for name in cell.split('`').skip(1).step_by(2) {
            let whole = [root().join(name), root().join("crates").join(name)];
            let found = whole.into_iter().find(|path| path.exists());
            let path = match (found, &beside) {
                (Some(path), _) => path,
                (None, Some(folder)) => folder.join(name),
                (None, None) => root().join(name),
            };
            beside = path.parent().map(Path::to_path_buf);
            paths.push(path);
        }
    }
    paths
}

#[test]
fn every_folder_of_the_code_map_is_there() {
    let paths = mapped(&architecture());
    assert!(paths.len() > 50, "the code map names many");
    for path in paths {
        assert!(path.exists(), "{} is not there", path.display());
    }
}

#[test]
fn a_row_is_read_with_or_without_arrows() {
    let needs = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(row(" demo ─────▶ server · client"), ("demo".to_owned(), needs(&["client", "server"])));
    assert_eq!(row(" core"), ("core".to_owned(), needs(&[])));
}
