//! The texts under which lines and movements are found.

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::items::Item;

/// How long most words are at most.
const WORD_BYTES: usize = 64;

/// The key of an id, which is compared as it is written.
pub(crate) fn of_id(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

/// The key of a movement. Its place alone does not do: after a restore, places are used again.
pub(crate) fn of_movement(its: &Item<'_>) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(&its.day.0.to_le_bytes());
    hasher.update(&its.amount.to_le_bytes());
    hasher.update(its.place.as_bytes());
    hasher.update(&[0]);
    hasher.update(its.operation.as_bytes());
    hasher.digest()
}

/// The key of a reference: banks change the case of letters.
pub(crate) fn of_word(word: &str) -> u64 {
    let mut lower = [0; WORD_BYTES];
    let Some(lower) = lower.get_mut(..word.len()) else {
        return xxh3_64(word.to_ascii_lowercase().as_bytes());
    };
    lower.copy_from_slice(word.as_bytes());
    lower.make_ascii_lowercase();
    xxh3_64(lower)
}

/// The key of everything that a line says, but for its number.
pub(crate) fn of_line(its: &Item<'_>) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(&its.day.0.to_le_bytes());
    hasher.update(&its.amount.to_le_bytes());
    hasher.update(its.operation.as_bytes());
    hasher.update(&[0]);
    hasher.update(its.reference.as_bytes());
    hasher.digest()
}

/// The key of an operation on one side of the account: a reversal has the same one, and is another movement.
pub(crate) fn of_operation(operation: &str, amount: i64) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(&amount.signum().to_le_bytes());
    hasher.update(operation.as_bytes());
    hasher.digest()
}

/// The key of a word beside an amount.
pub(crate) fn of_word_at(word: &str, amount: i64) -> u64 {
    of_word(word).wrapping_add(1).rotate_left(32) ^ amount.cast_unsigned()
}

/// Half of a key, where there is no harm in a coincidence.
pub(crate) fn short(key: u64) -> u32 {
    u32::try_from(key >> 32).unwrap_or_default()
}

/// The words of a line that may name an operation: the whole of its texts, what is between spaces, and what is between signs.
pub(crate) fn words<'t>(its: &Item<'t>) -> impl Iterator<Item = &'t str> {
    let signs = |its: char| matches!(its, ',' | ';' | '+' | '|' | '(' | ')' | '"' | '\'');
    let parts = move |word: &'t str| word.split(signs).filter(move |part| part.len() < word.len());
    let spaced =
        its.reference.split_whitespace().flat_map(move |word| std::iter::once(word).chain(parts(word)));
    [its.operation, its.reference].into_iter().chain(spaced).filter(|word| word.len() > 1)
}

/// The texts of a movement that name it alone: its operation, also without what only we put before it, and its hold.
pub(crate) fn names<'t>(its: &Item<'t>, prefixes: &[String]) -> impl Iterator<Item = &'t str> {
    let bare = prefixes.iter().filter_map(move |prefix| its.operation.strip_prefix(prefix.as_str()));
    let bare: Vec<&str> = bare.collect();
    [its.operation, hold(its)].into_iter().chain(bare).filter(|name| !name.is_empty())
}

/// The text that says of whom a movement is.
pub(crate) fn party<'t>(its: &Item<'t>) -> &'t str {
    its.reference.split_once('\n').map_or("", |(_, party)| party)
}

fn hold<'t>(its: &Item<'t>) -> &'t str {
    its.reference.split_once('\n').map_or("", |(hold, _)| hold)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::day::Day;

    #[test]
    fn words_are_found_in_whatever_surrounds_them() {
        let item = |operation, reference| Item {
            line: 0,
            day: Day(0),
            amount: 0,
            operation,
            reference,
            place: "",
            since: None,
        };
        let its = item("e2e", "SVWZ+inv-17, thanks (again)");
        for word in ["e2e", "inv-17", "again", "thanks"] {
            assert!(words(&its).any(|found| found == word), "{word}");
        }
        assert_eq!(of_word("Inv-17"), of_word("iNV-17"));
        let its = item("pay:17", "hold-1\nu1");
        let prefixes = ["pay:".to_owned()];
        assert_eq!(names(&its, &prefixes).collect::<Vec<_>>(), ["pay:17", "hold-1", "17"]);
        assert_eq!(party(&its), "u1");
    }
}
