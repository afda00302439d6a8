//! The terms. Each name has a general one, and others for more specific meanings.

mod accounts;
mod coupons;
mod general;
mod lists;
mod markets;
mod packets;
mod shapes;
mod stock;

use super::term::{Term, Unit};
use scarce_core::language::Text;

/// Every term.
pub fn all() -> impl Iterator<Item = &'static Term> {
    [
        general::TERMS,
        lists::TERMS,
        accounts::TERMS,
        stock::TERMS,
        packets::TERMS,
        coupons::TERMS,
        markets::TERMS,
        shapes::TERMS,
    ]
    .into_iter()
    .flatten()
}

/// A term without a unit.
const fn word(scope: &'static str, name: &'static str, en: &'static str, zh: &'static str) -> Term {
    Term { scope, name, unit: None, meaning: Text::new(en, zh) }
}

/// A term of a number.
const fn figure(
    scope: &'static str,
    name: &'static str,
    unit: Unit,
    en: &'static str,
    zh: &'static str,
) -> Term {
    Term { scope, name, unit: Some(unit), meaning: Text::new(en, zh) }
}
