//! One limit, as it is written in the file.

use std::num::NonZeroU32;
use std::time::Duration;

use scarce_access::{Kind, Pattern};
use scarce_core::command::rules::Verb;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

/// What is counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Per {
    /// All requests.
    Server,
    /// Those from an address; of version 6, from the network that one customer gets.
    Address,
    /// Those with a key; without one, those from an address.
    Key,
    /// Those about a resource.
    Resource,
}

impl Per {
    /// The word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Address => "address",
            Self::Key => "key",
            Self::Resource => "resource",
        }
    }
}

/// How many requests in which time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// How many.
    pub count: NonZeroU32,
    /// In which time.
    pub window: Duration,
}

/// The units in which a rate is written.
const UNITS: [(&str, Duration); 4] = [
    ("s", Duration::from_secs(1)),
    ("m", Duration::from_secs(60)),
    ("h", Duration::from_secs(3_600)),
    ("d", Duration::from_secs(86_400)),
];

impl Rate {
    /// The largest count: more in a window than this is no limit.
    pub const COUNT_MAX: u32 = 10_000_000;

    /// Reads `50/s`, `600/m`, `1000/h` or `5/d`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (count, unit) = text.split_once('/')?;
        let (_, window) = UNITS.into_iter().find(|(word, _)| *word == unit)?;
        let count = count.parse().ok().filter(|count: &NonZeroU32| count.get() <= Self::COUNT_MAX)?;
        Some(Self { count, window })
    }

    /// The time in which one more is allowed.
    #[must_use]
    pub fn period(self) -> Duration {
        (self.window / self.count.get()).max(Duration::from_nanos(1))
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let shape = || {
            let max = Self::COUNT_MAX;
            format!(
                "'{text}' is no rate; write how many in a time, from 1 to {max}: 50/s, 600/m, 1000/h or 5/d"
            )
        };
        Self::parse(&text).ok_or_else(|| D::Error::custom(shape()))
    }
}

/// One limit.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its name, which callers are told.
    pub name: String,
    /// What is counted together.
    pub per: Per,
    /// It counts requests with one of these verbs; with any, if there are none.
    #[serde(default, deserialize_with = "verbs")]
    pub verbs: Vec<Verb>,
    /// It counts requests about one of these kinds; about any, and about none, if there are none.
    #[serde(default, deserialize_with = "kinds")]
    pub kinds: Vec<Kind>,
    /// It counts requests about one of these resources; about any, and about none, if there are none.
    #[serde(default, deserialize_with = "resources")]
    pub resources: Vec<Pattern>,
    /// How many are allowed in a time; or how many at the same time.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// How many are allowed at the same time.
    #[serde(default)]
    pub concurrent: Option<NonZeroU32>,
    /// How many may come at once after a pause.
    #[serde(default)]
    pub burst: Option<NonZeroU32>,
}

impl Rule {
    /// How many may come at once after a pause at a rate: where it is not said, as many as in a second, and at least one.
    #[must_use]
    pub fn burst(&self, rate: Rate) -> NonZeroU32 {
        let Rate { count, window } = rate;
        let a_second = u64::from(count.get()).div_ceil(window.as_secs().max(1));
        let a_second = u32::try_from(a_second).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
        self.burst.unwrap_or(a_second)
    }

    /// Whether it counts requests with a verb, about a kind or about none.
    #[must_use]
    pub fn counts(&self, verb: Verb, kind: Option<Kind>) -> bool {
        let is_of = self.kinds.is_empty() || kind.is_some_and(|kind| self.kinds.contains(&kind));
        is_of && (self.verbs.is_empty() || self.verbs.contains(&verb))
    }

    /// Whether it counts requests about a resource.
    #[must_use]
    pub fn covers(&self, id: &str) -> bool {
        self.resources.is_empty() || self.resources.iter().any(|pattern| pattern.covers(id))
    }

    /// Whether it must be known which resources a request is about.
    #[must_use]
    pub fn asks_for_resources(&self) -> bool {
        self.per == Per::Resource || !self.resources.is_empty()
    }
}

/// Reads a list of words, each as `read` does.
fn words<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    what: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, D::Error> {
    let words = Vec::<String>::deserialize(deserializer)?;
    words
        .iter()
        .map(|word| read(word).ok_or_else(|| D::Error::custom(format!("'{word}' is no {what}"))))
        .collect()
}

fn verbs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Verb>, D::Error> {
    let what = format!("verb; there are {}", Verb::ALL.map(Verb::word).join(", "));
    words(deserializer, &what, |word| Verb::ALL.into_iter().find(|verb| verb.word() == word))
}

pub(crate) fn kinds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Kind>, D::Error> {
    let what = format!("kind; there are {}", Kind::ALL.map(Kind::word).join(", "));
    words(deserializer, &what, |word| Kind::ALL.into_iter().find(|kind| kind.word() == word))
}

pub(crate) fn resources<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Pattern>, D::Error> {
    words(
        deserializer,
        "resource; write an id, the beginning of ids and a *, or a tag in braces",
        Pattern::parse,
    )
}
