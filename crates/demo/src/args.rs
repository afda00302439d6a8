//! The arguments of `scarce demo`.

use clap::{Args, FromArgMatches as _, Subcommand as _, ValueEnum};
use scarce_settings::duration;

use crate::failure::DemoError;
use crate::options::EngineOptions;

/// `scarce demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// Which demonstration.
    #[command(subcommand)]
    pub demonstration: Option<Demonstration>,
    /// Show the flash sale in the console, as 'scarce demo flash-sale --open' does.
    #[arg(long)]
    pub open: bool,
}

impl Demo {
    /// The demonstration that was asked for.
    pub(super) fn chosen(&self) -> Result<Demonstration, DemoError> {
        match (&self.demonstration, self.open) {
            (Some(demonstration), false) => Ok(demonstration.clone()),
            (Some(_), true) => Err(DemoError::usage(
                "--open goes behind the demonstration: scarce demo wallet --open".to_owned(),
            )),
            (None, true) => Demonstration::of_words(&["demo", "flash-sale", "--open"]),
            (None, false) => {
                let text = "say which demonstration: flash-sale, red-packets, wallet, coupons or exchange; or --open for the \
                            flash sale in the console";
                Err(DemoError::usage(text.to_owned()))
            }
        }
    }
}

/// Which demonstration.
#[derive(Clone, Debug, clap::Subcommand)]
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

impl Demonstration {
    /// The demonstration that words ask for, with the defaults of all that they leave out.
    fn of_words(words: &[&str]) -> Result<Self, DemoError> {
        let parsed = Self::augment_subcommands(clap::Command::new("demo")).try_get_matches_from(words);
        let found = parsed.and_then(|matches| Self::from_arg_matches(&matches));
        found.map_err(|error| DemoError::usage(error.to_string()))
    }
}

/// What every demonstration takes.
#[derive(Clone, Debug, Args)]
pub struct Stage {
    #[command(flatten)]
    /// Which engine decides, and where it keeps what it knows.
    pub engine: EngineOptions,
    /// What the crowd does is drawn from this number; how its commands meet is not.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// How many connections the crowd uses.
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=64))]
    pub connections: u32,
    /// Keep the data and say where it is.
    #[arg(long)]
    pub keep: bool,
    /// Print the proof as JSON.
    #[arg(long)]
    pub json: bool,
    /// Show what happens in the console, in a browser where there is a screen, and keep the server up until Ctrl-C.
    #[arg(long)]
    pub open: bool,
}

fn ttl_ms(text: &str) -> Result<u64, String> {
    duration::read(text, &(1..=60_000)).map_err(|shape| format!("must be {shape}"))
}

/// `scarce demo flash-sale`.
#[derive(Clone, Debug, Args)]
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
    #[arg(long, default_value = "1500ms", value_name = "TIME", value_parser = ttl_ms)]
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
#[derive(Clone, Debug, Args)]
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
    /// Have the server itself credit what was claimed, and its log flow into this database, which then tells of every
    /// account; without an address, into a SQLite file of the demonstration's own. The database must be empty.
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "", conflicts_with = "topology")]
    pub sql: Option<String>,
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
    /// An account's statement in SQL says another amount; needs --sql.
    AlteredStatement,
}

/// `scarce demo wallet`.
#[derive(Clone, Debug, Args)]
pub struct Wallet {
    /// How many accounts there are.
    #[arg(long, default_value_t = 1_000, value_name = "N", value_parser = clap::value_parser!(u64).range(20..=100_000))]
    pub accounts: u64,
    /// How many operations are begun; holds are ended by further ones.
    #[arg(long, default_value_t = 20_000, value_name = "N", value_parser = clap::value_parser!(u64).range(100..=1_000_000))]
    pub operations: u64,
    /// How long the holds last that nobody ends.
    #[arg(long, default_value = "1s", value_name = "TIME", value_parser = ttl_ms)]
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
#[derive(Clone, Debug, Args)]
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
#[derive(Clone, Debug, Args)]
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
