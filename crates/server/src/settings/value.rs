//! What a setting can be: how it is read from a text, and what is said when it cannot be.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::table::Spec;

/// How a setting is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text, in quotes in a file.
    Text,
    /// A whole number.
    Integer,
    /// True or false.
    Switch,
    /// A text that is never shown, and that may also be given by the name of a file that holds it.
    Secret,
}

/// A type of settings.
pub trait Setting: Sized {
    /// How it is written.
    const KIND: Kind;

    /// What a text must be to be read, to follow "must be".
    fn shape(spec: &Spec) -> String;

    /// The value of a text, unless it has not the shape.
    fn read(text: &str, spec: &Spec) -> Option<Self>;

    /// What it is where there is no default and nobody sets it.
    fn unset() -> Option<Self> {
        None
    }
}

impl Setting for PathBuf {
    const KIND: Kind = Kind::Text;

    fn shape(_spec: &Spec) -> String {
        "the name of a directory".to_owned()
    }

    fn read(text: &str, _spec: &Spec) -> Option<Self> {
        (!text.is_empty()).then(|| text.into())
    }
}

impl Setting for SocketAddr {
    const KIND: Kind = Kind::Text;

    fn shape(spec: &Spec) -> String {
        format!("an address and a port such as {}", spec.default.unwrap_or("127.0.0.1:0"))
    }

    fn read(text: &str, _spec: &Spec) -> Option<Self> {
        text.parse().ok()
    }
}

/// An address that may be `off`.
impl Setting for Option<SocketAddr> {
    const KIND: Kind = Kind::Text;

    fn shape(spec: &Spec) -> String {
        format!("{}, or off", SocketAddr::shape(spec))
    }

    fn read(text: &str, spec: &Spec) -> Option<Self> {
        if text.eq_ignore_ascii_case("off") { Some(None) } else { SocketAddr::read(text, spec).map(Some) }
    }
}

impl Setting for u64 {
    const KIND: Kind = Kind::Integer;

    fn shape(spec: &Spec) -> String {
        format!("a whole number from {} to {}", spec.min, spec.max)
    }

    fn read(text: &str, spec: &Spec) -> Option<Self> {
        text.parse().ok().filter(|number| (spec.min..=spec.max).contains(number))
    }
}

impl Setting for u32 {
    const KIND: Kind = Kind::Integer;

    fn shape(spec: &Spec) -> String {
        u64::shape(spec)
    }

    fn read(text: &str, spec: &Spec) -> Option<Self> {
        u64::read(text, spec).and_then(|number| number.try_into().ok())
    }
}

impl Setting for bool {
    const KIND: Kind = Kind::Switch;

    fn shape(_spec: &Spec) -> String {
        "true or false".to_owned()
    }

    fn read(text: &str, _spec: &Spec) -> Option<Self> {
        match text.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Some(true),
            "false" | "0" | "no" | "off" => Some(false),
            _ => None,
        }
    }
}

/// What callers must show. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// The password itself.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Password(…)")
    }
}

impl Setting for Option<Password> {
    const KIND: Kind = Kind::Secret;

    fn shape(_spec: &Spec) -> String {
        "a password, and not empty".to_owned()
    }

    fn read(text: &str, _spec: &Spec) -> Option<Self> {
        (!text.is_empty()).then(|| Some(Password(text.to_owned())))
    }

    fn unset() -> Option<Self> {
        Some(None)
    }
}
