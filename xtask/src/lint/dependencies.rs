//! Crates that must not come into a build through a dependency's dependencies.

use std::error::Error;
use std::process::Command;

use super::{Finding, Found};
use crate::{place, process};

/// A crate of this workspace, and what its default build must not contain.
const BANNED: &[(&str, &[&str])] = &[
    ("scarce", &["openssl-sys", "openssl", "native-tls", "rdkafka-sys", "sqlx-macros"]),
    ("scarce-core", &["scarce-engine", "tokio", "rustls", "redis", "sqlx", "rdkafka"]),
    ("scarce-engine", &["scarce-engine-embedded", "scarce-engine-redis", "tokio", "rustls", "redis"]),
    ("scarce-engine-embedded", &["scarce-engine-redis", "tokio", "rustls", "redis", "sqlx", "rdkafka"]),
    ("scarce-engine-redis", &["scarce-engine-embedded", "sqlx", "rdkafka"]),
];

/// The banned crates that are in a build.
pub fn check() -> Found {
    let members = members()?;
    let mut found = Vec::new();
    for (member, banned) in BANNED.iter().filter(|(member, _)| members.iter().any(|name| name == member)) {
        let built = dependencies(member)?;
        let named = banned.iter().filter(|name| built.iter().any(|built| built == *name));
        let advice = format!("cargo tree -p {member} -e normal,build -i");
        found.extend(
            named.map(|name| Finding::new(member, format!("depends on {name}; see {advice} {name}"))),
        );
    }
    Ok(found)
}

/// The names of the workspace's crates.
fn members() -> Result<Vec<String>, Box<dyn Error>> {
    tree(&["--workspace", "--depth", "0"])
}

/// The dependencies of a crate, by default and on this system.
fn dependencies(member: &str) -> Result<Vec<String>, Box<dyn Error>> {
    tree(&["--package", member, "--edges", "normal,build"])
}

fn tree(words: &[&str]) -> Result<Vec<String>, Box<dyn Error>> {
    let mut command = Command::new("cargo");
    command.args(["tree", "--quiet", "--prefix", "none", "--format", "{p}"]).args(words);
    let listed = process::must(command.current_dir(place::root()))?;
    Ok(listed.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect())
}
