//! The types of settings: how each is parsed, and the error message when that fails.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use scarce_core::outcome::Durability;
use scarce_engine_redis::ScriptAccess;
use scarce_engine_redis::address::{Address, SHAPE};

use super::duration;
use super::table::Spec;

/// How a setting's value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text, in quotes in a file.
    Text,
    /// A whole number.
    Integer,
    /// True or false.
    Switch,
    /// An address, which is displayed without its password.
    Url,
    /// A text that is never displayed, and that can also be given by the name of a file that contains it.
    Secret,
}

/// A type of settings.
pub trait Setting: Sized {
    /// How it is written.
    const KIND: Kind;

    /// The requirement on a text, to follow "must be".
    fn shape(spec: &Spec) -> String;

    /// Parses a text; `None` if it has the wrong shape.
    fn read(text: &str, spec: &Spec) -> Option<Self>;

    /// The value if there is no default and nothing sets it.
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

/// An address or `off`.
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
        if spec.is_duration() {
            return duration::shape(&(spec.min..=spec.max));
        }
        format!("a whole number from {} to {}", spec.min, spec.max)
    }

    fn read(text: &str, spec: &Spec) -> Option<Self> {
        let bounds = spec.min..=spec.max;
        if spec.is_duration() {
            return duration::read(text, &bounds).ok();
        }
        text.parse().ok().filter(|number| bounds.contains(number))
    }
}

/// An optional number.
impl Setting for Option<u64> {
    const KIND: Kind = Kind::Integer;

    fn shape(spec: &Spec) -> String {
        u64::shape(spec)
    }

    fn read(text: &str, spec: &Spec) -> Option<Self> {
        u64::read(text, spec).map(Some)
    }

    fn unset() -> Option<Self> {
        Some(None)
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

/// A password. It is never printed.
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

/// The engine that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineChoice {
    /// State in memory and a journal on this machine's disk.
    Embedded,
    /// All state in a Redis or Valkey server.
    Redis,
}

impl Setting for EngineChoice {
    const KIND: Kind = Kind::Text;

    fn shape(_spec: &Spec) -> String {
        "embedded or redis".to_owned()
    }

    fn read(text: &str, _spec: &Spec) -> Option<Self> {
        match text {
            "embedded" => Some(Self::Embedded),
            "redis" => Some(Self::Redis),
            _ => None,
        }
    }
}

/// The address of a Redis, without user and password, which are kept separately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedisUrl(String);

impl fmt::Display for RedisUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Setting for RedisUrl {
    const KIND: Kind = Kind::Text;

    fn shape(_spec: &Spec) -> String {
        SHAPE.to_owned()
    }

    fn read(text: &str, _spec: &Spec) -> Option<Self> {
        Address::parse(text).map(|_| Self(text.to_owned()))
    }
}

impl Setting for Option<RedisUrl> {
    const KIND: Kind = Kind::Text;

    fn shape(spec: &Spec) -> String {
        <RedisUrl as Setting>::shape(spec)
    }

    fn read(text: &str, spec: &Spec) -> Option<Self> {
        <RedisUrl as Setting>::read(text, spec).map(Some)
    }

    fn unset() -> Option<Self> {
        Some(None)
    }
}

/// What clients may do with scripts.
impl Setting for ScriptAccess {
    const KIND: Kind = Kind::Text;

    fn shape(_spec: &Spec) -> String {
        "off, run or manage".to_owned()
    }

    fn read(text: &str, _spec: &Spec) -> Option<Self> {
        match text {
            "off" => Some(Self::Off),
            "run" => Some(Self::Run),
            "manage" => Some(Self::Manage),
            _ => None,
        }
    }
}

/// The id of a deployment: 32 hexadecimal digits, in small letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeploymentId(String);

impl DeploymentId {
    /// The digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Setting for Option<DeploymentId> {
    const KIND: Kind = Kind::Text;

    fn shape(_spec: &Spec) -> String {
        "the 32 hexadecimal digits of a deployment's id".to_owned()
    }

    fn read(text: &str, _spec: &Spec) -> Option<Self> {
        let is_id = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_id.then(|| Some(DeploymentId(text.to_ascii_lowercase())))
    }

    fn unset() -> Option<Self> {
        Some(None)
    }
}

/// How durable a change must be before it is answered.
impl Setting for Durability {
    const KIND: Kind = Kind::Text;

    fn shape(_spec: &Spec) -> String {
        "memory, replicated or synced".to_owned()
    }

    fn read(text: &str, _spec: &Spec) -> Option<Self> {
        Self::parse(text.as_bytes(), "level").ok()
    }
}

impl Setting for Option<PathBuf> {
    const KIND: Kind = Kind::Text;

    fn shape(_spec: &Spec) -> String {
        "the name of a file".to_owned()
    }

    fn read(text: &str, spec: &Spec) -> Option<Self> {
        PathBuf::read(text, spec).map(Some)
    }

    fn unset() -> Option<Self> {
        Some(None)
    }
}

impl Setting for Option<String> {
    const KIND: Kind = Kind::Text;

    fn shape(spec: &Spec) -> String {
        String::shape(spec)
    }

    fn read(text: &str, spec: &Spec) -> Option<Self> {
        String::read(text, spec).map(Some)
    }

    fn unset() -> Option<Self> {
        Some(None)
    }
}

impl Setting for String {
    const KIND: Kind = Kind::Text;

    fn shape(_spec: &Spec) -> String {
        "a text, not empty, without braces and blanks".to_owned()
    }

    fn read(text: &str, _spec: &Spec) -> Option<Self> {
        (!text.is_empty() && !text.contains(['{', '}', ' '])).then(|| text.to_owned())
    }
}
