//! Scopes: `verbs:kinds:resources`, such as `take,settle:stock:sku-*`.

use std::fmt;

use scarce_core::command::rules::Verb;
use scarce_core::placement;
use scarce_core::types::ID_BYTES_MAX;

use super::need::{ALL_KINDS, ALL_VERBS, Kind, Need, bit};

/// Why a text is no scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// No such verb.
    #[error("'{0}' is no verb; there are read, take, settle, create, administrate, operate, and * for all")]
    Verb(String),
    /// No such kind.
    #[error("'{0}' is no kind; there are account, stock, campaign, coupon, market, script, and * for all")]
    Kind(String),
    /// No pattern.
    #[error(
        "'{0}' names no resources; write an id, the beginning of ids and a *, a tag in braces, or * for all"
    )]
    Pattern(String),
    /// The verb is about the whole server.
    #[error("'operate' is about the server and not about resources; write it alone, as --scope operate")]
    Operate,
}

/// Which resources a scope covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// All.
    All,
    /// Those whose id begins so.
    Beginning(String),
    /// Those with this tag, which are in one partition.
    Tag(String),
    /// The one of this id.
    One(String),
}

/// A part of all ids, in their order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Those that begin so.
    Beginning(String),
    /// One id.
    One(String),
}

impl Part {
    /// What of it begins with a prefix.
    pub(crate) fn within(self, prefix: &str) -> Option<Self> {
        match self {
            Self::Beginning(text) if prefix.starts_with(&text) => Some(Self::Beginning(prefix.to_owned())),
            Self::Beginning(text) | Self::One(text) if !text.starts_with(prefix) => None,
            part => Some(part),
        }
    }

    /// Whether all of another one belongs to it.
    pub(crate) fn has(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Beginning(text), Self::Beginning(other) | Self::One(other)) => {
                other.starts_with(text.as_str())
            }
            (Self::One(id), Self::One(other)) => id == other,
            (Self::One(_), Self::Beginning(_)) => false,
        }
    }
}

impl Pattern {
    /// Reads a pattern: an id, the beginning of ids and a `*`, a tag in braces, or `*` for all.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::All);
        }
        let is_written = |text: &str| {
            (1..=ID_BYTES_MAX).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:@/+=-{}".contains(&byte))
        };
        let tag = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        match (text.strip_suffix('*'), tag) {
            (Some(front), _) if is_written(front) => Some(Self::Beginning(front.to_owned())),
            (None, Some(tag)) if is_written(tag) && !tag.contains(['{', '}']) => {
                Some(Self::Tag(tag.to_owned()))
            }
            (None, None) if is_written(text) => Some(Self::One(text.to_owned())),
            _ => None,
        }
    }

    /// Where to look for the ids that it covers. Ids with a tag behind other text are in none of these parts.
    pub(crate) fn parts(&self) -> Vec<Part> {
        match self {
            Self::All => vec![Part::Beginning(String::new())],
            Self::Beginning(text) => vec![Part::Beginning(text.clone())],
            Self::Tag(tag) => vec![Part::Beginning(format!("{{{tag}}}")), Part::One(tag.clone())],
            Self::One(id) => vec![Part::One(id.clone())],
        }
    }

    /// Whether it covers an id.
    #[must_use]
    pub fn covers(&self, id: &str) -> bool {
        match self {
            Self::All => true,
            Self::Beginning(front) => id.starts_with(front.as_str()),
            Self::Tag(tag) => placement::tag(id) == tag,
            Self::One(one) => one == id,
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => formatter.write_str("*"),
            Self::Beginning(front) => write!(formatter, "{front}*"),
            Self::Tag(tag) => write!(formatter, "{{{tag}}}"),
            Self::One(one) => formatter.write_str(one),
        }
    }
}

/// Verbs, on kinds of resources, of these ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    pub(crate) verbs: u8,
    pub(crate) kinds: u8,
    pub(crate) pattern: Pattern,
}

impl Scope {
    /// Everything.
    pub const ALL: Self = Self { verbs: ALL_VERBS, kinds: ALL_KINDS, pattern: Pattern::All };

    /// Reads a scope. Kinds and resources that are left out are all.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn parse(text: &str) -> Result<Self, ScopeError> {
        if text == "*" {
            return Ok(Self::ALL);
        }
        let mut parts = text.splitn(3, ':');
        let verbs = read_set(parts.next().unwrap_or_default(), &Verb::ALL, |verb| (verb.word(), bit(*verb)));
        let kinds = read_set(parts.next().unwrap_or("*"), &Kind::ALL, |kind| (kind.word(), kind.bit()));
        let pattern = parts.next().unwrap_or("*");
        let scope = Self {
            verbs: verbs.map_err(ScopeError::Verb)?,
            kinds: kinds.map_err(ScopeError::Kind)?,
            pattern: Pattern::parse(pattern).ok_or_else(|| ScopeError::Pattern(pattern.to_owned()))?,
        };
        let is_whole = scope.kinds == ALL_KINDS && scope.pattern == Pattern::All;
        if scope.verbs & bit(Verb::Operate) != 0 && !is_whole {
            return Err(ScopeError::Operate);
        }
        Ok(scope)
    }

    /// Whether it allows what is needed, on some resources at least.
    pub(crate) const fn meets(&self, need: Need) -> bool {
        need.is_met_by(self.verbs, self.kinds)
    }

    /// Whether it allows everything.
    #[must_use]
    pub fn is_all(&self) -> bool {
        *self == Self::ALL
    }

    /// Why it is worth a second look, if it is.
    #[must_use]
    pub fn warning(&self) -> Option<&'static str> {
        let has = |verb| self.verbs & bit(verb) != 0;
        let has_kind = |kind: Kind| self.kinds & kind.bit() != 0;
        let is_wide = self.pattern == Pattern::All;
        match () {
            () if self.is_all() => Some("allows everything, as the password does"),
            () if has(Verb::Operate) => Some("shows the whole log and ends the work of consumers"),
            () if is_wide && has(Verb::Create) => Some("brings in money and stock of any name"),
            () if is_wide && has(Verb::Administrate) => {
                Some("freezes, corrects and closes resources of any name")
            }
            () if is_wide && has(Verb::Take) => Some("takes from resources of any name"),
            () if is_wide && has(Verb::Settle) && has_kind(Kind::Account) => {
                Some("ends what was taken of any name, and captures holds to accounts of any name")
            }
            () if is_wide && has(Verb::Settle) => Some("ends what was taken of any name"),
            () if has(Verb::Create) && has_kind(Kind::Campaign) => Some(
                "brings money into accounts of any name where the server settles claims, --settlement engine",
            ),
            () => None,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_all() {
            return formatter.write_str("*");
        }
        let verbs = write_set(self.verbs, ALL_VERBS, &Verb::ALL, |verb| (verb.word(), bit(*verb)));
        let kinds = write_set(self.kinds, ALL_KINDS, &Kind::ALL, |kind| (kind.word(), kind.bit()));
        match (self.kinds == ALL_KINDS, &self.pattern) {
            (true, Pattern::All) => formatter.write_str(&verbs),
            (false, Pattern::All) => write!(formatter, "{verbs}:{kinds}"),
            (_, pattern) => write!(formatter, "{verbs}:{kinds}:{pattern}"),
        }
    }
}

/// The bits of words with commas between; otherwise the first word that is not one of them.
fn read_set<T>(text: &str, all: &[T], of: impl Fn(&T) -> (&'static str, u8)) -> Result<u8, String> {
    let bits = text.split(',').map(|word| {
        let known = all.iter().map(&of).find(|(its, _)| *its == word).map(|(_, bit)| bit);
        let every = || all.iter().fold(0, |bits, its| bits | of(its).1);
        known.or_else(|| (word == "*").then(every)).ok_or_else(|| word.to_owned())
    });
    bits.reduce(|sum, bits| Ok(sum? | bits?)).unwrap_or(Ok(0))
}

fn write_set<T>(bits: u8, every: u8, all: &[T], of: impl Fn(&T) -> (&'static str, u8)) -> String {
    if bits == every {
        return "*".to_owned();
    }
    let words = all.iter().map(of).filter(|(_, bit)| bits & bit != 0).map(|(word, _)| word);
    words.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_written_as_they_are_read() {
        for (text, shortest) in [
            ("*", "*"),
            ("read", "read"),
            ("read:*:*", "read"),
            ("operate", "operate"),
            ("take,settle:stock:sku-*", "take,settle:stock:sku-*"),
            ("settle,take:market,stock", "take,settle:stock,market"),
            ("read:*:{user-7}", "read:*:{user-7}"),
            ("take:account:user:7", "take:account:user:7"),
            ("take:script:limit", "take:script:limit"),
        ] {
            let scope = Scope::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(scope.to_string(), shortest);
            assert_eq!(Scope::parse(shortest), Ok(scope));
        }
    }

    #[test]
    fn what_reaches_further_than_it_looks_is_said() {
        for (text, word) in [
            ("settle", "captures"),
            ("settle:account", "captures"),
            ("settle:stock", "of any name"),
            ("create,take:campaign:c-*", "--settlement engine"),
            ("take", "takes"),
        ] {
            let warning = Scope::parse(text).expect("a scope").warning();
            assert!(warning.is_some_and(|warning| warning.contains(word)), "{text}: {warning:?}");
        }
        for text in ["settle:account:a-*", "take:campaign:c-*", "read", "create:stock:sku-*"] {
            assert_eq!(Scope::parse(text).expect("a scope").warning(), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_scope_is_refused() {
        for text in [
            "",
            "all",
            "any",
            "read,",
            "read:",
            "read:stok",
            "read:stock:",
            "read:stock:a b",
            "read:stock:*a",
            "read:stock:{a}b*c",
            "operate:stock",
            "*:stock",
            "read,operate:*:a",
            "read:stock:{}",
            "READ",
        ] {
            assert!(Scope::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_tag_covers_what_is_placed_by_it_and_a_beginning_nothing_else() {
        let covers = |pattern: &str, id: &str| Pattern::parse(pattern).expect("a pattern").covers(id);
        assert!(covers("{user-7}", "{user-7}:coins") && covers("{user-7}", "user-7"));
        assert!(!covers("{user-7}", "{user-77}:coins") && !covers("{user-7}", "user-7:coins"));
        assert!(covers("sku-*", "sku-1") && !covers("sku-*", "sk") && !covers("sku-*", "SKU-1"));
        assert!(covers("sku-1", "sku-1") && !covers("sku-1", "sku-11"));
    }
}
