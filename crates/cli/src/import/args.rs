//! The arguments of `scarce import`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use scarce_settings::AssetScale;

use super::redis::FromRedis;
use crate::args::Target;
use crate::setting_flags::RedisFlags;

/// `scarce import`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Import {
    /// What is brought in, if not operations.
    #[command(subcommand)]
    pub preload: Option<Preload>,
    #[command(flatten)]
    /// How a file is brought in.
    pub options: Options,
    /// How the file is written; by its extension where this is not given.
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// Take lines that have no id and --run gives none either; running the file again applies those again.
    #[arg(long)]
    pub allow_no_id: bool,
    /// The asset of amounts in rows whose command names none, for --scale.
    #[arg(long, value_name = "ASSET")]
    pub asset: Option<String>,
    /// The file, or - for standard input. As NDJSON a line is {"id": "op-1", "command": ["STOCK.TAKE", "sku", "3",
    /// "owner"]} or {"id": "inv-1", "atomic": [["ACCOUNT.DEBIT", "a", "5"], ...]}, with "deadline" and
    /// "durability" where wanted. As CSV it has a header: command, id, deadline, durability, asset, and the names
    /// of arguments as the reference has them.
    #[arg(required = true)]
    pub file: Option<PathBuf>,
}

/// How a file of operations is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A JSON object on each line.
    Ndjson,
    /// Comma-separated values under a header.
    Csv,
}

/// What is brought in, if not operations.
#[derive(Debug, clap::Subcommand)]
pub enum Preload {
    /// Open accounts with what is on them: CSV with account, asset, amount and, where wanted, overdraft.
    Balances(Balances),
    /// Put items on sale: CSV with sku, quantity and, where wanted, per_owner_max, starts_at, ends_at.
    Stock(Stock),
    /// Take over what a team keeps in its own Redis: a map says which keys are accounts, stock, packets and coupons.
    Redis(Box<FromRedis>),
}

/// `scarce import balances`.
#[derive(Debug, Args)]
pub struct Balances {
    #[command(flatten)]
    /// How a file is brought in.
    pub options: Options,
    /// The asset of rows that name none.
    #[arg(long, value_name = "ASSET")]
    pub asset: Option<String>,
    /// Credit accounts that exist already too, if they keep the row's asset. Running the file again changes
    /// nothing only as long as the server remembers the ids, a day at most.
    #[arg(long)]
    pub credit_existing: bool,
    /// The file, or - for standard input.
    pub file: PathBuf,
}

/// `scarce import stock`.
#[derive(Debug, Args)]
pub struct Stock {
    #[command(flatten)]
    /// How a file is brought in.
    pub options: Options,
    /// The file, or - for standard input.
    pub file: PathBuf,
}

/// How a file is brought in.
#[derive(Clone, Debug, Args)]
pub struct Options {
    #[command(flatten)]
    /// Which server.
    pub target: Target,
    /// Import straight into a Redis, without a server: --redis-url says where, the other settings as for 'scarce serve'.
    #[arg(long, value_enum, value_name = "ENGINE")]
    pub engine: Option<EngineName>,
    #[command(flatten)]
    /// Where that Redis is and what is there, for --engine redis.
    pub redis: RedisFlags,
    /// How many decimals amounts of an asset have in CSV, as EUR=2: then 12.21 is 1221 and 12 is 1200.
    /// Amounts of other assets are integers in minor units. May be repeated.
    #[arg(long = "scale", value_name = "ASSET=DECIMALS")]
    pub scales: Vec<AssetScale>,
    /// The name of this run: lines without an id get NAME-line, so that running the same file under the same
    /// name again changes nothing.
    #[arg(long, value_name = "NAME", value_parser = run_name)]
    pub run: Option<String>,
    /// Write what came of each operation to this file, one JSON object per line; with --from-line behind what is there.
    #[arg(long, value_name = "FILE")]
    pub outcomes: Option<PathBuf>,
    /// Write bad lines to this file, as CSV of line, column, reason; by default the input's name with
    /// .bad-lines.csv behind it.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Begin at this line.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub from_line: u64,
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
}

/// What may stand in for a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// A Redis in which the rules run.
    Redis,
}

/// The maximum length of a run's name, so that the derived ids are short enough.
const RUN_BYTES_MAX: usize = 96;

pub(super) fn run_name(text: &str) -> Result<String, String> {
    let is_fit =
        !text.is_empty() && text.len() <= RUN_BYTES_MAX && text.bytes().all(|b| b.is_ascii_graphic());
    if is_fit {
        Ok(text.to_owned())
    } else {
        Err(format!("must be 1 to {RUN_BYTES_MAX} printable ASCII characters without blanks"))
    }
}
