//! Amounts as banks and warehouses write them, as integers in the smallest unit. Nothing is rounded.

/// How amounts are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// How many decimals the amounts of Scarce have.
    pub scale: u8,
    /// What is before the decimals.
    pub decimal: char,
    /// What is between groups of three digits, if anything may be.
    pub thousands: Option<char>,
    /// Words that say that money came in.
    pub credit_marks: Vec<String>,
    /// Words that say that money went out.
    pub debit_marks: Vec<String>,
}

impl Numbers {
    /// How standards write amounts: with this decimal sign and without anything else.
    pub(crate) fn plain(&self, decimal: char) -> Self {
        Self { decimal, thousands: None, ..self.clone() }
    }

    /// The amount, below zero if it is marked as one that went out.
    ///
    /// # Errors
    /// Why it is not an amount.
    pub fn read(&self, text: &str) -> Result<i64, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("the amount is missing".to_owned());
        }
        let (digits, is_negative) = self.sign(text)?;
        let amount = self.unsigned(digits).map_err(|why| format!("'{text}' is not an amount: {why}"))?;
        Ok(if is_negative { -amount } else { amount })
    }

    /// What a mark says: below zero or not.
    pub(crate) fn mark(&self, mark: &str) -> Option<bool> {
        let has = |marks: &[String]| marks.iter().any(|its| its.eq_ignore_ascii_case(mark));
        if has(&self.debit_marks) {
            return Some(true);
        }
        has(&self.credit_marks).then_some(false)
    }

    /// The digits without sign, brackets and marks, and whether they are below zero. There may be one such sign.
    fn sign<'t>(&self, text: &'t str) -> Result<(&'t str, bool), String> {
        let minus = |its: char| matches!(its, '-' | '\u{2212}' | '\u{2013}');
        if let Some(digits) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
            return Ok((digits, true));
        }
        if let Some(digits) = text.strip_prefix(minus).or_else(|| text.strip_suffix(minus)) {
            return Ok((digits, true));
        }
        if let Some(digits) = text.strip_prefix('+').or_else(|| text.strip_suffix('+')) {
            return Ok((digits, false));
        }
        let letters = text.trim_end_matches(|its: char| its.is_alphabetic());
        if letters.len() == text.len() {
            return Ok((text, false));
        }
        let mark = &text[letters.len()..];
        let is_negative = self
            .mark(mark)
            .ok_or_else(|| format!("'{text}' is not an amount: the map knows no mark '{mark}'"))?;
        Ok((letters.trim_end(), is_negative))
    }

    fn unsigned(&self, text: &str) -> Result<i64, String> {
        let (whole, decimals) = text.split_once(self.decimal).unwrap_or((text, ""));
        let whole = if decimals.is_empty() || !whole.is_empty() { self.whole(whole)? } else { String::new() };
        if let Some(other) = decimals.chars().find(|its| !its.is_ascii_digit()) {
            return Err(format!("'{other}' is among the decimals"));
        }
        let kept = decimals.trim_end_matches('0');
        let scale = usize::from(self.scale);
        if kept.len() > scale {
            return Err(format!("it has {} decimals, and the scale of the map is {scale}", kept.len()));
        }
        let digits = format!("{whole}{kept:0<scale$}");
        digits.parse().map_err(|_| "it is too large".to_owned())
    }

    /// The digits before the decimals. Separators must be where thousands are.
    fn whole(&self, text: &str) -> Result<String, String> {
        let parts: Vec<&str> = match self.thousands {
            Some(separator) => text.split(separator).collect(),
            None => vec![text],
        };
        let is_grouped = parts.len() > 1;
        let fits = |(at, part): (usize, &&str)| match (is_grouped, at) {
            (true, 0) => (1..=3).contains(&part.len()),
            (true, _) => part.len() == 3,
            (false, _) => !part.is_empty(),
        };
        let digits = parts.concat();
        if let Some(other) = digits.chars().find(|its| !its.is_ascii_digit()) {
            return Err(format!("'{other}' is no digit, and the map does not allow it there"));
        }
        if digits.is_empty() {
            return Err("a digit is missing".to_owned());
        }
        if !parts.iter().enumerate().all(fits) {
            return Err("its separators are not between groups of three digits".to_owned());
        }
        Ok(digits)
    }

    /// An amount as people read it.
    #[must_use]
    pub fn show(&self, amount: i64) -> String {
        let sign = if amount < 0 { "-" } else { "" };
        let scale = usize::from(self.scale);
        let digits = format!("{:0>width$}", amount.unsigned_abs(), width = scale + 1);
        match digits.split_at(digits.len() - scale) {
            (whole, "") => format!("{sign}{whole}"),
            (whole, decimals) => format!("{sign}{whole}.{decimals}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(decimal: char, thousands: Option<char>) -> Numbers {
        let marks = |marks: &[&str]| marks.iter().map(|its| (*its).to_owned()).collect();
        let (credit_marks, debit_marks) = (marks(&["CR", "H"]), marks(&["DR", "S"]));
        Numbers { scale: 2, decimal, thousands, credit_marks, debit_marks }
    }

    #[test]
    fn signs_marks_and_separators_are_understood() {
        let german = numbers(',', Some('.'));
        for (text, amount) in [
            ("1.234,50", 123_450),
            ("1234,5", 123_450),
            ("-12,00", -1_200),
            ("12,00-", -1_200),
            ("\u{2212}12,00", -1_200),
            ("(12,00)", -1_200),
            ("+7", 700),
            ("1.000.000 S", -100_000_000),
            ("3,10 H", 310),
            ("0,000", 0),
            (",50", 50),
        ] {
            assert_eq!(german.read(text), Ok(amount), "{text}");
        }
        assert_eq!(numbers('.', Some(' ')).read("12 345.67dr"), Ok(-1_234_567));
    }

    #[test]
    fn what_is_not_clear_is_refused_with_the_reason() {
        let german = numbers(',', Some('.'));
        for (text, reason) in [
            ("", "missing"),
            ("12.50", "groups of three"),
            ("1.23.456", "groups of three"),
            ("12,505", "3 decimals"),
            ("12,5.0", "among the decimals"),
            ("12,00 XX", "no mark 'XX'"),
            ("--5", "no digit"),
            ("-(5)", "no digit"),
            ("1'000,00", "no digit"),
            ("1e5", "no digit"),
            ("-", "a digit is missing"),
            (",", "a digit is missing"),
            ("99999999999999999999", "too large"),
            ("\u{661}2", "no digit"),
        ] {
            let read = german.read(text);
            assert!(read.as_ref().is_err_and(|why| why.contains(reason)), "{text}: {read:?}");
        }
    }

    #[test]
    fn amounts_are_shown_with_their_decimals() {
        let numbers = numbers(',', None);
        assert_eq!([-5, 0, 123_450].map(|amount| numbers.show(amount)), ["-0.05", "0.00", "1234.50"]);
    }
}
