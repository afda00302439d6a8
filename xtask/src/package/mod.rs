//! `cargo xtask package`: what people install instead of compiling. A Debian package, archives with the binary, a list of
//! all that is in it, and checksums.

mod deb;
mod sbom;
mod tree;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use sha2::{Digest, Sha256};

use crate::{Ended, place, process, screen};

/// What to make.
#[derive(Debug, Args)]
pub struct Options {
    /// Take this binary instead of building one.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Also build a binary that needs no library of the system, and an archive with it.
    #[arg(long = "static")]
    is_static: bool,
    /// Write the packages there.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// The features of the packages: OpenSSL, which brokers' TLS needs, is that of the system, so that its updates count here.
const FEATURES: &str = "kafka-tls,s3";

/// Those of a binary without libraries: OpenSSL does not come with it.
const FEATURES_STATIC: &str = "s3";

/// The target of a binary without libraries.
const TARGET_STATIC: &str = concat!("x86_64", "-unknown-linux-musl");

/// How large a binary may become.
const BINARY_BYTES_MAX: u64 = 64 << 20;

/// What is packed.
pub struct Product {
    /// The version of the workspace.
    pub version: String,
    /// The time that all files bear: that of the last commit, so that the same sources give the same packages.
    pub epoch: String,
}

impl Product {
    /// Reads the version and the time of the sources.
    pub fn new() -> Result<Self, Box<dyn Error>> {
        let time = std::env::var("SOURCE_DATE_EPOCH").or_else(|_| {
            let mut git = Command::new("git");
            git.args(["log", "-1", "--format=%ct"]).current_dir(place::root());
            process::must(&mut git).map(|output| output.trim().to_owned())
        })?;
        Ok(Self { version: env!("CARGO_PKG_VERSION").to_owned(), epoch: time })
    }
}

/// How hard packages are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// For people who download them.
    Full,
    /// For a test that throws them away.
    Quick,
}

/// Makes the packages.
pub fn run(options: &Options) -> Ended {
    let product = Product::new()?;
    let out = options.out.clone().map_or_else(|| place::work("packages"), Ok)?;
    std::fs::create_dir_all(&out)?;
    let binary = options.binary.clone().map_or_else(|| build(None, FEATURES), Ok)?;
    let mut made = all(&product, &binary, &out, Effort::Full)?;
    if options.is_static {
        let binary = build(Some(TARGET_STATIC), FEATURES_STATIC)?;
        made.push(static_archive(&product, &binary, &out)?);
    }
    made.push(sums(&made, &out)?);
    for file in &made {
        let kib = std::fs::metadata(file)?.len() / 1024;
        screen::say(&format!("{kib:>8} KiB  {}", file.display()));
    }
    Ok(true)
}

/// The package, the archive and the list of parts of a binary that uses the system's libraries.
pub fn all(
    product: &Product,
    binary: &Path,
    out: &Path,
    effort: Effort,
) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let stripped = stripped(binary)?;
    let list = sbom::write(product, out, FEATURES)?;
    let tree = tree::stage(product, &stripped, &list)?;
    let package = deb::build(product, &tree, out, effort)?;
    let archive = archive(product, &tree, out, "linux-gnu", effort)?;
    tree.remove()?;
    std::fs::remove_file(stripped)?;
    Ok(vec![package, archive, list])
}

fn static_archive(product: &Product, binary: &Path, out: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let stripped = stripped(binary)?;
    let list = out.join(sbom::name(product));
    let tree = tree::stage(product, &stripped, &list)?;
    let made = archive(product, &tree, out, "linux-musl", Effort::Full)?;
    tree.remove()?;
    std::fs::remove_file(stripped)?;
    Ok(made)
}

/// Builds the server apart from what tests compile. Paths of this machine do not get into it.
fn build(target: Option<&str>, features: &str) -> Result<PathBuf, Box<dyn Error>> {
    let folder = place::target().join("package");
    let mut cargo = Command::new("cargo");
    cargo.args([
        "build",
        "--profile",
        "dist",
        "--locked",
        "--package",
        "scarce",
        "--bin",
        "scarce",
        "--features",
    ]);
    cargo.arg(features).arg("--target-dir").arg(&folder).current_dir(place::root());
    cargo.env("RUSTFLAGS", remapped()).env("CARGO_INCREMENTAL", "0");
    if let Some(target) = target {
        cargo.args(["--target", target]);
    }
    screen::say(&process::shown(&cargo));
    if !cargo.status()?.success() {
        let advice = match target {
            None => "see the errors above".to_owned(),
            Some(target) => format!("it needs 'rustup target add {target}' and Debian's package musl-tools"),
        };
        return Err(format!("the binary could not be built; {advice}").into());
    }
    Ok(target.map_or(folder.clone(), |target| folder.join(target)).join("dist").join("scarce"))
}

/// Flags that name the folders of sources in the binary the same on every machine.
fn remapped() -> String {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let own = format!("--remap-path-prefix={}=/scarce", place::root().display());
    home.map_or(own.clone(), |home| format!("{own} --remap-path-prefix={}=/cargo", home.display()))
}

/// The binary without names and line tables.
fn stripped(binary: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let copy = place::work("package")?.join(format!("scarce-{}", std::process::id()));
    process::must(Command::new("strip").arg("-o").arg(&copy).arg(binary))?;
    let bytes = std::fs::metadata(&copy)?.len();
    if bytes > BINARY_BYTES_MAX {
        return Err(format!(
            "the binary has {bytes} bytes, and packages take at most {BINARY_BYTES_MAX}; look what a new dependency \
             brings, or raise the bound in xtask/src/package/mod.rs"
        )
        .into());
    }
    Ok(copy)
}

/// The same files for systems without Debian's packages: to be unpacked over `/`, or anywhere.
fn archive(
    product: &Product,
    tree: &tree::Tree,
    out: &Path,
    system: &str,
    effort: Effort,
) -> Result<PathBuf, Box<dyn Error>> {
    let (version, machine) = (&product.version, std::env::consts::ARCH);
    let file = out.join(format!("scarce-{version}-{machine}-{system}.tar.gz"));
    let level = if effort == Effort::Full { "gzip -9 -n" } else { "gzip -1 -n" };
    let mut tar = Command::new("tar");
    tar.args(["--create", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu"]);
    tar.arg(format!("--mtime=@{}", product.epoch)).args(["--use-compress-program", level, "--file"]);
    process::must(tar.arg(&file).arg("--directory").arg(tree.root()).args(["etc", "usr"]))?;
    Ok(file)
}

/// The checksums of files, as `sha256sum --check` reads them.
fn sums(files: &[PathBuf], out: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let mut lines = String::new();
    for file in files {
        let digest: String =
            Sha256::digest(std::fs::read(file)?).iter().map(|byte| format!("{byte:02x}")).collect();
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        lines.push_str(&format!("{digest}  {name}\n"));
    }
    let path = out.join("SHA256SUMS");
    std::fs::write(&path, lines)?;
    Ok(path)
}
