//! The types of the values of answers, the facts of refusals and the fields of events. The tables give
//! each its type, so that JSON and documents are generated from the rows.

use crate::command::shapes::{Limit, Method, Side, StpMode, Subject, Tif};
use crate::markets::CancelReason;
use crate::types::{Id, OperationId};

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// An integer of magnitude up to 2^53 − 1.
    Integer,
    /// A text.
    Text,
    /// An integer or a text.
    IntegerOrText,
    /// One of these words.
    Words(&'static [&'static str]),
    /// 0 or 1, which JSON shows as false or true.
    Boolean,
    /// Integers in order.
    Integers,
    /// Texts in order.
    Texts,
    /// Rows in order, each a list of values.
    Rows(&'static RowSpec),
    /// A coupon's limit.
    Limit,
    /// A coupon's limits.
    Limits,
    /// A user and further dimensions.
    Subject,
    /// An outcome inside an answer.
    Outcome,
    /// The facts of the code next to it.
    Facts,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueType {
    /// Its kind.
    pub shape: Shape,
    /// Whether it may be absent.
    pub is_nullable: bool,
    /// Whether a dry run leaves it out, because nobody may see it before the command has been applied.
    pub is_hidden: bool,
}

/// A value of an answer, a fact of a refusal, or a field of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueSpec {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub value_type: ValueType,
}

/// The values of a row in an answer that contains a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowSpec {
    /// The name under which the glossary explains the values.
    pub name: &'static str,
    /// The values in order.
    pub values: &'static [ValueSpec],
    /// The value after which the next page begins, if the list has pages.
    pub page_key: Option<&'static str>,
}

/// The names of values.
pub fn names(values: &'static [ValueSpec]) -> impl Iterator<Item = &'static str> + Clone {
    values.iter().map(|value| value.name)
}

impl ValueType {
    const fn of(shape: Shape) -> Self {
        Self { shape, is_nullable: false, is_hidden: false }
    }

    /// The same, but it may be absent.
    #[must_use]
    pub const fn or_none(self) -> Self {
        Self { is_nullable: true, ..self }
    }

    /// The same, but a dry run leaves it out.
    #[must_use]
    pub const fn hidden(self) -> Self {
        Self { is_nullable: true, is_hidden: true, ..self }
    }
}

/// An integer.
pub const INTEGER: ValueType = ValueType::of(Shape::Integer);
/// A text.
pub const TEXT: ValueType = ValueType::of(Shape::Text);
/// An integer or a text.
pub const INTEGER_OR_TEXT: ValueType = ValueType::of(Shape::IntegerOrText);
/// The side of a market.
pub const SIDE: ValueType = words(Side::WORDS);
/// A time in force.
pub const TIF: ValueType = words(Tif::WORDS);
/// A mode of self-trade prevention.
pub const STP: ValueType = words(StpMode::WORDS);
/// A coupon's limits.
pub const LIMITS: ValueType = ValueType::of(Shape::Limits);
/// An outcome.
pub const OUTCOME: ValueType = ValueType::of(Shape::Outcome);
/// The facts of the codes next to them.
pub const FACTS: ValueType = ValueType::of(Shape::Facts);

/// One of these words.
#[must_use]
pub const fn words(words: &'static [&'static str]) -> ValueType {
    ValueType::of(Shape::Words(words))
}

/// Rows in order.
#[must_use]
pub const fn rows(row: &'static RowSpec) -> ValueType {
    ValueType::of(Shape::Rows(row))
}

/// Names and types, as the tables have them.
macro_rules! values {
    ($($name:ident: $type:expr),* $(,)?) => {
        &[$($crate::outcome::shape::ValueSpec { name: stringify!($name), value_type: $type }),*]
    };
}

pub(crate) use values;

/// The type of a field of an event for readers of a stream, from its type in the event table.
pub trait Typed {
    /// The type of the value that [`Shown::shown`](crate::event::Shown::shown) returns.
    const TYPE: ValueType;
}

macro_rules! typed {
    ($($name:ty = $type:expr),* $(,)?) => {$(
        impl Typed for $name {
            const TYPE: ValueType = $type;
        }
    )*};
}

typed! {
    u64 = INTEGER,
    i64 = INTEGER,
    bool = ValueType::of(Shape::Boolean),
    compact_str::CompactString = TEXT,
    Id = TEXT,
    OperationId = TEXT,
    [u8; 32] = TEXT,
    CancelReason = TEXT,
    Side = SIDE,
    Tif = TIF,
    StpMode = STP,
    Method = words(Method::WORDS),
    Subject = ValueType::of(Shape::Subject),
    Limit = ValueType::of(Shape::Limit),
}

impl<T: Typed> Typed for Option<T> {
    const TYPE: ValueType = T::TYPE.or_none();
}

impl<T: Typed> Typed for Vec<T> {
    const TYPE: ValueType = ValueType::of(match T::TYPE.shape {
        Shape::Integer => Shape::Integers,
        Shape::Text => Shape::Texts,
        Shape::Limit => Shape::Limits,
        _ => panic!("lists of this type have no shape yet: give them one"),
    });
}
