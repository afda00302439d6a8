//! Flows of orders, and how fast a machine takes them. `cargo xtask bench --orders` runs it.
//!
//! `order_flow make P1 COMMANDS SEED FILE` writes a flow: its first line tells how many commands fill the book, each other
//! line is a command. `order_flow play MODE FILE BOOK` runs such a file through a machine, prints commands and seconds of
//! those behind the first part, and writes the book as it is at the end.

#![allow(
    clippy::disallowed_types,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a program that measures the machine from outside: it reads clocks and files, and draws with fractions"
)]

mod equities;
mod flow;
mod make;
mod maker;
mod play;

use std::io::{self, Write};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str =
    "usage: order_flow make P1|P2|P3 COMMANDS SEED FILE, or order_flow play anonymous|ids FILE BOOK";

fn run(words: &[&str]) -> Result<(), Box<dyn std::error::Error>> {
    match words {
        ["make", profile, commands, seed, file] => {
            make::write(profile, commands.parse()?, seed.parse()?, file.as_ref())
        }
        ["play", mode @ ("anonymous" | "ids"), file, book] => {
            let played = play::file(file.as_ref(), *mode == "ids")?;
            std::fs::write(book, &played.book)?;
            writeln!(io::stdout(), "{} {:.6}", played.commands, played.time.as_secs_f64())?;
            Ok(())
        }
        _ => Err(USAGE.into()),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    run(&words.iter().map(String::as_str).collect::<Vec<_>>())
}
