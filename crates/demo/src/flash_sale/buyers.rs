//! The buyers: what each wants, how each behaves, and the resulting commands.

use super::super::ask::{Ask, CallerAnswer, Deed, Request};
use super::super::crowd::{Crowd, Draw};
use super::super::proof::grouped;
use super::super::record::{Known, Noted, Record};

/// The item on sale.
pub(super) const SKU: &str = "sneaker";
/// The account that some of the buyers pay from.
pub(super) const BANK: &str = "bank";
/// The account that receives the money.
pub(super) const SHOP: &str = "shop";
/// The asset of payments.
pub(super) const ASSET: &str = "EUR";
/// The price of a unit, in cents.
pub(super) const PRICE: u64 = 12_900;

/// How long buyers who intend to confirm reserve: long enough for a crash in between.
pub(super) const PATIENT_TTL_MS: u64 = 30_000;

/// How a buyer buys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// Takes at once.
    Take,
    /// Pays and takes in one atomic batch.
    Pay,
    /// Reserves, then confirms.
    Confirm,
    /// Reserves, then changes their mind.
    Release,
    /// Reserves for a short time and never comes back.
    Vanish,
}

/// A buyer of the crowd.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buyer {
    pub(super) number: u64,
    pub(super) quantity: u64,
    pub(super) manner: Manner,
    /// Sends the same command again although it was answered.
    pub(super) insists: bool,
    /// Sends the same command on two connections at once.
    pub(super) doubles: bool,
    /// Returns for more under a new id.
    pub(super) is_greedy: bool,
}

/// The purpose of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Take,
    Pay,
    Reserve,
    Confirm,
    Release,
}

/// A command of a buyer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Purchase {
    pub(super) buyer: Buyer,
    pub(super) step: Step,
    pub(super) quantity: u64,
    /// How long vanishing buyers keep their units reserved.
    ttl_ms: u64,
}

/// Counts of the answers so far.
#[derive(Default)]
pub(super) struct Tally {
    /// Units that buyers hold according to their acknowledgements.
    pub(super) sold: u64,
    /// Units left, according to the last answer.
    pub(super) available: Option<u64>,
}

/// The crowd, generated from a seed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buyers {
    pub(super) seed: u64,
    pub(super) count: u64,
    pub(super) units: u64,
    pub(super) per_owner: u64,
    pub(super) ttl_ms: u64,
}

impl Buyers {
    /// The number of buyers in the rush; the others arrive when expired reservations are on sale again.
    pub(super) fn early(&self) -> u64 {
        self.count - self.count / 10
    }

    /// One of the buyers: the same for the same seed.
    pub(super) fn buyer(&self, number: u64) -> Buyer {
        let mut draw = Draw::of(self.seed, number);
        let is_late = number >= self.early();
        let manner = match draw.below(100) {
            _ if is_late => Manner::Take,
            0..55 => Manner::Take,
            55..75 => Manner::Pay,
            75..91 => Manner::Confirm,
            91..95 => Manner::Release,
            _ => Manner::Vanish,
        };
        let quantity = if is_late { 1 } else { 1 + draw.below(2) };
        Buyer {
            number,
            quantity: quantity.min(self.per_owner),
            manner,
            insists: draw.percent(30),
            doubles: draw.percent(10),
            is_greedy: draw.percent(10),
        }
    }

    fn ask(&self, buyer: Buyer, word: &str, step: Step, quantity: u64) -> Ask<Purchase> {
        let deed = Purchase { buyer, step, quantity, ttl_ms: self.ttl_ms };
        let ask = Ask::new(format!("{word}-{}", buyer.number), deed);
        Ask { insists: buyer.insists, doubles: buyer.doubles, ..ask }
    }
}

impl Crowd for Buyers {
    type Deed = Purchase;
    type Tally = Tally;

    fn speaks_http(&self) -> bool {
        true
    }

    fn arrive(&self, number: u64) -> Ask<Purchase> {
        let buyer = self.buyer(number);
        let (word, step) = match buyer.manner {
            Manner::Take => ("take", Step::Take),
            Manner::Pay => ("pay", Step::Pay),
            Manner::Confirm | Manner::Release | Manner::Vanish => ("reserve", Step::Reserve),
        };
        self.ask(buyer, word, step, buyer.quantity)
    }

    fn follow_ups(&self, ask: &Ask<Purchase>, _: &CallerAnswer, noted: Noted) -> Vec<Ask<Purchase>> {
        let mut next = Vec::new();
        let Purchase { buyer, step, quantity, .. } = ask.deed;
        let ends_with = match (step, buyer.manner) {
            (Step::Reserve, Manner::Confirm) => Some(("confirm", Step::Confirm)),
            (Step::Reserve, Manner::Release) => Some(("release", Step::Release)),
            _ => None,
        };
        if let Some((word, step)) = ends_with.filter(|_| noted.is_applied_now) {
            next.push(self.ask(buyer, word, step, quantity));
        }
        if buyer.is_greedy && noted.is_first && ask.id == self.arrive(buyer.number).id {
            next.push(self.ask(buyer, "more", Step::Take, 1));
        }
        next
    }

    fn count(&self, tally: &mut Tally, ask: &Ask<Purchase>, answer: &CallerAnswer, noted: Noted) {
        if noted.is_applied_now {
            let sale = ask.deed.sale(answer);
            tally.sold += sale.map_or(0, |(_, count)| count);
            tally.available = ask.deed.left(answer).or(tally.available);
        }
    }

    fn is_due(&self, _: usize, record: &Record<Self>) -> bool {
        record.tally.sold >= self.units.div_ceil(2) || record.answers >= self.early().div_ceil(3)
    }

    fn picture(&self, record: &Record<Self>) -> (u64, String) {
        (record.tally.available.unwrap_or(self.units), record.refusals_text())
    }

    fn so_far(&self, record: &Record<Self>) -> String {
        format!("{} units sold and {} answers given", grouped(record.tally.sold), grouped(record.answers))
    }
}

impl Buyer {
    /// The owner name under which the engine counts the buyer's units.
    pub(super) fn owner(self) -> String {
        format!("buyer-{}", self.number)
    }
}

impl Purchase {
    /// The values in the answer about the units; those of a payment precede them.
    pub(super) fn figures(&self, answer: &CallerAnswer) -> Vec<i64> {
        let skipped = if self.step == Step::Pay { 2 } else { 0 };
        answer.figures().into_iter().skip(skipped).collect()
    }

    /// The serials in an answer: the first, and how many.
    pub(super) fn sale(&self, answer: &CallerAnswer) -> Option<(u64, u64)> {
        let figures = self.figures(answer);
        let figure = |at: usize| figures.get(at).and_then(|figure| u64::try_from(*figure).ok());
        match self.step {
            Step::Take | Step::Pay => Some((figure(0)?, self.quantity)),
            Step::Confirm => Some((figure(0)?, figure(1)?)),
            Step::Reserve | Step::Release => None,
        }
    }

    /// How many units are left, if the answer says so.
    fn left(&self, answer: &CallerAnswer) -> Option<u64> {
        let figures = self.figures(answer);
        figures.get(1).filter(|_| self.step != Step::Confirm).and_then(|left| u64::try_from(*left).ok())
    }
}

/// The serials that a buyer holds by an acknowledgement.
pub(super) fn sale(known: &Known<Purchase>) -> Option<(u64, u64)> {
    known.applied().and_then(|answer| known.ask.deed.sale(answer))
}

impl Deed for Purchase {
    fn request(&self, id: &str) -> Request {
        let owner = self.buyer.owner();
        let reservation = format!("r-{}", self.buyer.number);
        let quantity = self.quantity.to_string();
        let is_brief = self.buyer.manner == Manner::Vanish;
        let ttl = if is_brief { self.ttl_ms } else { PATIENT_TTL_MS }.to_string();
        match self.step {
            Step::Take => Request::one(id, &["STOCK.TAKE", SKU, &quantity, &owner]),
            Step::Reserve => Request::one(id, &["STOCK.RESERVE", SKU, &reservation, &quantity, &owner, &ttl]),
            Step::Confirm => Request::one(id, &["STOCK.CONFIRM", SKU, &reservation]),
            Step::Release => Request::one(id, &["STOCK.RELEASE", SKU, &reservation]),
            Step::Pay => {
                let amount = (PRICE * self.quantity).to_string();
                let pay = ["ACCOUNT.TRANSFER", BANK, SHOP, &amount];
                Request::batch(id, &[&pay, &["STOCK.TAKE", SKU, &quantity, &owner]])
            }
        }
    }

    /// Refusals of batches with money are remembered too; refusals of stock alone are not.
    fn is_refusal_remembered(&self) -> bool {
        self.step == Step::Pay
    }
}

#[cfg(test)]
mod tests {
    use redis::Value;

    use super::*;

    const CROWD: Buyers = Buyers { seed: 7, count: 1_000, units: 10, per_owner: 2, ttl_ms: 1_000 };

    #[test]
    fn the_same_seed_gives_the_same_crowd_with_every_manner_in_it() {
        let manners: Vec<Manner> = (0..900).map(|number| CROWD.buyer(number).manner).collect();
        assert_eq!(manners, (0..900).map(|number| CROWD.buyer(number).manner).collect::<Vec<_>>());
        for manner in [Manner::Take, Manner::Pay, Manner::Confirm, Manner::Release, Manner::Vanish] {
            assert!(manners.contains(&manner), "{manner:?}");
        }
        assert_eq!(CROWD.buyer(900).manner, Manner::Take);
    }

    fn take() -> Ask<Purchase> {
        CROWD.ask(CROWD.buyer(0), "take", Step::Take, 2)
    }

    fn applied() -> CallerAnswer {
        CallerAnswer::Applied(vec![Value::Int(1), Value::Int(8)])
    }

    fn sold_out() -> CallerAnswer {
        CallerAnswer::Refused("SOLD_OUT".to_owned(), Vec::new())
    }

    #[test]
    fn another_answer_for_an_answered_id_is_noticed() {
        let mut record = Record::<Buyers>::default();
        assert!(!record.note_sent(&take()));
        record.note_answer(&CROWD, &take(), false, &applied(), 1);
        assert_eq!((record.tally.sold, record.tally.available), (2, Some(8)));
        record.note_answer(&CROWD, &take(), true, &applied(), 1);
        assert!(record.changed.is_empty());
        record.note_answer(&CROWD, &take(), true, &sold_out(), 1);
        assert_eq!(record.changed.len(), 1);
    }

    #[test]
    fn a_refusal_that_overtook_its_twin_is_no_change() {
        let mut record = Record::<Buyers>::default();
        record.note_sent(&take());
        record.note_answer(&CROWD, &take(), false, &applied(), 1);
        record.note_answer(&CROWD, &take(), false, &sold_out(), 1);
        assert!(record.changed.is_empty());
    }
}
