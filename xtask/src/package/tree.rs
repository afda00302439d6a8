//! The files of a package, as they lie on a system.

use std::error::Error;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Product;
use crate::{place, process};

/// A folder with the files of a package below it.
pub struct Tree(PathBuf);

/// Files of the project, and where they go.
const FILES: &[(&str, &str)] = &[
    ("packaging/scarce.service", "usr/lib/systemd/system/scarce.service"),
    ("packaging/scarce.toml", "etc/scarce/scarce.toml"),
    ("packaging/debian/copyright", "usr/share/doc/scarce/copyright"),
    ("README.md", "usr/share/doc/scarce/README.md"),
    ("README.zh-CN.md", "usr/share/doc/scarce/README.zh-CN.md"),
    ("CHANGELOG.md", "usr/share/doc/scarce/changelog"),
    ("LICENSE", "usr/share/doc/scarce/LICENSE"),
    ("docs/operations/alerts/scarce.rules.yaml", "usr/share/doc/scarce/scarce.rules.yaml"),
    ("docs/operations/grafana/dashboard.json", "usr/share/doc/scarce/dashboard.json"),
];

/// The shells that a script of completions is made for, and where they look for it.
const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "usr/share/bash-completion/completions/scarce"),
    ("zsh", "usr/share/zsh/vendor-completions/_scarce"),
    ("fish", "usr/share/fish/vendor_completions.d/scarce.fish"),
];

/// Where the manual pages go.
const MANUALS: &str = "usr/share/man/man1";

/// Puts a binary, what it prints about itself, and files of the project where they belong.
pub fn stage(product: &Product, binary: &Path, list: &Path) -> Result<Tree, Box<dyn Error>> {
    let tree = Tree(place::fresh("package-tree")?);
    tree.put("usr/bin/scarce", &std::fs::read(binary)?, 0o755)?;
    tree.put(&format!("usr/share/doc/scarce/{}", super::sbom::NAME), &std::fs::read(list)?, 0o644)?;
    for (source, place) in FILES {
        let path = place::root().join(source);
        let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        tree.put(place, &bytes, 0o644)?;
    }
    for (shell, place) in COMPLETIONS {
        let script = process::must(Command::new(binary).args(["completions", shell]))?;
        tree.put(place, script.as_bytes(), 0o644)?;
    }
    let manuals = tree.0.join(MANUALS);
    process::must(Command::new(binary).args(["man", "--out"]).arg(&manuals))?;
    for page in std::fs::read_dir(&manuals)? {
        // Without the time in it.
        process::must(Command::new("gzip").args(["-9", "-n"]).arg(page?.path()))?;
    }
    tree.settle(&tree.0, &product.epoch)?;
    Ok(tree)
}

impl Tree {
    /// The folder that stands for `/`.
    pub fn root(&self) -> &Path {
        &self.0
    }

    /// Writes a file and the folders above it.
    pub fn put(&self, place: &str, bytes: &[u8], mode: u32) -> Result<(), Box<dyn Error>> {
        let path = self.0.join(place);
        std::fs::create_dir_all(path.parent().unwrap_or(&self.0))?;
        std::fs::write(&path, bytes)?;
        Ok(std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode))?)
    }

    /// Removes it.
    pub fn remove(self) -> std::io::Result<()> {
        std::fs::remove_dir_all(self.0)
    }

    /// The paths of all files, relative to the top, in order.
    pub fn files(&self) -> Result<Vec<String>, Box<dyn Error>> {
        let mut find = Command::new("find");
        let found = process::must(find.args([".", "-type", "f", "-printf", "%P\n"]).current_dir(&self.0))?;
        let mut files: Vec<_> = found.lines().map(str::to_owned).collect();
        files.sort();
        Ok(files)
    }

    /// Gives folders and pages the modes and the times that do not depend on who made them.
    fn settle(&self, folder: &Path, epoch: &str) -> Result<(), Box<dyn Error>> {
        let time = format!("@{epoch}");
        process::must(Command::new("chmod").args(["--recursive", "u=rwX,go=rX"]).arg(folder))?;
        let mut touch = Command::new("find");
        touch.arg(folder).args(["-exec", "touch", "--no-dereference", "--date", &time, "{}", "+"]);
        process::must(&mut touch).map(drop)
    }
}
