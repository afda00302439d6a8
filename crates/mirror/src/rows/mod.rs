//! A state in the words of the keys: each record gives a row of a hash, and the members of ordered sets that follow from it.
//! `scarce_engine_redis::records` says which fields a row has; `docs/redis-keys.md` shows all of them.

mod accounts;
mod coupons;
mod markets;
mod packets;
mod stock;

use std::fmt::{self, Display, Write};

use compact_str::CompactString;
use scarce_core::deadlines::RecordKind;
use scarce_core::state::State;
use scarce_core::types::{Id, TimeMs};

use crate::books::Books;
pub(crate) use markets::place_of;
pub(crate) use packets::put_secrets;

/// What a key holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    /// A row of a hash: the name of its key, its field and its text.
    Row(&'static str, String, String),
    /// A member of an ordered set: the name of its key, and the member.
    Member(&'static str, String),
}

impl Item {
    /// The name of its key.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Self::Row(key, ..) | Self::Member(key, _) => key,
        }
    }

    /// Its field, or its member.
    #[must_use]
    pub fn place(&self) -> &str {
        match self {
            Self::Row(_, place, _) | Self::Member(_, place) => place,
        }
    }

    /// Whether it is at the same place as another one, whatever a row says.
    #[must_use]
    pub fn is_at(&self, other: &Self) -> bool {
        self.key() == other.key() && self.place() == other.place()
    }
}

/// What a record is found by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowName {
    /// An account.
    Account(Id),
    /// A hold, by account and name.
    Hold(Id, Id),
    /// An item.
    Stock(Id),
    /// A reservation, by item and name.
    Reservation(Id, Id),
    /// An owner's count, by item and owner.
    Owner(Id, Id),
    /// A receipt with its returned serials, by item and first serial.
    Receipt(Id, u64),
    /// A campaign.
    Campaign(Id),
    /// A claim with its packet, by campaign and user.
    Claim(Id, Id),
    /// A coupon.
    Coupon(Id),
    /// A claim of a coupon, by its serial.
    CouponClaim(Id, u64),
    /// A counter: coupon, index of the limit, window, subject.
    Counter(Id, u32, i64, CompactString),
    /// An order, by market and name. Before markets and levels, whose totals follow from orders.
    Order(Id, Id),
    /// A market.
    Market(Id),
    /// A trade on the tape, by market and place.
    Trade(Id, u64),
    /// What rests at a price: market, side, rank.
    Level(Id, &'static str, u64),
    /// What rests of an owner at a price: market, owner, side, rank.
    OwnLevel(Id, Id, &'static str, u64),
}

/// Gives what the keys hold of a record; nothing where there is no such record.
pub fn put(state: &State, books: &Books, name: &RowName, out: &mut Vec<Item>) {
    match name {
        RowName::Account(id) => accounts::put_account(state, id, out),
        RowName::Hold(account, name) => accounts::put_hold(state, account, name, out),
        RowName::Stock(sku) => stock::put_item(state, sku, out),
        RowName::Reservation(sku, name) => stock::put_reservation(state, sku, name, out),
        RowName::Owner(sku, owner) => stock::put_owner(state, sku, owner, out),
        RowName::Receipt(sku, first) => stock::put_receipt(state, sku, *first, out),
        RowName::Campaign(id) => packets::put_campaign(state, id, out),
        RowName::Claim(campaign, user) => packets::put_claim(state, campaign, user, out),
        RowName::Coupon(id) => coupons::put_coupon(state, id, out),
        RowName::CouponClaim(coupon, serial) => coupons::put_claim(state, coupon, *serial, out),
        RowName::Counter(coupon, place, window, subject) => {
            coupons::put_counter(state, coupon, (*place, *window, subject), out);
        }
        RowName::Order(market, name) => markets::put_order(state, market, name, out),
        RowName::Market(id) => markets::put_market(state, books, id, out),
        RowName::Trade(market, place) => markets::put_trade(state, market, *place, out),
        RowName::Level(market, side, rank) => markets::put_level(books, (market, side, *rank), out),
        RowName::OwnLevel(market, owner, side, rank) => {
            markets::put_own_level(books, (market, owner, side, *rank), out);
        }
    }
}

/// Names every record of a state.
pub fn each(state: &State, books: &Books, mut take: impl FnMut(RowName)) {
    accounts::each(state, &mut take);
    stock::each(state, &mut take);
    packets::each(state, &mut take);
    coupons::each(state, &mut take);
    markets::each(state, books, &mut take);
}

/// Gives everything that the keys of a partition hold that is served: also what is still to be drawn.
pub fn each_served(state: &State, books: &Books, mut take: impl FnMut(&Item)) {
    let mut items = Vec::new();
    each(state, books, |name| {
        put(state, books, &name, &mut items);
        items.drain(..).filter(|item| item.key() != "campaigns").for_each(|item| take(&item));
    });
    packets::each_hidden(state, &mut take);
}

/// Joins the fields of a row.
fn join(fields: &[&dyn Display]) -> String {
    let mut text = String::with_capacity(64);
    for (place, field) in fields.iter().enumerate() {
        if place > 0 {
            text.push('|');
        }
        // Writing to a text cannot fail.
        let _ = write!(text, "{field}");
    }
    text
}

/// A field that may have no value: then it is empty.
struct Maybe<T>(Option<T>);

impl<T: Display> Display for Maybe<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |value| value.fmt(formatter))
    }
}

/// A truth value.
fn flag(is_so: bool) -> u8 {
    u8::from(is_so)
}

/// The name of a record that belongs to another one.
fn pair(resource: &dyn Display, record: &dyn Display) -> String {
    format!("{resource} {record}")
}

/// The members for a record that ends at a deadline.
fn put_due(deadline: TimeMs, kind: RecordKind, resource: &Id, record: &str, out: &mut Vec<Item>) {
    let kind = kind.word();
    out.push(Item::Member("due", format!("{deadline:016} {kind} {resource} {record}")));
    out.push(Item::Member("due_by", format!("{kind} {resource} {deadline:016} {record}")));
}

/// The member for a record that ended, or will without an event.
fn put_ended(ended_at: TimeMs, kind: RecordKind, resource: &Id, record: &dyn Display, out: &mut Vec<Item>) {
    out.push(Item::Member("ended", format!("{ended_at:016} {} {resource} {record}", kind.word())));
}

/// The member by which a resource is listed.
fn put_name(kind: &str, id: &Id, out: &mut Vec<Item>) {
    out.push(Item::Member("names", format!("{kind} {id}")));
}
