//! What the event table says of each event, and the macro that turns it into types.

/// One row of the event table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventSpec {
    /// The number in the log; never changed.
    pub number: u16,
    /// The name in streams and documents.
    pub name: &'static str,
    /// Its fields in order; those that no public stream shows begin with `#`.
    pub fields: &'static [&'static str],
    /// What happened, in a sentence.
    pub summary: &'static str,
}

impl EventSpec {
    /// The names of the fields that public streams show, in order.
    pub fn public_fields(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.fields.iter().copied().filter(|field| !field.starts_with('#'))
    }
}

/// Declares the events: a struct each, the enum of all, their encoding and table. A field in
/// `secret [...]` is in the log and in state, but in no public stream.
macro_rules! events {
    ($(
        $number:literal $name:literal $variant:ident $summary:literal
        { $($field:ident: $type:ty),* $(,)? } secret { $($sfield:ident: $stype:ty),* $(,)? };
    )*) => {
        $(
            #[doc = $summary]
            #[derive(Clone, Debug, PartialEq, Eq)]
            #[allow(missing_docs, reason = "the event table names and explains the fields")]
            pub struct $variant { $(pub $field: $type,)* $(pub $sfield: $stype,)* }

            $crate::record_wire!($variant { $($field,)* $($sfield,)* });

            impl From<$variant> for Event {
                fn from(event: $variant) -> Self {
                    Event::$variant(event)
                }
            }
        )*

        /// A change of state.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "each variant carries the documented struct of its name")]
        pub enum Event { $($variant($variant)),* }

        impl Wire for Event {
            fn put(&self, out: &mut Vec<u8>) {
                match self { $(Event::$variant(event) => { ($number as u64).put(out); event.put(out); })* }
            }

            fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
                match u64::get(input)? {
                    $($number => $variant::get(input).map(Event::$variant),)*
                    _ => Err(Malformed),
                }
            }
        }

        impl Event {
            /// The row of the event table.
            #[must_use]
            pub fn spec(&self) -> &'static EventSpec {
                match self { $(Event::$variant(_) => &specs::$variant),* }
            }

            /// The names and values of the fields that may be shown in public.
            #[must_use]
            pub fn fields(&self) -> Vec<(&'static str, Value)> {
                match self { $(Event::$variant(event) => {
                    let _ = event;
                    vec![$((stringify!($field), Shown::shown(&event.$field))),*]
                })* }
            }
        }

        impl Event {
            /// The id of what changed, which is the first field; of a transfer, the account that pays. Events that
            /// only tell of an operation have none.
            #[must_use]
            pub fn resource(&self) -> Option<Value> {
                if self.spec().name.starts_with("operation.") {
                    return None;
                }
                #[allow(unreachable_code, reason = "only the first field is looked at")]
                match self { $(Event::$variant(event) => {
                    let _ = event;
                    $(return Some(Shown::shown(&event.$field));)*
                    None
                })* }
            }

            /// The values of all fields in the order of the table, those that no public stream shows last.
            #[must_use]
            pub fn values(&self) -> Vec<Value> {
                match self { $(Event::$variant(event) => {
                    let _ = event;
                    vec![$(Shown::shown(&event.$field),)* $(Shown::shown(&event.$sfield),)*]
                })* }
            }

            /// The event of a number whose fields have these [`values`](Event::values).
            ///
            /// # Errors
            /// When there is no such event, or its fields have other values.
            pub fn from_values(number: u16, values: &[Value]) -> Result<Self, Malformed> {
                let mut values = values.iter();
                let event = match number {
                    $($number => {
                        $(let $field = FromShown::from_shown(values.next().ok_or(Malformed)?)?;)*
                        $(let $sfield = FromShown::from_shown(values.next().ok_or(Malformed)?)?;)*
                        Event::$variant($variant { $($field,)* $($sfield,)* })
                    })*
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
                    $($number => Event::$variant($variant {
                        $($field: FromShown::from_shown(values.next().ok_or(Malformed)?)?,)*
                        $($sfield: Redacted::redacted(),)*
                    }),)*
                    _ => return Err(Malformed),
                };
                if values.next().is_some() { Err(Malformed) } else { Ok(event) }
            }

            /// The event as a public stream can tell it: what none shows is [`Redacted`].
            #[must_use]
            pub fn redacted(mut self) -> Self {
                match &mut self { $(Event::$variant(event) => {
                    let _ = &event;
                    $(event.$sfield = Redacted::redacted();)*
                })* }
                self
            }
        }

        #[allow(non_upper_case_globals, reason = "named as the variants that they describe")]
        mod specs {
            use super::EventSpec;
            $(pub(super) static $variant: EventSpec = EventSpec {
                number: $number,
                name: $name,
                fields: &[$(stringify!($field),)* $(concat!("#", stringify!($sfield)),)*],
                summary: $summary,
            };)*
        }

        /// Every event, in the order of the table.
        pub static EVENTS: &[&EventSpec] = &[$(&specs::$variant),*];
    };
}

pub(super) use events;
