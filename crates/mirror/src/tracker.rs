//! Follows the log and gathers what the keys must hold then.

use std::collections::BTreeMap;

use scarce_core::event::{Entry, Position};
use scarce_core::follower::Follower;
use scarce_core::machine::Machine;
use scarce_core::state::State;

use crate::books::{Books, Resting};
use crate::rows::{self, Item, RowName};
use crate::touched::touched;

/// What is to be written so that the keys show a later position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Rows and members that must be there.
    pub present: Vec<Item>,
    /// Rows and members that must not; the text of a row does not matter.
    pub absent: Vec<Item>,
}

impl Changes {
    /// Whether nothing is to be written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.present.is_empty() && self.absent.is_empty()
    }

    /// How many rows and members they are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.present.len() + self.absent.len()
    }
}

/// A state that follows the log, and what the keys hold of the records that changed since they were written.
#[derive(Debug)]
pub struct Tracker {
    follower: Follower,
    books: Books,
    /// What there was of each changed record, and where an order rested.
    before: BTreeMap<RowName, (Vec<Item>, Option<Resting>)>,
}

impl Tracker {
    /// Begins with the state of an engine.
    #[must_use]
    pub fn new(image: Machine) -> Self {
        let follower = Follower::new(image);
        let books = Books::of(follower.state());
        Self { follower, books, before: BTreeMap::new() }
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> &State {
        self.follower.state()
    }

    /// The partition's number.
    #[must_use]
    pub fn partition(&self) -> u32 {
        self.follower.partition()
    }

    /// The position of the last event.
    #[must_use]
    pub fn position(&self) -> Position {
        self.follower.position()
    }

    /// Folds an entry; one that is folded already changes nothing.
    pub fn follow(&mut self, entry: &Entry) {
        let Self { follower, books, before } = self;
        follower.follow(entry, |state, change| {
            touched(state, change, &mut |name| {
                before.entry(name).or_insert_with_key(|name| {
                    let mut items = Vec::new();
                    rows::put(state, books, name, &mut items);
                    (items, resting(state, name))
                });
            });
        });
    }

    /// What the keys must hold now of all that changed since this was asked last.
    pub fn changes(&mut self) -> Changes {
        let mut before = std::mem::take(&mut self.before);
        self.book(&mut before);
        let (mut changes, mut after) = (Changes::default(), Vec::new());
        for (name, (before, _)) in before {
            after.clear();
            rows::put(self.follower.state(), &self.books, &name, &mut after);
            changes.absent.extend(before.into_iter().filter(|item| !after.iter().any(|its| its.is_at(item))));
            changes.present.append(&mut after);
        }
        changes
    }

    /// The records that changed since this was asked last, or [`Tracker::changes`] was.
    pub fn changed_names(&mut self) -> Vec<RowName> {
        let mut before = std::mem::take(&mut self.before);
        self.book(&mut before);
        before.into_keys().collect()
    }

    /// Every record of the state.
    pub(crate) fn names(&self) -> Vec<RowName> {
        let mut names = Vec::new();
        rows::each(self.follower.state(), &self.books, |name| names.push(name));
        names
    }

    /// Forgets what changed, because all of the keys is compared with the state.
    pub fn settle(&mut self) {
        self.before.clear();
        self.books = Books::of(self.follower.state());
    }

    /// Names everything that the keys must hold.
    pub fn each_item(&self, mut take: impl FnMut(&RowName, &Item)) {
        let (state, mut items) = (self.follower.state(), Vec::new());
        rows::each(state, &self.books, |name| {
            items.clear();
            rows::put(state, &self.books, &name, &mut items);
            items.iter().for_each(|item| take(&name, item));
        });
    }

    /// What the keys must hold of a record.
    pub fn items(&self, name: &RowName) -> Vec<Item> {
        let mut items = Vec::new();
        rows::put(self.follower.state(), &self.books, name, &mut items);
        items
    }

    /// Books orders that changed, and adds the levels that change by them.
    fn book(&mut self, before: &mut BTreeMap<RowName, (Vec<Item>, Option<Resting>)>) {
        let state = self.follower.state();
        let mut moved = Vec::new();
        for (name, (_, was)) in before.iter() {
            let RowName::Order(market, _) = name else { continue };
            let is = resting(state, name);
            if *was != is {
                moved.push((market.clone(), was.clone(), is));
            }
        }
        for (market, was, is) in &moved {
            for Resting { side, rank, owner, .. } in was.iter().chain(is) {
                for name in [
                    RowName::Level(market.clone(), side, *rank),
                    RowName::OwnLevel(market.clone(), owner.clone(), side, *rank),
                ] {
                    let items = |name: &RowName| (self.items(name), None);
                    before.entry(name).or_insert_with_key(items);
                }
            }
        }
        for (market, was, is) in moved {
            self.books.replace(&market, was.as_ref(), is.as_ref());
        }
    }
}

/// Where an order rests.
fn resting(state: &State, name: &RowName) -> Option<Resting> {
    let RowName::Order(market, name) = name else { return None };
    state.markets.order(market, name).and_then(Resting::of)
}
