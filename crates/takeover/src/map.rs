//! The map: which keys of the source mean what. As it stands in the file; `rules.rs` makes readers of it.

use serde::Deserialize;
use sha2::{Digest, Sha256};
use toml::Spanned;

use crate::error::TakeoverError;
use crate::pattern::Pattern;
use crate::rules::{self, Rule};

/// A map that was read and checked.
#[derive(Debug)]
pub struct Map {
    /// The digest of its text, by which a run that goes on knows it again.
    pub digest: String,
    pub(crate) rules: Vec<Rule>,
    pub(crate) ignored: Vec<Pattern>,
}

/// What a key is in Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Shape {
    String,
    Hash,
    List,
    Set,
    Zset,
}

/// What the number of an item or a coupon counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Counts {
    /// What is left.
    #[default]
    Left,
    /// What has been taken.
    Used,
    /// What there was at first.
    Total,
}

/// Which end of a list is handed out next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Next {
    #[default]
    First,
    Last,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MapText {
    #[serde(default)]
    pub(crate) ignore: Vec<Spanned<String>>,
    #[serde(default)]
    pub(crate) accounts: Vec<AccountsText>,
    #[serde(default)]
    pub(crate) stock: Vec<StockText>,
    #[serde(default)]
    pub(crate) packets: Vec<PacketsText>,
    #[serde(default)]
    pub(crate) coupons: Vec<CouponsText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AccountsText {
    pub(crate) key: Spanned<String>,
    #[serde(rename = "type")]
    pub(crate) shape: Shape,
    pub(crate) account: String,
    pub(crate) asset: String,
    pub(crate) amount: Option<String>,
    pub(crate) overdraft: Option<String>,
    #[serde(default)]
    pub(crate) decimals: u8,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StockText {
    pub(crate) key: Spanned<String>,
    #[serde(rename = "type")]
    pub(crate) shape: Shape,
    pub(crate) sku: String,
    pub(crate) quantity: Option<String>,
    #[serde(default)]
    pub(crate) counts: Counts,
    pub(crate) per_owner_max: Option<u64>,
    #[serde(default)]
    pub(crate) taken: Vec<TakenText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PacketsText {
    pub(crate) key: Spanned<String>,
    #[serde(rename = "type")]
    pub(crate) shape: Shape,
    pub(crate) campaign: String,
    pub(crate) asset: String,
    pub(crate) amount: Option<String>,
    #[serde(default)]
    pub(crate) decimals: u8,
    #[serde(default)]
    pub(crate) next: Next,
    #[serde(default)]
    pub(crate) taken: Vec<TakenText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CouponsText {
    pub(crate) key: Spanned<String>,
    #[serde(rename = "type")]
    pub(crate) shape: Shape,
    pub(crate) coupon: String,
    pub(crate) quantity: Option<String>,
    #[serde(default)]
    pub(crate) counts: Counts,
    pub(crate) max: Option<u64>,
    pub(crate) per_user: Option<u64>,
    pub(crate) window: Option<String>,
    pub(crate) offset_minutes: Option<i32>,
    #[serde(default)]
    pub(crate) taken: Vec<TakenText>,
}

/// Keys that say who has taken something.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TakenText {
    pub(crate) key: Spanned<String>,
    #[serde(rename = "type")]
    pub(crate) shape: Shape,
    /// Of which resource; as the rule above by default.
    pub(crate) of: Option<String>,
    pub(crate) user: Option<String>,
    /// How many, or for packets the amount.
    pub(crate) amount: Option<String>,
}

impl Map {
    /// Reads a map.
    ///
    /// # Errors
    /// What is wrong with it, and in which line.
    pub fn parse(text: &str) -> Result<Self, TakeoverError> {
        let map: MapText = toml::from_str(text).map_err(|error| TakeoverError::Map {
            line: error.span().map(|span| line(text, span.start)),
            what: error.message().to_owned(),
        })?;
        let mut ignored = Vec::new();
        for pattern in &map.ignore {
            let parsed = Pattern::parse(pattern.get_ref());
            ignored.push(parsed.map_err(|what| TakeoverError::Map {
                line: Some(line(text, pattern.span().start)),
                what: format!("'{}' {what}", pattern.get_ref()),
            })?);
        }
        let rules = rules::compile(&map, text)?;
        if rules.is_empty() {
            let what =
                "it names no keys; see [[accounts]], [[stock]], [[packets]] and [[coupons]]".to_owned();
            return Err(TakeoverError::Map { line: None, what });
        }
        Ok(Self { digest: hex(&Sha256::digest(text.as_bytes())), rules, ignored })
    }
}

/// The line of a place in a text, from 1.
pub(crate) fn line(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

/// The first 32 hexadecimal digits of a digest.
pub(crate) fn hex(digest: &[u8]) -> String {
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
