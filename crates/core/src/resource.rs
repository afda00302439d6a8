//! The kinds of resources, on which commands act and which events change.

use crate::deadlines::RecordKind;

/// The kind of resource that an id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceKind {
    /// An account, with its holds.
    Account,
    /// A stock item, with its reservations and receipts.
    Stock,
    /// A campaign of red packets.
    Campaign,
    /// A coupon, with its claims.
    Coupon,
    /// A market, with its orders.
    Market,
}

impl ResourceKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Account, Self::Stock, Self::Campaign, Self::Coupon, Self::Market];

    /// The word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::Stock => "stock",
            Self::Campaign => "campaign",
            Self::Coupon => "coupon",
            Self::Market => "market",
        }
    }

    /// The kinds of records of such a resource that a passed deadline ends by an event, in the order in which that happens
    /// before a command on the resource is decided. A coupon's claims expire without an event.
    #[must_use]
    pub const fn ends_by_deadline(self) -> &'static [RecordKind] {
        match self {
            Self::Account => &[RecordKind::Hold],
            Self::Stock => &[RecordKind::Reservation, RecordKind::Sale],
            Self::Campaign => &[RecordKind::Share],
            Self::Coupon | Self::Market => &[],
        }
    }
}

/// The kind of resource in a row of the tables: `Any` if an id only selects the partition, `Nothing` if
/// there is no id.
macro_rules! resource_kind {
    (Any) => {
        None
    };
    (Nothing) => {
        None
    };
    ($kind:ident) => {
        Some($crate::resource::ResourceKind::$kind)
    };
}

pub(crate) use resource_kind;
