//! The keys of a partition: a fixed list of names behind one hash tag, so that all of them live in one
//! slot and every call declares the same ones.

use scarce_core::placement::crc16;

/// How many slots a Redis Cluster has.
const SLOTS: u16 = 16_384;

/// The slot of what stands in a key's braces, or of a key without them.
#[must_use]
pub fn slot(hashed: &[u8]) -> u16 {
    crc16(hashed) % SLOTS
}

/// The names in the order in which a call declares them. Hashes keep records by id; the others are ordered
/// sets whose members are compared as bytes, unless it says so.
///
/// | key | what is in it |
/// |---|---|
/// | `meta` | hash: epoch, sequence, stamps, the unfinished operation, the run of the server that decided last |
/// | `accounts`, `holds`; `holds_by` | by account, by `account hold`; `account hold` |
/// | `stock`, `reservations`, `owners` | by item, by `sku reservation`, by `sku owner` |
/// | `receipts_of`; `receipts`, `returned` | by `sku first`; `sku first`, `sku first count` |
/// | `campaigns`, `claims` | by campaign, by `campaign user` |
/// | `packets`, `claimants`; `listed` | by `campaign packet`; by the first such of amounts that are to be laid ready |
/// | `coupons`, `coupon_claims` | by coupon, by `coupon serial` |
/// | `counts`; `counts_by` | by `coupon limit window subject`; the same behind the end of the window |
/// | `markets`, `orders`; `tape` | by market, by `market order`; last trades by `market place` |
/// | `steps` | by number: what the steps so far of the unfinished operation have answered |
/// | `book`, `levels`; `level_totals` | `market side rank priority order`, `market side rank`; by level |
/// | `own`; `own_levels` | `market owner priority order`; by `market owner side rank` |
/// | `names` | `kind name` of every resource |
/// | `due`, `due_by`, `ended` | `deadline kind resource record`, `kind resource deadline record`, as `due` |
/// | `operations`; `operations_by` | by `namespace id`; list: `stamp sequence number ids` |
/// | `histories` | hash: the epochs that wrote the log, by their first sequence |
/// | `log` | stream: entries, under the sequence of their last event |
///
/// Beside them there are `waited`, a number that rises when replicas or the disk are waited for; `consumers`,
/// which says how far the log is needed; and `inputs`, which says how far commands from Kafka were consumed; and without a tag, for all partitions, the deployment and the registry of scripts. `docs/redis-keys.md` has every field.
pub const NAMES: [&str; 36] = [
    "meta",
    "accounts",
    "holds",
    "holds_by",
    "stock",
    "reservations",
    "owners",
    "receipts",
    "receipts_of",
    "returned",
    "campaigns",
    "packets",
    "claims",
    "claimants",
    "listed",
    "coupons",
    "counts",
    "counts_by",
    "coupon_claims",
    "markets",
    "orders",
    "book",
    "levels",
    "level_totals",
    "own",
    "own_levels",
    "tape",
    "steps",
    "names",
    "due",
    "due_by",
    "ended",
    "operations",
    "operations_by",
    "histories",
    "log",
];

/// The keys of one partition.
#[derive(Clone, Debug)]
pub struct Keys {
    partition: u32,
    front: String,
    all: Vec<String>,
    slot: u16,
}

impl Keys {
    /// The keys of a partition behind a deployment's prefix.
    #[must_use]
    pub fn new(prefix: &str, partition: u32, partitions: u32) -> Self {
        let tag = tag(partition, partitions);
        let front = format!("{prefix}{{{tag}}}:");
        let all = NAMES.iter().map(|name| format!("{front}{name}")).collect();
        Self { partition, front, all, slot: slot(tag.as_bytes()) }
    }

    /// All of them, in the order in which a call declares them.
    #[must_use]
    pub fn all(&self) -> &[String] {
        &self.all
    }

    /// Those that a call declares: all where keys move, so that none is touched that is elsewhere by then; and else only
    /// the first, from which the library knows the others, because the server takes time for each.
    #[must_use]
    pub fn declared(&self, moves_keys: bool) -> &[String] {
        if moves_keys { &self.all } else { &self.all[..1] }
    }

    /// Whose keys they are.
    #[must_use]
    pub fn partition(&self) -> u32 {
        self.partition
    }

    /// The slot in which they are.
    #[must_use]
    pub fn slot(&self) -> u16 {
        self.slot
    }

    /// The key of a name.
    #[must_use]
    pub fn of(&self, name: &str) -> String {
        format!("{}{name}", self.front)
    }
}

/// The first `p<partition>-<n>` whose slot lies in the partition's share of all slots, so that partitions
/// are spread evenly over the nodes of a cluster.
fn tag(partition: u32, partitions: u32) -> String {
    let share = |at: u32| u64::from(at) * u64::from(SLOTS) / u64::from(partitions.max(1));
    let slots = share(partition)..share(partition + 1);
    (0_u32..)
        .map(|number| format!("p{partition}-{number}"))
        .find(|tag| slots.contains(&u64::from(slot(tag.as_bytes()))))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_spread_over_all_slots() {
        for partition in 0..64 {
            let keys = Keys::new("shop:", partition, 64);
            assert_eq!(u32::from(keys.slot() / (SLOTS / 64)), partition);
        }
        let keys = Keys::new("shop:", 0, 1);
        assert_eq!(keys.of("meta"), "shop:{p0-0}:meta");
        assert_eq!(keys.all().len(), NAMES.len());
        assert_eq!(keys.declared(false), ["shop:{p0-0}:meta"]);
        assert_eq!(keys.declared(true), keys.all());
    }
}
