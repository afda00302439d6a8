//! Reads keys piece by piece, between which others are served.

use scarce_core::types::Id;
use scarce_engine::engine::Failure;

use super::record::{Damaged, Record};
use super::rows::Image;
use super::{Keys, Link};
use crate::records;

/// How many rows one reading brings, more or less.
const ROWS_PER_READING: usize = 1_000;

/// How many rows one reading looks at where few of them are wanted.
const ROWS_PER_SEARCH: usize = 4_000;

/// The hash of each kind of resource, and those of what belongs to it.
const HASHES: [(&str, &[&str]); 5] = [
    ("accounts", &["holds"]),
    ("stock", &["reservations", "receipts_of", "owners"]),
    ("campaigns", &["packets", "claims"]),
    ("coupons", &["coupon_claims", "counts"]),
    ("markets", &["orders", "tape"]),
];

/// Reads everything that a digest has.
pub(super) async fn read_all(link: &Link, keys: &Keys, image: &mut Image) -> Result<(), Failure> {
    for (hash, others) in HASHES {
        for name in std::iter::once(&hash).chain(others) {
            let mut scan = Scan::of("HSCAN", keys, name);
            scan.each(link, |id, text| image.put(name, id, text)).await?;
        }
    }
    Scan::of("ZSCAN", keys, "returned").each(link, |member, _| image.returned.put(member)).await
}

/// Reads what belongs to one resource, of whatever kinds there are by that name.
pub(super) async fn read_one(link: &Link, keys: &Keys, image: &mut Image, only: &Id) -> Result<(), Failure> {
    for (hash, others) in HASHES {
        let mut get = redis::cmd("HGET");
        get.arg(keys.of(hash)).arg(only.as_str());
        let Some(text) = link.send::<Option<String>>(&get).await? else { continue };
        let damaged = |Damaged| damaged(&keys.of(hash), only.as_str(), &text);
        image.put(hash, only.as_str(), &text).map_err(damaged)?;
        for name in others {
            if *name == "holds" {
                read_holds(link, keys, image, only).await?;
                continue;
            }
            let mut scan = Scan::of("HSCAN", keys, name).starting_with(only);
            scan.each(link, |id, text| image.put(name, id, text)).await?;
        }
        if hash == "stock" {
            let mut scan = Scan::of("ZSCAN", keys, "returned").starting_with(only);
            scan.each(link, |member, _| image.returned.put(member)).await?;
        }
    }
    Ok(())
}

/// Reads the holds of an account by the index that there is of them.
async fn read_holds(link: &Link, keys: &Keys, image: &mut Image, account: &Id) -> Result<(), Failure> {
    let (mut after, last) = (format!("({account} "), format!("({account}!"));
    loop {
        let mut range = redis::cmd("ZRANGEBYLEX");
        range.arg(keys.of("holds_by")).arg(&after).arg(&last).arg("LIMIT").arg(0).arg(ROWS_PER_READING);
        let names: Vec<String> = link.send(&range).await?;
        let Some(newest) = names.last() else { return Ok(()) };
        after = format!("({newest}");
        let mut get = redis::cmd("HMGET");
        get.arg(keys.of("holds")).arg(&names);
        let texts: Vec<Option<String>> = link.send(&get).await?;
        for (name, text) in names.iter().zip(texts) {
            let Some(text) = text else { continue };
            image.put("holds", name, &text).map_err(|Damaged| damaged(&keys.of("holds"), name, &text))?;
        }
    }
}

/// A key that is scanned: ids and texts, or members and scores.
struct Scan {
    word: &'static str,
    key: String,
    pattern: Option<String>,
}

impl Scan {
    fn of(word: &'static str, keys: &Keys, name: &str) -> Self {
        Self { word, key: keys.of(name), pattern: None }
    }

    /// Only what belongs to a resource. No id has a character that means something in a pattern.
    fn starting_with(mut self, resource: &Id) -> Self {
        self.pattern = Some(format!("{resource} *"));
        self
    }

    /// Goes through it piece by piece; what is in it may come twice.
    async fn each(
        &mut self,
        link: &Link,
        mut take: impl FnMut(&str, &str) -> Result<(), Damaged>,
    ) -> Result<(), Failure> {
        let mut cursor = 0_u64;
        loop {
            let mut command = redis::cmd(self.word);
            command.arg(&self.key).arg(cursor).arg("COUNT");
            match &self.pattern {
                Some(pattern) => command.arg(ROWS_PER_SEARCH).arg("MATCH").arg(pattern),
                None => command.arg(ROWS_PER_READING),
            };
            let (next, words): (u64, Vec<String>) = link.send(&command).await?;
            for pair in words.chunks_exact(2) {
                take(&pair[0], &pair[1]).map_err(|Damaged| damaged(&self.key, &pair[0], &pair[1]))?;
            }
            cursor = next;
            if cursor == 0 {
                return Ok(());
            }
        }
    }
}

/// Reads a hash of records piece by piece; a row may come twice.
pub(super) async fn each_row(
    link: &Link,
    keys: &Keys,
    name: &str,
    mut take: impl FnMut(&str, Record<'_>) -> Result<(), Damaged>,
) -> Result<(), Failure> {
    let Some(spec) = records::find(name) else { return Err(damaged(name, "", "")) };
    let take = |id: &str, text: &str| Record::new(spec, text).and_then(|record| take(id, record));
    Scan::of("HSCAN", keys, name).each(link, take).await
}

/// Reads an ordered set piece by piece; a member may come twice.
pub(super) async fn each_member(
    link: &Link,
    keys: &Keys,
    name: &str,
    mut take: impl FnMut(&[&str]) -> Result<(), Damaged>,
) -> Result<(), Failure> {
    let take = |member: &str, _: &str| take(&member.split(' ').collect::<Vec<_>>());
    Scan::of("ZSCAN", keys, name).each(link, take).await
}

/// The failure for a row that Scarce does not write.
pub(super) fn damaged(key: &str, id: &str, text: &str) -> Failure {
    let reason =
        format!("{key} has '{text}' at '{id}', which Scarce does not write; restore the key from a copy");
    Failure::Unavailable { reason }
}
