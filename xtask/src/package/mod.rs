//! `cargo xtask package`: a list of all that is in the binary.

mod sbom;

use std::error::Error;
use std::path::PathBuf;

use clap::Args;

use crate::{Ended, place, screen};

/// What to make.
#[derive(Debug, Args)]
pub struct Options {
    /// Write the list there.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// The features of the packages: OpenSSL, which brokers' TLS needs, is that of the system, so that its updates count here.
const FEATURES: &str = "kafka-tls,s3";

/// What is packed.
pub struct Product {
    /// The version of the workspace.
    pub version: String,
}

impl Product {
    /// Reads the version of the sources.
    pub fn new() -> Result<Self, Box<dyn Error>> {
        Ok(Self { version: env!("CARGO_PKG_VERSION").to_owned() })
    }
}

/// Makes the list.
pub fn run(options: &Options) -> Ended {
    let out = options.out.clone().map_or_else(|| place::work("packages"), Ok)?;
    std::fs::create_dir_all(&out)?;
    let list = sbom::write(&Product::new()?, &out, FEATURES)?;
    screen::say(&format!("wrote {}", list.display()));
    Ok(true)
}
