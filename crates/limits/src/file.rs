//! The file of limits.

use std::time::Duration;

use serde::Deserialize;

use super::rule::Rule;

/// How many limits there can be: each that counts a request costs it some time.
pub const RULES_MAX: usize = 100;

/// How long it may take until a burst is there again.
const BURST_TIME_MAX: Duration = Duration::from_secs(366 * 86_400);

/// The length of a name.
const NAME_CHARACTERS_MAX: usize = 48;

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It is no TOML, or has what is not known; says where.
    #[error("{0}")]
    Misshapen(Box<toml::de::Error>),
    /// Two limits have one name.
    #[error("two limits are called '{0}'; give each its own name, because callers are told it")]
    Doubled(String),
    /// A name cannot be shown in a header.
    #[error("'{0}' is no name of a limit; write 1 to {NAME_CHARACTERS_MAX} letters, digits, '-', '_' or '.'")]
    Name(String),
    /// It limits nothing, or two things.
    #[error(
        "the limit '{0}' needs either rate, such as \"50/s\", or concurrent, such as 20; a burst goes with a rate"
    )]
    Bound(String),
    /// A burst that takes too long to come back.
    #[error(
        "the burst of the limit '{0}' takes longer than a year to come back; make it smaller, or the rate larger"
    )]
    Burst(String),
    /// There are too many.
    #[error("there are {0} limits; at most {RULES_MAX} are looked at for each request")]
    TooMany(usize),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    limit: Vec<Rule>,
}

/// Reads the limits in the text of a file.
///
/// # Errors
/// What is wrong, with its line and column where it is in one.
pub fn read(text: &str) -> Result<Vec<Rule>, FileError> {
    let file: File = toml::from_str(text).map_err(|error| FileError::Misshapen(error.into()))?;
    let rules = file.limit;
    if rules.len() > RULES_MAX {
        return Err(FileError::TooMany(rules.len()));
    }
    for (at, rule) in rules.iter().enumerate() {
        let is_plain = rule.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        if !is_plain || !(1..=NAME_CHARACTERS_MAX).contains(&rule.name.len()) {
            return Err(FileError::Name(rule.name.clone()));
        }
        match (rule.rate, rule.concurrent) {
            (Some(rate), None) if rate.period().saturating_mul(rule.burst(rate).get()) > BURST_TIME_MAX => {
                return Err(FileError::Burst(rule.name.clone()));
            }
            (None, Some(_)) if rule.burst.is_none() => {}
            (Some(_), None) => {}
            (_, _) => return Err(FileError::Bound(rule.name.clone())),
        }
        if rules[..at].iter().any(|former| former.name == rule.name) {
            return Err(FileError::Doubled(rule.name.clone()));
        }
    }
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;
    use std::time::Duration;

    use scarce_access::Kind;
    use scarce_core::command::rules::Verb;

    use super::*;
    use crate::{Per, Rate};

    const TAKES: &str = r#"
        [[limit]]
        name = "takes"
        per = "address"
        verbs = ["take", "settle"]
        kinds = ["stock"]
        resources = ["sku-*"]
        rate = "600/m"
        burst = 50
    "#;

    #[test]
    fn a_limit_is_read() {
        let rules = read(TAKES).expect("limits");
        let rule = &rules[0];
        assert_eq!((rule.name.as_str(), rule.per, rules.len()), ("takes", Per::Address, 1));
        let rate = rule.rate.expect("a rate");
        assert_eq!((rate.period(), rule.burst(rate).get()), (Duration::from_millis(100), 50));
        assert!(rule.counts(Verb::Take, Some(Kind::Stock)) && !rule.counts(Verb::Take, Some(Kind::Account)));
        assert!(!rule.counts(Verb::Read, Some(Kind::Stock)) && !rule.counts(Verb::Take, None));
        assert!(rule.covers("sku-1") && !rule.covers("other") && rule.asks_for_resources());
        assert!(read("").expect("no limits").is_empty());
    }

    #[test]
    fn a_burst_is_what_a_second_allows_where_it_is_not_said() {
        for (rate, burst) in [("50/s", 50), ("600/m", 10), ("90/m", 2), ("1/d", 1)] {
            let text = format!("[[limit]]\nname = \"a\"\nper = \"server\"\nrate = \"{rate}\"\n");
            let rules = read(&text).expect(rate);
            assert_eq!(
                rules[0].burst(rules[0].rate.expect("a rate")),
                NonZeroU32::new(burst).expect("positive"),
                "{rate}"
            );
            assert!(rules[0].counts(Verb::Operate, None) && !rules[0].asks_for_resources());
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (from, to, said) in [
            ("600/m", "600", "'600' is no rate"),
            ("600/m", "0/m", "'0/m' is no rate"),
            ("600/m", "99999999/s", "is no rate"),
            ("\"take\"", "\"steal\"", "'steal' is no verb; there are read"),
            ("\"stock\"", "\"stocks\"", "'stocks' is no kind; there are account"),
            ("\"sku-*\"", "\"s k\"", "'s k' is no resource"),
            ("\"address\"", "\"user\"", "unknown variant"),
            ("burst", "bursts", "unknown field `bursts`"),
            ("burst = 50", "burst = 0", "line 9"),
            ("[[limit]]", "[[limits]]", "unknown field `limits`"),
            ("rate = \"600/m\"", "", "needs either rate"),
            ("rate = \"600/m\"", "concurrent = 5", "needs either rate"),
            ("burst = 50", "concurrent = 5", "needs either rate"),
            ("burst = 50", "concurrent = 0", "line 9"),
            ("\"takes\"", "\"ta kes\"", "'ta kes' is no name"),
            ("\"takes\"", "\"\"", "is no name"),
            ("600/m\"\n        burst = 50", "1/d\"\n        burst = 367", "longer than a year"),
        ] {
            let text = TAKES.replacen(from, to, 1);
            let problem = read(&text).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(problem.contains(said), "{to}: {problem}");
        }
        assert!(matches!(read(&TAKES.repeat(2)), Err(FileError::Doubled(_))));
        let many: String =
            (0..=RULES_MAX).map(|n| TAKES.replace("\"takes\"", &format!("\"t{n}\""))).collect();
        assert!(matches!(read(&many), Err(FileError::TooMany(101))));
        assert_eq!(Rate::parse("50 /s"), None);
    }
}
