//! How an argument is read from the words of a request, and the error if it cannot be read.

use super::work::ROW_WORK;
pub use crate::invalid::Invalid;
use crate::types::{Delta, Id, Natural, OperationId, Positive, RowCount, Text};

/// The words of a request that have not been read yet.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    rest: &'a [&'a [u8]],
}

impl<'a> Words<'a> {
    /// Starts at the first of `words`.
    #[must_use]
    pub fn new(words: &'a [&'a [u8]]) -> Self {
        Self { rest: words }
    }

    /// The next word, which `argument` needs.
    ///
    /// # Errors
    /// When no word is left.
    pub fn take(&mut self, argument: &'static str) -> Result<&'a [u8], Invalid> {
        self.next().ok_or_else(|| Invalid::new(argument, "is missing"))
    }

    /// The next word without reading it.
    #[must_use]
    pub fn peek(&self) -> Option<&'a [u8]> {
        self.rest.first().copied()
    }

    /// How many words are left.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rest.len()
    }

    /// Whether no word is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Whether the next word is `token`, in any case; reads it if so.
    pub fn skip(&mut self, token: &str) -> bool {
        let found = self.peek().is_some_and(|word| word.eq_ignore_ascii_case(token.as_bytes()));
        if found {
            self.next();
        }
        found
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }
}

/// The kind of an argument, for ports that accept commands in a form other than words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    /// The name of a resource, an owner, a record.
    Id,
    /// An operation id.
    OperationId,
    /// A short text.
    Text,
    /// An integer from 1.
    Positive,
    /// An integer from 0.
    Natural,
    /// An integer of either sign.
    Delta,
    /// How many rows of a list are wanted.
    RowCount,
    /// Present or absent.
    Flag,
    /// One of the words of its syntax, separated by `|`.
    Word,
    /// A plan or a list of amounts.
    Cut,
    /// A coupon's limits.
    Limits,
    /// Changes to a coupon's limits.
    LimitChanges,
    /// A user, and the values of further dimensions.
    Subject,
    /// A limit price, or none for a market order.
    Pricing,
    /// A text after `REASON`.
    Reason,
    /// A resource after `ON`.
    Resource,
    /// An optional resource.
    OptionalResource,
}

/// Can be read from the words of a request.
pub trait Argument: Sized {
    /// The kind of argument.
    const KIND: ArgumentKind;

    /// Its syntax in a usage line, if the argument's name does not show it.
    const SYNTAX: Option<&'static str> = None;

    /// Reads the argument from the next word or words.
    ///
    /// # Errors
    /// When the words do not have its shape.
    fn take(words: &mut Words<'_>, argument: &'static str) -> Result<Self, Invalid>;

    /// The work that it asks for beyond being read, in the units of [`super::work`].
    fn work(&self) -> u64 {
        0
    }

    /// Merges a second occurrence of an option into the first.
    ///
    /// # Errors
    /// Always by default: an option is given once.
    fn join(self, _later: Self, argument: &'static str) -> Result<Self, Invalid> {
        Err(Invalid::new(argument, "is given twice"))
    }
}

macro_rules! parsed_argument {
    ($($name:ident),*) => {$(
        impl Argument for $name {
            const KIND: ArgumentKind = ArgumentKind::$name;

            fn take(words: &mut Words<'_>, argument: &'static str) -> Result<Self, Invalid> {
                $name::parse(words.take(argument)?, argument)
            }
        }
    )*};
}

parsed_argument!(Id, OperationId, Text, Positive, Natural, Delta);

impl Argument for RowCount {
    const KIND: ArgumentKind = ArgumentKind::RowCount;

    fn take(words: &mut Words<'_>, argument: &'static str) -> Result<Self, Invalid> {
        Self::parse(words.take(argument)?, argument)
    }

    fn work(&self) -> u64 {
        self.get() * ROW_WORK
    }
}

impl<T: Argument> Argument for Option<T> {
    const KIND: ArgumentKind = T::KIND;
    const SYNTAX: Option<&'static str> = T::SYNTAX;

    fn take(words: &mut Words<'_>, argument: &'static str) -> Result<Self, Invalid> {
        T::take(words, argument).map(Some)
    }

    fn work(&self) -> u64 {
        self.as_ref().map_or(0, Argument::work)
    }

    fn join(self, later: Self, argument: &'static str) -> Result<Self, Invalid> {
        match (self, later) {
            (Some(first), Some(second)) => first.join(second, argument).map(Some),
            (first, second) => Ok(first.or(second)),
        }
    }
}

/// A flag: true if its token is present.
impl Argument for bool {
    const KIND: ArgumentKind = ArgumentKind::Flag;
    const SYNTAX: Option<&'static str> = Some("");

    fn take(_words: &mut Words<'_>, _argument: &'static str) -> Result<Self, Invalid> {
        Ok(true)
    }
}

/// Reads one of an enum's words.
#[macro_export]
macro_rules! word_argument {
    ($name:ident, $syntax:literal) => {
        impl $crate::command::argument::Argument for $name {
            const KIND: $crate::command::argument::ArgumentKind =
                $crate::command::argument::ArgumentKind::Word;
            const SYNTAX: Option<&'static str> = Some($syntax);

            fn take(
                words: &mut $crate::command::argument::Words<'_>,
                argument: &'static str,
            ) -> Result<Self, $crate::command::argument::Invalid> {
                Self::from_word(words.take(argument)?).ok_or_else(|| {
                    $crate::command::argument::Invalid::new(argument, concat!("must be one of ", $syntax))
                })
            }
        }
    };
}
