//! The list of all that is in the binary, in CycloneDX 1.5: crates from cargo's own resolution, with the checksums of
//! `Cargo.lock`, and what the console's pages are built with.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::Product;
use crate::{place, process};

/// Its name in packages.
pub const NAME: &str = "scarce.cdx.json";

/// Its name beside them.
pub fn name(product: &Product) -> String {
    format!("scarce-{}.cdx.json", product.version)
}

/// Writes the list for a binary with these features.
pub fn write(product: &Product, out: &Path, features: &str) -> Result<PathBuf, Box<dyn Error>> {
    let features: Vec<_> = features.split(',').map(|feature| format!("scarce/{feature}")).collect();
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--format-version", "1", "--locked", "--quiet", "--filter-platform"]);
    // Crates for other systems are not in it. The same for the C library that it is linked with.
    cargo.arg(concat!("x86_64", "-unknown-linux-gnu")).args(["--features", &features.join(",")]);
    let metadata: Value = serde_json::from_str(&process::must(cargo.current_dir(place::root()))?)?;
    let lock = std::fs::read_to_string(place::root().join("Cargo.lock"))?;
    let node = std::fs::read_to_string(place::root().join("console/package-lock.json"))?;
    let list = list(&metadata, &checksums(&lock), &serde_json::from_str(&node)?)?;
    let path = out.join(name(product));
    std::fs::write(&path, format!("{list:#}\n"))?;
    Ok(path)
}

/// The checksums of crates, by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let value = |block: &str, key: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
        line.map(|text| text.trim_matches('"').to_owned())
    };
    let known =
        |block: &str| Some(((value(block, "name")?, value(block, "version")?), value(block, "checksum")?));
    lock.split("[[package]]").filter_map(known).collect()
}

/// Packages that the console's pages are built with and contain.
const PAGES: [&str; 3] = ["@noble/hashes", "svelte", "uplot"];

fn list(
    metadata: &Value,
    checksums: &BTreeMap<(String, String), String>,
    node: &Value,
) -> Result<Value, Box<dyn Error>> {
    let packages = by_id(&metadata["packages"]);
    let nodes = by_id(&metadata["resolve"]["nodes"]);
    let root = packages.values().find(|package| package["name"] == "scarce");
    let root = root.and_then(|root| root["id"].as_str()).ok_or("cargo knows no package 'scarce'")?;
    let linked = linked(&nodes, root);
    let reference = |id: &str| packages.get(id).map(|package| url(package)).unwrap_or_default();
    let mut components = Vec::new();
    let mut dependencies = Vec::new();
    for id in &linked {
        let Some(package) = packages.get(id) else { continue };
        let on: BTreeSet<_> = needs(&nodes, id).map(reference).collect();
        dependencies.push(json!({"ref": url(package), "dependsOn": on}));
        if id != root {
            components.push(component(package, checksums));
        }
    }
    for name in PAGES {
        components.push(page(node, name)?);
    }
    let main = packages.get(root).map(|package| component(package, checksums));
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": main.map(|mut main| {
            main["type"] = "application".into();
            main
        })},
        "components": components,
        "dependencies": dependencies,
    }))
}

/// The rows of a list by their `id`.
fn by_id(rows: &Value) -> BTreeMap<String, &Value> {
    let rows = rows.as_array().into_iter().flatten();
    rows.filter_map(|row| Some((row["id"].as_str()?.to_owned(), row))).collect()
}

/// All that is linked into a crate, and the crate.
fn linked(nodes: &BTreeMap<String, &Value>, root: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![root.to_owned()];
    while let Some(id) = open.pop() {
        if found.insert(id.clone()) {
            open.extend(needs(nodes, &id).map(str::to_owned));
        }
    }
    found
}

/// What a crate is linked with; what builds or tests it is not in the binary.
fn needs<'a>(nodes: &BTreeMap<String, &'a Value>, id: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    let deps = nodes.get(id).and_then(|node| node["deps"].as_array()).into_iter().flatten();
    let is_linked = |dep: &&Value| {
        dep["dep_kinds"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"].is_null()))
    };
    deps.filter(is_linked).filter_map(|dep| dep["pkg"].as_str())
}

/// The address of a package among all package managers.
fn url(package: &Value) -> String {
    let text = |key: &str| package[key].as_str().unwrap_or_default();
    format!("pkg:cargo/{}@{}", text("name"), text("version"))
}

fn component(package: &Value, checksums: &BTreeMap<(String, String), String>) -> Value {
    let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let mut component = json!({
        "type": "library",
        "bom-ref": url(package),
        "name": text("name"),
        "version": text("version"),
        "purl": url(package),
        // Older crates write '/' for 'OR'.
        "licenses": [{"expression": text("license").replace(" / ", " OR ").replace('/', " OR ")}],
    });
    if let Some(checksum) = checksums.get(&(text("name"), text("version"))) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    component
}

fn page(node: &Value, name: &str) -> Result<Value, Box<dyn Error>> {
    let package = &node["packages"][format!("node_modules/{name}")];
    let (version, license) = (package["version"].as_str(), package["license"].as_str());
    let (version, license) =
        version.zip(license).ok_or_else(|| format!("console/package-lock.json has no {name}"))?;
    let url = format!("pkg:npm/{}@{version}", name.replace('@', "%40"));
    Ok(json!({"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url,
        "licenses": [{"expression": license}]}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_linked_is_listed_once_and_what_only_builds_is_not() {
        let package = |name: &str, license: &str| json!({"id": name, "name": name, "version": "1.0.0", "license": license});
        let dep = |name: &str, kind: Value| json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let metadata = json!({
            "packages": [package("scarce", "Apache-2.0"), package("a", "MIT/Apache-2.0"), package("b", "MIT"), package("cc", "MIT")],
            "resolve": {"nodes": [
                {"id": "scarce", "deps": [dep("a", Value::Null), dep("b", Value::Null), dep("cc", "build".into())]},
                {"id": "a", "deps": [dep("b", Value::Null)]},
                {"id": "b", "deps": [dep("a", "dev".into())]},
                {"id": "cc", "deps": []},
            ]},
        });
        let packages =
            PAGES.map(|name| (format!("node_modules/{name}"), json!({"version": "2.0.0", "license": "MIT"})));
        let node = json!({"packages": serde_json::Map::from_iter(packages)});
        let sums = checksums("[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"12ab\"\n");
        let list = list(&metadata, &sums, &node).expect("a list");
        let names: Vec<_> =
            list["components"].as_array().expect("rows").iter().map(|row| row["name"].clone()).collect();
        assert_eq!(names, ["a", "b", "@noble/hashes", "svelte", "uplot"]);
        assert_eq!(list["components"][0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(list["components"][0]["hashes"][0]["content"], "12ab");
        assert_eq!(list["components"][2]["purl"], "pkg:npm/%40noble/hashes@2.0.0");
        let root = list["dependencies"]
            .as_array()
            .expect("rows")
            .iter()
            .find(|row| row["ref"] == "pkg:cargo/scarce@1.0.0");
        assert_eq!(root.expect("the binary")["dependsOn"], json!(["pkg:cargo/a@1.0.0", "pkg:cargo/b@1.0.0"]));
    }
}
