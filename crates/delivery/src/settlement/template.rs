//! The account that a packet is credited to.

use crate::DeliveryError;

/// The maximum length of a template, as in its column.
const TEMPLATE_BYTES_MAX: usize = 256;

/// The account that a packet is credited to: a text with `{user}`, and optionally `{asset}` and `{campaign}`.
/// Literal braces are doubled, as in `{{{user}}}:wallet`, which makes `{alice}:wallet`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountTemplate {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    User,
    Asset,
    Campaign,
}

impl Default for AccountTemplate {
    /// `{user}`.
    fn default() -> Self {
        Self { text: "{user}".to_owned(), parts: vec![Part::User] }
    }
}

impl AccountTemplate {
    /// Parses a template.
    ///
    /// # Errors
    /// When it lacks the user, or names something that a claim does not have.
    pub fn parse(text: &str) -> Result<Self, DeliveryError> {
        let refused = |what| DeliveryError::Template { template: text.to_owned(), what };
        if text.len() > TEMPLATE_BYTES_MAX || !text.is_ascii() {
            return Err(refused("it is at most 256 bytes of ASCII"));
        }
        let (mut parts, mut rest) = (Vec::new(), text);
        while !rest.is_empty() {
            let (part, after) = next_part(rest).map_err(refused)?;
            parts.push(part);
            rest = after;
        }
        if !parts.contains(&Part::User) {
            return Err(refused("it must have {user}"));
        }
        Ok(Self { text: text.to_owned(), parts })
    }

    /// The template as it was given.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The account of a claim.
    #[must_use]
    pub fn account(&self, user: &str, asset: &str, campaign: &str) -> String {
        let of = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::User => user.to_owned(),
            Part::Asset => asset.to_owned(),
            Part::Campaign => campaign.to_owned(),
        };
        self.parts.iter().map(of).collect()
    }
}

/// The first part of a non-empty template, and the rest.
fn next_part(text: &str) -> Result<(Part, &str), &'static str> {
    const NAMED: [(&str, Part); 3] =
        [("{user}", Part::User), ("{asset}", Part::Asset), ("{campaign}", Part::Campaign)];
    for (twice, once) in [("{{", "{"), ("}}", "}")] {
        if let Some(rest) = text.strip_prefix(twice) {
            return Ok((Part::Text(once.to_owned()), rest));
        }
    }
    for (name, part) in NAMED {
        if let Some(rest) = text.strip_prefix(name) {
            return Ok((part, rest));
        }
    }
    if text.starts_with(['{', '}']) {
        return Err("of names it knows {user}, {asset} and {campaign}; other braces are written twice");
    }
    let end = text.find(['{', '}']).unwrap_or(text.len());
    Ok((Part::Text(text[..end].to_owned()), &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_made_of_what_a_claim_has() {
        let made = |text| AccountTemplate::parse(text).expect("a template").account("alice", "EUR", "spring");
        assert_eq!(made("{user}"), "alice");
        assert_eq!(made("wallet:{asset}:{user}@{campaign}"), "wallet:EUR:alice@spring");
        assert_eq!(made("{{{user}}}:wallet"), "{alice}:wallet");
        assert_eq!(AccountTemplate::parse("{user}").expect("one"), AccountTemplate::default());
        for wrong in ["", "wallet", "{asset}", "{user", "user}", "{owner}:{user}", "{user}}"] {
            assert!(AccountTemplate::parse(wrong).is_err(), "{wrong}");
        }
    }
}
