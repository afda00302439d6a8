//! The channels: one table, from which names are read and reference pages are made.

use scarce_core::command::{Command, CommandSpec, Invalid, table};
use scarce_core::event::Position;
use scarce_core::resource::ResourceKind;
use scarce_core::types::{Id, Natural};

/// What is told on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Figures by their names: a delta has those that changed.
    Figures,
    /// The levels of a book: a delta has those that changed, by their prices.
    Levels,
    /// Trades: a delta has the new ones.
    Trades,
    /// An owner's orders: a delta has what happened to them.
    Orders,
}

impl Contents {
    /// The list that a delta has of what happened, if that is what is told.
    pub(crate) const fn happened(self) -> Option<&'static str> {
        match self {
            Self::Trades => Some("trades"),
            Self::Orders => Some("changes"),
            Self::Figures | Self::Levels => None,
        }
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct ChannelSpec {
    /// How a name is written.
    pub pattern: &'static str,
    /// What a name begins with, and what stands behind the id: at its end, or before the owner.
    prefix: &'static str,
    suffix: &'static str,
    /// The kind of the resource.
    pub kind: ResourceKind,
    /// The command whose answer is the snapshot, and that a subscriber must be allowed to send.
    pub command: &'static str,
    /// The words behind the id, and behind the owner where there is one.
    words: &'static [&'static str],
    /// What is told.
    pub contents: Contents,
    /// What it shows, in English and Chinese.
    pub summary: [&'static str; 2],
}

macro_rules! channel {
    ($pattern:literal = $prefix:literal + $suffix:literal, $kind:ident, $command:literal $words:expr, $contents:ident, $en:literal, $zh:literal) => {
        ChannelSpec {
            pattern: $pattern,
            prefix: $prefix,
            suffix: $suffix,
            kind: ResourceKind::$kind,
            command: $command,
            words: &$words,
            contents: Contents::$contents,
            summary: [$en, $zh],
        }
    };
}

/// All channels. Of two rows that fit a name, the first one is meant.
pub const CHANNELS: &[ChannelSpec] = &[
    channel!("market.{market}.orders.{owner}" = "market." + ".orders.", Market, "ORDER.LIST" ["COUNT", "1000"], Orders,
        "An owner's resting orders, the thousand oldest; then what happens to each of its orders", "某用户最早的一千笔挂单；随后是其每笔订单的变化"),
    channel!("account.{account}" = "account." + "", Account, "ACCOUNT.GET" [], Figures,
        "An account's balance, held amount and status", "账户的余额、冻结金额和状态"),
    channel!("stock.{sku}" = "stock." + "", Stock, "STOCK.GET" [], Figures,
        "A stock item's counters and status", "库存商品的各项数量和状态"),
    channel!("packets.{campaign}" = "packets." + "", Campaign, "PACKET.GET" [], Figures,
        "A campaign's statistics: what was claimed and what is left", "红包活动的统计：已领取和剩余的数量与金额"),
    channel!("coupon.{coupon}" = "coupon." + "", Coupon, "COUPON.GET" [], Figures,
        "A coupon's counters, limits and status", "优惠券的计数、限额和状态"),
    channel!("market.{market}.depth" = "market." + ".depth", Market, "MARKET.DEPTH" [], Levels,
        "The ten best levels of each side of a book", "订单簿买卖双方各十个最优价位"),
    channel!("market.{market}.depth50" = "market." + ".depth50", Market, "MARKET.DEPTH" ["LEVELS", "50"], Levels,
        "The fifty best levels", "各五十个最优价位"),
    channel!("market.{market}.depth200" = "market." + ".depth200", Market, "MARKET.DEPTH" ["LEVELS", "200"], Levels,
        "The two hundred best levels", "各二百个最优价位"),
    channel!("market.{market}.trades" = "market." + ".trades", Market, "MARKET.TRADES" [], Trades,
        "Each trade; the last ten first", "逐笔成交；首先给出最近十笔"),
    channel!("market.{market}.ticker" = "market." + ".ticker", Market, "MARKET.TICKER" [], Figures,
        "A market's last trade and best prices", "市场的最新成交和最优价格"),
];

/// What a subscriber cannot subscribe to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// There is no such channel.
    #[error("there is no channel '{name}'; channels are {}", patterns())]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// A part of the name is malformed.
    #[error("the channel's {0}")]
    Malformed(#[from] Invalid),
}

fn patterns() -> String {
    CHANNELS.iter().map(|spec| spec.pattern).collect::<Vec<_>>().join(", ")
}

/// A channel.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Its name.
    pub name: String,
    /// Its row.
    pub spec: &'static ChannelSpec,
    /// The resource.
    pub resource: Id,
    /// Whose orders are told.
    pub owner: Option<Id>,
    /// The row of the command whose answer is the snapshot.
    pub read: &'static CommandSpec,
    /// That command.
    pub command: Command,
}

impl Channel {
    /// Reads a name.
    ///
    /// # Errors
    /// When there is no such channel.
    pub fn parse(name: &str) -> Result<Self, ChannelError> {
        let unknown = || ChannelError::Unknown { name: name.chars().take(NAME_SHOWN_MAX).collect() };
        let found = CHANNELS.iter().find_map(|spec| Some((spec, spec.parts(name)?)));
        let (spec, (id, owner)) = found.ok_or_else(unknown)?;
        let resource = Id::parse(id.as_bytes(), "id")?;
        let read = table::find(spec.command.as_bytes()).ok_or_else(unknown)?;
        let of_owner = owner.map_or([None, None], |owner| [Some("OWNER"), Some(owner)]);
        let words = std::iter::once(id).chain(of_owner.into_iter().flatten());
        let words: Vec<&[u8]> = words.chain(spec.words.iter().copied()).map(str::as_bytes).collect();
        let (command, _) = Command::parse(read, &words)?;
        let owner = owner.map(|owner| Id::parse(owner.as_bytes(), "owner")).transpose()?;
        Ok(Self { name: name.to_owned(), spec, resource, owner, read, command })
    }
}

/// How much of a name that there is not is repeated.
const NAME_SHOWN_MAX: usize = 100;

impl ChannelSpec {
    /// The id in a name and the owner, if the name is of this channel.
    fn parts<'a>(&self, name: &'a str) -> Option<(&'a str, Option<&'a str>)> {
        let rest = name.strip_prefix(self.prefix)?;
        let (id, owner) = match self.contents {
            Contents::Orders => rest.split_once(self.suffix).map(|(id, owner)| (id, Some(owner)))?,
            _ => (rest.strip_suffix(self.suffix)?, None),
        };
        (!id.is_empty() && owner != Some("")).then_some((id, owner))
    }
}

/// What a subscriber asks for: a channel, from where on, and what becomes of it if it reads too slowly.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The channel.
    pub channel: Channel,
    /// Where the subscriber has come to.
    pub after: Option<Position>,
    /// A subscriber that reads slower than the channel changes gets a snapshot in place of what it missed; otherwise its
    /// subscription ends.
    pub conflates: bool,
}

impl Asked {
    /// Reads `channel[;after=epoch.sequence][;conflate]`. No name contains a semicolon.
    ///
    /// # Errors
    /// When there is no such channel or option.
    pub fn parse(text: &str) -> Result<Self, ChannelError> {
        let mut parts = text.split(';');
        let channel = Channel::parse(parts.next().unwrap_or_default())?;
        let mut asked = Self { channel, after: None, conflates: false };
        for option in parts {
            match option.split_once('=') {
                None if option == "conflate" => asked.conflates = true,
                Some(("after", position)) => asked.after = Some(read_position(position)?),
                _ => return Err(Invalid::new("options", "are ;after=epoch.sequence and ;conflate").into()),
            }
        }
        Ok(asked)
    }
}

fn read_position(text: &str) -> Result<Position, Invalid> {
    let (epoch, sequence) =
        text.split_once('.').ok_or_else(|| Invalid::new("after", "must be epoch.sequence"))?;
    let number = |text: &str| Natural::parse(text.as_bytes(), "after").map(Natural::get);
    Ok(Position { epoch: number(epoch)?, sequence: number(sequence)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_resource_and_the_read_that_shows_it() {
        for (name, command, id) in [
            ("stock.sku-1", "STOCK.GET", "sku-1"),
            ("account.a.b.depth", "ACCOUNT.GET", "a.b.depth"),
            ("market.BTC-USDT.depth", "MARKET.DEPTH", "BTC-USDT"),
            ("market.a.trades.ticker", "MARKET.TICKER", "a.trades"),
            ("packets.{c}1", "PACKET.GET", "{c}1"),
            ("market.m.orders.ann", "ORDER.LIST", "m"),
            ("market.a.b.orders.depth", "ORDER.LIST", "a.b"),
            ("market.m.orders.x.orders.y", "ORDER.LIST", "m"),
        ] {
            let channel = Channel::parse(name).expect(name);
            assert_eq!((channel.read.name, channel.resource.as_str()), (command, id));
        }
        for name in [
            "",
            "stock.",
            "stock",
            "market.x",
            "market..depth",
            "market.x.depth9",
            "market.x.orders.",
            "market..orders.o",
            "market.x.orders",
            "market.x.orders.a b",
            "Stock.x",
            "stock.a b",
        ] {
            assert!(Channel::parse(name).is_err(), "{name}");
        }
        let long = Channel::parse(&"x".repeat(10_000)).expect_err("unknown").to_string();
        assert!(long.len() < 500 && long.contains("market.{market}.depth"), "{long}");
    }

    #[test]
    fn the_pages_show_every_channel() {
        for (language, page) in [
            include_str!("../../../docs/reference/push.md"),
            include_str!("../../../docs/reference/zh/push.md"),
        ]
        .into_iter()
        .enumerate()
        {
            for spec in CHANNELS {
                let (command, anchor) = (spec.command, spec.command.replace('.', "").to_lowercase());
                let summary = spec.summary[language];
                let row = format!("| `{}` | [{command}](commands.md#{anchor}) | {summary} |", spec.pattern);
                assert!(page.contains(&row), "a page lacks {row}");
            }
        }
    }

    #[test]
    fn options_say_from_where_on_and_what_becomes_of_slow_readers() {
        let asked = Asked::parse("stock.s;after=7.12;conflate").expect("asked");
        assert_eq!((asked.after, asked.conflates), (Some(Position { epoch: 7, sequence: 12 }), true));
        let plain = Asked::parse("stock.s").expect("asked");
        assert_eq!((plain.after, plain.conflates), (None, false));
        for text in ["stock.s;after=7", "stock.s;after=-1.2", "stock.s;x", "stock.s;", "stock.s;after=1.x"] {
            assert!(Asked::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_channel_shows_what_a_read_of_its_kind_answers() {
        for spec in CHANNELS {
            let name = spec.pattern.replace("{owner}", "o").replace(['{', '}'], "");
            let channel = Channel::parse(&name).expect(spec.pattern);
            assert_eq!(channel.spec.pattern, spec.pattern, "another row is meant");
            assert_eq!(channel.read.resource, Some(spec.kind));
            assert!(spec.summary.iter().all(|summary| !summary.is_empty()));
        }
    }
}
