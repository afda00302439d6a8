//! What a certificate says of itself: from when until when it is valid, and for which hosts.

use std::net::IpAddr;
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// How long before its end a certificate should have been renewed.
const RENEWAL: Duration = Duration::from_hours(14 * 24);

/// The extension with the names of hosts.
const SUBJECT_ALTERNATIVE_NAMES: [u8; 3] = [0x55, 0x1d, 0x11];

/// The extension that says whether it is an authority's.
const BASIC_CONSTRAINTS: [u8; 3] = [0x55, 0x1d, 0x13];

/// The tags of ASN.1 that are read here.
const BOOLEAN: u8 = 0x01;
const OCTET_STRING: u8 = 0x04;
const OBJECT_ID: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
const DNS_NAME: u8 = 0x82;
const IP_ADDRESS: u8 = 0x87;

/// What a certificate says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFacts {
    /// From when it is valid.
    pub not_before: Timestamp,
    /// Until when.
    pub not_after: Timestamp,
    /// The hosts that it is for.
    pub hosts: Vec<String>,
    /// Whether it may certify others.
    pub is_authority: bool,
}

/// Whether a certificate is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    /// It is, and for a while.
    Valid,
    /// It is not yet.
    Early,
    /// It is, and ends soon.
    Ending,
    /// It was.
    Expired,
}

impl CertificateFacts {
    /// Reads a certificate in DER. `None` if it is something else.
    pub(crate) fn of(der: &[u8]) -> Option<Self> {
        let mut certificate = contents(&mut &*der, SEQUENCE)?;
        let mut fields = contents(&mut certificate, SEQUENCE)?;
        if fields.first() == Some(&VERSION) {
            element(&mut fields)?;
        }
        // Its number, the algorithm of the signature, and who issued it.
        for _ in 0..3 {
            element(&mut fields)?;
        }
        let mut times = contents(&mut fields, SEQUENCE)?;
        let (not_before, not_after) = (time(&mut times)?, time(&mut times)?);
        let (hosts, is_authority) = (hosts(fields), is_authority(fields));
        let (hosts, is_authority) = (hosts.unwrap_or_default(), is_authority.unwrap_or_default());
        Some(Self { not_before, not_after, hosts, is_authority })
    }

    /// Whether it is valid at a time.
    #[must_use]
    pub fn validity(&self, at: Timestamp) -> Validity {
        if at < self.not_before {
            Validity::Early
        } else if at > self.not_after {
            Validity::Expired
        } else if at.duration_until(self.not_after).unsigned_abs() < RENEWAL {
            Validity::Ending
        } else {
            Validity::Valid
        }
    }
}

impl Validity {
    /// What is wrong.
    #[must_use]
    pub const fn problem(self) -> Option<&'static str> {
        match self {
            Self::Valid => None,
            Self::Early => Some("the certificate is not valid yet"),
            Self::Ending => Some("the certificate ends within 14 days"),
            Self::Expired => Some("the certificate has expired"),
        }
    }
}

/// The next element: its tag and what is in it.
fn element<'a>(bytes: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let [tag, first, rest @ ..] = *bytes else { return None };
    let (length, rest) = match usize::from(*first) {
        short @ ..0x80 => (short, rest),
        long => {
            let (digits, rest) =
                rest.split_at_checked(long - 0x80).filter(|(digits, _)| digits.len() <= 4)?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
    };
    let (contents, rest) = rest.split_at_checked(length)?;
    *bytes = rest;
    Some((*tag, contents))
}

/// What is in the next element, if it has this tag.
fn contents<'a>(bytes: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    element(bytes).filter(|(its, _)| *its == tag).map(|(_, contents)| contents)
}

fn time(bytes: &mut &[u8]) -> Option<Timestamp> {
    let (tag, text) = element(bytes)?;
    let text = std::str::from_utf8(text).ok()?;
    let text = match tag {
        GENERALIZED_TIME => text.to_owned(),
        // Two digits of the year, which is between 1950 and 2049.
        UTC_TIME if text < "5" => format!("20{text}"),
        UTC_TIME => format!("19{text}"),
        _ => return None,
    };
    let time = DateTime::strptime("%Y%m%d%H%M%SZ", text).ok()?;
    // The end of the year 9999, which says that it never ends, is too late for the library.
    Some(time.to_zoned(TimeZone::UTC).map_or(Timestamp::MAX, |time| time.timestamp()))
}

/// An extension among the fields that follow the times.
fn extension<'a>(mut fields: &'a [u8], sought: &[u8]) -> Option<&'a [u8]> {
    let mut extensions = loop {
        let (tag, mut inner) = element(&mut fields)?;
        if tag == EXTENSIONS {
            break contents(&mut inner, SEQUENCE)?;
        }
    };
    loop {
        let mut extension = contents(&mut extensions, SEQUENCE)?;
        if contents(&mut extension, OBJECT_ID)? == sought {
            let (tag, value) = element(&mut extension)?;
            // Before the value it may say that it is critical.
            return if tag == OCTET_STRING { Some(value) } else { contents(&mut extension, OCTET_STRING) };
        }
    }
}

fn hosts(fields: &[u8]) -> Option<Vec<String>> {
    let mut names = contents(&mut extension(fields, &SUBJECT_ALTERNATIVE_NAMES)?, SEQUENCE)?;
    let mut hosts = Vec::new();
    while let Some((tag, name)) = element(&mut names) {
        hosts.extend(match tag {
            DNS_NAME => Some(String::from_utf8_lossy(name).into_owned()),
            IP_ADDRESS => address(name),
            _ => None,
        });
    }
    Some(hosts)
}

fn is_authority(fields: &[u8]) -> Option<bool> {
    let mut constraints = contents(&mut extension(fields, &BASIC_CONSTRAINTS)?, SEQUENCE)?;
    Some(contents(&mut constraints, BOOLEAN)?.first() == Some(&0xff))
}

fn address(bytes: &[u8]) -> Option<String> {
    let four = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    four.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok().map(|address| address.to_string())
}

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, date_time_ymd};

    use super::*;

    #[test]
    fn a_certificate_is_read_and_whatever_is_cut_off_or_changed_is_not_trusted() {
        let names = ["a.example", "127.0.0.1", "::1"].map(str::to_owned);
        let mut params = CertificateParams::new(names.to_vec()).expect("names");
        (params.not_before, params.not_after) = (date_time_ymd(2026, 1, 2), date_time_ymd(2051, 3, 4));
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("a certificate");
        let der = certificate.der();
        let facts = CertificateFacts::of(der).expect("it can be read");
        assert_eq!(facts.hosts, names);
        assert!(!facts.is_authority);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = params.self_signed(&key).expect("a certificate");
        assert!(CertificateFacts::of(authority.der()).is_some_and(|facts| facts.is_authority));
        assert_eq!(facts.not_before.to_string(), "2026-01-02T00:00:00Z");
        assert_eq!(facts.not_after.to_string(), "2051-03-04T00:00:00Z");
        let at = |text: &str| facts.validity(text.parse().expect("a time"));
        assert_eq!(at("2026-01-01T23:59:59Z"), Validity::Early);
        assert_eq!(at("2051-02-17T00:00:00Z"), Validity::Valid);
        assert_eq!(at("2051-02-19T00:00:00Z"), Validity::Ending);
        assert_eq!(at("2051-03-04T00:00:01Z"), Validity::Expired);
        for end in 0..der.len() {
            assert_eq!(CertificateFacts::of(&der[..end]), None, "cut off at {end}");
        }
        for at in 0..der.len() {
            let mut changed = der.to_vec();
            changed[at] ^= 0xff;
            // It may be read as something else, and must not panic.
            let _ = CertificateFacts::of(&changed);
        }
    }
}
