//! Events: what changed, with the resulting values. The state is the fold of all events. One table
//! declares them.
//!
//! Each block of the table generates its own enum, such as [`AccountEvent`]. Code that applies or folds
//! events matches on it without a `_` arm, so a forgotten event is a compile error:
//!
//! ```compile_fail,E0004
//! use scarce_core::event::AccountEvent;
//!
//! fn is_money_in(event: &AccountEvent) -> bool {
//!     match event {
//!         AccountEvent::AccountCredited(_) => true,
//!         AccountEvent::AccountDebited(_) => false,
//!     }
//! }
//! ```

pub mod entry;
pub mod epoch;
pub mod from_shown;
mod histories;
mod market;
mod position;
mod redacted;
mod spec;
mod table;

pub use entry::{ENTRY_BYTES_MAX, Entry, EntryHead, OperationMark};
pub use from_shown::FromShown;
pub use histories::{HISTORIES_MAX, Histories};
pub use position::Position;
pub use redacted::Redacted;
pub use spec::EventSpec;
pub use table::*;

use crate::outcome::Value;

/// How a field of an event is shown to readers.
pub trait Shown {
    /// The field as a value.
    fn shown(&self) -> Value;
}

macro_rules! shown_by_from {
    ($($name:ty),*) => {$(
        impl Shown for $name {
            fn shown(&self) -> Value {
                Value::from(self.clone())
            }
        }
    )*};
}

shown_by_from!(u64, i64, compact_str::CompactString);

impl Shown for crate::types::Id {
    fn shown(&self) -> Value {
        Value::from(self)
    }
}

impl Shown for crate::types::OperationId {
    fn shown(&self) -> Value {
        Value::from(self.as_str())
    }
}

impl Shown for bool {
    fn shown(&self) -> Value {
        Value::Integer(i64::from(*self))
    }
}

impl<T: Shown> Shown for Option<T> {
    fn shown(&self) -> Value {
        self.as_ref().map_or(Value::Absent, Shown::shown)
    }
}

impl<T: Shown> Shown for Vec<T> {
    fn shown(&self) -> Value {
        Value::List(self.iter().map(Shown::shown).collect())
    }
}

impl Shown for [u8; 32] {
    fn shown(&self) -> Value {
        Value::Text(self.iter().map(|byte| compact_str::format_compact!("{byte:02x}")).collect())
    }
}

macro_rules! shown_by_number {
    ($($name:ident),*) => {$(
        impl Shown for crate::types::$name {
            fn shown(&self) -> Value {
                Value::from(self.get())
            }
        }
    )*};
}

shown_by_number!(Positive, Natural, Delta, RowCount);

impl Shown for crate::types::Text {
    fn shown(&self) -> Value {
        Value::from(self.as_str())
    }
}

/// Shows an enum by its word.
#[macro_export]
macro_rules! shown_word {
    ($($name:ty),*) => {$(
        impl $crate::event::FromShown for $name {
            fn from_shown(value: &$crate::outcome::Value) -> Result<Self, $crate::codec::Malformed> {
                let word = $crate::event::from_shown::text(value)?;
                Self::from_word(word.as_bytes()).ok_or($crate::codec::Malformed)
            }
        }

        impl $crate::event::Shown for $name {
            fn shown(&self) -> $crate::outcome::Value {
                $crate::outcome::Value::from(self.word())
            }
        }
    )*};
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Id, OperationId};

    fn id(text: &str) -> Id {
        Id::parse(text.as_bytes(), "id").expect("an id")
    }

    #[test]
    fn the_resource_is_what_changed() {
        let (from, to) = (id("a"), id("b"));
        let (amount, balance) = (1, 2);
        let transferred = AccountTransferred {
            from,
            to,
            amount,
            from_balance: balance,
            from_available: balance,
            to_balance: balance,
            to_available: balance,
        };
        assert_eq!(Event::from(transferred).resource(), Some(Value::from("a")));
        let operation = OperationId::parse(b"op", "id").expect("an id");
        assert_eq!(Event::from(OperationResolved { operation }).resource(), None);
        assert_eq!(Event::from(OperationRefused {}).resource(), None);
    }

    #[test]
    fn what_changed_is_the_first_field_of_every_event_that_is_not_of_an_operation() {
        let resources = ["account", "from", "sku", "campaign", "coupon", "market"];
        for spec in EVENTS.iter().filter(|spec| spec.resource.is_some()) {
            assert!(
                spec.fields.first().is_some_and(|field| resources.contains(&field.name)),
                "{}",
                spec.name
            );
        }
    }

    #[test]
    fn rows_are_found_by_name() {
        assert!(EVENTS.iter().all(|spec| find(spec.name) == Some(spec)));
        assert_eq!(find("account"), None);
    }
}
