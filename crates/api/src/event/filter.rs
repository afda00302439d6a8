//! Which events a reader of the log wants: those of a kind of resource, of one resource, or of one name.

use scarce_core::command::Invalid;
use scarce_core::event::{EVENTS, Event, EventSpec};
use scarce_core::outcome::Value;
use scarce_core::resource::ResourceKind;
use scarce_core::types::Id;

/// What a filter looks at of an event.
#[derive(Clone, Debug)]
pub struct Marks {
    spec: &'static EventSpec,
    /// What changed; of a transfer and of a capture for another account, that one too.
    resources: [Option<Value>; 2],
}

impl Marks {
    /// The marks of an event.
    #[must_use]
    pub fn of(event: &Event) -> Self {
        let spec = event.spec();
        let has_other = spec.fields.iter().any(|field| field.name == OTHER);
        let other =
            if has_other { event.fields().into_iter().find(|(name, _)| *name == OTHER) } else { None };
        Self { spec, resources: [event.resource(), other.map(|(_, value)| value)] }
    }

    /// What changed.
    #[must_use]
    pub fn into_resources(self) -> [Option<Value>; 2] {
        self.resources
    }
}

/// The field with the second resource of an event.
const OTHER: &str = "to";

/// Which events are wanted: those for which all that is given is so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    kind: Option<ResourceKind>,
    /// The resource.
    pub resource: Option<Id>,
    name: Option<&'static EventSpec>,
}

/// The names of what a filter is made of.
pub const FILTERS: [&str; 3] = ["kind", "resource", "name"];

impl Filter {
    /// Adds one of [`FILTERS`].
    ///
    /// # Errors
    /// When there is no such kind or event, or the resource is no id.
    pub fn add(&mut self, by: &'static str, text: &str) -> Result<(), Invalid> {
        match by {
            "kind" => {
                let kind = ResourceKind::ALL.into_iter().find(|kind| kind.word() == text);
                self.kind = Some(kind.ok_or_else(|| Invalid::new(by, KINDS))?);
            }
            "resource" => self.resource = Some(Id::parse(text.as_bytes(), by)?),
            _ => {
                let spec = EVENTS.iter().copied().find(|spec| spec.name == text);
                self.name = Some(spec.ok_or_else(|| Invalid::new(by, "must be the name of an event"))?);
            }
        }
        Ok(())
    }

    /// Whether all events are wanted.
    #[must_use]
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// Whether an event is wanted.
    #[must_use]
    pub fn wants(&self, marks: &Marks) -> bool {
        let is_of = |resource: &Id| {
            let is_it =
                |value: &Value| matches!(value, Value::Text(text) if text.as_str() == resource.as_str());
            marks.resources.iter().flatten().any(is_it)
        };
        self.name.is_none_or(|name| name.number == marks.spec.number)
            && self.kind.is_none_or(|kind| marks.spec.resource == Some(kind))
            && self.resource.as_ref().is_none_or(is_of)
    }
}

const KINDS: &str = "must be account, stock, campaign, coupon or market";

#[cfg(test)]
mod tests {
    use scarce_core::event::{AccountFrozen, AccountTransferred, StockClosed};

    use super::*;

    fn filter(parts: &[(&'static str, &str)]) -> Filter {
        let mut filter = Filter::default();
        parts.iter().for_each(|(by, text)| filter.add(by, text).expect("a filter"));
        filter
    }

    #[test]
    fn an_event_is_wanted_if_all_that_is_given_is_so() {
        let id = |text: &str| Id::parse(text.as_bytes(), "id").expect("an id");
        let (from, to) = (id("a"), id("b"));
        let transferred = AccountTransferred {
            from,
            to,
            amount: 1,
            from_balance: 0,
            from_available: 0,
            to_balance: 1,
            to_available: 1,
        };
        let events: [Event; 3] = [
            transferred.into(),
            AccountFrozen { account: id("a") }.into(),
            StockClosed { sku: id("a") }.into(),
        ];
        let wanted = |parts: &[(&'static str, &str)]| {
            let filter = filter(parts);
            events.each_ref().map(|event| filter.wants(&Marks::of(event)))
        };
        assert_eq!(wanted(&[]), [true; 3]);
        assert_eq!(wanted(&[("kind", "account")]), [true, true, false]);
        assert_eq!(wanted(&[("resource", "a")]), [true; 3]);
        assert_eq!(wanted(&[("resource", "b")]), [true, false, false]);
        assert_eq!(wanted(&[("name", "stock.closed")]), [false, false, true]);
        assert_eq!(
            wanted(&[("kind", "account"), ("resource", "a"), ("name", "account.frozen")]),
            [false, true, false]
        );
        assert!(filter(&[]).is_all() && !filter(&[("kind", "coupon")]).is_all());
        for (by, text) in [("kind", "accounts"), ("resource", "a b"), ("name", "account.open")] {
            assert!(Filter::default().add(by, text).is_err(), "{by} {text}");
        }
    }
}
