//! All of a partition's keys against all of a state.

use redis::cmd;
use scarce_engine::Failure;
use scarce_engine_redis::connection::{Link, Refused};
use scarce_engine_redis::keys::Keys;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::MirrorError;
use crate::rows::{Item, RowName};
use crate::tracker::{Changes, Tracker};

/// The hashes and ordered sets of which a mirror has rows.
pub(crate) const HASHES: [&str; 19] = [
    "accounts",
    "holds",
    "stock",
    "reservations",
    "owners",
    "receipts_of",
    "campaigns",
    "packets",
    "claims",
    "claimants",
    "coupons",
    "counts",
    "coupon_claims",
    "markets",
    "orders",
    "level_totals",
    "own_levels",
    "tape",
    "listed",
];

/// The ordered sets.
pub(crate) const SETS: [&str; 11] = [
    "holds_by",
    "receipts",
    "returned",
    "counts_by",
    "book",
    "levels",
    "own",
    "names",
    "due",
    "due_by",
    "ended",
];

/// How many rows one reading brings, more or less.
const ROWS_PER_READING: usize = 1_000;

/// What the keys must hold, as hashes of places with hashes of texts.
struct Expected {
    /// Sorted by the place.
    rows: Vec<(u64, u64)>,
    is_met: Vec<bool>,
}

/// What of the keys is not as it must be.
#[derive(Clone, Debug, Default)]
pub(crate) struct Differences {
    /// Records of which something is missing or says something else.
    pub(crate) names: Vec<RowName>,
    /// What is there and must not be.
    pub(crate) extra: Vec<Item>,
    /// How many rows and members were compared.
    pub(crate) compared: u64,
}

/// Where something is, as a number.
fn place_of(key: &str, place: &str) -> u64 {
    let mut text = String::with_capacity(key.len() + place.len() + 1);
    text.extend([key, "\n", place]);
    xxh3_64(text.as_bytes())
}

fn text_of(item: &Item) -> u64 {
    match item {
        Item::Row(_, _, text) => xxh3_64(text.as_bytes()),
        Item::Member(..) => 0,
    }
}

impl Expected {
    fn of(tracker: &Tracker) -> Self {
        let mut rows = Vec::new();
        tracker.each_item(|_, item| rows.push((place_of(item.key(), item.place()), text_of(item))));
        rows.sort_unstable();
        let is_met = vec![false; rows.len()];
        Self { rows, is_met }
    }

    fn find(&self, place: u64) -> Option<usize> {
        self.rows.binary_search_by_key(&place, |row| row.0).ok()
    }

    /// Notes what was found. Whether there is to be anything at its place.
    fn meet(&mut self, item: &Item) -> bool {
        let Some(at) = self.find(place_of(item.key(), item.place())) else { return false };
        self.is_met[at] = self.rows[at].1 == text_of(item);
        true
    }

    fn is_met(&self, item: &Item) -> bool {
        self.find(place_of(item.key(), item.place())).is_some_and(|at| self.is_met[at])
    }
}

/// Compares what the keys hold with the state of a tracker. What changes meanwhile may be among what differs.
pub(crate) async fn compare(
    link: &Link,
    keys: &Keys,
    tracker: &mut Tracker,
    mut go_on: impl FnMut(u64) -> bool,
) -> Result<Differences, MirrorError> {
    let mut expected = Expected::of(tracker);
    let mut differences = Differences::default();
    for (word, names) in [("HSCAN", &HASHES[..]), ("ZSCAN", &SETS[..])] {
        for name in names {
            scan(link, keys, (word, name), &mut |item| {
                if !expected.meet(&item) {
                    differences.extra.push(item);
                }
                differences.compared += 1;
                differences.compared % ROWS_PER_READING as u64 != 0 || go_on(ROWS_PER_READING as u64)
            })
            .await?;
        }
    }
    // A scan may bring a row twice.
    differences.extra.sort_unstable();
    differences.extra.dedup_by(|one, other| one.is_at(other));
    tracker.each_item(|name, item| {
        if !expected.is_met(item) && differences.names.last() != Some(name) {
            differences.names.push(name.clone());
        }
    });
    Ok(differences)
}

impl Differences {
    /// What puts them right.
    pub(crate) fn changes(&self, tracker: &Tracker) -> Changes {
        let present = self.names.iter().flat_map(|name| tracker.items(name)).collect();
        Changes { present, absent: self.extra.clone() }
    }
}

/// Goes through a key piece by piece, until that is enough.
async fn scan(
    link: &Link,
    keys: &Keys,
    (word, name): (&'static str, &'static str),
    take: &mut impl FnMut(Item) -> bool,
) -> Result<(), MirrorError> {
    let (key, mut cursor) = (keys.of(name), 0_u64);
    loop {
        let mut command = cmd(word);
        command.arg(&key).arg(cursor).arg("COUNT").arg(ROWS_PER_READING);
        let (next, words): (u64, Vec<Vec<u8>>) = match link.send(&command).await {
            Err(Refused::ByServer { error, .. }) if error.code() == Some("WRONGTYPE") => {
                return Err(MirrorError::Foreign { key });
            }
            found => found.map_err(Failure::from)?,
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        for pair in words.chunks_exact(2) {
            let place = text(&pair[0]);
            let item = if word == "HSCAN" {
                Item::Row(name, place, text(&pair[1]))
            } else {
                Item::Member(name, place)
            };
            if !take(item) {
                return Err(Failure::Unavailable { reason: "it was stopped".to_owned() }.into());
            }
        }
        cursor = next;
        if cursor == 0 {
            return Ok(());
        }
    }
}
