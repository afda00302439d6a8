//! `cargo xtask console`: builds the web console, whose files the binary embeds, so that compiling it needs no Node.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::{Ended, place, process, screen};

/// What to do with the files.
#[derive(Debug, Args)]
pub struct Options {
    /// Write nothing; fail where a file is not as it would be built.
    #[arg(long)]
    check: bool,
}

/// Where the built files are, from the top of the repository.
pub const DIST: &str = "console/dist/";

/// The paths of files that tools make, or their prefixes.
pub fn generated() -> impl Iterator<Item = String> {
    [DIST, "console/package-lock.json"].map(str::to_owned).into_iter()
}

/// The folder of the console.
pub fn root() -> PathBuf {
    place::root().join("console")
}

/// A command of npm there.
pub fn npm(words: &[&str]) -> Command {
    let mut command = Command::new("npm");
    command.args(words).current_dir(root());
    command
}

/// Installs the packages of the lock file, unless the same are there.
pub fn install() -> Result<(), Box<dyn Error>> {
    let stamp = root().join("node_modules").join(".installed");
    let wanted = std::fs::read(root().join("package-lock.json"))?;
    if std::fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    // No package runs a script of its own.
    process::must(&mut npm(&["ci", "--ignore-scripts", "--no-audit", "--no-fund"]))?;
    Ok(std::fs::write(stamp, wanted)?)
}

/// Builds the files, or checks that they are up to date.
pub fn run(options: &Options) -> Ended {
    install()?;
    let dist = place::root().join(DIST);
    let built = if options.check { place::work("console-dist")? } else { dist.clone() };
    let out = built.to_string_lossy();
    process::must(&mut npm(&["run", "build", "--", "--outDir", &*out, "--emptyOutDir"]))?;
    let is_current = names(&built)? == names(&dist)?;
    let others = differing(&built, &dist)?;
    match (options.check, is_current && others.is_empty()) {
        (false, _) => screen::say(&format!("built {DIST}")),
        (true, true) => screen::say(&format!("{DIST} is up to date")),
        (true, false) => screen::say(&format!(
            "{DIST} is not what console/src gives ({}); run cargo xtask console and commit it",
            others.join(", ")
        )),
    }
    Ok(!options.check || is_current && others.is_empty())
}

fn names(folder: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut names = names.collect::<Result<Vec<_>, std::io::Error>>()?;
    names.sort();
    Ok(names)
}

/// The files of `built` that are other ones in `dist`.
fn differing(built: &Path, dist: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let differs = |name: &String| std::fs::read(built.join(name)).ok() != std::fs::read(dist.join(name)).ok();
    Ok(names(built)?.into_iter().filter(differs).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_differs_is_named() {
        let folders =
            ["console-test-built", "console-test-dist"].map(|name| place::fresh(name).expect("a folder"));
        for (folder, script) in folders.iter().zip(["let a", "let b"]) {
            std::fs::write(folder.join("page"), "same").expect("a file");
            std::fs::write(folder.join("script"), script).expect("a file");
        }
        let [built, dist] = &folders;
        assert_eq!(differing(built, dist).expect("readable"), ["script"]);
        assert_eq!(names(built).expect("readable"), ["page", "script"]);
        folders.iter().for_each(|folder| std::fs::remove_dir_all(folder).expect("removed"));
    }
}
