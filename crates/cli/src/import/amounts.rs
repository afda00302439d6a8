//! Parses amounts as people write them into integers in minor units. Never rounds and never uses floating
//! point.

use std::collections::BTreeMap;

use scarce_core::types::INTEGER_MAX;
use scarce_settings::AssetScale;

/// Parses amounts, and records how those of each asset were parsed.
#[derive(Debug, Default)]
pub(super) struct Amounts {
    scales: BTreeMap<String, u8>,
    /// The assets of the parsed amounts; those without a scale are in minor units.
    seen: BTreeMap<String, Option<u8>>,
}

impl Amounts {
    /// # Errors
    /// When two scales are given for one asset.
    pub(super) fn new(scales: &[AssetScale]) -> Result<Self, String> {
        let mut amounts = Self::default();
        for AssetScale { asset, decimals } in scales {
            if amounts.scales.insert(asset.clone(), *decimals).is_some_and(|first| first != *decimals) {
                return Err(format!("--scale is given twice for {asset}"));
            }
        }
        Ok(amounts)
    }

    /// The amount in minor units.
    pub(super) fn read(&mut self, text: &str, asset: Option<&str>) -> Result<u64, String> {
        let decimals = match asset {
            Some(asset) => self.scales.get(asset).copied(),
            None if self.scales.is_empty() => None,
            None => {
                return Err(
                    "needs its asset, since there are scales: give an asset column or --asset".to_owned()
                );
            }
        };
        let amount = match decimals {
            Some(decimals) => scaled(text, decimals)?,
            None => minor_units(text, asset)?,
        };
        let asset = asset.unwrap_or("*");
        if !self.seen.contains_key(asset) {
            self.seen.insert(asset.to_owned(), decimals);
        }
        Ok(amount)
    }

    /// How the amounts of each asset were parsed.
    pub(super) fn seen(&self) -> BTreeMap<&str, String> {
        let shown = |decimals: &Option<u8>| match decimals {
            None => "minor units".to_owned(),
            Some(1) => "1 decimal".to_owned(),
            Some(decimals) => format!("{decimals} decimals"),
        };
        self.seen.iter().map(|(asset, decimals)| (asset.as_str(), shown(decimals))).collect()
    }
}

fn minor_units(text: &str, asset: Option<&str>) -> Result<u64, String> {
    if text.contains('.') {
        let asset = asset.unwrap_or("the asset");
        return Err(format!("has decimals, but no scale is given for {asset}, as --scale {asset}=2"));
    }
    within_range(whole(text)?)
}

fn scaled(text: &str, decimals: u8) -> Result<u64, String> {
    let (before, after) = match text.split_once('.') {
        Some((_, "")) => return Err("has nothing behind its point".to_owned()),
        Some(parts) => parts,
        None => (text, ""),
    };
    if !after.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NOT_DIGITS.to_owned());
    }
    let kept = usize::from(decimals).min(after.len());
    let (fraction, surplus) = after.split_at(kept);
    if surplus.bytes().any(|byte| byte != b'0') {
        return Err(format!("has more than {decimals} decimals; nothing is rounded"));
    }
    let unit = 10_u64.pow(u32::from(decimals));
    let fraction = if fraction.is_empty() { 0 } else { digits(fraction)? };
    let missing = u32::from(decimals) - u32::try_from(kept).unwrap_or_default();
    let fraction = fraction * 10_u64.pow(missing);
    let scaled = whole(before)?.checked_mul(unit).and_then(|whole| whole.checked_add(fraction));
    within_range(scaled.unwrap_or(u64::MAX))
}

const NOT_DIGITS: &str =
    "must be digits, with a point where the asset has decimals: no sign, no other separator";

/// Digits without a leading zero.
fn whole(text: &str) -> Result<u64, String> {
    if text.len() > 1 && text.starts_with('0') {
        return Err("has a leading zero".to_owned());
    }
    digits(text)
}

/// Digits; on overflow the maximum, which is out of range anyway.
fn digits(text: &str) -> Result<u64, String> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NOT_DIGITS.to_owned());
    }
    Ok(text.parse().unwrap_or(u64::MAX))
}

fn within_range(amount: u64) -> Result<u64, String> {
    if amount <= INTEGER_MAX { Ok(amount) } else { Err(format!("is more than {INTEGER_MAX} minor units")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amounts(scales: &[&str]) -> Amounts {
        let scales: Vec<AssetScale> = scales.iter().map(|scale| scale.parse().unwrap()).collect();
        Amounts::new(&scales).unwrap()
    }

    #[test]
    fn decimals_become_minor_units_exactly() {
        let mut amounts = amounts(&["EUR=2", "BTC=8", "JPY=0", "WEI=18"]);
        for (text, asset, expected) in [
            ("12.21", "EUR", 1_221),
            ("12.2", "EUR", 1_220),
            ("12", "EUR", 1_200),
            ("12.210", "EUR", 1_221),
            ("0.07", "EUR", 7),
            ("0", "EUR", 0),
            ("90071992547409.91", "EUR", INTEGER_MAX),
            ("0.00000001", "BTC", 1),
            ("1.00000001", "BTC", 100_000_001),
            ("12.0", "JPY", 12),
            ("0.009007199254740991", "WEI", INTEGER_MAX),
            ("12", "GBP", 12),
        ] {
            assert_eq!(amounts.read(text, Some(asset)), Ok(expected), "{text} {asset}");
        }
        let expected = [
            ("BTC", "8 decimals"),
            ("EUR", "2 decimals"),
            ("GBP", "minor units"),
            ("JPY", "0 decimals"),
            ("WEI", "18 decimals"),
        ];
        assert!(amounts.seen().into_iter().eq(expected.map(|(asset, how)| (asset, how.to_owned()))));
    }

    #[test]
    fn what_is_no_exact_amount_is_refused() {
        let mut amounts = amounts(&["EUR=2"]);
        for (text, asset, part) in [
            ("12.211", Some("EUR"), "more than 2 decimals"),
            ("12.", Some("EUR"), "behind its point"),
            (".5", Some("EUR"), "must be digits"),
            ("1.2.3", Some("EUR"), "must be digits"),
            ("1.20x", Some("EUR"), "must be digits"),
            ("1.2é", Some("EUR"), "must be digits"),
            ("1.é", Some("EUR"), "must be digits"),
            ("-1", Some("EUR"), "must be digits"),
            ("+1", Some("EUR"), "must be digits"),
            ("1e3", Some("EUR"), "must be digits"),
            ("1,5", Some("EUR"), "must be digits"),
            ("", Some("EUR"), "must be digits"),
            ("012", Some("EUR"), "leading zero"),
            ("00.5", Some("EUR"), "leading zero"),
            ("90071992547409.92", Some("EUR"), "is more than"),
            ("99999999999999999999999", Some("EUR"), "is more than"),
            ("9007199254740992", Some("GBP"), "is more than"),
            ("12.00", Some("GBP"), "--scale GBP=2"),
            ("12", None, "needs its asset"),
        ] {
            let problem = amounts.read(text, asset).unwrap_err();
            assert!(problem.contains(part), "{text}: {problem}");
        }
    }
}
