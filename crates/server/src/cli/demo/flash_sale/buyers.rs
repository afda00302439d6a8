//! The buyers: what each wants, how each behaves, and the commands that come of it.

/// The item on sale.
pub(super) const SKU: &str = "sneaker";
/// Whose money some of the buyers pay with.
pub(super) const BANK: &str = "bank";
/// Who gets it.
pub(super) const SHOP: &str = "shop";
/// The asset that is paid in.
pub(super) const ASSET: &str = "EUR";
/// What a unit costs, in cents.
pub(super) const PRICE: u64 = 12_900;

/// How long those who mean to confirm reserve: long enough for a crash in between.
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
    /// Reserves for a short time, and is never heard of again.
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
    /// Comes back for more under a new id.
    pub(super) is_greedy: bool,
}

/// What a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Take,
    Pay,
    Reserve,
    Confirm,
    Release,
}

/// A command of a buyer, under its operation id.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) id: String,
    pub(super) buyer: Buyer,
    pub(super) deed: Deed,
    pub(super) quantity: u64,
    /// It was answered before, and is sent again all the same.
    pub(super) is_again: bool,
}

/// What an answer was to its id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Noted {
    /// The first of all.
    pub(super) is_first: bool,
    /// The first that says it was applied.
    pub(super) is_applied_now: bool,
}

/// The crowd, drawn from a seed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crowd {
    pub(super) seed: u64,
    pub(super) count: u64,
    pub(super) per_owner: u64,
    pub(super) ttl_ms: u64,
}

impl Crowd {
    /// How many come in the rush; the others come when what was left lying is on sale again.
    pub(super) fn early(&self) -> u64 {
        self.count - self.count / 10
    }

    /// One of the buyers: the same for the same seed.
    pub(super) fn buyer(&self, number: u64) -> Buyer {
        let mut draw = Draw(self.seed ^ number.wrapping_mul(0xd134_2543_de82_ef95));
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
            insists: draw.below(100) < 30,
            doubles: draw.below(100) < 10,
            is_greedy: draw.below(100) < 10,
        }
    }
}

impl Buyer {
    /// The first command.
    pub(super) fn opening(self) -> Ask {
        let (word, deed) = match self.manner {
            Manner::Take => ("take", Deed::Take),
            Manner::Pay => ("pay", Deed::Pay),
            Manner::Confirm | Manner::Release | Manner::Vanish => ("reserve", Deed::Reserve),
        };
        self.ask(word, deed, self.quantity)
    }

    fn ask(self, word: &str, deed: Deed, quantity: u64) -> Ask {
        Ask { id: format!("{word}-{}", self.number), buyer: self, deed, quantity, is_again: false }
    }

    /// The name that the engine counts the buyer's units under.
    pub(super) fn owner(self) -> String {
        format!("buyer-{}", self.number)
    }
}

impl Ask {
    /// What the buyer sends next: when it was answered for the first time, and when it was applied.
    pub(super) fn follow_ups(&self, noted: Noted) -> Vec<Self> {
        let mut next = Vec::new();
        let buyer = self.buyer;
        let ends_with = match (self.deed, buyer.manner) {
            (Deed::Reserve, Manner::Confirm) => Some(("confirm", Deed::Confirm)),
            (Deed::Reserve, Manner::Release) => Some(("release", Deed::Release)),
            _ => None,
        };
        if let Some((word, deed)) = ends_with.filter(|_| noted.is_applied_now) {
            next.push(buyer.ask(word, deed, self.quantity));
        }
        if buyer.insists && noted.is_first {
            next.push(Self { is_again: true, ..self.clone() });
        }
        if buyer.is_greedy && noted.is_first && self.id == buyer.opening().id {
            next.push(buyer.ask("more", Deed::Take, 1));
        }
        next
    }

    /// Whether it goes out on two connections at once.
    pub(super) fn is_doubled(&self) -> bool {
        self.buyer.doubles && !self.is_again
    }

    /// The words that are sent; the last command's reply is the answer.
    pub(super) fn commands(&self, crowd: &Crowd) -> Vec<Vec<String>> {
        let owner = self.buyer.owner();
        let reservation = format!("r-{}", self.buyer.number);
        let quantity = self.quantity.to_string();
        let is_brief = self.buyer.manner == Manner::Vanish;
        let ttl = if is_brief { crowd.ttl_ms } else { PATIENT_TTL_MS }.to_string();
        match self.deed {
            Deed::Take => vec![self.words(&["STOCK.TAKE", SKU, &quantity, &owner])],
            Deed::Reserve => {
                vec![self.words(&["STOCK.RESERVE", SKU, &reservation, &quantity, &owner, &ttl])]
            }
            Deed::Confirm => vec![self.words(&["STOCK.CONFIRM", SKU, &reservation])],
            Deed::Release => vec![self.words(&["STOCK.RELEASE", SKU, &reservation])],
            Deed::Pay => {
                let amount = (PRICE * self.quantity).to_string();
                vec![
                    words(&["MULTI"]),
                    words(&["BATCH.ID", &self.id]),
                    words(&["ACCOUNT.TRANSFER", BANK, SHOP, &amount]),
                    words(&["STOCK.TAKE", SKU, &quantity, &owner]),
                    words(&["EXEC"]),
                ]
            }
        }
    }

    fn words(&self, command: &[&str]) -> Vec<String> {
        let mut words = words(command);
        words.extend(["ID".to_owned(), self.id.clone()]);
        words
    }
}

pub(super) fn words(command: &[&str]) -> Vec<String> {
    command.iter().map(|word| (*word).to_owned()).collect()
}

/// Numbers from a seed (SplitMix64): enough for a crowd's whims.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_crowd_with_every_manner_in_it() {
        let crowd = Crowd { seed: 7, count: 1_000, per_owner: 2, ttl_ms: 1_000 };
        let manners: Vec<Manner> = (0..900).map(|number| crowd.buyer(number).manner).collect();
        assert_eq!(manners, (0..900).map(|number| crowd.buyer(number).manner).collect::<Vec<_>>());
        for manner in [Manner::Take, Manner::Pay, Manner::Confirm, Manner::Release, Manner::Vanish] {
            assert!(manners.contains(&manner), "{manner:?}");
        }
        assert_eq!(crowd.buyer(900).manner, Manner::Take);
    }
}
