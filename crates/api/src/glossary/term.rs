//! The explanation of one name.

use scarce_core::language::Text;

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// Its scope: a command, an event, a code, a shape or a group; empty for everywhere.
    pub scope: &'static str,
    /// The name.
    pub name: &'static str,
    /// The unit, if it is a number.
    pub unit: Option<Unit>,
    /// The meaning: a phrase without a full stop.
    pub meaning: Text,
}

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The smallest unit of an asset, such as cents.
    MinorUnits,
    /// Minor units of the quote for one unit of the base.
    Price,
    /// Units of a stock item.
    Pieces,
    /// The smallest unit of what a market trades.
    BaseUnits,
    /// Red packets.
    Packets,
    /// Claims of a coupon.
    Claims,
    /// Orders.
    Orders,
    /// A duration in milliseconds.
    Milliseconds,
    /// A time in milliseconds since the Unix epoch.
    StampMs,
    /// Minutes.
    Minutes,
}

impl Unit {
    /// The unit in words.
    #[must_use]
    pub const fn text(self) -> Text {
        match self {
            Self::MinorUnits => Text::new("minor units", "最小货币单位"),
            Self::Price => {
                Text::new("minor units of the quote per unit of the base", "计价资产最小单位／每单位标的")
            }
            Self::Pieces => Text::new("units", "件"),
            Self::BaseUnits => Text::new("units of the base", "标的最小单位"),
            Self::Packets => Text::new("packets", "个红包"),
            Self::Claims => Text::new("claims", "次领取"),
            Self::Orders => Text::new("orders", "笔订单"),
            Self::Milliseconds => Text::new("ms", "毫秒"),
            Self::StampMs => Text::new("ms since the Unix epoch", "Unix 毫秒时间戳"),
            Self::Minutes => Text::new("minutes", "分钟"),
        }
    }
}
