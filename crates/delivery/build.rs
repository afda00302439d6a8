//! The tables are compiled in from files, which cargo does not watch by itself.
#![allow(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]

fn main() {
    println!("cargo::rerun-if-changed=migrations");
}
