//! A package of integration tests names each of its files: cargo would skip a file that it does not name.

use super::Finding;
use super::files::Files;

/// The files of tests that their package does not name.
pub fn check(Files(files): &Files) -> Vec<Finding> {
    let is_manifest = |path: &str| path.starts_with("crates/") && path.ends_with("/tests/Cargo.toml");
    let manifests = files.iter().filter(|file| is_manifest(&file.path));
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let findings = manifests.flat_map(|manifest| {
        let missing = unnamed(&manifest.path, &manifest.text, &paths);
        let finding =
            |path: &str| Finding::new(&manifest.path, format!("add a [[test]] with path = \"{path}\""));
        missing.into_iter().map(finding).collect::<Vec<_>>()
    });
    findings.collect()
}

/// The files of tests in the manifest's folder that it does not name.
fn unnamed<'a>(manifest: &str, text: &str, paths: &[&'a str]) -> Vec<&'a str> {
    let folder = manifest.trim_end_matches("Cargo.toml");
    let tests = paths.iter().filter_map(|path| path.strip_prefix(folder)).filter(|path| is_test(path));
    tests.filter(|path| !text.contains(&format!("path = \"{path}\""))).collect()
}

/// Whether cargo would find a test in this file of a folder of tests.
fn is_test(path: &str) -> bool {
    match path.split_once('/') {
        None => path.ends_with(".rs"),
        Some((_, file)) => file == "main.rs",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_its_package_does_not_name_is_found() {
        let manifest = "crates/kafka/tests/Cargo.toml";
        let paths = ["login.rs", "delivery/main.rs", "support/mod.rs", "kit/a/main.rs", "Cargo.toml"]
            .map(|path| format!("crates/kafka/tests/{path}"));
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        assert_eq!(unnamed(manifest, "path = \"login.rs\"\n", &paths), ["delivery/main.rs"]);
    }
}
