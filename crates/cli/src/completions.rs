//! `scarce completions` and `scarce man`, generated from the declared command line.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_mangen::{Man, roff};

use super::{Arguments, Ended, Exit, Failed};

/// The binary's name.
const NAME: &str = "scarce";

/// `scarce completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// For which shell.
    pub shell: Shell,
}

/// `scarce man`.
#[derive(Debug, Args)]
pub struct ManPages {
    /// Write a page for every subcommand into this directory, instead of the first page to stdout.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub out: Option<PathBuf>,
}

pub(super) fn run(options: &Completions) -> Ended {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::command(), NAME, &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(Exit::Done)
}

pub(super) fn man(options: &ManPages) -> Ended {
    let mut command = without_help(Arguments::command());
    // Sets the full name of each subcommand, including its parents.
    command.build();
    match &options.out {
        None => std::io::stdout().lock().write_all(&page(command)?)?,
        Some(directory) => {
            let failed = |error| {
                Failed::text(Exit::Failed, format!("cannot write pages to {}: {error}", directory.display()))
            };
            std::fs::create_dir_all(directory).map_err(failed)?;
            let count = write_all(command, directory).map_err(failed)?;
            writeln!(std::io::stderr(), "{count} pages; try: man -l {}/{NAME}.1", directory.display())?;
        }
    }
    Ok(Exit::Done)
}

/// Removes the subcommands `help`, which mirror all others and need no pages.
fn without_help(command: clap::Command) -> clap::Command {
    command.disable_help_subcommand(true).mut_subcommands(without_help)
}

/// Writes the pages of a command and all its subcommands, and counts them.
fn write_all(command: clap::Command, directory: &Path) -> std::io::Result<usize> {
    let mut count = 1;
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        count += write_all(below.clone(), directory)?;
    }
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    std::fs::write(directory.join(format!("{name}.1")), page(command)?)?;
    Ok(count)
}

/// The exit codes, which all subcommands share.
const EXITS: &[(Exit, &str)] = &[
    (Exit::Done, "done"),
    (Exit::Failed, "something failed"),
    (Exit::Usage, "the command line or the settings are wrong"),
    (Exit::Refused, "the server refused: an answer, not an error"),
    (Exit::Unreachable, "nobody answered"),
    (Exit::Broken, "an invariant is broken"),
];

fn page(command: clap::Command) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Man::new(command).render(&mut bytes)?;
    let mut exits = roff::Roff::new();
    exits.control("SH", ["EXIT STATUS"]);
    for (exit, meaning) in EXITS {
        exits.control("TP", []);
        exits.text([roff::bold((*exit as u8).to_string())]);
        exits.text([roff::roman(*meaning)]);
    }
    exits.to_writer(&mut bytes)?;
    Ok(bytes)
}
