//! `scarce packets`: previews how red packets are cut, and verifies past cuts.

mod campaign;
mod plan;
mod verify;

use std::path::PathBuf;

use clap::Args;
use scarce_core::command::shapes::Method;
use scarce_core::packets::cut::Plan;
use scarce_engine::random::unhex;

use super::Ended;

/// `scarce packets`.
#[derive(Debug, clap::Subcommand)]
pub enum Packets {
    /// Cut a total by a random seed, here and now, and show what would come of it.
    Plan(PlanOptions),
    /// Recompute the cut of a closed campaign, and say whether commitment and amounts agree with it.
    Verify(Box<VerifyOptions>),
}

/// `scarce packets plan`.
#[derive(Debug, Args)]
pub struct PlanOptions {
    /// What all packets sum to, in minor units.
    #[arg(value_name = "TOTAL")]
    pub total: u64,
    /// How many packets.
    #[arg(value_name = "COUNT")]
    pub count: u64,
    /// How they are cut: EVEN, DOUBLE_MEAN or LINE_CUT.
    #[arg(long, default_value = "DOUBLE_MEAN", value_name = "METHOD", value_parser = method)]
    pub method: Method,
    /// The least in a packet.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub min: u64,
    /// The most in a packet.
    #[arg(long, value_name = "N")]
    pub max: Option<u64>,
    /// 64 hexadecimal digits that the cut follows from, instead of random ones.
    #[arg(long, value_name = "HEX", value_parser = bytes)]
    pub seed: Option<[u8; 32]>,
    /// Print the amounts too, in the order in which they would be claimed.
    #[arg(long)]
    pub amounts: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `scarce packets verify`.
#[derive(Debug, Args)]
pub struct VerifyOptions {
    /// A closed campaign of a running server: plan, seed, commitment and claims are read from there.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["commitment", "seed", "total", "count", "method", "min", "max", "amounts"])]
    pub campaign: Option<String>,
    #[command(flatten)]
    /// Which server.
    pub target: super::args::Target,
    /// The commitment that was published when the campaign was created: 64 hexadecimal digits.
    #[arg(long, value_name = "HEX", value_parser = bytes, required_unless_present = "campaign")]
    pub commitment: Option<[u8; 32]>,
    /// The seed that was revealed when it was closed: 64 hexadecimal digits.
    #[arg(long, value_name = "HEX", value_parser = bytes, required_unless_present = "campaign")]
    pub seed: Option<[u8; 32]>,
    /// What all packets sum to.
    #[arg(long, value_name = "N", required_unless_present = "campaign")]
    pub total: Option<u64>,
    /// How many packets there were.
    #[arg(long, value_name = "N", required_unless_present = "campaign")]
    pub count: Option<u64>,
    /// How they were cut.
    #[arg(long, value_name = "METHOD", value_parser = method, required_unless_present = "campaign")]
    pub method: Option<Method>,
    /// The least in a packet, 1 where the campaign says nothing.
    #[arg(long, value_name = "N")]
    pub min: Option<u64>,
    /// The most in a packet.
    #[arg(long, value_name = "N")]
    pub max: Option<u64>,
    /// A file with the amounts in the order of the claims, or - for standard input: numbers with anything
    /// but digits between them.
    #[arg(long, value_name = "FILE")]
    pub amounts: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(options: &Packets) -> Ended {
    match options {
        Packets::Plan(options) => plan::run(options),
        Packets::Verify(options) => verify::run(options),
    }
}

fn method(text: &str) -> Result<Method, String> {
    let word = text.replace('-', "_");
    let words = || Method::ALL.iter().map(|method| method.word()).collect::<Vec<_>>().join(", ");
    Method::from_word(word.as_bytes()).ok_or_else(|| format!("must be one of {}", words()))
}

fn bytes(text: &str) -> Result<[u8; 32], String> {
    unhex(text).ok_or_else(|| "must be 64 hexadecimal digits".to_owned())
}

/// A plan in the syntax of the campaign's command.
fn words_of(plan: &Plan) -> String {
    let bound =
        |name: &str, value: Option<u64>| value.map(|value| format!(" {name} {value}")).unwrap_or_default();
    let min = bound("MIN", Some(plan.min).filter(|min| *min > 1));
    format!("PLAN {} {} {}{min}{}", plan.total, plan.count, plan.method.word(), bound("MAX", plan.max))
}
