//! What may be typed.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum};

use super::bench::Bench;
use super::import::Import;
use super::journal::Journal;
use super::restore::Restore;
use super::snapshot::Snapshot;
use super::top::Top;

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
    /// Look at a journal, check it or write out its events, without changing anything.
    #[command(subcommand)]
    Journal(Journal),
    /// Make snapshots, list them and check them.
    #[command(subcommand)]
    Snapshot(Snapshot),
    /// Say what an outcome code means and what to do about it.
    Explain(Explain),
    /// Make a new data directory from a copy of one, as it was at a sequence or a time.
    Restore(Restore),
    /// Run a file of operations against a server, or bring in balances or stock.
    Import(Box<Import>),
    /// Put a server under load and measure it.
    Bench(Bench),
    /// Watch a server's counters.
    Top(Top),
}

/// `scarce serve`.
#[derive(Debug, Args)]
pub struct Serve {
    /// Where the journal and snapshots are kept.
    #[arg(long, env = "SCARCE_DATA", default_value = "scarce-data", value_name = "DIR")]
    pub data: PathBuf,
    /// Where any Redis client connects; port 0 takes a free one.
    #[arg(long, env = "SCARCE_RESP", default_value = "127.0.0.1:7379", value_name = "ADDR")]
    pub resp: SocketAddr,
    /// How many partitions; fixed when the data directory is first used.
    #[arg(long, env = "SCARCE_PARTITIONS", default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub partitions: u32,
    /// A file with the password that callers must show; required off loopback.
    #[arg(long, env = "SCARCE_PASSWORD_FILE", value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// Make a snapshot whenever so many MiB of journal were written.
    #[arg(long, env = "SCARCE_SNAPSHOT_MIB", default_value_t = 512, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..))]
    pub snapshot_mib: u64,
    /// How large a journal segment is; one more is kept ready.
    #[arg(long, env = "SCARCE_SEGMENT_MIB", default_value_t = 64, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub segment_mib: u64,
    /// How many operation ids each partition remembers at most.
    #[arg(long, env = "SCARCE_OPERATIONS_MAX", default_value_t = 16_000_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub operations_max: u32,
    /// Read the time of an operation from ids that are ULIDs too, not only from UUIDs of version 7.
    #[arg(long, env = "SCARCE_ULID_TIMES")]
    pub ulid_times: bool,
    /// Believe the system's clock although it is far beyond the last stamp of the log.
    #[arg(long)]
    pub accept_clock: bool,
    /// Take the time from `DEBUG.CLOCK` instead of the system: for tests.
    #[arg(long, hide = true)]
    pub manual_clock: bool,
    /// Set what outcomes depend on, as `step_max=2`: for tests.
    #[arg(long = "set", hide = true, value_name = "NAME=VALUE")]
    pub sets: Vec<String>,
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
