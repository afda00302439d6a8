//! CloudEvents 1.0 in Kafka's binary mode: the headers describe a message, the value is the data.

use rdkafka::message::{BorrowedHeaders, Header, Headers as _, OwnedHeaders};

/// The version of CloudEvents.
pub(crate) const SPEC_VERSION: &str = "1.0";

/// The content type of values.
pub(crate) const JSON: &str = "application/json";

/// The names of the headers: CloudEvents' attributes, and our own.
pub(crate) mod header {
    pub(crate) const SPEC_VERSION: &str = "ce_specversion";
    pub(crate) const ID: &str = "ce_id";
    pub(crate) const SOURCE: &str = "ce_source";
    pub(crate) const TYPE: &str = "ce_type";
    pub(crate) const TIME: &str = "ce_time";
    pub(crate) const SUBJECT: &str = "ce_subject";
    pub(crate) const SEQUENCE: &str = "ce_sequence";
    pub(crate) const EPOCH: &str = "ce_epoch";
    pub(crate) const PARTITION: &str = "ce_partition";
    pub(crate) const OPERATION: &str = "ce_operation";
    pub(crate) const CONTENT_TYPE: &str = "content-type";
}

/// The attributes that every message has.
pub(crate) struct Attributes<'a> {
    pub(crate) id: &'a str,
    pub(crate) source: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) time: Option<&'a str>,
    pub(crate) subject: Option<&'a str>,
}

impl Attributes<'_> {
    /// The attributes as headers, with room for `more` further ones.
    pub(crate) fn headers(&self, more: usize) -> OwnedHeaders {
        let mut headers = OwnedHeaders::new_with_capacity(7 + more);
        for (name, value) in [
            (header::SPEC_VERSION, Some(SPEC_VERSION)),
            (header::ID, Some(self.id)),
            (header::SOURCE, Some(self.source)),
            (header::TYPE, Some(self.kind)),
            (header::TIME, self.time),
            (header::SUBJECT, self.subject),
            (header::CONTENT_TYPE, Some(JSON)),
        ] {
            if value.is_some() {
                headers = headers.insert(Header { key: name, value });
            }
        }
        headers
    }
}

/// The text of a header, if exactly one has the name.
pub(crate) fn text<'a>(headers: Option<&'a BorrowedHeaders>, name: &str) -> Option<&'a str> {
    let mut found = headers?.iter().filter(|header| header.key == name);
    let first = found.next()?;
    if found.next().is_some() {
        return None;
    }
    first.value.and_then(|value| std::str::from_utf8(value).ok())
}
