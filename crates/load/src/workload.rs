//! The workloads. Their resources are created beforehand under `bench/` and used by nothing else.

use clap::ValueEnum;
use scarce_client::{Client, Reply, pack};

use crate::LoadError;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Workload {
    /// Debits of a thousand accounts.
    Debit,
    /// Debits of one account.
    HotRow,
    /// Sales of single units that never run out.
    Take,
    /// Sales of an item that is sold out: every one is refused.
    SoldOut,
    /// Claims of red packets, each by another user.
    Claim,
    /// Claims of a coupon with two limits, each by another user.
    Coupon,
    /// Orders that rest and orders that fill them, by turns.
    Orders,
    /// All of these but red packets, by turns.
    Mixed,
}

/// Over how many accounts and items a load is spread.
const SPREAD: u64 = 1_000;

/// The number of packets of a campaign.
const PACKETS: u64 = 250_000;

/// The maximum number of campaigns.
const CAMPAIGNS_MAX: u64 = 16;

/// The largest number that the server accepts.
const MOST: &str = "9007199254740991";

const MIXED: [Workload; 6] = [
    Workload::Debit,
    Workload::HotRow,
    Workload::Take,
    Workload::SoldOut,
    Workload::Coupon,
    Workload::Orders,
];

impl Workload {
    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Creates the resources of the load, unless an earlier run did. `operations` is the number of operations
    /// to come, if known.
    ///
    /// # Errors
    /// When the server cannot be reached, or refuses.
    pub fn prepare(self, client: &mut Client, run: &str, operations: Option<u64>) -> Result<(), LoadError> {
        if self == Self::Mixed {
            return MIXED.iter().try_for_each(|each| each.prepare(client, run, operations));
        }
        let commands: Vec<Vec<String>> = match self {
            Self::Debit => (0..SPREAD).map(|at| open(&format!("bench/account/{at}"))).collect(),
            Self::HotRow => vec![open("bench/hot")],
            Self::Take => {
                (0..SPREAD).map(|at| words(&["STOCK.CREATE", &format!("bench/item/{at}"), MOST])).collect()
            }
            Self::SoldOut => vec![words(&["STOCK.CREATE", "bench/sold-out", "0"])],
            Self::Claim => (0..campaigns(operations)).map(|at| campaign(run, at)).collect(),
            Self::Coupon => vec![words(&[
                "COUPON.CREATE",
                "bench/coupon",
                "LIMIT",
                "all",
                MOST,
                "PER",
                "-",
                "WINDOW",
                "none",
                "LIMIT",
                "user",
                "5",
                "PER",
                "user",
                "WINDOW",
                "day",
            ])],
            Self::Orders => vec![words(&["MARKET.CREATE", "bench/market"])],
            Self::Mixed => Vec::new(),
        };
        commands.chunks(256).try_for_each(|commands| make(client, commands))
    }
}

/// The number of campaigns for that many claims, with a reserve.
fn campaigns(operations: Option<u64>) -> u64 {
    operations.map_or(CAMPAIGNS_MAX, |operations| operations / PACKETS + 1).min(CAMPAIGNS_MAX)
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn open(account: &str) -> Vec<String> {
    words(&["ACCOUNT.OPEN", account, "BENCH", "OVERDRAFT", MOST])
}

fn campaign(run: &str, at: u64) -> Vec<String> {
    let (total, count) = ((PACKETS * 100).to_string(), PACKETS.to_string());
    words(&["PACKET.CREATE", &format!("bench/{run}/{at}"), "BENCH", "PLAN", &total, &count, "EVEN"])
}

/// Creates resources; existing ones are fine too.
fn make(client: &mut Client, commands: &[Vec<String>]) -> Result<(), LoadError> {
    for (reply, command) in client.pipeline(commands)?.into_iter().zip(commands) {
        match Reply::of(reply) {
            Reply::Refused(code, _) if !code.ends_with("_EXISTS") => {
                return Err(LoadError::Refused { command: command.join(" "), code });
            }
            Reply::Error(text) => return Err(LoadError::NotDone { command: command.join(" "), text }),
            Reply::Applied(_) | Reply::Refused(..) => {}
        }
    }
    Ok(())
}

/// The commands of all connections.
#[derive(Clone, Debug)]
pub struct Load {
    /// What is asked.
    pub workload: Workload,
    /// A unique name for this run.
    pub run: String,
    /// Whether each command has an id.
    pub with_ids: bool,
    /// The number of commands to come, if known.
    pub operations: Option<u64>,
}

/// Generates the commands of one connection.
pub struct Commands {
    workload: Workload,
    run: String,
    connection: u32,
    with_ids: bool,
    campaigns: u64,
    count: u64,
    random: u64,
}

impl Commands {
    /// Those of a connection, which begin anew with each run.
    #[must_use]
    pub fn new(load: &Load, connection: u32) -> Self {
        Self {
            workload: load.workload,
            run: load.run.clone(),
            connection,
            with_ids: load.with_ids,
            campaigns: campaigns(load.operations),
            count: 0,
            random: mixed(u64::from(connection)),
        }
    }

    /// Appends the next command in wire format.
    pub(crate) fn put_next(&mut self, out: &mut Vec<u8>) {
        let workload = match self.workload {
            Workload::Mixed => MIXED[usize::try_from(self.count).unwrap_or_default() % MIXED.len()],
            other => other,
        };
        let (run, connection, count) = (&self.run, self.connection, self.count);
        let name = format!("{run}-{connection}-{count}");
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let at = mixed(self.random) % SPREAD;
        let resource = match workload {
            Workload::Debit => format!("bench/account/{at}"),
            Workload::Take => format!("bench/item/{at}"),
            Workload::Claim => format!("bench/{run}/{}", (u64::from(connection) + count) % self.campaigns),
            _ => String::new(),
        };
        let words: &[&str] = match workload {
            Workload::Debit => &["ACCOUNT.DEBIT", &resource, "1"],
            Workload::HotRow => &["ACCOUNT.DEBIT", "bench/hot", "1"],
            Workload::Take => &["STOCK.TAKE", &resource, "1", "bench/owner"],
            Workload::SoldOut => &["STOCK.TAKE", "bench/sold-out", "1", "bench/owner"],
            Workload::Claim => &["PACKET.CLAIM", &resource, &name],
            Workload::Coupon => &["COUPON.CLAIM", "bench/coupon", "USER", &name],
            Workload::Orders | Workload::Mixed => {
                let (owner, side) =
                    if (self.count / 6).is_multiple_of(2) { ("maker", "SELL") } else { ("taker", "BUY") };
                &["ORDER.PLACE", "bench/market", &name, owner, side, "LIMIT", "100", "1"]
            }
        };
        if self.with_ids {
            pack(&[words, &["ID", &name]].concat(), out);
        } else {
            pack(words, out);
        }
        self.count += 1;
    }
}

/// The finalizer of SplitMix64: numbers without a visible pattern, the same in every run.
fn mixed(state: u64) -> u64 {
    let first = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let second = (first ^ (first >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    second ^ (second >> 31)
}
