//! The traders: orders around a drifting price, some of which are later cancelled or changed.

use redis::Value;

use super::super::ask::{Ask, CallerAnswer, Deed, Request};
use super::super::crowd::{Crowd, Draw};
use super::super::proof::grouped;
use super::super::record::{Noted, Record};
use scarce_client::{integer, text};

/// A market: its name, its tick size, and the initial price in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Market {
    pub(super) name: &'static str,
    pub(super) tick: u64,
    middle: u64,
}

/// The markets.
pub(super) const MARKETS: [Market; 3] = [
    Market { name: "BTC-EUR", tick: 500, middle: 12_800 },
    Market { name: "ETH-EUR", tick: 50, middle: 4_800 },
    Market { name: "SOL-EUR", tick: 10, middle: 1_500 },
];

/// The self-trade prevention modes of owners; each keeps to one.
const STP: [&str; 5] = ["NONE", "CANCEL_TAKER", "CANCEL_MAKER", "CANCEL_BOTH", "DECREMENT"];

/// How far the middle price drifts, in ticks, and over how many commands of a market.
const DRIFT_TICKS: u64 = 60;
const DRIFT_PERIOD: u64 = 1_600;

/// How far back orders are cancelled or changed, in commands of a market.
const REACH: u64 = 120;

/// A new order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NewOrder {
    /// The trader's number, which also names the order.
    number: u64,
    owner: u64,
    is_buy: bool,
    /// In ticks; `None` for any price.
    ticks: Option<u64>,
    quantity: u64,
    tif: &'static str,
}

/// The purpose of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instruction {
    Place(NewOrder),
    Cancel(NewOrder),
    Reduce { order: NewOrder, by: u64 },
    Replace { order: NewOrder, ticks: u64, quantity: u64 },
    CancelAll { number: u64, owner: u64 },
}

/// Counts of the answers so far.
#[derive(Default)]
pub(super) struct Tally {
    answered: u64,
    trades: u64,
    /// The last prices that takers were told, by market.
    last: [u64; MARKETS.len()],
}

/// The crowd, generated from a seed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traders {
    pub(super) seed: u64,
    pub(super) commands: u64,
    pub(super) owners: u64,
}

/// The market of the trader with this number.
pub(super) fn market_of(number: u64) -> Market {
    let at = usize::try_from(number % MARKETS.len() as u64).unwrap_or(0);
    MARKETS[at]
}

fn owner_name(owner: u64) -> String {
    format!("trader-{owner}")
}

/// Whether an owner forbids trades with itself.
pub(super) fn forbids_self_trade(owner: &str) -> bool {
    let number = owner.rsplit('-').next().and_then(|number| number.parse::<u64>().ok());
    number.is_some_and(|owner| stp(owner) != "NONE")
}

/// An owner's self-trade prevention mode; each keeps to one.
fn stp(owner: u64) -> &'static str {
    STP[usize::try_from(owner % STP.len() as u64).unwrap_or(0)]
}

impl NewOrder {
    pub(super) fn name(&self) -> String {
        format!("o-{}", self.number)
    }
}

/// A market's middle price in ticks when a trader arrives: it moves up and down in straight lines.
fn middle(number: u64) -> u64 {
    let count = MARKETS.len() as u64;
    let phase = (number / count + number % count * DRIFT_PERIOD / count) % DRIFT_PERIOD;
    let height = phase.min(DRIFT_PERIOD - phase) * 2 * DRIFT_TICKS / DRIFT_PERIOD;
    market_of(number).middle + height
}

/// A price at this distance from the middle: a resting one, or with `takes` one that is likely to trade
/// immediately.
fn price(number: u64, is_buy: bool, takes: bool, distance: u64) -> u64 {
    let middle = middle(number);
    if is_buy == takes { middle + distance } else { middle - distance }
}

impl Traders {
    /// The order that a trader places; the same for the same seed, so that others can find it again.
    fn order(&self, number: u64) -> NewOrder {
        let mut draw = Draw::of(self.seed, number);
        let is_buy = draw.percent(50);
        let (takes, tif) = match draw.below(100) {
            0..58 => (false, "GTC"),
            58..70 => (true, "GTC"),
            70..80 => (true, "IOC"),
            80..86 => (true, "FOK"),
            86..94 => (false, "POST"),
            _ => (true, ""),
        };
        let near = draw.below(24).min(draw.below(24));
        let ticks = (!tif.is_empty()).then(|| price(number, is_buy, takes, 1 + near));
        let most = if takes { 60 } else { 40 };
        let (owner, quantity) = (draw.below(self.owners), 1 + draw.below(most));
        NewOrder { number, owner, is_buy, ticks, quantity, tif }
    }

    /// An order of an earlier trader in the same market.
    fn earlier(&self, draw: &mut Draw, number: u64) -> Option<NewOrder> {
        let back = MARKETS.len() as u64 * (1 + draw.below(REACH));
        number.checked_sub(back).map(|number| self.order(number))
    }

    fn instruction(&self, draw: &mut Draw, number: u64) -> Instruction {
        let place = Instruction::Place(self.order(number));
        match draw.below(1_000) {
            0..130 => self.earlier(draw, number).map_or(place, Instruction::Cancel),
            130..160 => {
                let by = 1 + draw.below(5);
                self.earlier(draw, number).map_or(place, |order| Instruction::Reduce { order, by })
            }
            160..250 => self.earlier(draw, number).map_or(place, |order| self.change(draw, number, order)),
            250..254 => Instruction::CancelAll { number, owner: draw.below(self.owners) },
            _ => place,
        }
    }

    /// Another price near the current middle, or the same price with a smaller quantity.
    fn change(&self, draw: &mut Draw, number: u64, order: NewOrder) -> Instruction {
        let distance = 1 + draw.below(10);
        let moved = price(number, order.is_buy, draw.percent(20), distance);
        let (ticks, quantity) = match order.ticks {
            Some(ticks) if draw.percent(40) => (ticks, order.quantity.div_ceil(2)),
            _ => (moved, 1 + draw.below(40)),
        };
        Instruction::Replace { order, ticks, quantity }
    }
}

impl Crowd for Traders {
    type Deed = Instruction;
    type Tally = Tally;

    fn arrive(&self, number: u64) -> Ask<Instruction> {
        let mut draw = Draw::of(!self.seed, number);
        let ask = Ask::new(format!("c-{number}"), self.instruction(&mut draw, number));
        Ask { insists: draw.percent(10), doubles: draw.percent(8), ..ask }
    }

    fn follow_ups(&self, _: &Ask<Instruction>, _: &CallerAnswer, _: Noted) -> Vec<Ask<Instruction>> {
        Vec::new()
    }

    fn count(&self, tally: &mut Tally, ask: &Ask<Instruction>, answer: &CallerAnswer, noted: Noted) {
        tally.answered += u64::from(noted.is_first);
        let fills = if noted.is_applied_now { fills_of(answer) } else { Vec::new() };
        tally.trades += fills.len() as u64;
        if let Some(fill) = fills.last() {
            let at = MARKETS.iter().position(|market| market.name == ask.deed.market().name);
            tally.last[at.unwrap_or(0)] = fill.price;
        }
    }

    fn is_due(&self, _: usize, record: &Record<Self>) -> bool {
        record.tally.answered >= self.commands / 2
    }

    fn picture(&self, record: &Record<Self>) -> (u64, String) {
        let Tally { answered, trades, last } = &record.tally;
        let prices =
            MARKETS.iter().zip(last).map(|(market, price)| format!("{} {}", market.name, grouped(*price)));
        (*answered, format!("{} trades · {}", grouped(*trades), prices.collect::<Vec<_>>().join(" · ")))
    }

    fn so_far(&self, record: &Record<Self>) -> String {
        let Tally { answered, trades, .. } = record.tally;
        format!("{} commands answered and {} trades made", grouped(answered), grouped(trades))
    }
}

/// A trade as reported to the taker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fill {
    pub(super) trade: u64,
    pub(super) maker: String,
    pub(super) price: u64,
    pub(super) quantity: u64,
    pub(super) maker_remaining: u64,
}

/// The trades in an answer.
pub(super) fn fills_of(answer: &CallerAnswer) -> Vec<Fill> {
    let read = |fill: &Value| {
        let Value::Array(parts) = fill else { return None };
        let number = |at: usize| integer(parts.get(at)?).and_then(|number| u64::try_from(number).ok());
        let (trade, maker) = (number(0)?, text(parts.get(1)?)?);
        Some(Fill { trade, maker, price: number(2)?, quantity: number(3)?, maker_remaining: number(4)? })
    };
    match answer.values().get(3) {
        Some(Value::Array(fills)) => fills.iter().filter_map(read).collect(),
        _ => Vec::new(),
    }
}

impl Instruction {
    fn market(&self) -> Market {
        market_of(match self {
            Self::Place(order) | Self::Cancel(order) => order.number,
            Self::Reduce { order, .. } | Self::Replace { order, .. } => order.number,
            Self::CancelAll { number, .. } => *number,
        })
    }
}

impl Deed for Instruction {
    fn request(&self, id: &str) -> Request {
        let Market { name: market, tick, .. } = self.market();
        match *self {
            Self::Place(order) => place(id, market, tick, order),
            Self::Cancel(order) => {
                Request::one(id, &["ORDER.CANCEL", market, &order.name(), &owner_name(order.owner)])
            }
            Self::Reduce { order, by } => {
                let owner = owner_name(order.owner);
                Request::one(id, &["ORDER.REDUCE", market, &order.name(), &owner, &by.to_string()])
            }
            Self::Replace { order, ticks, quantity } => {
                let (owner, price) = (owner_name(order.owner), (ticks * tick).to_string());
                let words = ["ORDER.REPLACE", market, &order.name(), &owner, &price, &quantity.to_string()];
                Request::one(id, &words)
            }
            Self::CancelAll { owner, .. } => {
                Request::one(id, &["ORDER.CANCELALL", market, &owner_name(owner)])
            }
        }
    }

    fn is_refusal_remembered(&self) -> bool {
        true
    }

    /// Without an order to cancel there is nothing in the log.
    fn is_logged(&self, answer: &CallerAnswer) -> bool {
        !matches!(self, Self::CancelAll { .. }) || answer.figure(0) != Some(0)
    }
}

fn place(id: &str, market: &str, tick: u64, order: NewOrder) -> Request {
    let side = if order.is_buy { "BUY" } else { "SELL" };
    let (name, owner, quantity) = (order.name(), owner_name(order.owner), order.quantity.to_string());
    let price = order.ticks.map(|ticks| (ticks * tick).to_string());
    let mut words = vec!["ORDER.PLACE", market, &name, &owner, side];
    match &price {
        Some(price) => words.extend(["LIMIT", price, &quantity, "TIF", order.tif]),
        None => words.extend(["MARKET", &quantity]),
    }
    words.extend(["STP", stp(order.owner)]);
    Request::one(id, &words)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRADERS: Traders = Traders { seed: 1, commands: 3_000, owners: 24 };

    #[test]
    fn cancels_and_changes_mean_orders_of_their_own_market() {
        for number in 0..3_000 {
            let deed = TRADERS.arrive(number).deed;
            assert_eq!(deed.market().name, market_of(number).name, "{deed:?}");
        }
    }

    #[test]
    fn the_middle_drifts_and_comes_back() {
        let middles: Vec<u64> = (0..DRIFT_PERIOD).map(|slot| middle(slot * 3)).collect();
        let (least, most) = (middles.iter().min(), middles.iter().max());
        assert_eq!((least, most), (Some(&12_800), Some(&(12_800 + DRIFT_TICKS))));
        assert!(middles.windows(2).all(|pair| pair[0].abs_diff(pair[1]) <= 1));
    }
}
