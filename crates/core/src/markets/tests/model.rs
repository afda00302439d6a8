//! A market in the plainest form: one list of orders that is always searched completely. The fast book
//! must give the same results as this slow model.

use crate::types::TimeMs;

#[derive(Clone, Debug)]
struct Order {
    id: String,
    owner: String,
    buys: bool,
    price: Option<u64>,
    remaining: u64,
    filled: u64,
    tif: String,
    stp: String,
    ended: Option<(&'static str, TimeMs)>,
    /// Its time priority; absent while it trades through the book.
    time: Option<u64>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    orders: Vec<Order>,
    halted: bool,
    time: u64,
    trades: u64,
    retention_ms: u64,
}

pub(super) const TICK: u64 = 2;
pub(super) const LOT: u64 = 3;
pub(super) const MIN: u64 = 6;
pub(super) const MAX: u64 = 60;

impl Model {
    pub(super) fn new(retention_ms: u64) -> Self {
        Self { retention_ms, ..Self::default() }
    }

    /// The expected answer to a command.
    pub(super) fn run(&mut self, line: &str, now: TimeMs) -> String {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse::<u64>().expect("a number");
        let answer = match words[0] {
            "MARKET.HALT" => {
                self.halted = true;
                Ok("halted".to_owned())
            }
            "MARKET.RESUME" => {
                self.halted = false;
                Ok("open".to_owned())
            }
            "ORDER.PLACE" => self.place(&words, now),
            "ORDER.CANCEL" => self.cancel(words[2], words[3], now),
            "ORDER.REDUCE" => self.reduce(words[2], words[3], number(4), now),
            "ORDER.REPLACE" => self.replace(words[2], words[3], number(4), number(5), now),
            "ORDER.CANCELALL" => Ok(self.cancel_all(words[2], now)),
            _ => unreachable!("{line}"),
        };
        answer.map_or_else(|refusal| refusal, |figures| format!("APPLIED {figures}"))
    }

    fn seen(&self, id: &str, now: TimeMs) -> Option<usize> {
        self.orders.iter().position(|order| {
            order.id == id && order.ended.is_none_or(|(_, ended_at)| ended_at + self.retention_ms > now)
        })
    }

    fn live(&self, id: &str, owner: &str, now: TimeMs) -> Result<usize, String> {
        let at = self.seen(id, now).ok_or_else(|| format!("ORDER_NOT_FOUND {id}"))?;
        match self.orders[at].ended {
            _ if self.orders[at].owner != owner => Err("NOT_OWNER".to_owned()),
            Some((status, _)) => Err(format!("ORDER_CLOSED {id} {status}")),
            None => Ok(at),
        }
    }

    /// The order that trades first with a taker that trades with the order at `taker`.
    fn best_against(&self, taker: usize) -> Option<usize> {
        let Order { buys, price, .. } = self.orders[taker];
        let crosses =
            |theirs: u64| price.is_none_or(|limit| if buys { theirs <= limit } else { theirs >= limit });
        let resting = self.orders.iter().enumerate().filter(|(_, order)| {
            order.buys != buys && order.time.is_some() && order.price.is_some_and(crosses)
        });
        resting
            .min_by_key(|(_, order)| {
                let price = order.price.expect("a limit");
                (if buys { price } else { u64::MAX - price }, order.time)
            })
            .map(|(at, _)| at)
    }

    fn end(&mut self, at: usize, status: &'static str, now: TimeMs) {
        self.orders[at].time = None;
        self.orders[at].ended = Some((status, now));
    }

    fn status(&self, at: usize) -> &'static str {
        let order = &self.orders[at];
        order.ended.map_or(if order.filled == 0 { "open" } else { "partially_filled" }, |ended| ended.0)
    }

    fn sweep(&mut self, at: usize, now: TimeMs) -> String {
        let mut fills = Vec::new();
        while self.orders[at].ended.is_none() {
            let Some(maker) = self.best_against(at) else { break };
            let smaller = self.orders[at].remaining.min(self.orders[maker].remaining);
            let own = self.orders[at].owner == self.orders[maker].owner;
            match self.orders[at].stp.as_str() {
                "CANCEL_TAKER" if own => self.end(at, "cancelled", now),
                "CANCEL_MAKER" if own => self.end(maker, "cancelled", now),
                "CANCEL_BOTH" if own => {
                    self.end(at, "cancelled", now);
                    self.end(maker, "cancelled", now);
                }
                "DECREMENT" if own => {
                    for each in [at, maker] {
                        if self.orders[each].remaining == smaller {
                            self.end(each, "cancelled", now);
                        } else {
                            self.orders[each].remaining -= smaller;
                        }
                    }
                }
                _ => {
                    self.trades += 1;
                    for each in [at, maker] {
                        self.orders[each].remaining -= smaller;
                        self.orders[each].filled += smaller;
                        if self.orders[each].remaining == 0 {
                            self.end(each, "filled", now);
                        }
                    }
                    let Order { id, price, remaining, .. } = &self.orders[maker];
                    let price = price.expect("a limit");
                    fills.push(format!("[{} {id} {price} {smaller} {remaining}]", self.trades));
                }
            }
        }
        if self.orders[at].ended.is_none() {
            if matches!(self.orders[at].tif.as_str(), "GTC" | "POST") {
                self.time += 1;
                self.orders[at].time = Some(self.time);
            } else {
                self.end(at, "cancelled", now);
            }
        }
        let Order { filled, remaining, .. } = self.orders[at];
        format!("{} {filled} {remaining} [{}]", self.status(at), fills.join(" "))
    }

    fn check_figures(price: Option<u64>, quantity: u64) -> Result<(), String> {
        if let Some(price) = price.filter(|price| !price.is_multiple_of(TICK)) {
            return Err(format!("PRICE_INVALID {price} {TICK}"));
        }
        if !quantity.is_multiple_of(LOT) || !(MIN..=MAX).contains(&quantity) {
            return Err(format!("QUANTITY_INVALID {quantity} {LOT} {MIN} {MAX}"));
        }
        Ok(())
    }

    fn check_post(&self, at: usize) -> Result<(), String> {
        match self.best_against(at) {
            Some(best) if self.orders[at].tif == "POST" => {
                Err(format!("WOULD_TAKE {}", self.orders[best].price.expect("a limit")))
            }
            _ => Ok(()),
        }
    }

    fn place(&mut self, words: &[&str], now: TimeMs) -> Result<String, String> {
        let (id, owner, rest) = (words[2], words[3], &words[4..]);
        if self.halted {
            return Err("MARKET_HALTED m".to_owned());
        }
        if self.seen(id, now).is_some() {
            return Err(format!("ORDER_EXISTS {id}"));
        }
        let (price, rest) = match rest[1] {
            "LIMIT" => (Some(rest[2].parse().expect("a price")), &rest[3..]),
            _ => (None, &rest[2..]),
        };
        let quantity: u64 = rest[0].parse().expect("a quantity");
        Self::check_figures(price, quantity)?;
        let order = Order {
            id: id.to_owned(),
            owner: owner.to_owned(),
            buys: words[4] == "BUY",
            price,
            remaining: quantity,
            filled: 0,
            tif: rest[2].to_owned(),
            stp: rest[4].to_owned(),
            ended: None,
            time: None,
        };
        self.change(|model| {
            model.orders.retain(|order| order.id != id);
            model.orders.push(order);
            let at = model.orders.len() - 1;
            model.check_post(at)?;
            if rest[2] == "FOK" {
                model.check_fok(at, quantity, now)?;
            }
            Ok(model.sweep(at, now))
        })
    }

    /// Simulates it; an own order in the way cancels the taker, unless the mode passes or cancels own
    /// orders.
    fn check_fok(&self, at: usize, quantity: u64, now: TimeMs) -> Result<(), String> {
        let mut trial = self.clone();
        if !matches!(trial.orders[at].stp.as_str(), "NONE" | "CANCEL_MAKER") {
            trial.orders[at].stp = "CANCEL_TAKER".to_owned();
        }
        trial.sweep(at, now);
        let filled = trial.orders[at].filled;
        if filled < quantity { Err(format!("WOULD_NOT_FILL {filled} {quantity}")) } else { Ok(()) }
    }

    fn cancel(&mut self, id: &str, owner: &str, now: TimeMs) -> Result<String, String> {
        let at = self.live(id, owner, now)?;
        self.end(at, "cancelled", now);
        Ok(self.orders[at].remaining.to_string())
    }

    fn reduce(&mut self, id: &str, owner: &str, by: u64, now: TimeMs) -> Result<String, String> {
        let at = self.live(id, owner, now)?;
        if by >= self.orders[at].remaining {
            self.end(at, "cancelled", now);
        } else if by.is_multiple_of(LOT) {
            self.orders[at].remaining -= by;
        } else {
            return Err(format!("QUANTITY_INVALID {by} {LOT} {MIN} {MAX}"));
        }
        Ok(format!("{} {}", self.status(at), self.orders[at].remaining))
    }

    fn replace(
        &mut self,
        id: &str,
        owner: &str,
        price: u64,
        quantity: u64,
        now: TimeMs,
    ) -> Result<String, String> {
        let at = self.live(id, owner, now)?;
        let stays = self.orders[at].price == Some(price) && quantity < self.orders[at].remaining;
        if self.halted && !stays {
            return Err("MARKET_HALTED m".to_owned());
        }
        Self::check_figures(Some(price), quantity)?;
        if stays {
            self.orders[at].remaining = quantity;
            return Ok(format!("{} {} {quantity} []", self.status(at), self.orders[at].filled));
        }
        self.change(|model| {
            let order = &mut model.orders[at];
            (order.price, order.remaining, order.time) = (Some(price), quantity, None);
            model.check_post(at)?;
            Ok(model.sweep(at, now))
        })
    }

    fn cancel_all(&mut self, owner: &str, now: TimeMs) -> String {
        let mut count = 0;
        for at in 0..self.orders.len() {
            if self.orders[at].owner == owner && self.orders[at].ended.is_none() {
                self.end(at, "cancelled", now);
                count += 1;
            }
        }
        count.to_string()
    }

    fn change(&mut self, change: impl FnOnce(&mut Self) -> Result<String, String>) -> Result<String, String> {
        let before = self.clone();
        let answer = change(self);
        if answer.is_err() {
            *self = before;
        }
        answer
    }

    /// The expected answer to `MARKET.DEPTH`.
    pub(super) fn depth(&self) -> String {
        let side = |buys: bool| {
            let mut levels: Vec<(u64, u64, u64)> = Vec::new();
            for order in self.orders.iter().filter(|order| order.buys == buys && order.time.is_some()) {
                let price = order.price.expect("a limit");
                match levels.iter_mut().find(|level| level.0 == price) {
                    Some(level) => (level.1, level.2) = (level.1 + order.remaining, level.2 + 1),
                    None => levels.push((price, order.remaining, 1)),
                }
            }
            levels.sort_unstable();
            if buys {
                levels.reverse();
            }
            let rows: Vec<String> = levels
                .iter()
                .map(|(price, quantity, count)| format!("[{price} {quantity} {count}]"))
                .collect();
            format!("[{}]", rows.join(" "))
        };
        format!("APPLIED {} {}", side(true), side(false))
    }
}
