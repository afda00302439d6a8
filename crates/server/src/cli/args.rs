//! What may be typed.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum};

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
    /// Look at a journal, or check it, without changing anything.
    #[command(subcommand)]
    Journal(Journal),
    /// Make snapshots and list them.
    #[command(subcommand)]
    Snapshot(Snapshot),
    /// Say what an outcome code means and what to do about it.
    Explain(Explain),
    /// Run a file of operations against a server, one JSON object per line.
    Import(Import),
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
    /// Ten users for every red packet, a cut that was fixed beforehand, and payments that happen once.
    RedPackets(RedPackets),
    /// Transfers and holds on hot accounts, of which no cent is lost or made in a crash.
    Wallet(Wallet),
    /// Four limits on one coupon, midnight in the middle of the rush, and a crash before it.
    Coupons(Coupons),
    /// Three order books under fire, matched again by a plain book of the demonstration's own.
    Exchange(Exchange),
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

/// `scarce demo red-packets`.
#[derive(Debug, Args)]
pub struct RedPackets {
    /// How many users come.
    #[arg(long, default_value_t = 10_000, value_name = "N", value_parser = clap::value_parser!(u64).range(10..=1_000_000))]
    pub users: u64,
    /// How many packets there are.
    #[arg(long, default_value_t = 1_000, value_name = "N", value_parser = clap::value_parser!(u64).range(10..=100_000))]
    pub packets: u64,
    /// What they hold in all, in cents.
    #[arg(long, default_value_t = 888_800, value_name = "CENTS", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    pub total: u64,
    /// How they are cut.
    #[arg(long, value_enum, default_value_t = CutMethod::DoubleMean, ignore_case = true, value_name = "METHOD")]
    pub method: CutMethod,
    #[command(flatten)]
    /// What every demonstration takes.
    pub stage: Stage,
    /// Falsify the evidence, to see that the proof can fail.
    #[arg(long, value_name = "LIE")]
    pub plant: Option<PacketPlant>,
}

/// How red packets are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CutMethod {
    /// All alike, but for the remainder.
    Even,
    /// Each up to twice the mean of what remains.
    DoubleMean,
    /// A line cut at random points.
    LineCut,
}

/// What may be falsified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PacketPlant {
    /// A user was told of a packet that the log does not have.
    LostClaim,
    /// A user has two packets.
    SecondPacket,
    /// The seed that is revealed is not the one that was committed to.
    SwappedSeed,
    /// A packet is paid twice.
    DoublePayment,
}

/// `scarce demo wallet`.
#[derive(Debug, Args)]
pub struct Wallet {
    /// How many accounts there are.
    #[arg(long, default_value_t = 1_000, value_name = "N", value_parser = clap::value_parser!(u64).range(20..=100_000))]
    pub accounts: u64,
    /// How many operations are begun; holds are ended by further ones.
    #[arg(long, default_value_t = 20_000, value_name = "N", value_parser = clap::value_parser!(u64).range(100..=1_000_000))]
    pub operations: u64,
    /// How long the holds last that nobody ends.
    #[arg(long, default_value_t = 1_000, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=60_000))]
    pub ttl_ms: u64,
    #[command(flatten)]
    /// What every demonstration takes.
    pub stage: Stage,
    /// Falsify the evidence, to see that the proof can fail.
    #[arg(long, value_name = "LIE")]
    pub plant: Option<WalletPlant>,
}

/// What may be falsified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WalletPlant {
    /// A transfer was acknowledged that the log does not have.
    LostTransfer,
    /// A transfer stands in the log twice.
    DoubleTransfer,
    /// An account shows a cent more than it has.
    ExtraCent,
    /// A hold was ended, and its money is still held.
    StuckHold,
}

/// `scarce demo coupons`.
#[derive(Debug, Args)]
pub struct Coupons {
    /// How many users come, on two days each.
    #[arg(long, default_value_t = 2_000, value_name = "N", value_parser = clap::value_parser!(u64).range(20..=200_000))]
    pub users: u64,
    /// How many coupons there are in all; five for every two users where it is not said.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub coupons: Option<u64>,
    #[command(flatten)]
    /// What every demonstration takes.
    pub stage: Stage,
    /// Falsify the evidence, to see that the proof can fail.
    #[arg(long, value_name = "LIE")]
    pub plant: Option<CouponPlant>,
}

/// What may be falsified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CouponPlant {
    /// A user was told of a claim that the log does not have.
    LostClaim,
    /// A user claims more often on a day than the limit allows.
    OverLimit,
    /// A claim is redeemed twice.
    DoubleRedemption,
    /// A claim of the evening is counted in the next day.
    WrongDay,
}

/// `scarce demo exchange`.
#[derive(Debug, Args)]
pub struct Exchange {
    /// How many orders, cancels and replacements are sent, on three markets.
    #[arg(long, default_value_t = 15_000, value_name = "N", value_parser = clap::value_parser!(u64).range(300..=1_000_000))]
    pub commands: u64,
    /// How many owners trade.
    #[arg(long, default_value_t = 24, value_name = "N", value_parser = clap::value_parser!(u64).range(5..=1_000))]
    pub owners: u64,
    #[command(flatten)]
    /// What every demonstration takes.
    pub stage: Stage,
    /// Falsify the evidence, to see that the proof can fail.
    #[arg(long, value_name = "LIE")]
    pub plant: Option<ExchangePlant>,
}

/// What may be falsified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExchangePlant {
    /// A fill was acknowledged that the log does not have.
    LostFill,
    /// An order that came later is filled before one that waited.
    QueueJump,
    /// An owner trades with itself although it forbade that.
    SelfTrade,
    /// A trade gives one side more than it takes from the other.
    UnevenTrade,
}
