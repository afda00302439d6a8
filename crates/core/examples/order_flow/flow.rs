//! The commands of a flow, and the lines that they are kept in.

use std::fmt;

/// How long an order stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tif {
    /// Until it is filled or cancelled.
    Stays,
    /// No longer than it trades at once.
    AtOnce,
    /// Filled whole at once, or refused. `cost` is what it pays or gets then; 0 if it is refused.
    Whole { cost: u64 },
}

/// A new order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewOrder {
    /// Its number.
    pub order: u64,
    /// Its owner's number.
    pub owner: u64,
    /// Whether it buys.
    pub buys: bool,
    /// Its limit.
    pub price: u64,
    /// How much it wants.
    pub quantity: u64,
    /// How long it stays.
    pub tif: Tif,
}

/// A command of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A new order.
    Place(NewOrder),
    /// An order is cancelled.
    Cancel { order: u64, owner: u64 },
    /// An order is made smaller.
    Reduce { order: u64, owner: u64, by: u64 },
    /// An order gets another price, and keeps the quantity that it has.
    Move { order: u64, owner: u64, price: u64, quantity: u64 },
}

/// A command and its market.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The market's number.
    pub market: u64,
    /// The command.
    pub what: What,
}

/// As a line of the file.
impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ", self.market)?;
        match self.what {
            What::Place(NewOrder { order, owner, buys, price, quantity, tif }) => {
                let side = if buys { "B" } else { "S" };
                write!(out, "P {order} {owner} {side} {price} {quantity} ")?;
                match tif {
                    Tif::Stays => write!(out, "G 0"),
                    Tif::AtOnce => write!(out, "I 0"),
                    Tif::Whole { cost } => write!(out, "F {cost}"),
                }
            }
            What::Cancel { order, owner } => write!(out, "C {order} {owner}"),
            What::Reduce { order, owner, by } => write!(out, "R {order} {owner} {by}"),
            What::Move { order, owner, price, quantity } => {
                write!(out, "M {order} {owner} {price} {quantity}")
            }
        }
    }
}

impl Step {
    /// Reads what was written by [`fmt::Display`].
    pub fn read(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words.get(at)?.parse::<u64>().ok();
        let (market, order, owner) = (number(0)?, number(2)?, number(3)?);
        let what = match *words.get(1)? {
            "P" => What::Place(NewOrder {
                order,
                owner,
                buys: *words.get(4)? == "B",
                price: number(5)?,
                quantity: number(6)?,
                tif: match *words.get(7)? {
                    "G" => Tif::Stays,
                    "I" => Tif::AtOnce,
                    "F" => Tif::Whole { cost: number(8)? },
                    _ => return None,
                },
            }),
            "C" => What::Cancel { order, owner },
            "R" => What::Reduce { order, owner, by: number(4)? },
            "M" => What::Move { order, owner, price: number(4)?, quantity: number(5)? },
            _ => return None,
        };
        Some(Self { market, what })
    }

    /// The command in words.
    pub fn words(&self) -> String {
        let market = self.market;
        match self.what {
            What::Place(NewOrder { order, owner, buys, price, quantity, tif }) => {
                let side = if buys { "BUY" } else { "SELL" };
                let tif = match tif {
                    Tif::Stays => "GTC",
                    Tif::AtOnce => "IOC",
                    Tif::Whole { .. } => "FOK",
                };
                format!("ORDER.PLACE m{market} {order} u{owner} {side} LIMIT {price} {quantity} TIF {tif}")
            }
            What::Cancel { order, owner } => format!("ORDER.CANCEL m{market} {order} u{owner}"),
            What::Reduce { order, owner, by } => format!("ORDER.REDUCE m{market} {order} u{owner} {by}"),
            What::Move { order, owner, price, quantity } => {
                format!("ORDER.REPLACE m{market} {order} u{owner} {price} {quantity}")
            }
        }
    }
}
