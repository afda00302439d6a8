//! What may be typed.

use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum};

use super::completions::{Completions, ManPages};
use super::config::Config;
use super::doctor::Doctor;
use super::packets::Packets;
use super::repl::Repl;
use super::serve::Serve;

/// Hands out what there is not enough of: balances, stock, red packets, coupons, the best price.
#[derive(Debug, Parser)]
#[command(name = "scarce", version, about, propagate_version = true, arg_required_else_help = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub subcommand: Subcommand,
}

/// What to do.
#[derive(Debug, clap::Subcommand)]
pub enum Subcommand {
    /// Run the server.
    Serve(Serve),
    /// Show what the system does, on a server of its own that is killed on the way.
    Demo(Demo),
    /// Send one command to a server and print the answer.
    Call(Call),
    /// Talk to a server, command by command, with completion and help.
    Repl(Repl),
    /// Look at a journal, or check it, without changing anything.
    #[command(subcommand)]
    Journal(Journal),
    /// Make snapshots and list them.
    #[command(subcommand)]
    Snapshot(Snapshot),
    /// Say what an outcome code means and what to do about it.
    Explain(Explain),
    /// Show the settings of 'scarce serve', or check them.
    #[command(subcommand)]
    Config(Config),
    /// Look whether this machine is fit to run the server, and say what to do where it is not.
    Doctor(Doctor),
    /// Try out how red packets are cut, or recompute the cut of a closed campaign.
    #[command(subcommand)]
    Packets(Packets),
    /// Print a script that completes this command line, for a shell to read.
    Completions(Completions),
    /// Print the manual page, or write those of all subcommands.
    Man(ManPages),
    /// Run a file of operations against a server, one JSON object per line.
    Import(Import),
}

/// Which server to talk to.
#[derive(Clone, Debug, Args)]
pub struct Target {
    /// The server's RESP port.
    #[arg(long, env = "SCARCE_RESP", default_value = "127.0.0.1:7379", value_name = "ADDR")]
    pub resp: String,
    /// A file with the server's password.
    #[arg(long, env = "SCARCE_PASSWORD_FILE", value_name = "FILE")]
    pub password_file: Option<PathBuf>,
}

/// `scarce call`.
#[derive(Debug, Args)]
pub struct Call {
    #[command(flatten)]
    /// Which server.
    pub target: Target,
    /// Print the answer as JSON.
    #[arg(long)]
    pub json: bool,
    /// The command and its arguments, as in redis-cli.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub words: Vec<String>,
}

/// `scarce explain`.
#[derive(Debug, Args)]
pub struct Explain {
    /// The code, such as SOLD_OUT; without one, all are listed.
    pub code: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `scarce journal`.
#[derive(Debug, clap::Subcommand)]
pub enum Journal {
    /// List the segments of each partition: frames, sequences, bytes, state.
    Inspect(Files),
    /// Read everything, fold it, and compare with every snapshot on the way.
    Verify(Files),
}

/// `scarce snapshot`.
#[derive(Debug, clap::Subcommand)]
pub enum Snapshot {
    /// Ask a running server for a snapshot of every partition.
    Create(SnapshotCreate),
    /// List the snapshots in a data directory.
    List(Files),
}

/// `scarce snapshot create`.
#[derive(Debug, Args)]
pub struct SnapshotCreate {
    /// Which server.
    #[command(flatten)]
    pub target: Target,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// A data directory to look at.
#[derive(Debug, Args)]
pub struct Files {
    /// The data directory.
    #[arg(long, env = "SCARCE_DATA", default_value = "scarce-data", value_name = "DIR")]
    pub data: PathBuf,
    /// Only this partition.
    #[arg(long, value_name = "N")]
    pub partition: Option<u32>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `scarce import`.
#[derive(Debug, Args)]
pub struct Import {
    #[command(flatten)]
    /// Which server.
    pub target: Target,
    /// Write what came of each operation to this file, one JSON object per line.
    #[arg(long, value_name = "FILE")]
    pub outcomes: Option<PathBuf>,
    /// Begin at this line.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub from_line: u64,
    /// Take lines without an id too; running the file again applies those again.
    #[arg(long)]
    pub allow_no_id: bool,
    /// Exit with 0 although some operations were refused.
    #[arg(long)]
    pub refusals_ok: bool,
    /// How many operations may wait for their answers at once.
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub window: u32,
    /// How long to try again when the server is gone or takes nothing.
    #[arg(long, default_value_t = 30, value_name = "SECONDS")]
    pub retry_for: u64,
    /// Print the summary as JSON.
    #[arg(long)]
    pub json: bool,
    /// The file, or - for standard input. A line is {"id": "op-1", "command": ["STOCK.TAKE", "sku", "3", "owner"]}
    /// or {"id": "inv-1", "atomic": [["ACCOUNT.DEBIT", "a", "5"], ...]}, with "deadline" where wanted.
    pub file: PathBuf,
}

/// `scarce demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// Which demonstration.
    #[command(subcommand)]
    pub demonstration: Demonstration,
}

/// Which demonstration.
#[derive(Debug, clap::Subcommand)]
pub enum Demonstration {
    /// More buyers than units, and a server that is killed in the middle of the sale.
    FlashSale(FlashSale),
}

/// What every demonstration takes.
#[derive(Clone, Debug, Args)]
pub struct Stage {
    /// What the crowd does is drawn from this number; how its commands meet is not.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// How many connections the crowd uses.
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=64))]
    pub connections: u32,
    /// Keep the data directory and say where it is.
    #[arg(long)]
    pub keep: bool,
    /// Print the proof as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `scarce demo flash-sale`.
#[derive(Debug, Args)]
pub struct FlashSale {
    /// How many units there are.
    #[arg(long, default_value_t = 1_000, value_name = "N", value_parser = clap::value_parser!(u64).range(10..=1_000_000))]
    pub units: u64,
    /// How many buyers come.
    #[arg(long, default_value_t = 20_000, value_name = "N", value_parser = clap::value_parser!(u64).range(10..=1_000_000))]
    pub buyers: u64,
    /// How many units one buyer may have at most.
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub per_owner: u64,
    /// How long those who vanish keep their units reserved.
    #[arg(long, default_value_t = 1_500, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=60_000))]
    pub ttl_ms: u64,
    #[command(flatten)]
    /// What every demonstration takes.
    pub stage: Stage,
    /// Falsify the evidence, to see that the proof can fail.
    #[arg(long, value_name = "LIE")]
    pub plant: Option<SalePlant>,
}

/// What may be falsified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SalePlant {
    /// A buyer holds an acknowledgement of a sale that the log does not have.
    LostSale,
    /// A sale stands in the log twice.
    DoubleSale,
}
