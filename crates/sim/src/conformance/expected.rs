//! The answer that a row expects.

/// An expected answer: words, where `*` stands for any one word and a final `...` for any rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected(String);

impl Expected {
    /// Parses the text after `->`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// Any applied command, for rows that only set up a scenario.
    #[must_use]
    pub fn applied() -> Self {
        Self::new("APPLIED ...")
    }

    /// The code's word.
    #[must_use]
    pub fn code(&self) -> &str {
        self.0.split(' ').next().unwrap_or("")
    }

    /// The line and the code of the first refusal in a batch that must be refused.
    #[must_use]
    pub fn refused_line(&self) -> Option<(usize, &str)> {
        let mut words = self.0.split(' ');
        if words.next() != Some("BATCH_REFUSED") {
            return None;
        }
        Some((words.next()?.parse().ok()?, words.next()?))
    }

    /// Whether an answer is as expected.
    #[must_use]
    pub fn matches(&self, answer: &str) -> bool {
        if self.0 == answer {
            return true;
        }
        let (pattern, open) = match self.0.strip_suffix("...") {
            Some(front) => (front.trim_end(), true),
            None => (self.0.as_str(), false),
        };
        let mut words = answer.split(' ');
        let front = pattern.split(' ').filter(|_| !pattern.is_empty());
        front.into_iter().all(|word| words.next().is_some_and(|got| fits(word, got)))
            && (open || words.next().is_none())
    }
}

/// A `*` stands for any word, apart from brackets around it, as in `[* 5]`.
fn fits(word: &str, got: &str) -> bool {
    if word == got {
        return true;
    }
    let Some((front, back)) = word.split_once('*') else { return false };
    let bracketed = |text: &str| text.bytes().all(|byte| b"[]".contains(&byte));
    bracketed(front)
        && bracketed(back)
        && got.len() > front.len() + back.len()
        && got.starts_with(front)
        && got.ends_with(back)
}

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_match_exactly_by_word_or_by_their_beginning() {
        for (expected, answer, fits) in [
            ("APPLIED 1", "APPLIED 1", true),
            ("APPLIED 1", "APPLIED 1 2", false),
            ("APPLIED ...", "APPLIED", true),
            ("APPLIED ...", "APPLIED [1 2]", true),
            ("APPLIED 1 ...", "APPLIED 12", false),
            ("APPLIED * 2", "APPLIED 1 2", true),
            ("APPLIED * 2", "APPLIED 1 3", false),
            ("APPLIED [* 2]", "APPLIED [1 2]", true),
            ("APPLIED *", "APPLIED", false),
            ("APPLIED *", "APPLIED 1 2", false),
        ] {
            assert_eq!(Expected::new(expected).matches(answer), fits, "{expected} against {answer}");
        }
    }

    #[test]
    fn a_refused_batch_names_line_and_code() {
        let expected = Expected::new("BATCH_REFUSED 2 SOLD_OUT [0 1]");
        assert_eq!(expected.refused_line(), Some((2, "SOLD_OUT")));
        assert_eq!(Expected::new("SOLD_OUT 0 1").refused_line(), None);
    }
}
