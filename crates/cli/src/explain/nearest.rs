//! Suggests codes for a mistyped one.

use scarce_core::outcome::Code;

/// How similar a code must be, from 0 to 1, to be suggested.
const LIKENESS_MIN: f64 = 0.6;

/// The maximum number of suggestions.
const NAMED_MAX: usize = 3;

/// The codes most similar to `asked`, or with a word in common; the most similar first.
pub fn codes(asked: &str) -> Vec<&'static str> {
    let asked = asked.to_ascii_uppercase().replace(['-', ' '], "_");
    let mut found: Vec<(f64, &str)> = Code::ALL
        .iter()
        .map(|code| (likeness(code.word(), &asked), code.word()))
        .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .collect();
    found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    found.into_iter().take(NAMED_MAX).map(|(_, word)| word).collect()
}

fn likeness(known: &str, asked: &str) -> f64 {
    let spelling = strsim::normalized_damerau_levenshtein(known, asked);
    let shares_word =
        asked.split('_').any(|part| part.len() > 3 && known.split('_').any(|word| word == part));
    if shares_word { spelling.max(LIKENESS_MIN) } else { spelling }
}

#[cfg(test)]
mod tests {
    use super::codes;

    #[test]
    fn the_most_alike_come_first() {
        assert_eq!(codes("SOLDOUT"), ["SOLD_OUT"]);
        assert_eq!(codes("sold-uot"), ["SOLD_OUT", "UNITS_NOT_SOLD"]);
        assert_eq!(codes("insufficient"), ["INSUFFICIENT_FUNDS", "INSUFFICIENT_STOCK"]);
        assert_eq!(codes("XYZZY"), Vec::<&str>::new());
    }
}
