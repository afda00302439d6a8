//! The Debian package, installed into a copy of this system that vanishes afterwards, and served there by the unit's words.

use std::error::Error;
use std::path::PathBuf;
use std::process::Command;

use super::packages;
use super::step::{Log, Tally};
use crate::package::{self, Effort, Product};
use crate::{place, process};

type Ended = Result<Tally, Box<dyn Error>>;

/// Without these no copy of the system can be made.
const OWN_SYSTEM: [&str; 7] =
    ["unshare", "--mount", "--pid", "--net", "--fork", "--mount-proc", "--kill-child"];

/// Makes the package twice, which must give the same bytes, and runs `packaging/debian/check.sh` on it.
pub fn deb(log: &mut Log) -> Ended {
    packages::program(log, "dpkg-shlibdeps", &["dpkg-dev"])?;
    packages::program(log, "ip", &["iproute2"])?;
    let product = Product::new()?;
    let [first, second] = [made(&product, "first")?, made(&product, "second")?];
    let mut tally = Tally::default();
    for (one, other) in first.iter().zip(&second) {
        let is_same = std::fs::read(one)? == std::fs::read(other)?;
        log.write(&format!(
            "{}: made twice, {}",
            one.display(),
            if is_same { "the same" } else { "DIFFERENT" }
        ));
        tally.passed += usize::from(is_same);
        tally.failed += usize::from(!is_same);
    }
    if !is_permitted() {
        return Ok(Tally::skipped(
            "a copy of this system needs the right to mount one; run it as root, outside of a container",
        ));
    }
    let mut command = Command::new(OWN_SYSTEM[0]);
    command.args(&OWN_SYSTEM[1..]).args(["sh", "packaging/debian/check.sh"]).arg(&first[0]);
    log.announce(command.current_dir(place::root()));
    let finished = process::finish(&mut command)?;
    log.write(&finished.output);
    let count = |word: &str| finished.output.lines().filter(|line| line.starts_with(word)).count();
    tally.passed += count("ok: ");
    tally.failed += count("NOT OK: ") + usize::from(!finished.succeeded);
    for file in first.iter().chain(&second).filter_map(|file| file.parent()) {
        let _ = std::fs::remove_dir_all(file);
    }
    Ok(tally)
}

fn made(product: &Product, name: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    package::all(product, &place::scarce(), &place::fresh(&format!("package-{name}"))?, Effort::Quick)
}

/// What the copy is made with: some containers allow namespaces, and no overlay on their own.
const COPY: &str = "mount -t tmpfs tmpfs /mnt && cd /mnt && mkdir upper work system && \
                    mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work system";

fn is_permitted() -> bool {
    let mut command = Command::new(OWN_SYSTEM[0]);
    command.args(&OWN_SYSTEM[1..]).args(["sh", "-c", COPY]).stderr(std::process::Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
