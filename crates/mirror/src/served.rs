//! A state in the keys of a partition that is served, for a deployment that moves to a Redis.

use scarce_core::state::State;

use crate::books::Books;
use crate::rows::{self, Item};

/// Gives every row and member, also what a mirror leaves out because it is still to be drawn.
pub fn each_served(state: &State, take: impl FnMut(&Item)) {
    rows::each_served(state, &Books::of(state), take);
}
