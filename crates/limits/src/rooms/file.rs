//! The file of waiting rooms.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use scarce_access::{Kind, Pattern};
use serde::Deserialize;

use crate::rule::{Rate, kinds, resources};

/// How many rooms there can be.
const ROOMS_MAX: usize = 100;

const NAME_CHARACTERS_MAX: usize = 48;

/// How long a ticket is good where it is not said, and at most.
const ADMISSION_S: NonZeroU64 = NonZeroU64::new(600).expect("it is not zero");
const ADMISSION_S_MAX: u64 = 86_400;

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RoomFileError {
    /// It is no TOML, or has what is not known; says where.
    #[error("{0}")]
    Misshapen(Box<toml::de::Error>),
    /// Two rooms have one name.
    #[error("two rooms are called '{0}'; give each its own name, because callers ask for it")]
    Doubled(String),
    /// A name cannot be part of a path.
    #[error("'{0}' is no name of a room; write 1 to {NAME_CHARACTERS_MAX} letters, digits, '-', '_' or '.'")]
    Name(String),
    /// It guards nothing.
    #[error("the room '{0}' guards nothing; say which resources, such as [\"sku-hot-*\"]")]
    Nothing(String),
    /// A ticket is good for too long.
    #[error("the tickets of the room '{0}' are good for longer than a day; lower admission_s")]
    Admission(String),
    /// There are too many.
    #[error("there are {0} rooms; there can be {ROOMS_MAX}")]
    TooMany(usize),
}

/// One room, as it is written in the file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Room {
    /// Its name, by which callers join it.
    pub name: String,
    /// It guards what takes from one of these resources.
    #[serde(deserialize_with = "resources")]
    pub resources: Vec<Pattern>,
    /// Of one of these kinds; of any, if there are none.
    #[serde(default, deserialize_with = "kinds")]
    pub kinds: Vec<Kind>,
    /// How many it admits.
    pub rate: Rate,
    /// How many servers admit at this rate together, each its part of it.
    #[serde(default)]
    pub servers: Option<NonZeroU32>,
    /// For how many seconds a ticket is good once its time has come.
    #[serde(default)]
    pub admission_s: Option<NonZeroU64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    room: Vec<Room>,
}

impl Room {
    /// For how long a ticket is good once its time has come.
    #[must_use]
    pub fn admission_ms(&self) -> u64 {
        self.admission_s.unwrap_or(ADMISSION_S).get().saturating_mul(1_000)
    }

    pub(super) fn guards(&self, kind: Option<Kind>) -> bool {
        self.kinds.is_empty() || kind.is_some_and(|kind| self.kinds.contains(&kind))
    }

    pub(super) fn covers(&self, id: &str) -> bool {
        self.resources.iter().any(|pattern| pattern.covers(id))
    }

    /// The time between two that this server admits.
    pub(super) fn period(&self) -> Duration {
        self.rate.period().saturating_mul(self.servers.map_or(1, NonZeroU32::get))
    }

    /// How many are admitted in a time, by all servers.
    pub(super) fn places(&self, wait_ms: u64) -> u64 {
        let period_ns = u64::try_from(self.rate.period().as_nanos()).unwrap_or(u64::MAX);
        wait_ms.saturating_mul(1_000_000).div_ceil(period_ns.max(1))
    }
}

/// Reads the rooms in the text of a file.
///
/// # Errors
/// What is wrong, with its line and column where it is in one.
pub fn read(text: &str) -> Result<Vec<Room>, RoomFileError> {
    let file: File = toml::from_str(text).map_err(|error| RoomFileError::Misshapen(error.into()))?;
    let rooms = file.room;
    if rooms.len() > ROOMS_MAX {
        return Err(RoomFileError::TooMany(rooms.len()));
    }
    for (at, room) in rooms.iter().enumerate() {
        let name = room.name.clone();
        let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        match () {
            () if !is_plain || !(1..=NAME_CHARACTERS_MAX).contains(&name.len()) => {
                return Err(RoomFileError::Name(name));
            }
            () if room.resources.is_empty() => return Err(RoomFileError::Nothing(name)),
            () if room.admission_ms() > ADMISSION_S_MAX * 1_000 => {
                return Err(RoomFileError::Admission(name));
            }
            () if rooms[..at].iter().any(|former| former.name == name) => {
                return Err(RoomFileError::Doubled(name));
            }
            () => {}
        }
    }
    Ok(rooms)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SALE: &str =
        "[[room]]\nname = \"sale\"\nresources = [\"sku-*\"]\nrate = \"100/s\"\nadmission_s = 60\n";

    #[test]
    fn a_room_is_read() {
        let rooms = read(SALE).expect("rooms");
        let room = &rooms[0];
        assert_eq!((room.name.as_str(), room.admission_ms(), rooms.len()), ("sale", 60_000, 1));
        assert!(room.covers("sku-1") && !room.covers("other") && room.guards(Some(Kind::Market)));
        assert_eq!((room.places(0), room.places(1), room.places(10_000)), (0, 1, 1_000));
        let usual = read(&SALE.replace("admission_s = 60\n", "kinds = [\"stock\"]\n")).expect("rooms");
        assert_eq!(usual[0].admission_ms(), 600_000);
        assert!(usual[0].guards(Some(Kind::Stock)) && !usual[0].guards(Some(Kind::Market)));
        assert!(read("").expect("none").is_empty());
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (from, to, said) in [
            ("\"sale\"", "\"a sale\"", "is no name of a room"),
            ("[\"sku-*\"]", "[]", "guards nothing"),
            ("resources = [\"sku-*\"]", "", "missing field `resources`"),
            ("100/s", "0/s", "is no rate"),
            ("= 60", "= 86401", "longer than a day"),
            ("= 60", "= 0", "line 5"),
            ("admission_s", "admission", "unknown field"),
        ] {
            let problem =
                read(&SALE.replacen(from, to, 1)).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(problem.contains(said), "{to}: {problem}");
        }
        assert!(matches!(read(&SALE.repeat(2)), Err(RoomFileError::Doubled(_))));
    }
}
