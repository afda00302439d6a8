//! Quantity limits and the subjects that they count.

use compact_str::CompactString;

use super::Window;
use super::list_wire;
use crate::codec::{Input, Malformed, Wire};
use crate::command::argument::{Argument, ArgumentKind, Invalid, Words};
use crate::command::is_common_option;
use crate::event::from_shown::{list, text};
use crate::event::{FromShown, Shown};
use crate::outcome::Value;
use crate::types::{Id, Natural};
use crate::{facts, record_wire};

/// The maximum number of limits of a coupon.
pub const LIMITS_MAX: usize = 16;

/// The maximum number of dimensions of a limit or a subject.
pub const DIMENSIONS_MAX: usize = 8;

/// The name of a subject's dimension, such as `user` or `device`: 1 to 32 bytes of `a-z 0-9 _ -`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dimension(CompactString);

impl Dimension {
    fn parse(text: &[u8], argument: &'static str) -> Result<Self, Invalid> {
        let lower = text.to_ascii_lowercase();
        let legal = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(byte);
        // The separator of subjects cannot be part of one.
        let reserved = lower == b"-" || is_common_option(&lower);
        if lower.is_empty() || lower.len() > 32 || !lower.iter().all(legal) || reserved {
            return Err(Invalid::new(
                argument,
                "must name dimensions of a-z 0-9 _ -, other than id, deadline and durability",
            ));
        }
        Ok(Self(CompactString::from_utf8_lossy(&lower)))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Wire for Dimension {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        CompactString::get(input).map(Self)
    }
}

/// The dimensions and time windows that a limit counts by. Dimensions are sorted, so that their order is
/// not significant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitShape {
    /// The dimensions that distinguish subjects; if empty, everyone is counted together.
    pub per: Vec<Dimension>,
    /// When the counter restarts.
    pub window: Window,
}
record_wire!(LimitShape { per, window });

impl LimitShape {
    fn take(words: &mut Words<'_>) -> Result<Self, Invalid> {
        if !words.skip("PER") {
            return Err(Invalid::new("limit", "needs PER dimensions or PER -"));
        }
        let dimensions = words.take("per")?;
        let mut per = Vec::new();
        if dimensions != b"-" {
            for name in dimensions.split(|byte| matches!(byte, b',' | b'+')) {
                per.push(Dimension::parse(name, "per")?);
            }
        }
        per.sort();
        if per.len() > DIMENSIONS_MAX || per.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Invalid::new("per", "names a dimension twice, or more than 8"));
        }
        if !words.skip("WINDOW") {
            return Err(Invalid::new("limit", "needs WINDOW none|hour|day|week|month|ms"));
        }
        Ok(Self { per, window: Window::take(words)? })
    }
}

/// A quantity limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Its name, which identifies it in changes.
    pub name: Id,
    /// The maximum.
    pub max: Natural,
    /// What it counts.
    pub shape: LimitShape,
}
record_wire!(Limit { name, max, shape });

/// As name, max, dimensions, window, offset in minutes.
impl Shown for Limit {
    fn shown(&self) -> Value {
        shown_limit(&self.name, self.max, Some(&self.shape))
    }
}

fn shown_limit(name: &Id, max: Natural, shape: Option<&LimitShape>) -> Value {
    let mut values = facts![name, max.get()].into_vec();
    if let Some(shape) = shape {
        let per: Vec<Value> = shape.per.iter().map(|dimension| dimension.as_str().into()).collect();
        values.push(Value::List(per));
        values.extend(shape.window.shown());
    }
    Value::List(values)
}

impl FromShown for Limit {
    fn from_shown(value: &Value) -> Result<Self, Malformed> {
        let [name, max, per, window, offset_minutes] = list(value)? else { return Err(Malformed) };
        let per =
            list(per)?.iter().map(|name| text(name).cloned().map(Dimension)).collect::<Result<_, _>>()?;
        Ok(Self {
            name: Id::from_shown(name)?,
            max: Natural::new(u64::from_shown(max)?).ok_or(Malformed)?,
            shape: LimitShape { per, window: Window::from_shown(window, offset_minutes)? },
        })
    }
}

/// The limits of a new coupon, in the order of the checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits(pub Vec<Limit>);

impl Argument for Limits {
    const KIND: ArgumentKind = ArgumentKind::Limits;
    const SYNTAX: Option<&'static str> =
        Some("name max PER dims|- WINDOW none|hour|day|week|month|ms [OFFSET minutes] [LIMIT ...]");

    fn take(words: &mut Words<'_>, _argument: &'static str) -> Result<Self, Invalid> {
        let name = Id::take(words, "limit")?;
        let max = Natural::take(words, "max")?;
        Ok(Self(vec![Limit { name, max, shape: LimitShape::take(words)? }]))
    }

    fn join(mut self, later: Self, argument: &'static str) -> Result<Self, Invalid> {
        self.0.extend(later.0);
        check_names(self.0.iter().map(|limit| &limit.name), argument)?;
        Ok(self)
    }
}

/// A new maximum for a limit, or a limit to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitChange {
    /// Which limit.
    pub name: Id,
    /// The new maximum.
    pub max: Natural,
    /// What a new limit counts; for an existing limit, absent or unchanged.
    pub shape: Option<LimitShape>,
}
record_wire!(LimitChange { name, max, shape });

/// Written like a limit, without dimensions and window if it names none.
impl Shown for LimitChange {
    fn shown(&self) -> Value {
        shown_limit(&self.name, self.max, self.shape.as_ref())
    }
}

/// The changes to a coupon's limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitChanges(pub Vec<LimitChange>);

impl Argument for LimitChanges {
    const KIND: ArgumentKind = ArgumentKind::LimitChanges;
    const SYNTAX: Option<&'static str> =
        Some("name max [PER dims|- WINDOW none|hour|day|week|month|ms [OFFSET minutes]] [LIMIT ...]");

    fn take(words: &mut Words<'_>, _argument: &'static str) -> Result<Self, Invalid> {
        let name = Id::take(words, "limit")?;
        let max = Natural::take(words, "max")?;
        let shaped = words.peek().is_some_and(|word| word.eq_ignore_ascii_case(b"PER"));
        let shape = if shaped { Some(LimitShape::take(words)?) } else { None };
        Ok(Self(vec![LimitChange { name, max, shape }]))
    }

    fn join(mut self, later: Self, argument: &'static str) -> Result<Self, Invalid> {
        self.0.extend(later.0);
        check_names(self.0.iter().map(|limit| &limit.name), argument)?;
        Ok(self)
    }
}

fn check_names<'a>(names: impl Iterator<Item = &'a Id>, argument: &'static str) -> Result<(), Invalid> {
    let mut names: Vec<_> = names.collect();
    if names.len() > LIMITS_MAX {
        return Err(Invalid::new(argument, "are more than 16"));
    }
    names.sort();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Invalid::new(argument, "name one limit twice"));
    }
    Ok(())
}

list_wire!(Limits, LimitChanges);

impl Shown for Limits {
    fn shown(&self) -> Value {
        self.0.shown()
    }
}

impl Shown for LimitChanges {
    fn shown(&self) -> Value {
        self.0.shown()
    }
}

/// The claimant: a user, and the values of other dimensions that limits may count by. Sorted by
/// dimension, so that the order in the request is not significant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject(Vec<(Dimension, Id)>);

list_wire!(Subject);

impl Subject {
    /// The value of a dimension, if the subject names it.
    #[must_use]
    pub fn get(&self, dimension: &Dimension) -> Option<&Id> {
        self.0.iter().find(|(name, _)| name == dimension).map(|(_, value)| value)
    }

    /// The user.
    #[must_use]
    pub fn user(&self) -> Option<&Id> {
        self.0.iter().find(|(name, _)| name.as_str() == "user").map(|(_, value)| value)
    }
}

/// As dimension, value, dimension, value ...
impl Shown for Subject {
    fn shown(&self) -> Value {
        let pairs = self.0.iter().flat_map(|(name, value)| [Value::from(name.as_str()), Value::from(value)]);
        Value::List(pairs.collect())
    }
}

impl FromShown for Subject {
    fn from_shown(value: &Value) -> Result<Self, Malformed> {
        let pairs = list(value)?.chunks(2).map(|pair| match pair {
            [name, value] => Ok((Dimension(text(name)?.clone()), Id::from_shown(value)?)),
            _ => Err(Malformed),
        });
        pairs.collect::<Result<_, _>>().map(Self)
    }
}

impl Argument for Subject {
    const KIND: ArgumentKind = ArgumentKind::Subject;
    const SYNTAX: Option<&'static str> = Some("USER id [dim value ...]");

    fn take(words: &mut Words<'_>, argument: &'static str) -> Result<Self, Invalid> {
        if !words.peek().is_some_and(|word| word.eq_ignore_ascii_case(b"USER")) {
            return Err(Invalid::new(argument, "must begin with USER id"));
        }
        let mut pairs = Vec::new();
        while words.peek().is_some_and(|word| !is_common_option(word)) {
            let dimension = Dimension::parse(words.take("dimension")?, "dimension")?;
            pairs.push((dimension, Id::take(words, "value")?));
        }
        pairs.sort();
        if pairs.len() > DIMENSIONS_MAX || pairs.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(Invalid::new(argument, "names a dimension twice, or more than 8"));
        }
        Ok(Self(pairs))
    }
}
