//! The Debian package, made by dpkg-deb from a folder of files. A tool such as cargo-deb would bring 200 crates to write the
//! same three files; what it knows beyond them, dpkg-shlibdeps tells.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::tree::Tree;
use super::{Effort, Product};
use crate::{place, process};

/// Scripts that dpkg runs.
const SCRIPTS: &[&str] = &["postinst", "prerm", "postrm"];

const DESCRIPTION: &str = "\
Description: hands out what there is not enough of
 Scarce manages account balances, stock, red packets, coupons and order books.
 Each of thousands of callers at once gets one correct answer: nothing is
 oversold, lost or applied twice. It speaks the Redis protocol and HTTP.
";

/// Builds the package in `out`.
pub fn build(product: &Product, tree: &Tree, out: &Path, effort: Effort) -> Result<PathBuf, Box<dyn Error>> {
    let depends = libraries(&tree.root().join("usr/bin/scarce"))?;
    let (version, machine) = (product.version.replace('-', "~"), machine());
    let installed_kib = kib(tree)?;
    tree.put("DEBIAN/control", control(&version, machine, installed_kib, &depends).as_bytes(), 0o644)?;
    tree.put("DEBIAN/conffiles", b"/etc/scarce/scarce.toml\n", 0o644)?;
    for name in SCRIPTS {
        let script = std::fs::read(place::root().join("packaging/debian").join(name))?;
        tree.put(&format!("DEBIAN/{name}"), &script, 0o755)?;
    }
    let file = out.join(format!("scarce_{version}_{machine}.deb"));
    let compression = if effort == Effort::Full { ["-Zxz", "-z6"] } else { ["-Zgzip", "-z1"] };
    let mut dpkg = Command::new("dpkg-deb");
    dpkg.args(["--root-owner-group", "--build"]).args(compression).arg(tree.root()).arg(&file);
    process::must(dpkg.env("SOURCE_DATE_EPOCH", &product.epoch))?;
    std::fs::remove_dir_all(tree.root().join("DEBIAN"))?;
    Ok(file)
}

/// Debian's name of this processor.
fn machine() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn control(version: &str, machine: &str, installed_kib: u64, depends: &str) -> String {
    format!(
        "Package: scarce\nVersion: {version}\nArchitecture: {machine}\nSection: database\nPriority: optional\n\
         Maintainer: the authors of Scarce <scarce-rs@users.noreply.github.com>\n\
         Homepage: {homepage}\nInstalled-Size: {installed_kib}\n\
         Depends: {depends}, passwd\nRecommends: ca-certificates\nSuggests: redis-tools, chrony\n{DESCRIPTION}",
        homepage = env!("CARGO_PKG_REPOSITORY"),
    )
}

/// What the files take when they are installed.
fn kib(tree: &Tree) -> Result<u64, Box<dyn Error>> {
    let sizes = tree.files()?.into_iter().map(|file| Ok(std::fs::metadata(tree.root().join(file))?.len()));
    let sizes: Result<Vec<u64>, std::io::Error> = sizes.collect();
    Ok(sizes?.iter().map(|bytes| bytes.div_ceil(1024)).sum())
}

/// The packages with the libraries that a binary is linked with, and their versions.
fn libraries(binary: &Path) -> Result<String, Box<dyn Error>> {
    // It wants to be called in the sources of a package.
    let folder = place::fresh("shlibdeps")?;
    std::fs::create_dir_all(folder.join("debian"))?;
    std::fs::write(folder.join("debian/control"), "Source: scarce\n\nPackage: scarce\nArchitecture: any\n")?;
    let mut dpkg = Command::new("dpkg-shlibdeps");
    let finished = process::must(dpkg.arg("-O").arg("-e").arg(binary).current_dir(&folder));
    std::fs::remove_dir_all(&folder)?;
    let output = finished.map_err(|error| format!("{error}\nit comes with Debian's package dpkg-dev"))?;
    let depends = output.lines().find_map(|line| line.strip_prefix("shlibs:Depends="));
    Ok(depends.ok_or_else(|| format!("dpkg-shlibdeps names no packages:\n{output}"))?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_file_has_every_field_on_a_line_of_its_own() {
        let text = control("0.1.0", "amd64", 45_000, "libc6 (>= 2.36)");
        let fields: Vec<_> = text.lines().filter(|line| !line.starts_with(' ')).collect();
        assert!(fields.iter().all(|line| line.split_once(": ").is_some_and(|(_, value)| !value.is_empty())));
        assert!(fields.contains(&"Depends: libc6 (>= 2.36), passwd"));
        assert!(text.ends_with("HTTP.\n"), "dpkg wants a newline at the end");
    }
}
