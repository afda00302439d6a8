//! The point up to which to restore, as it is typed.

use std::str::FromStr;

use jiff::Timestamp;

/// The last sequence of a partition, or of the only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Through {
    pub(super) partition: Option<u32>,
    pub(super) sequence: u64,
}

impl FromStr for Through {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = match text.split_once(':') {
            None => text.parse().ok().map(|sequence| Self { partition: None, sequence }),
            Some((partition, sequence)) => partition
                .parse()
                .ok()
                .zip(sequence.parse().ok())
                .map(|(partition, sequence)| Self { partition: Some(partition), sequence }),
        };
        parsed.ok_or_else(|| "must be as 0:1200".to_owned())
    }
}

/// A time, in Unix milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At(pub(super) u64);

impl FromStr for At {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(at) = text.parse() {
            return Ok(Self(at));
        }
        let parsed = text.parse::<Timestamp>().ok();
        let at = parsed.and_then(|at| u64::try_from(at.as_millisecond()).ok());
        at.map(Self).ok_or_else(|| "must be as 2026-11-22T10:00:00Z, or Unix milliseconds".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_both_ways() {
        assert_eq!("2026-11-22T10:00:00Z".parse(), Ok(At(1_795_341_600_000)));
        assert_eq!("2026-11-22T18:00:00+08:00".parse(), Ok(At(1_795_341_600_000)));
        assert_eq!("1795341600000".parse(), Ok(At(1_795_341_600_000)));
        assert!("2026-11-22".parse::<At>().is_err());
        assert_eq!("7".parse(), Ok(Through { partition: None, sequence: 7 }));
        assert_eq!("2:7".parse(), Ok(Through { partition: Some(2), sequence: 7 }));
    }
}
