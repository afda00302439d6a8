//! Digests: XXH3-128 over each entity's canonical record, summed modulo 2^128, so that neither the order
//! of entities nor their location matters.
//!
//! A canonical record is the entity's kind (one byte), the id of its resource and the fields listed in
//! the entity's digest function, all in the encoding of [`crate::codec`]. It excludes sequences, epochs,
//! operation records and queue positions, and everything past its retention window.

use xxhash_rust::xxh3::xxh3_128;

use crate::codec::Wire;
use crate::types::Id;

/// The kind of entity of a canonical record; its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are those of the records")]
pub enum Kind {
    Account = 1,
    Hold = 2,
    Stock = 3,
    Reservation = 4,
    StockReceipt = 5,
    StockOwner = 6,
    Campaign = 7,
    Packet = 8,
    PacketClaim = 9,
    Coupon = 10,
    CouponCounter = 11,
    CouponClaim = 12,
    Market = 13,
    Order = 14,
}

/// A sum of entities' digests.
#[derive(Debug)]
pub struct Sum<'a> {
    only: Option<&'a Id>,
    total: u128,
    record: Vec<u8>,
    /// How many more entities may be added.
    left: usize,
}

impl<'a> Sum<'a> {
    /// Sums the entities of one resource, or of all resources.
    #[must_use]
    pub fn new(only: Option<&'a Id>) -> Self {
        Self { only, total: 0, record: Vec::new(), left: usize::MAX }
    }

    /// Ends after so many entities.
    #[must_use]
    pub(crate) fn up_to(self, entities_max: usize) -> Self {
        Self { left: entities_max.saturating_add(1), ..self }
    }

    /// Whether more may be added.
    pub(crate) fn has_room(&self) -> bool {
        self.left > 0
    }

    /// Adds an entity of `resource`; `put` writes its fields.
    pub fn add(&mut self, kind: Kind, resource: &Id, put: impl FnOnce(&mut Vec<u8>)) {
        if self.only.is_some_and(|only| only != resource) {
            return;
        }
        self.left = self.left.saturating_sub(1);
        self.record.clear();
        self.record.push(kind as u8);
        resource.put(&mut self.record);
        put(&mut self.record);
        self.total = self.total.wrapping_add(xxh3_128(&self.record));
    }

    /// The sum.
    #[must_use]
    pub fn total(&self) -> u128 {
        self.total
    }
}
