//! The clients have the version and the licence of the workspace, and their READMEs say the same.

use std::path::Path;

fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_clients_have_the_version_of_the_workspace() {
    let version = env!("CARGO_PKG_VERSION");
    for (file, line) in [
        ("clients/typescript/package.json", format!("\"version\": \"{version}\",")),
        ("clients/typescript/package-lock.json", format!("\"version\": \"{version}\",")),
        ("clients/python/pyproject.toml", format!("version = \"{version}\"")),
        (
            "clients/java/pom.xml",
            format!("<artifactId>scarce-client</artifactId>\n  <version>{version}</version>"),
        ),
        (
            "clients/java/README.md",
            format!("<artifactId>scarce-client</artifactId>\n  <version>{version}</version>"),
        ),
    ] {
        assert!(text(file).contains(&line), "{file} does not say {line}");
    }
}

#[test]
fn packages_have_the_licence_in_them() {
    let licence = text("LICENSE");
    for client in ["typescript", "python", "go"] {
        assert_eq!(text(&format!("clients/{client}/LICENSE")), licence, "{client}");
    }
    assert!(text("clients/java/pom.xml").contains("<name>Apache-2.0</name>"));
}

#[test]
fn the_readmes_have_the_same_chapters() {
    let chapters = |client: &str| -> Vec<String> {
        let page = text(&format!("clients/{client}/README.md"));
        page.lines().filter(|line| line.starts_with("## ")).map(str::to_owned).collect()
    };
    let first = chapters("typescript");
    assert!(first.len() >= 3, "{first:?}");
    for client in ["python", "go", "java"] {
        assert_eq!(chapters(client), first, "{client}");
    }
}
