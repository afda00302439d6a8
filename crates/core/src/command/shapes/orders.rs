//! Sides, prices, times in force.

use crate::codec::{Input, Malformed, Wire};
use crate::command::argument::{Argument, ArgumentKind, Invalid, Words};
use crate::event::Shown;
use crate::outcome::Value;
use crate::types::Positive;
use crate::{shown_word, word_argument, words};

shown_word!(Side, Tif, StpMode);

words! {
    /// Which side of a market.
    Side {
        /// Wants the base and pays the quote.
        1 Buy = "BUY",
        /// Gives the base for the quote.
        2 Sell = "SELL",
    }
}
word_argument!(Side, "BUY|SELL");

impl Side {
    /// The side that it trades with.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Buy => Self::Sell,
            Self::Sell => Self::Buy,
        }
    }
}

words! {
    /// How long an order stands.
    Tif {
        /// Until it is filled or cancelled.
        1 Gtc = "GTC",
        /// What cannot be filled at once is cancelled.
        2 Ioc = "IOC",
        /// Filled whole at once, or refused.
        3 Fok = "FOK",
        /// Rests; refused where it would trade at once.
        4 Post = "POST",
    }
}
word_argument!(Tif, "GTC|IOC|FOK|POST");

words! {
    /// What happens where an owner's order would trade with another of the same owner.
    StpMode {
        /// They trade.
        0 None = "NONE",
        /// The rest of the arriving order is cancelled.
        1 CancelTaker = "CANCEL_TAKER",
        /// The resting order is cancelled.
        2 CancelMaker = "CANCEL_MAKER",
        /// Both are cancelled.
        3 CancelBoth = "CANCEL_BOTH",
        /// The smaller is cancelled and the larger reduced by it.
        4 Decrement = "DECREMENT",
    }
}
word_argument!(StpMode, "NONE|CANCEL_TAKER|CANCEL_MAKER|CANCEL_BOTH|DECREMENT");

/// The price at which an order may trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderPricing {
    /// At this price or a better one.
    Limit(Positive),
    /// At any price.
    Market,
}

impl Argument for OrderPricing {
    const KIND: ArgumentKind = ArgumentKind::Pricing;
    const SYNTAX: Option<&'static str> = Some("LIMIT price|MARKET");

    fn take(words: &mut Words<'_>, argument: &'static str) -> Result<Self, Invalid> {
        if words.skip("LIMIT") {
            Positive::take(words, "price").map(Self::Limit)
        } else if words.skip("MARKET") {
            Ok(Self::Market)
        } else {
            Err(Invalid::new(argument, "must be LIMIT price or MARKET"))
        }
    }
}

/// Written as the price, or nothing for a market order.
impl Shown for OrderPricing {
    fn shown(&self) -> Value {
        match self {
            Self::Limit(price) => price.shown(),
            Self::Market => Value::Absent,
        }
    }
}

impl Wire for OrderPricing {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Limit(price) => Some(*price).put(out),
            Self::Market => None::<Positive>.put(out),
        }
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        Ok(Option::<Positive>::get(input)?.map_or(Self::Market, Self::Limit))
    }
}
