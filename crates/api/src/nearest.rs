//! Suggests the name that a mistyped one was meant to be.

/// How similar two names must be, from 0 to 1, for a suggestion.
const LIKENESS_MIN: f64 = 0.75;

/// The name most similar to `word`, ignoring case, if any is similar enough.
#[must_use]
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_ascii_lowercase();
    names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&word, &name.to_ascii_lowercase()), name))
        .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .max_by(|first, second| first.0.total_cmp(&second.0))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognized_and_another_word_is_not() {
        let names = ["data", "partitions", "journal.segment_mib"];
        assert_eq!(nearest("pertitions", names), Some("partitions"));
        assert_eq!(nearest("journal.segment-mib", names), Some("journal.segment_mib"));
        assert_eq!(nearest("DATA", names), Some("data"));
        assert_eq!(nearest("kafka", names), None);
    }
}
