//! Sides, prices, times in force.

use crate::codec::{Input, Malformed, Wire};
use crate::command::argument::{Argument, ArgumentKind, Invalid, Words};
use crate::event::Shown;
use crate::outcome::Value;
use crate::types::{Id, Positive};
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

/// The place of a resting order in a market: a list of orders goes on behind it, also once the order is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookPlace {
    /// The order's side.
    pub side: Side,
    /// Its price.
    pub price: Positive,
    /// Its time priority among all orders that ever rested in the market.
    pub priority: Positive,
    /// The order.
    pub order: Id,
}

impl Argument for BookPlace {
    const KIND: ArgumentKind = ArgumentKind::Text;

    fn take(words: &mut Words<'_>, argument: &'static str) -> Result<Self, Invalid> {
        let word = words.next().ok_or_else(|| Invalid::new(argument, "is missing"))?;
        Self::read(word).ok_or_else(|| Invalid::new(argument, "must be the place of an order in such a list"))
    }
}

impl BookPlace {
    fn read(word: &[u8]) -> Option<Self> {
        let mut parts = word.splitn(4, |byte| *byte == b'-');
        let side = parts.next().and_then(Side::from_word)?;
        let mut number = || parts.next().and_then(|part| Positive::parse(part, "after").ok());
        let (price, priority) = (number()?, number()?);
        let order = Id::parse(parts.next()?, "after").ok()?;
        Some(Self { side, price, priority, order })
    }
}

/// As one word.
impl std::fmt::Display for BookPlace {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { side, price, priority, order } = self;
        write!(formatter, "{}-{}-{}-{order}", side.word(), price.get(), priority.get())
    }
}

impl Shown for BookPlace {
    fn shown(&self) -> Value {
        Value::from(self.to_string().as_str())
    }
}

impl Wire for BookPlace {
    fn put(&self, out: &mut Vec<u8>) {
        self.side.put(out);
        self.price.put(out);
        self.priority.put(out);
        self.order.put(out);
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        let (side, price, priority) = (Wire::get(input)?, Wire::get(input)?, Wire::get(input)?);
        Ok(Self { side, price, priority, order: Wire::get(input)? })
    }
}
