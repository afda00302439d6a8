//! The types of a row of the event table, and the macro that generates types from the rows.

use crate::outcome::shape::ValueSpec;
use crate::resource::ResourceKind;

/// One row of the event table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventSpec {
    /// The number in the log; never changed.
    pub number: u16,
    /// The name in streams and documents.
    pub name: &'static str,
    /// The public fields, in order.
    pub fields: &'static [ValueSpec],
    /// The fields that are never public, after the others.
    pub secret_fields: &'static [&'static str],
    /// The kind of resource that changed; `None` if the event only concerns an operation.
    pub resource: Option<ResourceKind>,
    /// What happened, in a sentence.
    pub summary: &'static str,
}

impl EventSpec {
    /// The names of all fields in order, those that are never public last.
    pub fn field_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.fields.iter().map(|field| field.name).chain(self.secret_fields.iter().copied())
    }
}

/// Declares the events: a struct each, an enum for each block, the enum of all, their encoding and table.
/// A field in `secret {...}` is in the log and in the state, but in no public stream.
macro_rules! events {
    ($(
        #[doc = $about:literal]
        $group:ident($events:ident) of $kind:ident {
            $(
                $number:literal $name:literal $variant:ident $summary:literal
                { $($field:ident: $type:ty),* $(,)? } secret { $($sfield:ident: $stype:ty),* $(,)? };
            )*
        }
    )*) => {
        $($(
            #[doc = $summary]
            #[derive(Clone, Debug, PartialEq, Eq)]
            #[allow(missing_docs, reason = "the event table names and explains the fields")]
            pub struct $variant { $(pub $field: $type,)* $(pub $sfield: $stype,)* }

            $crate::record_wire!($variant { $($field,)* $($sfield,)* });

            impl $variant {
                /// The row of the event table.
                pub const SPEC: &'static EventSpec = &specs::$variant;
            }

            impl From<$variant> for Event {
                fn from(event: $variant) -> Self {
                    Event::$group($events::$variant(event))
                }
            }
        )*)*

        $(
            #[doc = $about]
            #[derive(Clone, Debug, PartialEq, Eq)]
            #[allow(missing_docs, reason = "each variant carries the documented struct of its name")]
            #[allow(clippy::enum_variant_names, reason = "named as their structs, which stand beside all others")]
            pub enum $events { $($variant($variant)),* }

            impl $events {
                fn put(&self, out: &mut Vec<u8>) {
                    match self { $(Self::$variant(event) => { ($number as u64).put(out); event.put(out); })* }
                }

                fn spec(&self) -> &'static EventSpec {
                    match self { $(Self::$variant(_) => $variant::SPEC),* }
                }

                fn fields(&self) -> Vec<(&'static str, Value)> {
                    match self { $(Self::$variant(event) => {
                        let _ = event;
                        vec![$((stringify!($field), Shown::shown(&event.$field))),*]
                    })* }
                }

                fn values(&self) -> Vec<Value> {
                    match self { $(Self::$variant(event) => {
                        let _ = event;
                        vec![$(Shown::shown(&event.$field),)* $(Shown::shown(&event.$sfield),)*]
                    })* }
                }

                fn first_field(&self) -> Option<Value> {
                    #[allow(unreachable_code, reason = "only the first field is looked at")]
                    match self { $(Self::$variant(event) => {
                        let _ = event;
                        $(return Some(Shown::shown(&event.$field));)*
                        None
                    })* }
                }

                fn redact(&mut self) {
                    match self { $(Self::$variant(event) => {
                        let _ = &event;
                        $(event.$sfield = Redacted::redacted();)*
                    })* }
                }
            }
        )*

        /// A change of state.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Event { $(#[doc = $about] $group($events)),* }

        impl Wire for Event {
            fn put(&self, out: &mut Vec<u8>) {
                match self { $(Event::$group(event) => event.put(out)),* }
            }

            fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
                match u64::get(input)? {
                    $($($number => $variant::get(input).map(|event| Event::$group($events::$variant(event))),)*)*
                    _ => Err(Malformed),
                }
            }
        }

        impl Event {
            /// The row of the event table.
            #[must_use]
            pub fn spec(&self) -> &'static EventSpec {
                match self { $(Event::$group(event) => event.spec()),* }
            }

            /// The names and values of the fields that may be shown in public.
            #[must_use]
            pub fn fields(&self) -> Vec<(&'static str, Value)> {
                match self { $(Event::$group(event) => event.fields()),* }
            }

            /// The id of what changed, which is the first field; of a transfer, the account that pays. Events that
            /// only tell of an operation have none.
            #[must_use]
            pub fn resource(&self) -> Option<Value> {
                match self { $(Event::$group(event) => {
                    const KIND: Option<ResourceKind> = resource_kind!($kind);
                    KIND.and_then(|_| event.first_field())
                })* }
            }

            /// The values of all fields in the order of the table, those that no public stream shows last.
            #[must_use]
            pub fn values(&self) -> Vec<Value> {
                match self { $(Event::$group(event) => event.values()),* }
            }

            /// The event of a number whose fields have these [`values`](Event::values).
            ///
            /// # Errors
            /// When there is no such event, or its fields have other values.
            pub fn from_values(number: u16, values: &[Value]) -> Result<Self, Malformed> {
                let mut values = values.iter();
                let event = match number {
                    $($($number => {
                        $(let $field = FromShown::from_shown(values.next().ok_or(Malformed)?)?;)*
                        $(let $sfield = FromShown::from_shown(values.next().ok_or(Malformed)?)?;)*
                        Event::from($variant { $($field,)* $($sfield,)* })
                    })*)*
                    _ => return Err(Malformed),
                };
                if values.next().is_some() { Err(Malformed) } else { Ok(event) }
            }

            /// The event of a number whose public fields have these values, as [`fields`](Event::fields) gives
            /// them. What no public stream shows is [`Redacted`].
            ///
            /// # Errors
            /// When there is no such event, or its public fields have other values.
            pub fn from_public_values(number: u16, values: &[Value]) -> Result<Self, Malformed> {
                let mut values = values.iter();
                let event = match number {
                    $($($number => Event::from($variant {
                        $($field: FromShown::from_shown(values.next().ok_or(Malformed)?)?,)*
                        $($sfield: Redacted::redacted(),)*
                    }),)*)*
                    _ => return Err(Malformed),
                };
                if values.next().is_some() { Err(Malformed) } else { Ok(event) }
            }

            /// The event as a public stream can tell it: what none shows is [`Redacted`].
            #[must_use]
            pub fn redacted(mut self) -> Self {
                match &mut self { $(Event::$group(event) => event.redact()),* }
                self
            }
        }

        #[allow(non_upper_case_globals, reason = "named as the structs that they describe")]
        mod specs {
            use super::*;
            $($(pub(super) static $variant: EventSpec = EventSpec {
                number: $number,
                name: $name,
                fields: values![$($field: <$type as Typed>::TYPE),*],
                secret_fields: &[$(stringify!($sfield)),*],
                resource: resource_kind!($kind),
                summary: $summary,
            };)*)*
        }

        /// Every event, in the order of the table.
        pub static EVENTS: &[&EventSpec] = &[$($($variant::SPEC),*),*];
    };
}

pub(super) use events;
