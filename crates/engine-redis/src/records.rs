//! The hashes' records: which fields they have, and in which order they are joined. The library writes and reads
//! them by this table, and so does the image that is made of the keys.

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// A text, as it is.
    Text,
    /// A number in digits.
    Number,
    /// A list, as JSON.
    List,
}

/// A field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldSpec {
    /// Its name in the library and on the page of the keys.
    pub name: &'static str,
    /// What it holds.
    pub kind: FieldKind,
}

/// The records of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordSpec {
    /// The name of the hash's key.
    pub name: &'static str,
    /// The fields in the order in which they are joined. Only the last one may have a `|` in its text.
    pub fields: &'static [FieldSpec],
}

impl RecordSpec {
    /// How many fields at the end rows may lack, which were written before the record was given them.
    #[must_use]
    pub fn added_count(&self) -> usize {
        match self.name {
            "stock" => 3,
            "campaigns" => 2,
            _ => 0,
        }
    }

    /// The place of a field.
    #[must_use]
    pub fn place(&self, field: &str) -> Option<usize> {
        self.fields.iter().position(|spec| spec.name == field)
    }
}

/// The records of a hash.
#[must_use]
pub fn find(name: &str) -> Option<&'static RecordSpec> {
    RECORDS.iter().find(|record| record.name == name)
}

/// The version of keys and records. A release refuses a newer one than its own, at its start and with each call.
pub const FORMAT_VERSION: u32 = 3;

/// The field of the hash of a deployment by which a mirror says whose state it shows. Such a hash has no ID of its own.
pub const MIRROR_OF: &str = "mirror_of";

/// The fields of the hash `meta`, which is no table of records, in the order in which they are read. The first five
/// are numbers. All of them are there from the beginning, so that one that was deleted is missed.
pub const META_FIELDS: [&str; 13] = [
    "epoch",
    "sequence",
    "at",
    "now",
    "forgotten_at",
    "unfinished",
    "primary",
    "moved",
    "deployment",
    "sizes",
    "format",
    "lost",
    "damaged",
];

/// How many of [`META_FIELDS`] are numbers.
pub const META_NUMBERS: usize = 5;

macro_rules! records {
    ($($record:ident { $($field:ident: $kind:ident),* $(,)? })*) => {
        /// Every record, in the order of the keys.
        pub static RECORDS: &[RecordSpec] = &[$(RecordSpec {
            name: stringify!($record),
            fields: &[$(FieldSpec { name: stringify!($field), kind: FieldKind::$kind }),*],
        }),*];
    };
}

records! {
    accounts { asset: Text, balance: Number, held: Number, overdraft: Number, status: Text }
    holds { amount: Number, status: Text, deadline: Number, ended_at: Number }
    stock {
        total: Number, available: Number, reserved: Number, sold: Number, returned: Number, serial: Number,
        per_owner_max: Number, starts_at: Number, ends_at: Number, closed: Number,
        audit_horizon: Number, audit_through: Number, audit_counted: Number, audit_expected: Number,
        receipts_due: Number, forgotten_through: Number, forgotten_sold: Number,
    }
    reservations {
        owner: Text, quantity: Number, status: Text, deadline: Number, first_serial: Number, ended_at: Number,
    }
    owners { used: Number }
    receipts_of { count: Number, returned: Number, owner: Text, at: Number, operation: Text }
    campaigns {
        asset: Text, count: Number, total: Number, method: Text, min: Number, max: Number, starts_at: Number,
        ends_at: Number, seed: Text, commitment: Text, laid_count: Number, claimed_count: Number,
        claimed_amount: Number, closed_at: Number, forgotten_through: Number, forgotten_amount: Number,
    }
    packets { amount: Number }
    claims { packet: Number, at: Number }
    claimants { user: Text }
    listed { amounts: Text }
    coupons {
        starts_at: Number, ends_at: Number, claim_ttl_ms: Number, paused: Number, serial: Number, limits: List,
    }
    counts { used: Number, ends_at: Number }
    coupon_claims {
        at: Number, deadline: Number, status: Text, ended_at: Number, windows: List, subject: List,
    }
    markets {
        tick: Number, lot: Number, min_quantity: Number, max_quantity: Number, halted: Number, trades: Number,
        priority: Number, orders: Number, bids_total: Number, asks_total: Number,
    }
    orders {
        owner: Text, side: Text, price: Number, remaining: Number, filled: Number, tif: Text, stp: Text,
        status: Text, reason: Text, ended_at: Number, priority: Number,
    }
    level_totals { quantity: Number, orders: Number }
    own_levels { quantity: Number }
    steps { fills: Text }
    tape { trade: Number, price: Number, quantity: Number, taker_side: Text, at: Number }
    operations {
        fingerprint: Text, at: Number, sequence_last: Number, events: Number, epoch: Number, code: Number,
        facts: Text,
    }
}
