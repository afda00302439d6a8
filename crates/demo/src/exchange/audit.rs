//! The audit: compares what the traders were told, what the server shows, what the log says, and the results
//! of a simple order book with the same orders.

use std::collections::BTreeMap;

use serde_json::json;

use super::super::ask::CallerAnswer;
use super::super::promises::Told;
use super::super::proof::{Proof, grouped};
use super::super::record::Known;
use super::book::Level;
use super::ledger::{Done, Flow, Ledger, Order};
use super::replay::Replay;
use super::traders::{Instruction, Traders, fills_of};

/// An order as `ORDER.GET` shows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShownOrder {
    pub(super) is_buy: bool,
    pub(super) filled: i64,
    pub(super) remaining: i64,
}

/// What the server shows at the end.
#[derive(Default)]
pub(super) struct Shown {
    /// By market and name.
    pub(super) orders: BTreeMap<(String, String), ShownOrder>,
    /// Bids and asks, best first, by market.
    pub(super) depths: BTreeMap<String, [Vec<Level>; 2]>,
}

/// All the evidence.
pub(super) struct Evidence<'a> {
    pub(super) told: Told<'a, Traders>,
    pub(super) ledger: &'a Ledger,
    pub(super) replay: &'a Replay,
    pub(super) shown: &'a Shown,
}

impl Evidence<'_> {
    /// Judges every promise.
    pub(super) fn judge(&self, proof: &mut Proof) {
        self.judge_flows(proof);
        self.judge_orders(proof);
        self.judge_priority(proof);
        self.judge_crossing(proof);
        self.judge_self_trades(proof);
        let done = &self.ledger.done;
        let twice = done.values().filter(|done| done.is_twice()).count();
        let untold = self.told.count_untold(done.keys());
        self.told.judge(proof, twice, untold, |id, known, answer| self.is_in_log(id, known, answer));
        self.told.judge_log(proof);
    }

    /// In every market, bought equals sold and paid equals received.
    fn judge_flows(&self, proof: &mut Proof) {
        let flows = self.ledger.flows.values();
        let sum = |figure: fn(&Flow) -> i64| flows.clone().map(figure).sum::<i64>();
        let (bought, sold) = (sum(|flow| flow.bought), sum(|flow| flow.sold));
        let (paid, received) = (sum(|flow| flow.paid), sum(|flow| flow.received));
        let uneven: u64 = flows.clone().map(|flow| flow.uneven).sum();
        let trades: u64 = flows.clone().map(|flow| flow.trades).sum();
        let shown = |is_buy| {
            let orders = self.shown.orders.values().filter(|order| order.is_buy == is_buy);
            orders.map(|order| order.filled).sum::<i64>()
        };
        let is_even = flows.clone().all(|flow| flow.bought == flow.sold && flow.paid == flow.received);
        let is_kept = is_even && uneven == 0 && shown(true) == bought && shown(false) == sold;
        let text = format!(
            "{} trades: {} bought, {} sold; {} paid, {} received; {uneven} uneven",
            grouped(trades),
            grouped(bought.unsigned_abs()),
            grouped(sold.unsigned_abs()),
            grouped(paid.unsigned_abs()),
            grouped(received.unsigned_abs())
        );
        let figures = json!({
            "trades": trades, "bought": bought, "sold": sold, "paid": paid, "received": received,
            "uneven": uneven, "shown_bought": shown(true), "shown_sold": shown(false),
        });
        proof.judge("what is bought is sold", is_kept, text, figures);
    }

    /// Every unit of every order is filled, open, cancelled or reduced.
    fn judge_orders(&self, proof: &mut Proof) {
        let orders = &self.ledger.orders;
        let is_shown = |(name, order): (&(String, String), &Order)| {
            self.shown.orders.get(name).is_some_and(|shown| {
                // The server counts cancelled units as units that will never be filled.
                shown.filled == order.filled && shown.remaining == order.remaining + order.cancelled
            })
        };
        let wrong =
            orders.iter().filter(|(name, order)| !order.adds_up() || !is_shown((name, order))).count();
        let sum = |figure: fn(&Order) -> i64| orders.values().map(figure).sum::<i64>();
        let figures = [
            sum(|order| order.quantity),
            sum(|order| order.filled),
            sum(|order| order.remaining),
            sum(|order| order.cancelled),
            sum(|order| order.reduced),
        ];
        let [quantity, filled, open, cancelled, reduced] = figures.map(|sum| grouped(sum.unsigned_abs()));
        let text = format!(
            "{} orders: {quantity} = {filled} filled + {open} open + {cancelled} cancelled + {reduced} reduced; {wrong} do not",
            grouped(orders.len() as u64)
        );
        let [quantity, filled, open, cancelled, reduced] = figures;
        let figures = json!({
            "orders": orders.len(), "wrong": wrong, "quantity": quantity, "filled": filled, "open": open,
            "cancelled": cancelled, "reduced": reduced,
        });
        proof.judge("orders add up", wrong == 0, text, figures);
    }

    /// A simple order book matches the same orders to the same trades, in the same order, and ends in the
    /// same state.
    fn judge_priority(&self, proof: &mut Proof) {
        let Replay { matched, deviations, books, .. } = self.replay;
        let is_same = |(market, depth): &(&String, &[Vec<Level>; 2])| match books.get(*market) {
            Some(book) => book.depth() == **depth,
            None => depth.iter().all(Vec::is_empty),
        };
        let same = self.shown.depths.iter().filter(is_same).count();
        let levels: usize = self.shown.depths.values().flatten().map(Vec::len).sum();
        let markets = self.shown.depths.len();
        let text = format!(
            "{} steps matched again in plain books, {deviations} otherwise; {same} of {markets} books the same in the end, {levels} levels",
            grouped(*matched)
        );
        let figures = json!({
            "matched": matched, "deviations": deviations, "markets": markets, "same_books": same, "levels": levels,
        });
        proof.judge("best price, then time", *deviations == 0 && same == markets, text, figures);
    }

    fn judge_crossing(&self, proof: &mut Proof) {
        let crossed = self.replay.crossed;
        let best = |depth: &[Vec<Level>; 2]| Some((depth[0].first()?.0, depth[1].first()?.0));
        let ends: Vec<(&String, (u64, u64))> =
            self.shown.depths.iter().filter_map(|(market, depth)| Some((market, best(depth)?))).collect();
        let now = ends.iter().filter(|(_, (bid, ask))| bid >= ask).count();
        let shown: Vec<String> = ends
            .iter()
            .map(|(market, (bid, ask))| format!("{market} {} | {}", grouped(*bid), grouped(*ask)))
            .collect();
        let text = format!("{crossed} times on the way, {now} in the end: {}", shown.join(", "));
        let figures = json!({ "on_the_way": crossed, "in_the_end": now });
        proof.judge("the book is not crossed", crossed == 0 && now == 0, text, figures);
    }

    fn judge_self_trades(&self, proof: &mut Proof) {
        let Ledger { self_trades, prevented, .. } = self.ledger;
        let text = format!(
            "{self_trades} by owners who forbid it; {} times an order was cancelled or reduced instead",
            grouped(*prevented)
        );
        let figures = json!({ "self_trades": self_trades, "prevented": prevented });
        proof.judge("no trade with oneself", *self_trades == 0, text, figures);
    }

    /// Whether the log contains what the trader was told: the same fills, or the same remainder.
    fn is_in_log(&self, id: &str, known: &Known<Instruction>, answer: &CallerAnswer) -> bool {
        let nothing = Done::default();
        let done = self.ledger.done.get(id).unwrap_or(&nothing);
        let figure = |at: usize| answer.figure(at).and_then(|figure| i64::try_from(figure).ok());
        match known.ask.deed {
            Instruction::Place(_) => done.placed == 1 && done.fills == fills_of(answer),
            Instruction::Replace { .. } => done.replaced == 1 && done.fills == fills_of(answer),
            Instruction::Cancel(_) => done.cancelled.iter().map(|(_, rest)| Some(*rest)).eq([figure(0)]),
            // A reduction by the remainder or more is a cancellation.
            Instruction::Reduce { .. } => {
                let cancelled = done.cancelled.iter().map(|(_, rest)| *rest);
                done.reduced.iter().copied().chain(cancelled).map(Some).eq([figure(1)])
            }
            Instruction::CancelAll { .. } => i64::try_from(done.cancelled.len()).ok() == figure(0),
        }
    }
}
